/**
 * Scatters and gathers, expressed by other ONNX operators. The result has the same bits in every runtime that
 * implements `Where`, `Cast`, `Gather…` and `ScatterElements` correctly. The replacement nodes read all shapes at run
 * time, so shapes need not be known in advance.
 */

import { tensor } from "../../core/tensor/tensor.ts";
import type { DType, Reduction } from "../../core/tensor/dtype.ts";
import { constant, type Attribute } from "../model/model.ts";
import type { Words } from "./words.ts";

/** A scatter to rewrite, or a gather, which has no updates. */
export interface Scatter {
  readonly form: "tuples" | "elements";
  readonly axis: number;
  readonly reduction: Reduction;
  readonly dtype: DType;
  /** The input names. The indices are int64. */
  readonly data: string;
  readonly indices: string;
  readonly updates: string;
  /** True if ScatterND must be avoided because it may race. */
  readonly mayRace: boolean;
}

/** The targets of updates: data as a matrix of slices, and a row number per update. */
interface Targets {
  readonly shape: string;
  /** The names of size lists. */
  readonly rows: string;
  readonly slice: string;
  /** The name of a list of nonnegative row numbers. */
  readonly at: string;
}

/**
 * Finds each update's row by gathering row numbers with the scatter's indices. With this method, negative indices count
 * from the end, and an index out of range stays an error.
 */
function targetsOf(words: Words, { form, axis, data, indices }: Scatter): Targets {
  const shape = words.put("Shape", [data]);
  const isTuples = form === "tuples";
  const length = isTuples ? words.part(words.put("Shape", [indices]), words.list(-1)) : null;
  const lead = length === null ? shape : words.part(shape, words.list(0), length);
  const rows = words.product(lead);
  const slice = length === null ? words.list(1) : words.product(words.part(shape, length));
  const [zero, one] = [words.scalar("int64", 0), words.scalar("int64", 1)];
  const all = words.put("Range", [zero, words.put("Squeeze", [rows]), one]);
  const numbers = words.reshape(all, lead);
  const found = isTuples
    ? words.put("GatherND", [numbers, indices])
    : words.put("GatherElements", [numbers, indices], { axis });
  return { shape, rows, slice, at: words.put("Reshape", [found, words.list(-1)]) };
}

/** Writes a scatter with the same targets, but with other data and updates. */
type Again = (data: string, updates: string, reduction: Reduction) => string;

function scatterer(words: Words, scatter: Scatter): Again {
  const { form, axis, indices, mayRace } = scatter;
  if (form === "elements")
    return (data, updates, reduction) =>
      words.put("ScatterElements", [data, indices, updates], { axis, ...wordOf(reduction) });
  if (!mayRace)
    return (data, updates, reduction) =>
      words.put("ScatterND", [data, indices, updates], wordOf(reduction));
  const { shape, rows, slice, at } = targetsOf(words, scatter);
  const wide = words.put("Concat", [words.list(1), slice], { axis: 0 });
  const column = words.put("Unsqueeze", [at, words.list(1)]);
  const places = words.put("Expand", [column, wide]);
  const flat = words.put("Concat", [rows, slice], { axis: 0 });
  const sizes = words.put("Shape", [places]);
  return (data, updates, reduction) => {
    const inputs = [words.reshape(data, flat), places, words.reshape(updates, sizes)];
    const result = words.put("ScatterElements", inputs, { axis: 0, ...wordOf(reduction) });
    return words.reshape(result, shape);
  };
}

const wordOf = (reduction: Reduction): Readonly<Record<string, string>> =>
  reduction === "none" ? {} : { reduction };

/** Writes the same scatter. A scatter that may race becomes ScatterElements. */
export const plainScatter = (words: Words, scatter: Scatter): string =>
  scatterer(words, scatter)(scatter.data, scatter.updates, scatter.reduction);

/** Computes max and min of booleans on the numbers 0 and 1. */
export function boolScatter(words: Words, scatter: Scatter): string {
  const [data, updates] = [scatter.data, scatter.updates].map((one) => words.cast(one, "uint8"));
  return words.cast(scatterer(words, scatter)(data, updates, scatter.reduction), "bool");
}

/** Marks for three kinds of updates. The greatest mark in a cell tells which kinds of updates the cell received. */
const [PLAIN, ZERO, NAN] = [1, 2, 3];

/**
 * Computes max or min of floats, in which NaN always wins and -0 is below 0. Before the scatter, NaNs are replaced by
 * the lowest value of the order. A second scatter of marks finds the cells that receive a NaN or the winning zero.
 */
