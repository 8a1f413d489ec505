/**
 * The definition: the specification's pseudo-code, element by element, with the errata of `docs/errata.md` corrected.
 * Slow on purpose, without Plans, offsets or kernels, so that it shares no mistake with the engines that tests compare
 * with it. It trusts its input: shapes fit and indices are in range.
 */

import {
  DTYPES,
  integerRange,
  isNumericStorage,
  type DType,
  type Reduction,
  type Step,
} from "../../src/tensor/dtype.ts";
import { reader, writer } from "../../src/tensor/scalar.ts";
import { Tensor } from "../../src/tensor/tensor.ts";

type Coordinates = readonly number[];

/** What the plain functions' policies change; without them indices are in range and reductions begin with data. */
interface Policies {
  /** `drop` and `fill` both leave the place of an index outside its axis alone. */
  readonly bounds?: "error" | "clip" | "drop" | "fill";
  readonly includeSelf?: boolean;
}

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
  policies: Policies = {},
): Tensor {
  const k = indices.shape[indices.shape.length - 1];
  function* targets(): Generator<number | null> {
    for (const idx of ndindex(indices.shape.slice(0, -1))) {
      const tuple = tupleAt(indices, idx, data.shape.slice(0, k), policies);
      for (const rest of ndindex(data.shape.slice(k))) {
        yield tuple && ravel([...tuple, ...rest], data.shape);
      }
    }
  }
  return scatterTo(targets(), data, updates, reduction, policies);
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
  policies: Policies = {},
): Tensor {
  function* targets(): Generator<number | null> {
    for (const idx of ndindex(indices.shape)) {
      const target = replaceAlong(axis, idx, indices, data.shape, policies);
      yield target && ravel(target, data.shape);
    }
  }
  return scatterTo(targets(), data, updates, reduction, policies);
}

/**
 *     for before in np.ndindex(data.shape[:axis]):
 *         for idx in np.ndindex(indices.shape):
 *             output[before + (indices[idx],)] = updates[before + idx]
 */
export function scatterUpdate(
  data: Tensor,
  indices: Tensor,
  updates: Tensor,
  axis: number,
): Tensor {
  function* targets(): Generator<number> {
    for (const before of ndindex(data.shape.slice(0, axis))) {
      for (const idx of ndindex(indices.shape)) {
        for (const behind of ndindex(data.shape.slice(axis + 1))) {
          const index = Number(indexAt(indices, idx, data.shape[axis], {}));
          yield ravel([...before, index, ...behind], data.shape);
        }
      }
    }
  }
  return scatterTo(targets(), data, updates, "none", {});
}

/**
 *     for prefix in np.ndindex(update.shape[:axis]):
 *         for i in range(update.shape[axis]):
 *             present_cache[prefix + (position(write_indices[prefix[0]] + i),)] = update[prefix + (i,)]
 *
 * where a circular position is the remainder of the axis.
 */
export function tensorScatter(
  data: Tensor,
  updates: Tensor,
  starts: Tensor | undefined,
  axis: number,
  mode: "linear" | "circular",
): Tensor {
  const dim = BigInt(data.shape[axis]);
  function* targets(): Generator<number> {
    for (const idx of ndindex(updates.shape)) {
      const start = BigInt((starts?.data[idx[0]] as number | bigint | undefined) ?? 0);
      const place = start + BigInt(idx[axis]);
      const position = mode === "circular" ? ((place % dim) + dim) % dim : place;
      yield ravel(idx.with(axis, Number(position)), data.shape);
    }
  }
  return scatterTo(targets(), data, updates, "none", {});
}

/**
 *     for batch in np.ndindex(data.shape[:b]):
 *         for idx in np.ndindex(indices.shape[b:-1]):
 *             output[batch + idx] = data[batch + tuple(indices[batch + idx])]
 */
export function gatherND(
  data: Tensor,
  indices: Tensor,
  batchDims: number,
  policies: Policies = {},
): Tensor {
  const k = indices.shape[indices.shape.length - 1];
  const rest = data.shape.slice(batchDims + k);
  function* places(): Generator<number | null> {
    for (const idx of ndindex(indices.shape.slice(0, -1))) {
      const batch = idx.slice(0, batchDims);
      const tuple = tupleAt(indices, idx, data.shape.slice(batchDims, batchDims + k), policies);
      for (const tail of ndindex(rest)) {
        yield tuple && ravel([...batch, ...tuple, ...tail], data.shape);
      }
    }
  }
  return gatherFrom(places(), data, [...indices.shape.slice(0, -1), ...rest]);
}

/**
 *     output[i][j] = data[indices[i][j]][j]   # axis 0 of two
 */
