/**
 * The types of an explanation. Lists with one member per update or cell are lazy: each access makes the member from the
 * inputs of the call.
 */

import type { Reduction, Scalar, Step } from "../../core/tensor/dtype.ts";
import type { TensorError } from "../../core/errors.ts";
import type { OperatorVersion, Role, Term } from "../../core/operators/operator.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** A call explained: the shapes that follow, the errors, and where each element of the output comes from. */
export interface Explanation {
  /** The version whose rules apply; null if the operator, domain or opset of the node is unknown. */
  readonly version: OperatorVersion | null;
  /** An entry per input of the version, in its order; empty where `version` is null. */
  readonly inputs: readonly ExplainedInput[];
  /**
   * The shapes that follow from data and indices: of updates (and of TensorScatter's `write_indices`), then of the
   * output. Empty if nothing follows, for example because data is missing or a rank is wrong.
   */
  readonly shapes: readonly DerivedShape[];
  /** The error that `run` throws for this call; null if the call succeeds. */
  readonly error: TensorError | null;
  /**
   * The first 1000 indices outside their axes, in row-major order. They are listed also when the call fails for another
   * reason, as long as attributes, data and indices are right.
   */
  readonly badIndices: readonly BadIndex[];
  /** The number of indices outside their axes, listed or not. */
  readonly badCount: number;
  /** The tensor that `run` returns, with the same bits; null if the call fails. */
  readonly output: Tensor | null;
  /** Null if the call fails. */
  readonly story: ScatterStory | GatherStory | null;
}

/** An input of the call. */
export interface ExplainedInput {
  /** The name that the version gives the input, such as `past_cache`. */
  readonly name: string;
  /** The purpose of the input, whatever its name. */
  readonly role: Role;
  /** Null for an input that is left out, and for a value that is not a tensor. */
  readonly tensor: Tensor | null;
}

/** A shape that an input must have, or that the output has. */
export interface DerivedShape {
  /** The name of the input or output. */
  readonly of: string;
  /** The parts of which the shape is composed. */
  readonly terms: readonly Term[];
  /** The dimensions of all terms, concatenated. */
  readonly expected: readonly number[];
  /** The shape of the input; null for the output, and for an input that is not a tensor. */
  readonly got: readonly number[] | null;
  /** True if `got` is accepted, or null. */
  readonly fits: boolean;
  /** `updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]` */
  readonly sentence: string;
}

/** An index outside its axis. */
export interface BadIndex {
  /** The name of the input that holds the index. */
  readonly input: string;
  /** The coordinates of the index in that input. */
  readonly at: readonly number[];
  /** The axis of data that the index addresses. */
  readonly axis: number;
  /** The value; a bigint where a number would not be exact. */
  readonly got: number | bigint;
  /** The least and the greatest accepted index. If no index is accepted, the second is less than the first. */
  readonly expected: readonly number[];
  /** The message of the error that `run` throws where this index is the first bad one. */
  readonly sentence: string;
}

/** A list whose members are made on access, and made again on each access. */
export interface Lazy<T> extends Iterable<T> {
  readonly length: number;
  /** The member at a position, -1 being the last; undefined outside the list. */
  at(position: number): T | undefined;
}

/** An index or an index tuple, and the coordinates it addresses. */
export interface IndexStory {
  /** The coordinates in the indices input: of the index, or of the tuple (one coordinate fewer). */
  readonly at: readonly number[];
  /** The values as they are given, one for each of `axes`; bigints where numbers would not be exact. */
  readonly given: readonly (number | bigint)[];
  /** The axes of data that the values address. */
  readonly axes: readonly number[];
  /**
   * The coordinates in data along `axes`, with negative indices counted from the back. In a sequence (TensorScatter)
   * these are the coordinates of this update, not of the first one. Null for an index out of range whose element of the
   * output is 0.
   */
  readonly places: readonly number[] | null;
}

/** A story in a few numbers. A target is a slice of data that updates hit or a gather reads. */
export interface Summary {
  /** The number of updates of a scatter, or of slices of a gather's output. */
  readonly count: number;
  /** The number of different targets. */
  readonly targets: number;
  /** The number of targets hit or read more than once. */
  readonly repeats: number;
  /** The 10 most frequent of the repeated targets; among equal counts the first in data come first. */
  readonly most: readonly { readonly coordinates: readonly number[]; readonly count: number }[];
  /** The first 100 ranges of consecutive coordinates on axis 0 of data that have targets, both ends included. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  /** The number of such ranges, listed or not. */
  readonly rowRanges: number;
  /** The number of elements of data that no update hits, or that are not read. */
  readonly untouched: number;
  /** The number of elements of a gather's output that are 0 because their index is out of range. */
  readonly filled: number;
}

