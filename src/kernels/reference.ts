/**
 * The definition: the specification's pseudo-code, element by element, with the errata of `docs/errata.md` corrected.
 * Slow on purpose, without Plans, offsets or kernels, so that it shares no mistake with the engines that tests compare
 * with it. It trusts its input: shapes fit and indices are in range.
 */

import { DTYPES, integerRange, isNumericStorage, type DType, type Reduction } from "../dtype.ts";
import { reader, writer } from "../scalar.ts";
import { Tensor } from "../tensor.ts";

type Coordinates = readonly number[];

/**
 *     output = np.copy(data)
 *     for idx in np.ndindex(indices.shape[:-1]):
 *         output[tuple(indices[idx])] = f(output[tuple(indices[idx])], updates[idx])
 */
export function scatterND(
  data: Tensor,
  indices: Tensor,
  updates: Tensor,
  reduction: Reduction,
): Tensor {
  const output = copy(data);
  const k = indices.shape[indices.shape.length - 1];
  let update = 0;
  for (const idx of ndindex(indices.shape.slice(0, -1))) {
    const tuple = tupleAt(indices, idx, data.shape.slice(0, k));
    for (const rest of ndindex(data.shape.slice(k))) {
      apply(reduction, output, ravel([...tuple, ...rest], data.shape), updates, update++);
    }
  }
  return output;
}

/**
 *     output[indices[i][j]][j] = f(output[indices[i][j]][j], updates[i][j])   # axis 0 of two
 */
export function scatterElements(
  data: Tensor,
  indices: Tensor,
  updates: Tensor,
  axis: number,
  reduction: Reduction,
): Tensor {
  const output = copy(data);
  let update = 0;
  for (const idx of ndindex(indices.shape)) {
    const target = replaceAlong(axis, idx, indices, data.shape);
    apply(reduction, output, ravel(target, data.shape), updates, update++);
  }
  return output;
}

/**
 *     for batch in np.ndindex(data.shape[:b]):
 *         for idx in np.ndindex(indices.shape[b:-1]):
 *             output[batch + idx] = data[batch + tuple(indices[batch + idx])]
 */
export function gatherND(data: Tensor, indices: Tensor, batchDims: number): Tensor {
  const k = indices.shape[indices.shape.length - 1];
  const rest = data.shape.slice(batchDims + k);
  const output = empty(data.dtype, [...indices.shape.slice(0, -1), ...rest]);
  let cell = 0;
  for (const idx of ndindex(indices.shape.slice(0, -1))) {
    const batch = idx.slice(0, batchDims);
    const tuple = tupleAt(indices, idx, data.shape.slice(batchDims, batchDims + k));
    for (const tail of ndindex(rest)) {
      apply("none", output, cell++, data, ravel([...batch, ...tuple, ...tail], data.shape));
    }
  }
  return output;
}

/**
 *     output[i][j] = data[indices[i][j]][j]   # axis 0 of two
 */
export function gatherElements(data: Tensor, indices: Tensor, axis: number): Tensor {
  const output = empty(data.dtype, indices.shape);
  let cell = 0;
  for (const idx of ndindex(indices.shape)) {
    const from = replaceAlong(axis, idx, indices, data.shape);
    apply("none", output, cell++, data, ravel(from, data.shape));
  }
  return output;
}

/** All coordinates of a shape in row-major order; of `[]` there is one. */
function* ndindex(shape: readonly number[]): Generator<Coordinates> {
  if (shape.length === 0) {
    yield [];
    return;
  }
  for (let i = 0; i < shape[0]; i++) {
    for (const rest of ndindex(shape.slice(1))) yield [i, ...rest];
  }
}

const ravel = (coordinates: Coordinates, shape: readonly number[]): number =>
  coordinates.reduce((position, i, axis) => position * shape[axis] + i, 0);

/** The index at `coordinates`, from the back where it is negative. */
function indexAt(indices: Tensor, coordinates: Coordinates, dim: number): number {
  const index = Number(indices.data[ravel(coordinates, indices.shape)]);
  return index < 0 ? index + dim : index;
}

const tupleAt = (indices: Tensor, idx: Coordinates, dims: readonly number[]): Coordinates =>
  dims.map((dim, j) => indexAt(indices, [...idx, j], dim));

