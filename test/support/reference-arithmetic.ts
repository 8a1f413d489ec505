/**
 * The arithmetic of the reference: one step of one element, on JavaScript values. This module shares no code with
 * kernels.
 */

import {
  DTYPES,
  integerRange,
  isNumericStorage,
  type DType,
  type Step,
} from "../../src/core/tensor/dtype.ts";
import { reader, writer } from "../../src/core/tensor/scalar.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";

/** `output[cell] /= count`, with integer quotients rounded toward minus infinity. */
export function divide(output: Tensor, cell: number, count: number): void {
  const { dtype, data } = output;
  const sum = reader(dtype, data)(cell);
  if (typeof sum === "bigint" || integerRange(dtype) !== null) {
    const [whole, divisor] = [BigInt(sum as number | bigint), BigInt(count)];
    const below = whole < 0n && whole % divisor !== 0n ? 1n : 0n;
    writer(dtype, data)(cell, whole / divisor - below);
  } else {
    const quotients = [sum].flat().map((part) => Number(part) / count);
    store(output, cell, quotients.length === 1 ? quotients[0] : (quotients as [number, number]));
  }
}

/** Writes a value. Every NaN is written as the canonical one. */
function store(output: Tensor, cell: number, value: Value): void {
  writer(output.dtype, output.data)(cell, value);
  if (Array.isArray(value)) {
    for (const lane of [0, 1]) if (Number.isNaN(value[lane])) writeNaN(output, 2 * cell + lane);
  } else if (Number.isNaN(value)) {
    writeNaN(output, cell);
  }
}

/** `output[cell] = f(output[cell], from[position])`, where `none` copies the bytes. */
export function apply(
  reduction: Step,
  output: Tensor,
  cell: number,
  from: Tensor,
  position: number,
): void {
  const { dtype, data } = output;
  if (reduction.includes("_")) {
    if (isReplaced(reduction, output, cell, from, position))
      apply("none", output, cell, from, position);
  } else if (reduction !== "none") {
    const a = reader(dtype, data)(cell);
    const b = reader(dtype, from.data)(position);
    store(output, cell, combine(dtype, reduction, a, b));
  } else if (isNumericStorage(data) && isNumericStorage(from.data)) {
    const { bytes } = DTYPES[dtype];
    const source = new Uint8Array(from.data.buffer, from.data.byteOffset + position * bytes, bytes);
    new Uint8Array(data.buffer, data.byteOffset + cell * bytes, bytes).set(source);
  } else {
    data[cell] = from.data[position];
  }
}

/**
 * Python's `max(first, second)`, which returns `first` unless `second` is greater: `max_data` is `max(old, update)`, and
 * `max_update` is `max(update, old)`. Whatever is returned keeps its bits.
 */
function isReplaced(
  step: Step,
  output: Tensor,
  cell: number,
  from: Tensor,
  position: number,
): boolean {
  const old = reader(output.dtype, output.data)(cell);
  const update = reader(from.dtype, from.data)(position);
  switch (step) {
    case "max_data":
      return update > old;
    case "min_data":
      return update < old;
    case "max_update":
      return !(old > update);
    default:
      return !(old < update);
  }
}

/** The bits of the NaN that reductions produce, by width: positive, quiet, without a payload. */
const CANONICAL_NAN: Readonly<Record<number, bigint>> = {
  4: 0x7fc00000n,
  8: 0x7ff8000000000000n,
};

function writeNaN({ dtype, data }: Tensor, lane: number): void {
  // The writer of half floats encodes every NaN as the canonical one.
  if (!isNumericStorage(data) || DTYPES[dtype].family === "half") return;
  const bytes = data.BYTES_PER_ELEMENT;
  const bits = new DataView(data.buffer, data.byteOffset + lane * bytes, bytes);
  if (bytes === 4) bits.setUint32(0, Number(CANONICAL_NAN[bytes]), true);
  else bits.setBigUint64(0, CANONICAL_NAN[bytes], true);
}

type Value = boolean | string | bigint | number | [number, number];

/** One step on JavaScript values: the table of arithmetic of `docs/semantics.md`. */
function combine(dtype: DType, reduction: Step, a: Value, b: Value): Value {
  if (typeof a === "boolean") return combineBool(reduction, a, b === true);
  if (typeof a === "string") return combineText(reduction, a, String(b));
  if (Array.isArray(a)) return combineComplex(dtype, reduction, a, b as [number, number]);
  const range = integerRange(dtype);
  if (range !== null) {
    const bits = 8 * DTYPES[dtype].bytes;
    const exact = combineWhole(reduction, BigInt(a), BigInt(b as number | bigint));
    const wrapped = range[0] < 0n ? BigInt.asIntN(bits, exact) : BigInt.asUintN(bits, exact);
    return typeof a === "bigint" ? wrapped : Number(wrapped);
  }
  const round = dtype === "float64" ? (x: number) => x : Math.fround;
  return round(combineFloat(reduction, Number(a), Number(b)));
}

function combineFloat(reduction: Step, a: number, b: number): number {
  if (reduction === "add") return a + b;
  if (reduction === "sub") return a - b;
  if (reduction === "mul") return a * b;
  if (a !== a || b !== b) return NaN;
  const [smaller, greater] = a < b || (a === b && Object.is(a, -0)) ? [a, b] : [b, a];
  return reduction === "max" ? greater : smaller;
}

function combineWhole(reduction: Step, a: bigint, b: bigint): bigint {
  if (reduction === "add") return a + b;
  if (reduction === "sub") return a - b;
  if (reduction === "mul") return a * b;
  return a < b === (reduction === "max") ? b : a;
}

function combineBool(reduction: Step, a: boolean, b: boolean): boolean {
  if (reduction === "sub") return a !== b;
  return reduction === "add" || reduction === "max" ? a || b : a && b;
}

function combineText(reduction: Step, a: string, b: string): string {
  if (reduction === "add") return a + b;
  const isLess = lexicographic(codePoints(a), codePoints(b)) < 0;
  return isLess === (reduction === "max") ? b : a;
}

function combineComplex(
  dtype: DType,
  reduction: Step,
  a: [number, number],
  b: [number, number],
): [number, number] {
  const round = dtype === "complex128" ? (x: number) => x : Math.fround;
  if (reduction === "add") return [round(a[0] + b[0]), round(a[1] + b[1])];
  if (reduction === "sub") return [round(a[0] - b[0]), round(a[1] - b[1])];
  if (reduction === "mul") {
    const re = round(round(a[0] * b[0]) - round(a[1] * b[1]));
    const im = round(round(a[0] * b[1]) + round(a[1] * b[0]));
    return [re, im];
  }
  const nan = [a, b].find((value) => value.includes(NaN));
  if (nan !== undefined) return nan;
  const isLess = lexicographic([...a, ...signs(a)], [...b, ...signs(b)]) < 0;
  return isLess === (reduction === "max") ? b : a;
}

const codePoints = (text: string): number[] =>
  Array.from(text, (character) => character.codePointAt(0) ?? 0);

/** Zeros by their order: 0 for -0, and 1 for everything else. */
const signs = (value: [number, number]): number[] =>
  value.map((part) => (Object.is(part, -0) ? 0 : 1));

/** Negative if the first list precedes the second: by the first difference, or as its prefix. */
function lexicographic(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i] - b[i];
  }
  return a.length - b.length;
}