/** Where the output of a scatter comes from. */
export interface ScatterStory {
  readonly kind: "scatter";
  readonly reduction: Reduction;
  /** True if a reduction begins with the value of data; false if it begins with the first update of a target. */
  readonly includeSelf: boolean;
  /** The number of leading axes of data that updates address; the remaining axes are the slice of an update. */
  readonly addressed: number;
  readonly summary: Summary;
  /** Every update, in the order in which they are applied. Updates that are empty slices are left out. */
  readonly updates: Lazy<Update>;
  /** The slices of data that updates hit, in row-major order. */
  readonly targets: Lazy<Target>;
  /** The target at `addressed` coordinates; null if no update hits it. */
  target(coordinates: readonly number[]): Target | null;
  /**
   * An element of the output, by its coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): CellStory;
  /**
   * The output after the first `updates` updates, as a new tensor. A fraction is cut off, and a number outside 0 to
   * `summary.count` is clamped. A mean is a sum until the last update, after which it is divided.
   */
  after(updates: number): Tensor;
}

/** An update, without the values before and after it. */
export interface Update {
  /** The position among all updates, from 0. */
  readonly order: number;
  /** The coordinates of the update's slice in the updates input. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the slice of data that the update hits, one for each addressed axis. */
  readonly target: readonly number[];
}

/** A slice of data that updates hit; an element where all axes are addressed. */
export interface Target {
  /** A coordinate per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of updates that hit the slice, at least 1. */
  readonly count: number;
  /** The updates of the slice, in the order in which they are applied; a list of length `count`. */
  readonly updates: Lazy<Update>;
  /** The changes of the slice, in order. Values are tensors of the shape of a slice. */
  steps(): Iterable<StoryStep<Tensor>>;
}

/** An element of the output of a scatter. */
export interface CellStory {
  readonly coordinates: readonly number[];
  /** The value in the output. */
  readonly value: Scalar;
  /** The number of updates that hit the element; 0 if the element keeps its value in data. */
  readonly count: number;
  /** The changes of the element, in order. */
  steps(): Iterable<StoryStep<Scalar>>;
}

/** A change of a slice or an element: an update, or the division at the end of a mean. */
export type StoryStep<V> = UpdateStep<V> | DivisionStep<V>;

/** An update is combined with a value. */
export interface UpdateStep<V> {
  readonly kind: "update";
  /** The step that combines them; `none` replaces the value. */
  readonly by: Step;
  /** The position among all updates, from 0. */
  readonly order: number;
  /** The coordinates in the updates input of the update's slice or element. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The value before the update, rounded to the data type after each earlier step. */
  readonly before: V;
  /** The value of the update. */
  readonly update: V;
  /** The value after the update, rounded to the data type. */
  readonly after: V;
}

/** The end of a mean: the sum is divided. */
export interface DivisionStep<V> {
  readonly kind: "division";
  /** The number of values in the sum: the updates, plus the value of data if `includeSelf` is true. */
  readonly divisor: number;
  readonly before: V;
  readonly after: V;
}

/** Where the output of a gather comes from. */
export interface GatherStory {
  readonly kind: "gather";
  /** The number of leading axes of data that indices and batches address; the remaining axes are the slice. */
  readonly addressed: number;
  readonly summary: Summary;
  /** A read per slice of the output, in row-major order. Empty slices are left out. */
  readonly reads: Lazy<Read>;
  /** The slices of data that are read, in row-major order. */
  readonly targets: Lazy<ReadTarget>;
  /** The slice of data at `addressed` coordinates; null if it is not read. */
  target(coordinates: readonly number[]): ReadTarget | null;
  /**
   * An element of the output, by its coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): ReadCell;
}

/** A slice of the output of a gather. */
export interface Read {
  /** Its coordinates in the output. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the slice of data; null if the index is out of range and the slice is 0. */
  readonly target: readonly number[] | null;
}

/** A slice of data that a gather reads; an element where all axes are addressed. */
export interface ReadTarget {
  /** A coordinate per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of slices of the output that come from it, at least 1. */
  readonly count: number;
  /** These slices of the output, in row-major order. */
  reads(): Iterable<Read>;
}

/** An element of the output of a gather. */
export interface ReadCell {
  readonly coordinates: readonly number[];
  /** The value in the output. */
  readonly value: Scalar;
  readonly index: IndexStory;
  /** The coordinates of the element of data; null if the index is out of range and the element is 0. */
  readonly source: readonly number[] | null;
}
