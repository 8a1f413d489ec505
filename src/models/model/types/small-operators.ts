/**
 * Rules for small operators, which usually compute shapes. Each row combines a type rule, which determines the result's
 * shape, and a trace, which follows short integer lists element by element, so that a shape remains known between
 * `Shape` and `Reshape`.
 */

import { DTYPES, type DType } from "../../../core/tensor/dtype.ts";
import type { Dim } from "../../../core/tensor/shape.ts";
import { familyOutputs } from "../family.ts";
import { constantOf, destinationOf, inlineOperator } from "../inline.ts";
import {
  elementsOf,
  knownConstant,
  knownElements,
  MAX_ELEMENTS,
  NOTHING_KNOWN,
  type Known,
} from "../known.ts";
import { readConstant } from "../model.ts";
import { broadcastShapes, productDims, wrongNode } from "./dims.ts";
import * as parts from "./parts.ts";
import {
  broadcast,
  compared,
  firstShape,
  output,
  rule,
  shared,
  sharedBy,
  variadic,
  type NodeView,
  type ShapeOf,
  type Table,
  type Typed,
  type TypeRule,
} from "./rules.ts";
import * as shaping from "./shaping.ts";

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
type Fold = (a: Dim, b: Dim, c?: Dim) => Dim;

/**
 * Folds numbers. An operand that equals the neutral element of its side, `left` or `right`, gives the other operand,
 * which may be a dimension name.
 */
const numbers =
  (compute: (a: number, b: number) => number | boolean, right = NaN, left = NaN): Fold =>
  (a, b) => {
    if (a === left) return b;
    if (b === right) return a;
    if (typeof a !== "number" || typeof b !== "number") return null;
    const result = Number(compute(a, b));
    return Number.isSafeInteger(result) ? result + 0 : null;
  };

/** Divides two numbers. Inexact negative quotients are unknown, because specifications disagree about the rounding. */
const quotient = (a: number, b: number): number =>
  b !== 0 && (a % b === 0 || (a >= 0 && b > 0)) ? Math.trunc(a / b) : Number.NaN;

const isNegative = (one: Dim): boolean => typeof one === "number" && one < 0;

const equal = /* @__PURE__ */ numbers((a, b) => a === b);

/** Folds by operator, in tables of operators with the same type rule. */
type Folds = Readonly<Record<string, Fold>>;

const ofOne = (): Folds => ({
  Neg: (a) => (typeof a === "number" ? 0 - a : null),
  Abs: (a) => (typeof a === "number" ? Math.abs(a) : a),
  Not: (a) => (typeof a === "number" ? 1 - a : null),
});

const arithmetic = (): Folds => ({
  Add: numbers((a, b) => a + b, 0, 0),
  Sub: numbers((a, b) => a - b, 0),
  Mul: numbers((a, b) => a * b, 1, 1),
  Div: numbers(quotient, 1),
  Mod: numbers((a, b) => (a >= 0 && b > 0 ? a % b : Number.NaN)),
});

const comparisons = (): Folds => ({
  Equal(a, b) {
    if (a !== null && a === b) return 1;
    const isSize = typeof a === "string" || typeof b === "string";
    return isSize && (isNegative(a) || isNegative(b)) ? 0 : equal(a, b);
  },
  Greater: numbers((a, b) => a > b),
  GreaterOrEqual: numbers((a, b) => a >= b),
  Less: numbers((a, b) => a < b),
  LessOrEqual: numbers((a, b) => a <= b),
  And: (a, b) => (a === 0 || b === 0 ? 0 : a && b),
  Or: (a, b) => (a === 1 || b === 1 ? 1 : a === 0 ? b : null),
  Xor: numbers((a, b) => a !== b),
});

const chosen: Fold = (condition, a, b = null) =>
  condition === 1 ? a : condition === 0 ? b : a !== null && a === b ? a : null;

const listOf = (count: Dim, make: (at: number) => Dim): List =>
  typeof count === "number" ? Array.from({ length: count }, (_, at) => make(at)) : null;

const broadcastElement = (list: List, at: number): Dim =>
  (list?.length === 1 ? list[0] : list?.[at]) ?? null;

/** Computes each element from the elements of all inputs, which are broadcast. */
const elementwise =
  (compute: (elements: readonly Dim[]) => Dim): Trace =>
  (view, { count }) => {
    if (view.node.op === "Mod" && view.int("fmod", 0) !== 0) return null;
    const lists = view.node.inputs.map((_, position) => view.elements(position));
    return listOf(count, (at) => compute(lists.map((list) => broadcastElement(list, at))) ?? null);
  };

const folded = (fold: Fold): Trace => elementwise(([a, b, c]) => fold(a, b, c));

