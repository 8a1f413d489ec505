/** Reads the operands of a scatter cell as JavaScript values, and combines two operands in the data type. */

import { groupByTarget } from "../explain/targets.ts";
import { absoluteOffsets } from "../../core/plan/plan.ts";
import { combineNumbers } from "../../core/kernels/combine.ts";
import {
  allocate,
  DTYPES,
  isUnsigned,
  plainStep,
  type DType,
  type Step,
} from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { planOf, type Rule } from "./rule.ts";

export type Value = number | bigint;

/** Finds the updates for each cell. */
export interface CellUpdates {
  /** Returns the number of updates that target a cell. */
  count(cell: number): number;
  /** Returns the position of the nth updates element that targets a cell. */
  element(cell: number, nth: number): number;
}

export function cellUpdatesOf(rule: Rule): CellUpdates {
  const plan = planOf(rule);
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

/** Returns a reader for numbers and bigints, or null for data types with other values. */
export function valuesOf({ dtype, data }: Tensor): ((element: number) => Value) | null {
  const { family } = DTYPES[dtype];
  if (family !== "float" && family !== "half" && family !== "int" && family !== "int64")
    return null;
  return reader(dtype, data) as (element: number) => Value;
}

/**
 * Returns a function that combines two values. Integers wrap at the limits of their data type. Floats are computed in
 * float64 without rounding.
 */
export function combinerOf(dtype: DType, given: Step): (a: Value, b: Value) => Value {
  const { family } = DTYPES[dtype];
  if (given === "none") return (_, b) => b;
  if (family === "float" || family === "half") {
    return (a, b) => combineNumbers(given, Number(a), Number(b));
  }
  const step = plainStep(given);
  if (step === "max") return (a, b) => (a > b ? a : b);
  if (step === "min") return (a, b) => (a < b ? a : b);
  if (family === "int64") {
    const wrap = isUnsigned(dtype) ? BigInt.asUintN : BigInt.asIntN;
    return (a, b) => wrap(64, bigintStep(step, a as bigint, b as bigint));
  }
  const cell = allocate(dtype, 1) as Int32Array;
  return (a, b) => {
    cell[0] =
      step === "mul" ? Math.imul(Number(a), Number(b)) : numberStep(step, Number(a), Number(b));
    return cell[0];
  };
}

type Sum = "add" | "sub" | "mul";

const bigintStep = (step: Sum, a: bigint, b: bigint): bigint =>
  step === "add" ? a + b : step === "sub" ? a - b : a * b;

const numberStep = (step: Sum, a: number, b: number): number =>
  step === "add" ? a + b : step === "sub" ? a - b : a * b;
