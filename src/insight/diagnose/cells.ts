/**
 * Reads the cells of a result: compares them with other cells, finds the updates of each cell, and combines operands as
 * JavaScript values. All NaN values are considered equal.
 */

import { groupByTarget } from "../explain/targets.ts";
import { combineNumbers } from "../../core/kernels/combine.ts";
import { absoluteOffsets } from "../../core/plan/plan.ts";
import {
  allocate,
  DTYPES,
  isNumericStorage,
  isUnsigned,
  plainStep,
  viewOf,
  type DType,
  type Step,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { planOfRule, type Rule } from "./rule.ts";

/** Tensor cells in a form that can be compared with cells of the same data type. */
export interface Cells {
  readonly count: number;
  readonly words: ArrayLike<number | string>;
  /** Number of words per cell. */
  readonly per: number;
}

export function cellsOf(tensor: Tensor): Cells {
  const words = wordsOf(tensor);
  return { count: tensor.size, words, per: tensor.size === 0 ? 1 : words.length / tensor.size };
}

/** Returns true if a cell contains the same value as a cell of other cells, by default at the same position. */
export function isSame(a: Cells, b: Cells, cell: number, otherCell = cell): boolean {
  const { per } = a;
  for (let w = 0; w < per; w++) {
    if (a.words[cell * per + w] !== b.words[otherCell * per + w]) return false;
  }
  return true;
}

/** Returns the positions of differing cells. */
export function differingCells(a: Cells, b: Cells): Uint32Array {
  const found = new Uint32Array(a.count);
  let count = 0;
  for (let cell = 0; cell < a.count; cell++) if (!isSame(a, b, cell)) found[count++] = cell;
  return found.slice(0, count);
}

/** Returns true if two tensors of the same data type and size differ. */
export const differ = (a: Tensor, b: Tensor): boolean =>
  differingCells(cellsOf(a), cellsOf(b)).length > 0;

/** Returns element bits as words of at most 32 bits, with identical bits for every NaN. Text does not change. */
function wordsOf({ dtype, data }: Tensor): ArrayLike<number | string> {
  if (!isNumericStorage(data)) return data;
  const { family } = DTYPES[dtype];
  if (family === "half") {
    const read = reader(dtype, data);
    return (data as Uint16Array).map((bits, p) => (Number.isNaN(read(p)) ? 0x7fff : bits));
  }
  const numbers = family === "float" || family === "complex" ? withOneNaN(data) : data;
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: bytes } = numbers;
  const words = bytes === 1 ? "uint8" : bytes === 2 ? "uint16" : "uint32";
  return viewOf(words, buffer, byteOffset, byteLength / Math.min(bytes, 4)) as Uint32Array;
}

function withOneNaN(data: Storage): Float32Array | Float64Array {
  const floats = data as Float32Array | Float64Array;
  const isNarrow = floats instanceof Float32Array;
  const same = floats.slice();
  const words = new Uint32Array(same.buffer);
  for (let p = 0; p < same.length; p++) {
    if (same[p] === same[p]) continue;
    // NaN is stored as explicit bits, because the bits of JavaScript's NaN depend on the machine.
    if (isNarrow) words[p] = 0x7fc00000;
    else [words[2 * p], words[2 * p + 1]] = [0, 0x7ff80000];
  }
  return same;
}

/** Finds the updates for each cell. */
export interface CellUpdates {
  /** Returns the number of updates that target a cell. */
  count(cell: number): number;
  /** Returns the position of the nth updates element that targets a cell. */
  element(cell: number, nth: number): number;
}

export function cellUpdatesOf(rule: Rule): CellUpdates {
  const plan = planOfRule(rule);
  const { slice, source } = plan;
  const groups = groupByTarget(absoluteOffsets(plan), slice);
  // The last group is cached, because callers request the updates of one cell consecutively.
  let [target, group] = [-1, -1];
  const groupOf = (cell: number): number => {
    const wanted = Math.floor(cell / slice);
    if (wanted !== target) [target, group] = [wanted, groups.find(wanted)];
    return group;
  };
  return {
    count: (cell) => (groupOf(cell) === -1 ? 0 : groups.size(groupOf(cell))),
    element(cell, nth) {
      const position = groups.position(groupOf(cell), nth);
      return (source === undefined ? position : source[position]) * slice + (cell % slice);
    },
  };
}

export type Value = number | bigint;

/** Returns a reader for numbers and bigints, or null for data types with other values. */
export const valuesOf = ({ dtype, data }: Tensor): ((element: number) => Value) | null =>
  ["float", "half", "int", "int64"].includes(DTYPES[dtype].family)
    ? (reader(dtype, data) as (element: number) => Value)
    : null;

const BIGINTS = {
  add: (a: bigint, b: bigint) => a + b,
  sub: (a: bigint, b: bigint) => a - b,
  mul: (a: bigint, b: bigint) => a * b,
  max: (a: bigint, b: bigint) => (a > b ? a : b),
  min: (a: bigint, b: bigint) => (a < b ? a : b),
};

/**
 * Returns a function that combines two values. Integers wrap at the limits of their data type. Floats are computed in
 * float64 without rounding.
 */
export function combinerOf(dtype: DType, step: Step): (a: Value, b: Value) => Value {
  const { family } = DTYPES[dtype];
  if (step === "none") return (_, b) => b;
  if (family === "int64") {
    const wrap = isUnsigned(dtype) ? BigInt.asUintN : BigInt.asIntN;
    const combine = BIGINTS[plainStep(step)];
    return (a, b) => wrap(64, combine(a as bigint, b as bigint));
  }
  if (family !== "int") return (a, b) => combineNumbers(step, Number(a), Number(b));
  const cell = allocate(dtype, 1) as Int32Array;
  return (a, b) => {
    const [first, second] = [Number(a), Number(b)];
    cell[0] = step === "mul" ? Math.imul(first, second) : combineNumbers(step, first, second);
    return cell[0];
  };
}
