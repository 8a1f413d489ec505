/**
 * Small operators whose integers are traced element by element, so that a shape remains known between `Shape` and
 * `Reshape`. The table has one row per operator. The type rules of the same operators determine the result's shape.
 */

import { DTYPES, integerRange, type DType } from "../../../core/tensor/dtype.ts";
import type { Dim } from "../../../core/tensor/shape.ts";
import { NOTHING_KNOWN, type Known } from "../known.ts";
import { productDims, wrongNode } from "./dims.ts";
import { elementsOf, knownElements, MAX_ELEMENTS } from "./elements.ts";
import type { NodeView } from "./node-view.ts";
import { splitSizes, takenBySlice } from "./parts.ts";
import { rangeOf, shapePart } from "./shaping.ts";

type List = readonly Dim[] | null;

interface Result {
  readonly dtype: DType;
  /** The number of elements, which may be the name of a dimension. */
  readonly count: Dim;
  /** The output's position. */
  readonly at: number;
}

/** Returns the elements of a scalar or list; null if they are not traced. */
type Trace = (view: NodeView, result: Result) => List;

/**
 * Computes an integer from one or more integers, with null for an uncertain result. Dimension names stand for sizes,
 * which are never negative.
 */
type Fold = (...elements: readonly Dim[]) => Dim;

const numbers =
  (compute: (a: number, b: number) => number | boolean): Fold =>
  (a, b) => {
    if (typeof a !== "number" || typeof b !== "number") return null;
    const result = Number(compute(a, b));
    return Number.isSafeInteger(result) ? result + 0 : null;
  };

/** Divides two numbers. Inexact negative quotients are unknown, because specifications disagree about the rounding. */
const quotient = (a: number, b: number): number =>
  b !== 0 && (a % b === 0 || (a >= 0 && b > 0)) ? Math.trunc(a / b) : Number.NaN;

const isNegative = (one: Dim): boolean => typeof one === "number" && one < 0;

const extreme = (choose: (a: number, b: number) => number): Fold => {
  const ofNumbers = numbers(choose);
  return (first, ...others) =>
    others.reduce((a, b) => (a !== null && a === b ? a : ofNumbers(a, b)), first);
};

/** Folds in which a neutral element keeps a name. The neutral element `left` may also be the first operand. */
const neutral = (
  right: number,
  compute: (a: number, b: number) => number,
  left: number | null = null,
): Fold => {
  const ofNumbers = numbers(compute);
  return (a, b) => (left !== null && a === left ? b : b === right ? a : ofNumbers(a, b));
};

const equal = /* @__PURE__ */ numbers((a, b) => a === b);
const product = /* @__PURE__ */ numbers((a, b) => a * b);
const larger = /* @__PURE__ */ numbers(Math.max);

const folds = (): Readonly<Record<string, Fold>> => ({
  Add: neutral(0, (a, b) => a + b, 0),
  Sub: neutral(0, (a, b) => a - b),
  Mul: neutral(1, (a, b) => a * b, 1),
  Div: neutral(1, quotient),
  Mod: numbers((a, b) => (a >= 0 && b > 0 ? a % b : Number.NaN)),
  Neg: (a) => (typeof a === "number" ? 0 - a : null),
  Abs: (a) => (typeof a === "number" ? Math.abs(a) : a),
  Max: extreme(Math.max),
  Min: extreme(Math.min),
  Equal(a, b) {
    if (a !== null && a === b) return 1;
    const isSize = typeof a === "string" || typeof b === "string";
    return isSize && (isNegative(a) || isNegative(b)) ? 0 : equal(a, b);
  },
  Greater: numbers((a, b) => a > b),
  GreaterOrEqual: numbers((a, b) => a >= b),
  Less: numbers((a, b) => a < b),
  LessOrEqual: numbers((a, b) => a <= b),
  And: (a, b) => (a === 0 || b === 0 ? 0 : product(a, b)),
  Or: (a, b) => (a === 1 || b === 1 ? 1 : larger(a, b)),
  Xor: numbers((a, b) => a !== b),
  Not: (a) => (typeof a === "number" ? 1 - a : null),
  Where: (condition, a, b) =>
    condition === 1 ? a : condition === 0 ? b : a !== null && a === b ? a : null,
});

const listOf = (count: Dim, make: (at: number) => Dim): List =>
  typeof count === "number" ? Array.from({ length: count }, (_, at) => make(at)) : null;