export function gatherElements(
  data: Tensor,
  indices: Tensor,
  axis: number,
  policies: Policies = {},
): Tensor {
  function* places(): Generator<number | null> {
    for (const idx of ndindex(indices.shape)) {
      const from = replaceAlong(axis, idx, indices, data.shape, policies);
      yield from && ravel(from, data.shape);
    }
  }
  return gatherFrom(places(), data, indices.shape);
}

/**
 *     for batch in np.ndindex(data.shape[:b]):
 *         for between in np.ndindex(data.shape[b:axis]):
 *             for idx in np.ndindex(indices.shape[b:]):
 *                 output[batch + between + idx] = data[batch + between + (indices[batch + idx],)]
 */
export function gather(
  data: Tensor,
  indices: Tensor,
  axis: number,
  batchDims = 0,
  policies: Policies = {},
): Tensor {
  const [before, behind] = [data.shape.slice(0, axis), data.shape.slice(axis + 1)];
  const own = indices.shape.slice(batchDims);
  function* places(): Generator<number | null> {
    for (const lead of ndindex(before)) {
      for (const idx of ndindex(own)) {
        const at = [...lead.slice(0, batchDims), ...idx];
        const index = indexAt(indices, at, data.shape[axis], policies);
        for (const tail of ndindex(behind)) {
          yield index === null ? null : ravel([...lead, index, ...tail], data.shape);
        }
      }
    }
  }
  return gatherFrom(places(), data, [...before, ...own, ...behind]);
}

/** Update by update to its target, in their order; a mean is a sum over how many values went into it. */
function scatterTo(
  targets: Iterable<number | null>,
  data: Tensor,
  updates: Tensor,
  reduction: Reduction,
  { includeSelf = true }: Policies,
): Tensor {
  const output = copy(data);
  const step = reduction === "mean" ? "add" : reduction;
  const met = new Map<number, number>();
  let update = 0;
  for (const target of targets) {
    const position = update++;
    if (target === null) continue;
    const before = met.get(target) ?? 0;
    apply(before === 0 && !includeSelf ? "none" : step, output, target, updates, position);
    met.set(target, before + 1);
  }
  if (reduction === "mean") {
    for (const [target, count] of met) divide(output, target, includeSelf ? count + 1 : count);
  }
  return output;
}

/** What stands at the places in data; 0 or no text where there is none. */
function gatherFrom(
  places: Iterable<number | null>,
  data: Tensor,
  shape: readonly number[],
): Tensor {
  const output = empty(data.dtype, shape);
  let cell = 0;
  for (const place of places) {
    if (place !== null) apply("none", output, cell, data, place);
    cell++;
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

/** The index at `coordinates`, from the back where it is negative; null where it is outside and left out. */
function indexAt(
  indices: Tensor,
  coordinates: Coordinates,
  dim: number,
  { bounds = "error" }: Policies,
): number | null {
  const given = Number(indices.data[ravel(coordinates, indices.shape)]);
  const index = given < 0 ? given + dim : given;
  if (bounds === "clip") return Math.min(Math.max(index, 0), dim - 1);
  return bounds === "error" || (index >= 0 && index < dim) ? index : null;
}

/** Null where one of its indices is. */
function tupleAt(
  indices: Tensor,
  idx: Coordinates,
  dims: readonly number[],
  policies: Policies,
): Coordinates | null {
  const tuple = dims.map((dim, j) => indexAt(indices, [...idx, j], dim, policies));
  return tuple.every((index) => index !== null) ? tuple : null;
}

function replaceAlong(
  axis: number,
  idx: Coordinates,
  indices: Tensor,
  shape: readonly number[],
  policies: Policies,
): Coordinates | null {
  const index = indexAt(indices, idx, shape[axis], policies);
  return index === null ? null : idx.with(axis, index);
}

function empty(dtype: DType, shape: readonly number[]): Tensor {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const { storage, lanes } = DTYPES[dtype];
  const data =
    storage === Array ? Array.from({ length: size }, () => "") : new storage(size * lanes);
  return new Tensor(dtype, shape, size, data);
}

const copy = ({ dtype, shape, size, data }: Tensor): Tensor =>
  new Tensor(dtype, shape, size, data.slice());

/** `output[cell] /= count`, where the quotient of integers is rounded toward minus infinity. */
function divide(output: Tensor, cell: number, count: number): void {
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

/** Writes a value, whose NaNs are all one. */
function store(output: Tensor, cell: number, value: Value): void {
  writer(output.dtype, output.data)(cell, value);
  const parts = [value].flat();
  for (const [lane, part] of parts.entries()) {
    if (part !== part) writeNaN(output, parts.length * cell + lane);
  }
}

/** `output[cell] = f(output[cell], from[position])`, where `none` copies the bytes. */
function apply(
  reduction: Step,
  output: Tensor,
  cell: number,
  from: Tensor,
  position: number,
): void {
  const { dtype, data } = output;
  if (reduction !== "none") {
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
