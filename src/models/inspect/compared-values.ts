/**
 * Constants that a model compares its inputs with. An input that selects a branch should equal one of these constants.
 */

import { recovering } from "../../core/errors.ts";
import { integerRange } from "../../core/tensor/dtype.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { readConstant, type Model } from "../model/model.ts";
import { walkSources, type Visited } from "./sources.ts";

/**
 * Returns the integers that a model compares its inputs with by `Equal`, such as the sample rates that a speech model
 * supports. Inputs are traced through operators and bodies as in `indexedSizes`.
 *
 * @param model a model of any format
 * @returns the single-element constants by input name, in node order. Inputs without comparisons are absent.
 * @throws TensorError `malformed-file` for a value that is not a model
 *
 * @example
 * ```ts
 * const model = buildModel({
 *   opsets: { "ai.onnx": 18 },
 *   inputs: { sr: { dtype: "int64", shape: [] } },
 *   constants: { rate: tensor("int64", [], 16000) },
 *   nodes: [{ op: "Equal", inputs: ["sr", "rate"], outputs: ["known"] }],
 *   outputs: { known: { dtype: "bool", shape: [] } },
 * });
 * comparedValues(model).get("sr"); // [16000n]
 * ```
 */
export function comparedValues(model: Model): ReadonlyMap<string, readonly bigint[]> {
  const found = new Map<string, bigint[]>();
  walkSources(modelFrom(model), (visited) => {
    const { node, sourcesOf } = visited;
    if (node.op !== "Equal" || node.domain !== "ai.onnx") return;
    for (const [at, name] of node.inputs.entries()) {
      const value = integerOf(visited, node.inputs[1 - at] ?? "");
      if (value === null) continue;
      for (const { input } of sourcesOf(name)) {
        const known = found.get(input) ?? [];
        if (!known.includes(value)) found.set(input, [...known, value]);
      }
    }
  });
  return found;
}

/**
 * Returns the element of a single-element integer constant; null for other values, and for a constant in another file.
 */
function integerOf({ scope }: Visited, name: string): bigint | null {
  const constant = scope.constantOf(name);
  if (constant === null || constant.dtype === null) return null;
  if (integerRange(constant.dtype) === null || constant.shape.some((dim) => dim !== 1)) return null;
  return recovering(
    () => BigInt(readConstant(constant).data[0] as number | bigint),
    () => null,
  );
}