const broadcastElement = (list: List, at: number): Dim =>
  (list?.length === 1 ? list[0] : list?.[at]) ?? null;

/** Applies a fold to the elements of all inputs, which are broadcast. */
const folded =
  (fold: Fold): Trace =>
  (view, { count }) => {
    if (view.node.op === "Mod" && view.int("fmod", 0) !== 0) return null;
    const lists = view.node.inputs.map((_, position) => view.elements(position));
    return listOf(count, (at) => fold(...lists.map((list) => broadcastElement(list, at))) ?? null);
  };

/** Operators that keep the order of their first input's elements. */
const kept: Trace = (view) => elementsOf(view.input(0));

const gathered: Trace = (view) => {
  const elements = elementsOf(view.input(0));
  const indices = view.elements(1);
  if (elements === null || indices === null || view.shape(0)?.length !== 1) return null;
  const { length } = elements;
  return indices.map((index) => {
    if (typeof index !== "number") return null;
    if (index < -length || index >= length) throw wrongNode(`${index} is out of range`);
    return elements[index < 0 ? index + length : index];
  });
};

const split: Trace = (view, { at }) => {
  const elements = elementsOf(view.input(0));
  const { outputs } = view.node;
  const sizes = splitSizes(view, view.shape(0)?.[0] ?? null, outputs.length).slice(0, at + 1);
  if (elements === null || !sizes.every((size) => typeof size === "number")) return null;
  const end = sizes.reduce((sum, size) => sum + size, 0);
  return elements.slice(end - sizes[at], end);
};

/** Elements that another data type cannot represent wrap around, and become unknown. */
const converted: Trace = (view, { dtype }) => {
  const { elements } = view.input(0);
  if (elements === null || DTYPES[dtype].family !== "bool") return elements;
  return elements.map((one) => (typeof one === "number" ? Number(one !== 0) : null));
};

const traces = (): Readonly<Record<string, Trace>> => ({
  ...Object.fromEntries(Object.entries(folds()).map(([op, fold]) => [op, folded(fold)])),
  Shape: shapePart,
  Size: (view) => [productDims(view.shape(0) ?? [null])],
  ...{ Reshape: kept, Squeeze: kept, Unsqueeze: kept, Transpose: kept },
  Concat: (view) => {
    const lists = view.node.inputs.map((_, position) => view.elements(position));
    return lists.every((list) => list !== null) ? lists.flat() : null;
  },
  Slice(view) {
    const elements = elementsOf(view.input(0));
    return elements && (takenBySlice(view)?.[0].positions?.map((at) => elements[at]) ?? null);
  },
  Split: split,
  Gather: gathered,
  Tile(view, { count }) {
    const elements = elementsOf(view.input(0));
    return elements?.length ? listOf(count, (at) => elements[at % elements.length]) : null;
  },
  Expand(view, { count }) {
    const elements = elementsOf(view.input(0));
    return elements?.length === 1 ? listOf(count, () => elements[0]) : null;
  },
  ConstantOfShape(view, { count }) {
    const value = elementsOf({ ...NOTHING_KNOWN, constant: view.tensor("value") });
    return listOf(count, () => value?.[0] ?? null);
  },
  Range(view, { count }) {
    const [start, , delta] = rangeOf(view);
    const isKnown = typeof start === "number" && typeof delta === "number";
    return isKnown ? listOf(count, (at) => start + at * delta) : null;
  },
  ...{ Cast: converted, Convert: converted },
  CastLike: (view, { dtype }) => integerRange(dtype) && elementsOf(view.input(0)),
});

const TRACES = /* @__PURE__ */ traces();

/** Adds the traced elements of an output at a position to its known type. */
export function traced(view: NodeView, known: Known, at: number): Known {
  const { op } = view.node;
  const { type } = known;
  if (!Object.hasOwn(TRACES, op) || type === null || type.shape === null) return known;
  const { dtype, shape } = type;
  const [count = 1] = shape;
  const isLong = typeof count === "number" && count > MAX_ELEMENTS;
  if (shape.length > 1 || count === null || isLong) return known;
  const elements = TRACES[op](view, { dtype, count, at });
  // If an attribute is unknown, the rule knows the rank only, and the elements may not fit.
  const isOther = elements === null || (typeof count === "number" && elements.length !== count);
  return isOther ? known : knownElements(dtype, shape.length, elements);
}
