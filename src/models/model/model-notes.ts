/** Notes about a model's opset versions that a run does not report. */

import { NEWEST_OPSETS, type Domain } from "../../core/operators/operator.ts";
import { modelFrom } from "./foreign-model.ts";
import { newerOpset, quote } from "./graph.ts";
import type { Model, ModelFunction } from "./model.ts";

/** A note about an opset version of a model or one of its functions. */
export interface OpsetNote {
  readonly id: "domain-repeated" | "opset-not-known";
  readonly sentence: string;
  /** The imported versions. */
  readonly versions: readonly number[];
}

/**
 * Returns sentences about a model's opset versions. An unknown newer version runs as the newest known version. If the
 * file imports a domain twice, the last version counts. `runModel` does not report these facts.
 *
 * @param model a model of any format
 * @throws TensorError `malformed-file` for a value that is not a model
 *
 * @example
 * ```ts
 * const model = buildModel({
 *   opsets: { "ai.onnx": 18 },
 *   inputs: { x: { dtype: "float32", shape: [2] } },
 *   nodes: [],
 *   outputs: { x: null },
 * });
 * modelNotes({ ...model, opsets: { "ai.onnx": 99 } }).length; // 1
 * ```
 */
export const modelNotes = (model: Model): string[] =>
  opsetNotes(modelFrom(model)).map(({ sentence }) => sentence);

export function opsetNotes({ graph, functions = [], ...model }: Model): OpsetNote[] {
  const own = importNotes(model, "the model");
  const inner = functions.flatMap((one) => importNotes(one, `the function ${quote(one.name)}`));
  // OpenVINO layers have their own versions, so the model's opsets do not matter.
  const newest = graph.nodes.reduce(
    (most, { domain, opset = 0 }) => (domain === "openvino" && opset > most ? opset : most),
    0,
  );
  return [...own, ...inner, ...newerNotes("openvino", newest)];
}

function importNotes(
  { opsets, otherOpsets = {} }: Pick<ModelFunction, "opsets" | "otherOpsets">,
  owner: string,
): OpsetNote[] {
  const repeated = Object.entries(otherOpsets).map(([domain, before]) => {
    const versions = [...before, opsets[domain]];
    const highest = versions.reduce((most, one) => (one > most ? one : most));
    const named = domain === "ai.onnx" ? 'ai.onnx (or "")' : quote(domain);
    const imports = `${owner} imports ${named} ${versions.length} times, as versions ${versions.join(" and ")}`;
    const rules = `ONNX Runtime uses the last, ${versions.at(-1)}; ONNX specifies the highest, ${highest}`;
    const sentence = `${imports}; ${rules}; import the domain once`;
    return { id: "domain-repeated" as const, sentence, versions };
  });
  return [...newerNotes("ai.onnx", opsets["ai.onnx"]), ...repeated];
}

const newerNotes = (domain: Domain, opset = 0): OpsetNote[] =>
  opset > NEWEST_OPSETS[domain]
    ? [{ id: "opset-not-known", sentence: newerOpset(domain, opset), versions: [opset] }]
    : [];
