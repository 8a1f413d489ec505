/** Explains a wrong result, with diagnoses and the exact history of the first differing cell. */

import { printCount } from "../../core/foreign.ts";
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

/** Maximum number of printed diagnoses. With --json, the output contains all diagnoses. */
const MOST_REASONS = 3;

/** Maximum number of printed updates per cell. The output of `explain --json` contains all updates. */
const MOST_UPDATES = 6;

/** Diagnoses a difference. Returns null if data types or shapes differ, or if only the bits of a NaN differ. */
export function diagnosesOf(
  { node, inputs }: NodeCall,
  result: Tensor,
  difference: Difference | null,
): readonly Diagnosis[] | null {
  if (!difference?.at) return null;
  const found = diagnose(node, inputs, result);
  return found.length === 0 && difference.isNaN ? null : found;
}

/** Prints one line per diagnosis, or a single line if no diagnosis was found. */
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

/** Prints the history of one cell in the exact result, or returns an empty list if the call has no result. */
export function historyLines(explanation: Explanation, at: readonly number[]): string[] {
  const { output, story } = explanation;
  // The history names no single cell for complex numbers, because their two parts share a cell.
  if (output === null || story === null || DTYPES[output.dtype].lanes !== 1) return [];
  return ["exactly:", ...cellText(explanation, at, MOST_UPDATES).map((line) => `  ${line}`)];
}
