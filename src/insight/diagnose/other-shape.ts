/**
 * Explains a result whose shape differs from the expected shape. Only a different axis, operator or batch_dims of a
 * gather can produce another shape, so the shape is also evidence.
 */

import type { Tensor } from "../../core/tensor/tensor.ts";
import { printShape } from "../../core/tensor/shape.ts";
import { bitsOf } from "./races.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import type { Change } from "./hypothesis.ts";
import { otherAxes, otherBatchDims, otherOperators } from "./call-hypotheses.ts";
import { predict } from "./predict.ts";
import type { Rule } from "./rule.ts";
import { LEAST_BITS, type Found } from "./search.ts";

type Shaped = readonly [id: DiagnosisId, changes: (rule: Rule) => readonly Change[]];

const SHAPED: readonly Shaped[] = [
  ["other-axis", otherAxes],
  ["other-batch-dims", otherBatchDims],
  ["other-operator", otherOperators],
];

/** Finds changes for which a gather produces both the shape and all elements of `actual`. */
export function searchShape(rule: Rule, actual: Tensor): readonly Found[] {
  const { shape, size } = actual;
  if (rule.updates !== undefined || size * bitsOf(actual) < LEAST_BITS) return [];
  const found = cellsOf(actual);
  return SHAPED.flatMap(([id, changesOf]): Found[] => {
    const change = changesOf(rule).find(([, parts]) => {
      const predicted = predict({ ...rule, ...parts, shape, placeOf: null, kept: {} });
      return predicted !== null && differingCells(cellsOf(predicted), found).length === 0;
    });
    if (change === undefined) return [];
    const sentence = `${change[0]}, which produces the shape ${printShape(shape)}`;
    return [{ id, sentence, cells: { explained: size, differing: size } }];
  });
}