const replaceAlong = (
  axis: number,
  idx: Coordinates,
  indices: Tensor,
  shape: readonly number[],
): Coordinates => idx.map((i, d) => (d === axis ? indexAt(indices, idx, shape[d]) : i));

function empty(dtype: DType, shape: readonly number[]): Tensor {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const { storage, lanes } = DTYPES[dtype];
  const data =
    storage === Array ? Array.from({ length: size }, () => "") : new storage(size * lanes);
  return new Tensor(dtype, shape, size, data);
}

const copy = ({ dtype, shape, size, data }: Tensor): Tensor =>
  new Tensor(dtype, shape, size, data.slice());

/** `output[cell] = f(output[cell], from[position])`, where `none` copies the bytes. */
function apply(
  reduction: Reduction,
  output: Tensor,
  cell: number,
  from: Tensor,
  position: number,
): void {
  const { dtype, data } = output;
  if (reduction !== "none") {
    const a = reader(dtype, data)(cell);
    const b = reader(dtype, from.data)(position);
    const value = combine(dtype, reduction, a, b);
    writer(dtype, data)(cell, value);
    for (const [lane, part] of [value].flat().entries()) {
      if (part !== part) writeNaN(output, [value].flat().length * cell + lane);
    }
  } else if (isNumericStorage(data) && isNumericStorage(from.data)) {
    const { bytes } = DTYPES[dtype];
    const source = new Uint8Array(from.data.buffer, from.data.byteOffset + position * bytes, bytes);
    new Uint8Array(data.buffer, data.byteOffset + cell * bytes, bytes).set(source);
  } else {
    data[cell] = from.data[position];
  }
}

/** The NaN that reductions produce: positive, quiet, without a payload. */
const CANONICAL_NAN: Readonly<Record<number, bigint>> = {
  4: 0x7fc00000n,
  8: 0x7ff8000000000000n,
};

function writeNaN({ dtype, data }: Tensor, lane: number): void {
  // Half floats have theirs from the writer, which encodes every NaN as one.
  if (!isNumericStorage(data) || DTYPES[dtype].family === "half") return;
  const bytes = data.BYTES_PER_ELEMENT;
  const bits = new DataView(data.buffer, data.byteOffset + lane * bytes, bytes);
  if (bytes === 4) bits.setUint32(0, Number(CANONICAL_NAN[bytes]), true);
  else bits.setBigUint64(0, CANONICAL_NAN[bytes], true);
}

type Value = boolean | string | bigint | number | [number, number];

/** DESIGN's table of arithmetic, on JavaScript values. */
function combine(dtype: DType, reduction: Reduction, a: Value, b: Value): Value {
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

function combineFloat(reduction: Reduction, a: number, b: number): number {
  if (reduction === "add") return a + b;
  if (reduction === "sub") return a - b;
  if (reduction === "mul") return a * b;
  if (a !== a || b !== b) return NaN;
  const [smaller, greater] = a < b || (a === b && Object.is(a, -0)) ? [a, b] : [b, a];
  return reduction === "max" ? greater : smaller;
}

function combineWhole(reduction: Reduction, a: bigint, b: bigint): bigint {
  if (reduction === "add") return a + b;
  if (reduction === "sub") return a - b;
  if (reduction === "mul") return a * b;
  return a < b === (reduction === "max") ? b : a;
}

function combineBool(reduction: Reduction, a: boolean, b: boolean): boolean {
  if (reduction === "sub") return a !== b;
  return reduction === "add" || reduction === "max" ? a || b : a && b;
}

function combineText(reduction: Reduction, a: string, b: string): string {
  if (reduction === "add") return a + b;
  const isLess = lexicographic(codePoints(a), codePoints(b)) < 0;
  return isLess === (reduction === "max") ? b : a;
}

function combineComplex(
  dtype: DType,
  reduction: Reduction,
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

/** 0 for the zero that comes before the other. */
const signs = (value: [number, number]): number[] =>
  value.map((part) => (Object.is(part, -0) ? 0 : 1));

/** Below zero where the first list comes first: at the first difference, or as its beginning. */
function lexicographic(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i] - b[i];
  }
  return a.length - b.length;
}
