/**
 * Recognizes programs that the page exported, by the call in their first comment. The comment is trusted only if the
 * page would export the same program for this call.
 */

import { resolve, roleOf } from "ndscatter/operators";
import { attempt } from "../../values/attempt.ts";
import { dtypesOf } from "../../values/schema.ts";
import type { State, TensorText } from "../../values/state.ts";
import { asNumPy } from "../../writing/as-numpy.ts";
import { asOnnxPython } from "../../writing/as-onnx-python.ts";
import { asTypeScript } from "../../writing/as-typescript.ts";
import { camelCase } from "../../writing/source-text.ts";
import type { Scope } from "./scope.ts";

const WRITERS = { "#": [asNumPy, asOnnxPython], "//": [asTypeScript] } as const;

/** Matches a first line such as `# ndscatter: ai.onnx/ScatterND/18;reduction=add`. */
const HEADER =
  /(?:^|\n)(#|\/\/) ndscatter: ([\w.]{1,40})\/(\w{1,40})\/(\d{1,4})((?:;\w{1,40}=[\w.+-]{0,40}){0,9})[ \t]*(?:\r?\n|$)/;

export function exportedState(
  text: string,
  scope: Scope,
): { readonly state: State; readonly sentence: string } | null {
  const [, mark, domain, op, opset, settings] = HEADER.exec(text.slice(0, 2000)) ?? [];
  if (domain === undefined || (domain !== "ai.onnx" && domain !== "openvino")) return null;
  const version = attempt(() => resolve({ domain, op, opset: Number(opset) }));
  if ("error" in version) return null;
  const settled = Object.fromEntries(
    settings
      .split(";")
      .slice(1)
      .map((one) => one.split("=") as [string, string]),
  );
  const isInput = version.inputs.some((schema) => roleOf(schema) === "axis");
  const { axis: given, ...others } = settled;
  const attributes = isInput ? others : settled;
  const inputs = version.inputs.map((schema): TensorText | null => {
    const found = scope.names.get(schema.name) ?? scope.names.get(camelCase(schema.name));
    if (found !== undefined) {
      const { dtype, shape, values } = found;
      return { dtype, shape, values };
    }
    return roleOf(schema) === "axis" && given !== undefined
      ? { dtype: dtypesOf(version, schema)[0], shape: [], values: [given] }
      : null;
  });
  const state = {
    domain: version.domain,
    op: version.name,
    opset: version.sinceVersion,
    attributes,
    inputs,
  };
  const program = bare(text);
  const isSame = WRITERS[mark as keyof typeof WRITERS].some(
    (write) => bare(write(state)) === program,
  );
  return isSame ? { state, sentence: `This is ${op}-${opset} as exported by this page.` } : null;
}

/** Returns a program without blank lines. */
const bare = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");
