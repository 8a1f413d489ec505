/** Compares results bit for bit, and explains differences: with diagnoses, and with the history of a cell. */

import { positionOf, printType } from "./cells.ts";
import { cellText } from "./explanation-text.ts";
import { printName } from "./layout.ts";
import { printFile } from "../failure.ts";
import { printCount } from "../../core/foreign.ts";
import {
  diagnose,
  type Diagnosis,
  DTYPES,
  type Explanation,
  firstDifference,
  type Scalar,
  tensor,
  type Tensor,
} from "../../entries/index.ts";
import type { ExpectedReport, NodeCall } from "../../entries/onnx.ts";
import { printScalar, printShape } from "../../entries/operators.ts";

export interface Difference {
  /** The first differing cell; null if data types or shapes differ. */
  readonly at: readonly number[] | null;
  readonly got: string;
  readonly expected: string;
  readonly sentence: string;
  /** True if the two values are NaNs with different bits. */
  readonly isNaN: boolean;
}

/** Returns the first difference between `got` and `expected`, or null if they are equal. */
export function compareTensors(
  name: string,
  got: Tensor,
  expected: Tensor,
  file: string,
): Difference | null {
  const difference = (
    at: Difference["at"],
    left: string,
    right: string,
    isNaN = false,
  ): Difference => ({
    at,
    got: left,
    expected: right,
    sentence: `${printName(name)}${at?.length ? printShape(at) : ""} is ${left}, but ${file} has ${right}`,
    isNaN,
  });
  const types = [printType(got), printType(expected)] as const;
  if (types[0] !== types[1]) return difference(null, ...types);
  const at = firstDifference(got, expected);
  if (at === null) return null;
  const cells = [got, expected].map((one) => cellOf(one, at));
  const [left, right] = cells.map((cell) => printScalar(cell.dtype, cell.toArray() as Scalar));
  if (left !== right) return difference(at, left, right);
  // Two NaNs with different bits may look alike in print.
  const [leftBits, rightBits] = cells.map(printBits);
  return difference(at, `${left} (bits ${leftBits})`, `${right} (bits ${rightBits})`, true);
}

export function cellOf({ dtype, shape, data }: Tensor, at: readonly number[]): Tensor {
  const { lanes } = DTYPES[dtype];
  const start = lanes * positionOf(at, shape);
  return tensor(dtype, [], data.slice(start, start + lanes));
}

function printBits({ data }: Tensor): string {
  if (!ArrayBuffer.isView(data)) return "";
  const bytes = [...new Uint8Array(data.buffer)].toReversed();
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Maximum number of printed diagnoses. With --json, the output contains all diagnoses. */
const MOST_REASONS = 3;

/** Maximum number of printed updates per cell. The output of `explain --json` contains all updates. */
const MOST_UPDATES = 6;

/** A result beside the tensor of a file. */
export interface Comparison {
  readonly facts: {
    readonly equal: boolean;
    readonly difference?: Omit<Difference, "sentence" | "isNaN">;
    readonly diagnoses?: readonly Diagnosis[];
  };
  /** The first differing cell; null if the tensors are equal, or their data types or shapes differ. */
  readonly at: readonly number[] | null;
  /** Describes the difference; null if the tensors are equal. */
  readonly sentence: string | null;
  /** Lines about known faults that explain the difference. */
  readonly reasons: readonly string[];
}

/** Compares a result with the tensor of a file. Without `call`, the difference is not diagnosed. */
export function compareResult(
  name: string,
  got: Tensor,
  expected: Tensor,
  file: string,
  call: NodeCall | null,
): Comparison {
  const found = compareTensors(name, got, expected, printFile(file));
  if (found === null) return { facts: { equal: true }, at: null, sentence: null, reasons: [] };
  const { sentence, isNaN, ...difference } = found;
  const { at } = difference;
  const known = call === null || at === null ? [] : diagnose(call.node, call.inputs, expected);
  // Nothing is said if only the bits of a NaN differ and no fault is known.
  const isDiagnosed = call !== null && at !== null && (known.length > 0 || !isNaN);
  return {
    facts: { equal: false, difference, ...(isDiagnosed && { diagnoses: known }) },
    at,
    sentence,
    reasons: isDiagnosed ? reasonLines(known) : [],
  };
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

/** Describes expected outputs, and the changes that would produce them. */
export function expectedLines({ outputs, changes }: ExpectedReport): string[] {
  const lines = outputs.map(({ name, isExpected, sentence }) =>
    isExpected ? `  expected: ${printName(name)} is as expected` : `  not as expected: ${sentence}`,
  );
  if (outputs.every(({ isExpected }) => isExpected)) return lines;
  if (changes.length === 0)
    return [...lines, "  no change of a single scatter or gather gives the expected outputs"];
  return [
    ...lines,
    ...changes.map(
      ({ path, id, sentence }, at) =>
        `  ${at === 0 ? "why" : "or"}: ${path} gives the expected outputs if ${sentence} (${id})`,
    ),
  ];
}
