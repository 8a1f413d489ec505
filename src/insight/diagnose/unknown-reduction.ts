/**
 * Diagnoses calls whose only fault is an unsupported reduction, such as `sum`, or `max` before version 18. Such calls
 * have no exact result, so the runtime's result is compared with every reduction's result.
 */

import { callOf, type Call, type NodeSpec } from "../../core/call/call.ts";
import { isTensorError } from "../../core/errors.ts";
import { reductionOf } from "../../core/operators/settings.ts";
import { REDUCTIONS, type Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { Found } from "./search.ts";

/**
 * Creates a node's call. If only the reduction is invalid, the call omits the reduction, which is returned as `word`.
 * Throws the same errors as `callOf`.
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
      // The call is also invalid without the reduction, or its attributes cannot be parsed. The following code throws
      // the first error.
    }
    throw error;
  }
}

export const withReduction = (call: Call, reduction: Reduction): Call => ({
  ...call,
  settings: { ...call.settings, reduction },
});

/**
 * Returns the reductions that produce `actual`. Cells in which `actual` differs from data count as differing. `word` is
 * the reduction that the version does not support. `resultOf` returns the result for a reduction, or null if the data
 * type does not support the reduction.
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
