/** Why a result is wrong: the explanations of `diagnose`, and what really happens to the first cell that differs. */

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
import { printCount } from "./layout.ts";

/** The text shows so many explanations; --json has all. */
const MOST_REASONS = 3;

/** And so many updates of a cell, which --json has all of in explain. */
const MOST_UPDATES = 6;

/** What may explain a difference; null where there is nothing to explain: other types or shapes, or another NaN. */
export function diagnosesOf(
  { node, inputs }: NodeCall,
  result: Tensor,
  difference: Difference | null,
): readonly Diagnosis[] | null {
  if (!difference?.at) return null;
  const found = diagnose(node, inputs, result);
  return found.length === 0 && difference.isNaN ? null : found;
}

/** A line for each explanation, or one that says that there is none. */
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

/** The history of one cell of the exact result, in lines; none where the call has no result. */
export function historyLines(explanation: Explanation, at: readonly number[]): string[] {
  const { output, story } = explanation;
  // A complex number has no such cell: its parts are lanes of one.
  if (output === null || story === null || DTYPES[output.dtype].lanes !== 1) return [];
  return ["exactly:", ...cellText(explanation, at, MOST_UPDATES).map((line) => `  ${line}`)];
}
