/**
 * Types of explanations. Lists with a member per update or cell are lazy: each access computes the member from the
 * call's inputs.
 */

import type { PlainStep, Reduction, Scalar, Stays } from "../../core/tensor/dtype.ts";
import type { TensorError } from "../../core/errors.ts";
import type { OperatorVersion, Role, Term } from "../../core/operators/operator.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** The explanation of a call: the derived shapes, the errors, and the origin of each element of the output. */
export interface Explanation {
  /** The version whose rules apply; null if the operator, domain or opset of the node is unknown. */
  readonly version: OperatorVersion | null;
  /** An entry per input of the version, in order; empty if `version` is null. */
  readonly inputs: readonly ExplainedInput[];
  /**
   * Shapes that are derived from data and indices: the shape of updates (and of TensorScatter's `write_indices`), then
   * of the output. Empty if no shape can be derived, for example because data is missing or a rank is wrong.
   */
  readonly shapes: readonly DerivedShape[];
  /** The error that `run` throws for this call; null if the call succeeds. */
  readonly error: TensorError | null;
  /**
   * The first 1000 indices outside their axes, in row-major order. The list is also filled if the call fails for
   * another reason, provided that attributes, data and indices are valid.
   */
  readonly badIndices: readonly BadIndex[];
  /** The number of indices outside their axes, listed or not. */
  readonly badCount: number;
  /** The tensor that `run` returns, with the same bits; null if the call fails. */
  readonly output: Tensor | null;
  /** The story of the call; null if the call fails. */
  readonly story: ScatterStory | GatherStory | null;
}

/** An input of the call. */
export interface ExplainedInput {
  /** The name that the version gives the input, such as `past_cache`. */
  readonly name: string;
  /** The purpose of the input, regardless of its name. */
  readonly role: Role;
  /** The input's tensor; null for an omitted input, and for a value that is not a tensor. */
  readonly tensor: Tensor | null;
}

/** A shape that an input must have, or that the output has. */
export interface DerivedShape {
  /** The name of the input or output. */
  readonly of: string;
  /** Parts that the shape is composed of. */
  readonly terms: readonly Term[];
  /** The dimensions of all terms, concatenated. */
  readonly expected: readonly number[];
  /** The shape of the input; null for the output, and for an input that is not a tensor. */
  readonly got: readonly number[] | null;
  /** True if `got` is accepted or is null. */
  readonly fits: boolean;
  /**
   * A message such as `updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3,
   * 4]`.
   */
  readonly sentence: string;
}

/** An index outside its axis. */
export interface BadIndex {
  /** The name of the input that holds the index. */
  readonly input: string;
  /** The coordinates of the index in the input. */
  readonly at: readonly number[];
  /** The axis of data that the index addresses. */
  readonly axis: number;
  /** The value of the index; a bigint if a number would not be exact. */
  readonly got: number | bigint;
  /** The smallest and the largest accepted index. If no index is accepted, the second is less than the first. */
  readonly expected: readonly number[];
  /** The message of the error that `run` throws if this is the first bad index. */
  readonly sentence: string;
}

/** A list whose members are computed on each access and not kept. */
export interface Lazy<T> extends Iterable<T> {
  readonly length: number;
  /** Returns the member at a position, where -1 is the last; undefined outside the list. */
  at(position: number): T | undefined;
}

/** An index or an index tuple, and the coordinates that it addresses. */
export interface IndexStory {
  /** The coordinates of the index in the indices input; for a tuple, without the last coordinate. */
  readonly at: readonly number[];
  /** The given values, one for each of `axes`; bigints if numbers would not be exact. */
  readonly given: readonly (number | bigint)[];
  /** The axes of data that the values address. */
  readonly axes: readonly number[];
  /**
   * The coordinates in data along `axes`, with negative indices counted from the end. In a sequence (TensorScatter),
   * these are the coordinates of this update, not of the first update. The value is null for an index out of range
   * whose output element is 0.
   */
  readonly places: readonly number[] | null;
}

/** The summary of a story in a few numbers. A target is a slice of data that updates hit or a gather reads. */
export interface Summary {
  /** The number of a scatter's updates, or of slices in a gather's output. */
  readonly count: number;
  /** The number of distinct targets. */
  readonly targets: number;
  /** The number of targets that are hit or read more than once. */
  readonly repeats: number;
  /** The 10 most frequent repeated targets; targets with equal counts are in the order of data. */
  readonly most: readonly { readonly coordinates: readonly number[]; readonly count: number }[];
  /** The first 100 ranges of consecutive coordinates on axis 0 of data with targets; both ends are included. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  /** The total number of ranges of rows, listed in `rows` or not. */
  readonly rowRanges: number;
  /** The number of elements of data that no update hits, or that a gather does not read. */
  readonly untouched: number;
  /** The number of elements in a gather's output that are 0 because their index is out of range. */
  readonly filled: number;
}

