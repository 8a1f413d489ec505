/** Creates the same index errors as calls in memory, and checks indices that no position uses. */

import { rulesOf } from "../../../core/call/check.ts";
import type { ChunkedArray } from "../../boxes/array.ts";
import { contiguousChunks, Grid } from "../../boxes/grid.ts";
import { isTensorError, type ErrorOf, type TensorError } from "../../../core/errors.ts";
import { readIndices } from "../../../core/kernels/read-indices.ts";
import { CHUNKED } from "../../../core/limits.ts";
import {
  indexError,
  readOffsets,
  indexWordsOf,
  type IndexRules,
  type ReadIndices,
} from "../../../core/plan/indices.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { Tensor } from "../../../core/tensor/tensor.ts";
import type { ResolvedCall } from "../job/call-spec.ts";

/** Returns a call's rules for its indices. */
export const indexRules = ({ call }: ResolvedCall): IndexRules => rulesOf(call);

/**
 * Returns the error for the index `bad` in a part of the indices, with coordinates in the whole indices. `origin`
 * contains the first coordinates of the part.
 */
export function badIndex(
  resolved: ResolvedCall,
  data: readonly number[],
  indices: Tensor,
  origin: readonly number[],
  bad: number,
): TensorError {
  const rules: IndexRules = { ...indexRules(resolved), bounds: "error" };
  try {
    check(resolved, data, indices, rules, () => ({ bad }));
  } catch (error) {
    if (!isTensorError(error, "index-out-of-range")) throw error;
    return inWhole(error, origin, data);
  }
  throw new Error("a bad index was taken");
}

/**
 * Checks the indices of a call without targets, which calls in memory also check. Throws an `index-out-of-range` error.
 */
export async function checkUnused(
  resolved: ResolvedCall,
  data: readonly number[],
  indices: ChunkedArray,
): Promise<void> {
  if (product(indices.shape) === 0 || product(resolved.layout.positions) > 0) return;
  const parts = new Grid(indices.shape, contiguousChunks(indices.shape, CHUNKED.indices));
  for (let number = 0; number < parts.size; number++) {
    const { start, shape } = parts.box(number);
    const part = await indices.read(start, shape);
    try {
      check(resolved, data, part, indexRules(resolved), readIndices);
    } catch (error) {
      throw isTensorError(error, "index-out-of-range") ? inWhole(error, start, data) : error;
    }
  }
}

function check(
  { call, layout }: ResolvedCall,
  data: readonly number[],
  indices: Tensor,
  rules: IndexRules,
  read: ReadIndices,
): void {
  const axes = layout.axes.map((axis) => ({
    dim: data[axis],
    wrap: rules.negative ? data[axis] : 0,
    stride: 0,
  }));
  const count = axes.length === 0 ? 0 : indices.size / axes.length;
  const job = { kind: "tuples", ...indexWordsOf(indices), count, axes } as const;
  readOffsets(job, rules, indices, data, layout.axes[0], call.fields, read);
}

/** Returns an error about a part of the indices, with coordinates in the whole indices. */
function inWhole(
  error: ErrorOf<"index-out-of-range">,
  origin: readonly number[],
  data: readonly number[],
): TensorError {
  const at = (error.at ?? []).map((coordinate, d) => origin[d] + coordinate);
  return indexError({ ...error, at }, data);
}