/** `Max` and `Min`, which have any number of inputs. */
const extreme = (choose: (a: number, b: number) => number): TypeRule => {
  const ofNumbers = numbers(choose);
  const fold = (a: Dim, b: Dim): Dim => (a !== null && a === b ? a : ofNumbers(a, b));
  return small(
    elementwise(([first, ...others]) => others.reduce(fold, first)),
    variadic,
    shared,
  );
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

const splitElements: Trace = (view, { at }) => {
  const elements = elementsOf(view.input(0));
  const { outputs } = view.node;
  const sizes = parts.splitSizes(view, view.shape(0)?.[0] ?? null, outputs.length).slice(0, at + 1);
  if (elements === null || !sizes.every((size) => typeof size === "number")) return null;
  const end = sizes.reduce((sum, size) => sum + size, 0);
  return elements.slice(end - sizes[at], end);
};

const filled: Trace = (view, { count }) => {
  const value = elementsOf({ ...NOTHING_KNOWN, constant: view.tensor("value") });
  return listOf(count, () => value?.[0] ?? null);
};

/** `Tile` and `Expand`, whose input has one element or more. */
const repeated: Trace = (view, { count }) => {
  const elements = elementsOf(view.input(0));
  return elements?.length ? listOf(count, (at) => elements[at % elements.length]) : null;
};

/** Elements that another data type cannot represent wrap around, and become unknown. */
const converted = (elements: List, { dtype }: Result): List =>
  elements !== null && DTYPES[dtype].family === "bool"
    ? elements.map((one) => (typeof one === "number" ? Number(one !== 0) : null))
    : elements;

function traced(view: NodeView, known: Known, trace: Trace, at: number): Known {
  const { type } = known;
  if (type === null || type.shape === null) return known;
  const { dtype, shape } = type;
  const [count = 1] = shape;
  const isLong = typeof count === "number" && count > MAX_ELEMENTS;
  if (shape.length > 1 || count === null || isLong) return known;
  const elements = trace(view, { dtype, count, at });
  // If an attribute is unknown, the rule knows the rank only, and the elements may not fit.
  const isOther = elements === null || (typeof count === "number" && elements.length !== count);
  return isOther ? known : knownElements(dtype, shape.length, elements);
}

/** Adds a trace to a type rule. */
const tracing =
  (trace: Trace, one: TypeRule): TypeRule =>
  (view) =>
    one(view).map((known, at) => traced(view, known, trace, at));

const small = (trace: Trace, shapeOf: ShapeOf, ...types: readonly Typed[]): TypeRule =>
  tracing(trace, rule(shapeOf, ...types));

const folding = (folds: Folds, shapeOf: ShapeOf, ...types: readonly Typed[]): Table =>
  Object.fromEntries(
    Object.entries(folds).map(([op, fold]) => [op, small(folded(fold), shapeOf, ...types)]),
  );

/** The rule for scatters and gathers. */
export const family: TypeRule = (view) => familyOutputs(view.node, view.opset, view.inputs());

export const gather = /* @__PURE__ */ tracing(gathered, family);

/** The rule for `Cast` and OpenVINO's `Convert`. A constant stays a constant, which is converted when it is read. */
export const castOrConvert = /* @__PURE__ */ tracing(
  (view, result) => converted(view.input(0).elements, result),
  (view) => {
    const { node, opset } = view;
    const dtype = destinationOf(node);
    const run = inlineOperator(node);
    if (dtype === null || run === null) return [];
    const { constant: source, elements } = view.input(0);
    if (source === null || elements !== null) return [output(dtype, view.shape(0))];
    const { name, shape } = source;
    const read = () => run(node, [readConstant(source)], opset)[0];
    return [knownConstant({ name, dtype, shape, read })];
  },
);

export const smallOperators = (): Table => ({
  Constant({ node, opset }) {
    const made = constantOf(node, opset);
    return made === null ? [] : [knownConstant(made)];
  },
  Identity: (view) => [view.input(0)],
  Cast: castOrConvert,
  CastLike: small((view, result) => converted(kept(view, result), result), firstShape, 1),
  ...folding(ofOne(), firstShape),
  ...folding(arithmetic(), broadcast, shared),
  ...folding(comparisons(), broadcast, compared),
  Max: extreme(Math.max),
  Min: extreme(Math.min),
  Where: small(
    folded(chosen),
    (view) => broadcastShapes([0, 1, 2].map((at) => view.shape(at))),
    sharedBy(1, 2),
  ),
  Shape: small(shaping.shapePart, (view) => [shaping.shapePart(view)?.length ?? null], "int64"),
  Size: small(
    (view) => [productDims(view.shape(0) ?? [null])],
    () => [],
    "int64",
  ),
  Reshape: small(kept, shaping.reshaped),
  Unsqueeze: small(kept, shaping.unsqueezed),
  Squeeze: small(kept, shaping.squeezed),
  Transpose: small(kept, shaping.transposed),
  Expand: small(repeated, shaping.expanded),
  Tile: small(repeated, parts.tiled),
  Concat: small(
    (view) => {
      const lists = view.node.inputs.map((_, position) => view.elements(position));
      return lists.every((list) => list !== null) ? lists.flat() : null;
    },
    parts.joined,
    shared,
  ),
  Slice: small((view) => {
    const elements = elementsOf(view.input(0));
    return elements && (parts.takenBySlice(view)?.[0].positions?.map((at) => elements[at]) ?? null);
  }, parts.sliced),
  Split: tracing(splitElements, parts.split),
  Gather: gather,
  Range: small(
    (view, { count }) => {
      const [start, , delta] = shaping.rangeOf(view);
      const isKnown = typeof start === "number" && typeof delta === "number";
      return isKnown ? listOf(count, (at) => start + at * delta) : null;
    },
    shaping.ranged,
    shared,
  ),
  ConstantOfShape: small(
    filled,
    (view) => shaping.shapeFrom(view, 0),
    (view) => (view.hasAttribute("value") ? (view.tensor("value")?.dtype ?? null) : "float32"),
  ),
});