/** The story of a scatter: the origin of each element of the output. */
export interface ScatterStory {
  readonly kind: "scatter";
  readonly reduction: Reduction;
  /** True if a reduction begins with the value of data; false if it begins with a target's first update. */
  readonly includeSelf: boolean;
  /**
   * The operand that a max or min of floats keeps unless the other is greater or less: the value before, or the update;
   * null for IEEE 754's maximum and minimum, and for other reductions and types.
   */
  readonly stays: Stays | null;
  /** The number of leading axes of data that updates address; the remaining axes form the slice of an update. */
  readonly addressed: number;
  readonly summary: Summary;
  /** All updates, in the order in which they are applied. Updates that are empty slices are omitted. */
  readonly updates: Lazy<Update>;
  /** Slices of data that updates hit, in row-major order. */
  readonly targets: Lazy<Target>;
  /** Returns the target at `addressed` coordinates; null if no update hits it. */
  target(coordinates: readonly number[]): Target | null;
  /**
   * Returns the story of an output element, by its coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): CellStory;
  /**
   * Returns the output after the first `updates` updates, as a new tensor. `updates` is truncated to an integer and
   * clamped to the range 0 to `summary.count`. A mean is a sum until the last update, after which it is divided.
   */
  after(updates: number): Tensor;
}

/** An update, without the values before and after it. */
export interface Update {
  /** The update's position among all updates, from 0. */
  readonly order: number;
  /** The coordinates of the update's slice in the updates input. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the slice of data that the update hits, one for each addressed axis. */
  readonly target: readonly number[];
}

/** A slice of data that updates hit; a single element if all axes are addressed. */
export interface Target {
  /** The slice's coordinates, one per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of updates that hit the slice; at least 1. */
  readonly count: number;
  /** The updates of the slice, in the order in which they are applied; a list of length `count`. */
  readonly updates: Lazy<Update>;
  /** Returns the changes to the slice, in order. Values are tensors with the shape of a slice. */
  steps(): Iterable<StoryStep<Tensor>>;
}

/** An element of a scatter's output. */
export interface CellStory {
  readonly coordinates: readonly number[];
  /** The element's value in the output. */
  readonly value: Scalar;
  /** The number of updates that hit the element; 0 if the element keeps its value in data. */
  readonly count: number;
  /** Returns the changes to the element, in order. */
  steps(): Iterable<StoryStep<Scalar>>;
}

/** A change to a slice or an element: an update, or the division at the end of a mean. */
export type StoryStep<V> = UpdateStep<V> | DivisionStep<V>;

/** A step that combines an update with a value. */
export interface UpdateStep<V> {
  readonly kind: "update";
  /** The operation that combines the update with the value; `none` replaces the value. */
  readonly by: PlainStep;
  /** The update's position among all updates, from 0. */
  readonly order: number;
  /** The coordinates of the update's slice or element in the updates input. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The value before the update, rounded to the data type after each earlier step. */
  readonly before: V;
  /** The value of the update. */
  readonly update: V;
  /** The value after the update, rounded to the data type. */
  readonly after: V;
}

/** The last step of a mean, which divides the sum. */
export interface DivisionStep<V> {
  readonly kind: "division";
  /** The number of values in the sum: the updates, plus the value of data if `includeSelf` is true. */
  readonly divisor: number;
  readonly before: V;
  readonly after: V;
}

/** The story of a gather: the origin of each element of the output. */
export interface GatherStory {
  readonly kind: "gather";
  /** The number of leading axes of data that indices and batches address; the remaining axes form the slice. */
  readonly addressed: number;
  readonly summary: Summary;
  /** A read per slice of the output, in row-major order. Empty slices are omitted. */
  readonly reads: Lazy<Read>;
  /** Slices of data that are read, in row-major order. */
  readonly targets: Lazy<ReadTarget>;
  /** Returns the slice of data at `addressed` coordinates; null if it is not read. */
  target(coordinates: readonly number[]): ReadTarget | null;
  /**
   * Returns the story of an output element, by its coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): ReadCell;
}

/** A slice of a gather's output. */
export interface Read {
  /** The slice's coordinates in the output. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /**
   * The coordinates of the slice that is read from data; null if the index is out of range and the output slice is 0.
   */
  readonly target: readonly number[] | null;
}

/** A slice of data that a gather reads; a single element if all axes are addressed. */
export interface ReadTarget {
  /** The slice's coordinates, one per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of output slices that come from this slice; at least 1. */
  readonly count: number;
  /** Returns the output slices that come from this slice, in row-major order. */
  reads(): Iterable<Read>;
}

/** An element of a gather's output. */
export interface ReadCell {
  readonly coordinates: readonly number[];
  /** The element's value in the output. */
  readonly value: Scalar;
  readonly index: IndexStory;
  /**
   * The coordinates of the element that is read from data; null if the index is out of range and the output element is
   * 0.
   */
  readonly source: readonly number[] | null;
}
