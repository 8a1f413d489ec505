/** Explains a wrong result: the diagnoses, and the exact history of the first cell that differs. */

import { printCount } from "../../core/print-count.ts";
import {
  DTYPES,
  diagnose,
  type Diagnosis,
  type Explanation,
  type Tensor,
} from "../../entries/index.ts";
import type { NodeCall } from "../../entries/onnx.ts";
import type { Difference } from "./comparison.ts";
import { cellText } from "./explanation-text.ts";

/** The maximum number of diagnoses in the text; --json has all. */
const MOST_REASONS = 3;

/** The maximum number of updates of a cell in the text; `explain --json` has all. */
const MOST_UPDATES = 6;

/**
 * Returns the diagnoses of a difference, or null if diagnosis does not apply: other types or shapes, or another NaN.
 */
export function diagnosesOf(
  { node, inputs }: NodeCall,
  result: Tensor,
  difference: Difference | null,
): readonly Diagnosis[] | null {
  if (!difference?.at) return null;
  const found = diagnose(node, inputs, result);
  return found.length === 0 && difference.isNaN ? null : found;
}

/** Returns a line per diagnosis, or one line if the list is empty. */
export function reasonLines(diagnoses: readonly Diagnosis[]): string[] {
  if (diagnoses.length === 0) return ["why: nothing known explains it"];
  return diagnoses.slice(0, MOST_REASONS).map(({ id, sentence, cells, dialects }, at) => {
    const { explained, differing } = cells;
    const how =
      explained === differing
        ? `explains ${differing === 1 ? "the cell" : `all ${differing} cells`}`
        : `explains ${explained} of ${printCount(differing, "cell")}`;
    const who = dialects.length === 0 ? "" : `; known of ${dialects.join(", ")}`;
    return `${at === 0 ? "why" : "or"}: ${sentence} (${id}, ${how}${who})`;
  });
}

/** Returns the history of one cell of the exact result, in lines, or empty if the call has no result. */
export function historyLines(explanation: Explanation, at: readonly number[]): string[] {
  const { output, story } = explanation;
  // The two parts of a complex number share a cell, so no single cell is named.
  if (output === null || story === null || DTYPES[output.dtype].lanes !== 1) return [];
  return ["exactly:", ...cellText(explanation, at, MOST_UPDATES).map((line) => `  ${line}`)];
}
