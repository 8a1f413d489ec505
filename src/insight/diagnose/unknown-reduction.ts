/**
 * Diagnoses a call whose only fault is a reduction that its version does not have, such as `sum`, or `max` before
 * version 18. Such a call has no exact result, so the runtime's result is compared with the result of every reduction.
 */

import { callOf, type Call, type NodeSpec } from "../../core/call/call.ts";
import { isTensorError } from "../../core/errors.ts";
import { reductionOf } from "../../core/operators/settings.ts";
import { REDUCTIONS, type Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { Found } from "./search.ts";

/**
 * Returns the call of a node. If only the reduction makes the call invalid, it is omitted from the call and returned as
 * `word`.
 * @throws TensorError like {@link callOf}
 */
export function callWithout(node: NodeSpec): { readonly call: Call; readonly word: string | null } {
  try {
    return { call: callOf(node), word: null };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    try {
      const { reduction, ...attributes } = { ...node.attributes };
      if (typeof reduction === "string") {
        return { call: callOf({ ...node, attributes }), word: reduction };
      }
    } catch {
      // The call is invalid even without the reduction, or its attributes cannot be read. The code below throws the
      // first error.
    }
    throw error;
  }
}

export const withReduction = (call: Call, reduction: Reduction): Call => ({
  ...call,
  settings: { ...call.settings, reduction },
});

/**
 * Returns the reductions that produce `actual`. The cells in which `actual` differs from data count as differing.
 * @param word the reduction that the version does not have
 * @param resultOf returns the result with a reduction; null if the data type of data does not support the reduction
 */
export function reductionsThatGive(
  actual: Tensor,
  data: Tensor,
  word: string,
  resultOf: (reduction: Reduction) => Tensor | null,
): readonly Found[] {
  const found = cellsOf(actual);
  const differing = differingCells(cellsOf(data), found).length;
  if (differing === 0) return [];
  return REDUCTIONS.flatMap((reduction): Found[] => {
    const result = resultOf(reduction);
    if (result === null || differingCells(cellsOf(result), found).length > 0) return [];
    const sentence = sentenceFor(reduction, word);
    return [{ id: "other-reduction", sentence, cells: { explained: differing, differing } }];
  });
}

function sentenceFor(reduction: Reduction, word: string): string {
  const given = JSON.stringify(word);
  if (reduction === "none") return `the reduction ${given} was ignored: the reduction was none`;
  return reductionOf(word) === reduction
    ? `${given} was applied as other versions of the operator define it: the reduction was ${reduction}`
    : `the reduction was ${reduction}, not ${given}`;
}
