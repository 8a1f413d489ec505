/**
 * The definition: the specification's pseudo-code, element by element, with the errata of `docs/errata.md` corrected.
 * The code is slow on purpose, and has no Plans, offsets or kernels, so that it shares no mistake with the engines
 * under test. The functions check nothing: shapes must fit, and indices must be in range unless a policy accepts
 * others.
 */

import {
  DTYPES,
  type DType,
  type Reduction,
  type Stays,
  type Step,
} from "../../src/core/tensor/dtype.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { apply, divide } from "./reference-arithmetic.ts";

type Coordinates = readonly number[];

/** The policies of the plain functions. By default indices are in range and reductions start with data. */
interface Policies {
  /** `drop` and `fill` skip an index outside its axis. */
  readonly bounds?: "error" | "clip" | "drop" | "fill";
  readonly includeSelf?: boolean;
  /** The operand that `max` and `min` return unless the other is greater or less; by default, IEEE 754's rule. */
  readonly stays?: Stays | undefined;
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
 * where a circular position is the remainder by the size of the axis.
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

/** Applies each update to its target, in order. A mean is a sum divided by the number of its values. */
function scatterTo(
  targets: Iterable<number | null>,
  data: Tensor,
  updates: Tensor,
  reduction: Reduction,
  { includeSelf = true, stays }: Policies,
): Tensor {
  const output = copy(data);
  const step = stepOf(reduction, stays);
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

/** The step of a reduction. A mean is a sum that is divided at the end. */
export function stepOf(reduction: Reduction, stays: Stays | undefined): Step {
  if (reduction === "mean") return "add";
  const isExtreme = reduction === "max" || reduction === "min";
  return isExtreme && stays !== undefined ? `${reduction}_${stays}` : reduction;
}

/** The elements of data at the given positions; 0, false or an empty text for null. */
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

/** All coordinates of a shape in row-major order. The shape `[]` has one element, so the result is one empty list. */
function* ndindex(shape: readonly number[]): Generator<Coordinates> {
  if (shape.includes(0)) return;
  const coordinates = shape.map(() => 0);
  for (let axis = 0; axis >= 0;) {
    yield coordinates.slice();
    // The last coordinate changes fastest, and a coordinate at its end restarts at 0.
    for (axis = shape.length - 1; axis >= 0; axis--) {
      if (++coordinates[axis] < shape[axis]) break;
      coordinates[axis] = 0;
    }
  }
}

const ravel = (coordinates: Coordinates, shape: readonly number[]): number =>
  coordinates.reduce((position, i, axis) => position * shape[axis] + i, 0);

/** The index at `coordinates`, counted from the front; null if a policy leaves it out. */
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

/** The tuple at `idx`; null if a policy leaves one of its indices out. */
function tupleAt(
  indices: Tensor,
  idx: Coordinates,
  dims: readonly number[],
  policies: Policies,
): Coordinates | null {
  const tuple = dims.map((dim, j) => indexAt(indices, [...idx, j], dim, policies));
  return tuple.every((index) => index !== null) ? tuple : null;
}

/** The coordinates `idx`, with the one along `axis` replaced by the index there; null if a policy leaves it out. */
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