export function orderedScatter(words: Words, scatter: Scatter): string {
  const { dtype, reduction } = scatter;
  const isNarrow = dtype === "float16" || dtype === "bfloat16";
  const wide: DType = isNarrow ? "float32" : dtype;
  const widened = (name: string): string => (isNarrow ? words.cast(name, wide) : name);
  const [data, updates] = [widened(scatter.data), widened(scatter.updates)];
  const isMax = reduction === "max";
  const [least, zero, one] = [isMax ? -Infinity : Infinity, 0, 1].map((n) => words.scalar(wide, n));
  const int = (n: number): string => words.scalar("int32", n);
  const isNaN = (x: string): string => words.put("IsNaN", [x]);
  const clean = (x: string): string => words.put("Where", [isNaN(x), least, x]);
  /** Marks the winning zero. Division by a zero gives an infinity with the zero's sign. */
  const isWinner = (x: string): string =>
    words.put("And", [
      words.put("Equal", [x, zero]),
      words.put(isMax ? "Greater" : "Less", [words.put("Div", [one, x]), zero]),
    ]);
  const again = scatterer(words, scatter);
  const found = again(clean(data), clean(updates), reduction);
  const mark = words.put("Where", [
    isNaN(updates),
    int(NAN),
    words.put("Where", [isWinner(updates), int(ZERO), int(PLAIN)]),
  ]);
  const none = words.put("ConstantOfShape", [words.put("Shape", [data])], {
    value: tensorAttribute("int32", 0),
  });
  const marks = again(none, mark, "max");
  const is = (n: number): string => words.put("Equal", [marks, int(n)]);
  const hasNaN = words.put("Or", [is(NAN), isNaN(data)]);
  const isZero = words.put("Equal", [found, zero]);
  const value = words.put("Where", [
    hasNaN,
    words.scalar(wide, NaN),
    words.put("Where", [isZero, zero, found]),
  ]);
  // A multiplication sets the sign, because Where may lose the sign of a zero.
  const winning = words.put("Or", [is(ZERO), isWinner(data)]);
  const signs = (isMax ? [1, -1] : [-1, 1]).map((n) => words.scalar(wide, n));
  const sign = words.put("Where", [isZero, words.put("Where", [winning, ...signs]), one]);
  const result = words.put("Mul", [value, words.put("Where", [hasNaN, one, sign])]);
  const narrow = isNarrow ? words.cast(result, dtype) : result;
  return chosen(words, words.put("Not", [is(0)]), narrow, scatter.data);
}

/** Writes a gather that uses tuples. If axes precede the gathered axis, the gather runs in batches. */
export function tupleGather(words: Words, { data, indices, axis }: Scatter): string {
  const tuples = words.put("Unsqueeze", [words.cast(indices, "int64"), words.list(-1)]);
  if (axis === 0) return words.put("GatherND", [data, tuples]);
  const batches = words.part(words.put("Shape", [data]), words.list(0), words.list(axis));
  const shape = words.put("Concat", [batches, words.put("Shape", [tuples])], { axis: 0 });
  const places = words.put("Expand", [tuples, shape]);
  return words.put("GatherND", [data, places], { batch_dims: axis });
}

const tensorAttribute = (dtype: DType, value: number): Attribute => ({
  type: "tensor",
  value: constant("", tensor(dtype, [1], [value])),
});

/**
 * Selects elements of `yes` where `mask` is true and of `no` elsewhere, with a gather that keeps all bits. In ONNX
 * Runtime 1.30, Where turns some -0 into 0, and rejects bfloat16.
 */
function chosen(words: Words, mask: string, yes: string, no: string): string {
  const front = words.list(0);
  const layer = (name: string): string => words.put("Unsqueeze", [name, front]);
  const both = words.put("Concat", [layer(no), layer(yes)], { axis: 0 });
  const which = layer(words.cast(mask, "int64"));
  return words.put("Squeeze", [words.put("GatherElements", [both, which], { axis: 0 }), front]);
}

/**
 * Computes sums and products of float16 and bfloat16 in float32, and rounds after each step. A step with two operands
 * is exact in float32 or rounds identically. A loop applies the first update of each target, then the second, and so
 * on. No scatter in the loop has a repeated target.
 */
export function narrowScatter(words: Words, scatter: Scatter): string {
  const { dtype, reduction } = scatter;
  const { shape, rows, slice, at } = targetsOf(words, scatter);
  const whole = words.reshape(scatter.data, words.put("Concat", [rows, slice], { axis: 0 }));
  const count = words.put("Shape", [at]);
  const size = words.put("Concat", [count, slice], { axis: 0 });
  const updates = words.reshape(scatter.updates, size);
  const [zero, one] = [words.scalar("int64", 0), words.scalar("int64", 1)];
  const all = words.put("Range", [zero, words.put("Squeeze", [count]), one]);
  const some = words.put("Greater", [words.put("Squeeze", [count]), zero]);
  const far = words.put("Expand", [words.scalar("int64", Number.MAX_SAFE_INTEGER), rows]);
  const [step, goesOn, left, sums] = ["step", "goesOn", "left", "sums"].map((name) =>
    words.fresh(name),
  );
  const body = words.body(
    [
      [step, "int64", []],
      [goesOn, "bool", []],
      [left, "int64", [null]],
      [sums, dtype, [null, null]],
    ],
    (inner) => {
      const targets = inner.put("Gather", [at, left]);
      const first = inner.put("ScatterElements", [far, targets, left], {
        axis: 0,
        reduction: "min",
      });
      const isFirst = inner.put("Equal", [inner.put("Gather", [first, targets]), left]);
      const now = inner.put("Compress", [left, isFirst], { axis: 0 });
      const later = inner.put("Compress", [left, inner.put("Not", [isFirst])], { axis: 0 });
      const here = inner.put("Gather", [at, now]);
      const [before, update] = [
        inner.put("Gather", [sums, here]),
        inner.put("Gather", [updates, now]),
      ];
      const op = reduction === "add" ? "Add" : "Mul";
      const sum = inner.put(op, [inner.cast(before, "float32"), inner.cast(update, "float32")]);
      const nan = inner.scalar("float32", NaN);
      const nans = inner.put("Expand", [nan, inner.put("Shape", [sum])]);
      const clean = chosen(inner, inner.put("IsNaN", [sum]), nans, sum);
      const rounded = inner.cast(clean, dtype);
      const tuples = inner.put("Unsqueeze", [here, inner.list(1)]);
      const after = inner.put("ScatterND", [sums, tuples, rounded]);
      const more = inner.put("Greater", [inner.put("Size", [later]), inner.scalar("int64", 0)]);
      return [more, later, after];
    },
  );
  const outputs = [words.fresh("left"), words.fresh("sums")];
  words.putNode("Loop", ["", some, all, whole], outputs, { body });
  return words.reshape(outputs[1], shape);
}
