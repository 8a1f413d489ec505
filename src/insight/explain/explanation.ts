/**
 * Types of explanations. Lists with one member per update or cell are lazy: each access computes the member from the
 * inputs.
 */

import type { PlainStep, Reduction, Scalar, Stays } from "../../core/tensor/dtype.ts";
import type { TensorError } from "../../core/errors.ts";
import type { OperatorVersion, Role } from "../../core/operators/operator.ts";
import type { Term } from "../../core/operators/shapes.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** The explanation of a call: the derived shapes, the errors, and the origin of each output element. */
export interface Explanation {
  /** The operator version whose rules apply; null if the operator, domain or opset is unknown. */
  readonly version: OperatorVersion | null;
  /** One entry per input of the operator version, in order; empty if `version` is null. */
  readonly inputs: readonly ExplainedInput[];
  /**
   * The shapes derived from data and indices: the shape of updates (and of TensorScatter's `write_indices`), followed
   * by the output shape. The list is empty if no shape can be derived, for example if data is missing or a rank is
   * wrong.
   */
  readonly shapes: readonly DerivedShape[];
  /** The error that `run` throws for this call; null if the call succeeds. */
  readonly error: TensorError | null;
  /**
   * The first 1000 out-of-range indices, in row-major order. If the call fails for another reason, the list is still
   * filled, provided that attributes, data and indices are valid.
   */
  readonly badIndices: readonly BadIndex[];
  /** The total number of out-of-range indices, including unlisted indices. */
  readonly badCount: number;
  /** The tensor that `run` returns, bit for bit; null if the call fails. */
  readonly output: Tensor | null;
  /** The story of the call; null if the call fails. */
  readonly story: ScatterStory | GatherStory | null;
}

/** An input of an explained call. */
export interface ExplainedInput {
  /** The input's name in the operator version, such as `past_cache`. */
  readonly name: string;
  /** The role of the input, which does not depend on its name. */
  readonly role: Role;
  /** The input as a tensor; null for an omitted input, and for a value that is not a tensor. */
  readonly tensor: Tensor | null;
}

/** A shape that an input or the output must have. */
export interface DerivedShape {
  /** The name of the input or output. */
  readonly of: string;
  /** The parts that form the shape. */
  readonly terms: readonly Term[];
  /** The concatenated dimensions of all terms. */
  readonly expected: readonly number[];
  /** The actual shape of the input; null for the output, and for an input that is not a tensor. */
  readonly got: readonly number[] | null;
  /** True if `got` is valid or null. */
  readonly fits: boolean;
  /**
   * A sentence such as `updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3,
   * 4]`.
   */
  readonly sentence: string;
}

/** An out-of-range index. */
export interface BadIndex {
  /** The name of the input that contains the index. */
  readonly input: string;
  /** The coordinates of the index within its input. */
  readonly at: readonly number[];
  /** The axis of data that the index refers to. */
  readonly axis: number;
  /** The index value, which is a bigint if a number would not be exact. */
  readonly got: number | bigint;
  /** The smallest and the largest valid index. If no index is valid, the second number is less than the first. */
  readonly expected: readonly number[];
  /** The error message that `run` would throw if this were the first out-of-range index. */
  readonly sentence: string;
}

/** A list that computes its members on each access and does not cache them. */
export interface Lazy<T> extends Iterable<T> {
  readonly length: number;
  /**
   * Returns the member at a position. The position -1 is the last member. Returns undefined for positions outside the
   * list.
   */
  at(position: number): T | undefined;
}

/** An index or index tuple, and the coordinates that it addresses. */
export interface IndexStory {
  /** The coordinates in the indices input; for a tuple, without the last coordinate. */
  readonly at: readonly number[];
  /** The original index values, one for each of `axes`; bigints if numbers would not be exact. */
  readonly given: readonly (number | bigint)[];
  /** The axes of data that the values refer to. */
  readonly axes: readonly number[];
  /**
   * The coordinates in data along `axes`, where negative indices have been counted from the end. For a sequence
   * (TensorScatter), these are the coordinates of this update, not of the first update. The value is null for an
   * out-of-range index that produces 0.
   */
  readonly places: readonly number[] | null;
}

/** Summary statistics for a story. A target is a slice of data that a scatter updates or a gather reads. */
export interface Summary {
  /** The number of updates in a scatter, or of output slices in a gather. */
  readonly count: number;
  /** The number of distinct targets. */
  readonly targets: number;
  /** The number of targets that are updated or read more than once. */
  readonly repeats: number;
  /** The 10 most frequent repeated targets. Targets with equal counts are in row-major order. */
  readonly most: readonly { readonly coordinates: readonly number[]; readonly count: number }[];
  /** The first 100 ranges of consecutive axis-0 coordinates that contain targets. Both ends are included. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  /** The total number of row ranges, including unlisted ranges. */
  readonly rowRanges: number;
  /** The number of data elements that a scatter does not update, or that a gather does not read. */
  readonly untouched: number;
  /** The number of gather output elements that are 0 because of an out-of-range index. */
  readonly filled: number;
}

/** The story of a scatter: the origin of each output element. */
export interface ScatterStory {
  readonly kind: "scatter";
  readonly reduction: Reduction;
  /** True if a reduction begins with the data value; false if it begins with a target's first update. */
  readonly includeSelf: boolean;
  /**
   * For a float max or min, the operand that remains unless the other operand is greater or less: the previous value,
   * or the update. Null for the IEEE 754 maximum and minimum, and for other reductions and types.
   */
  readonly stays: Stays | null;
  /** The number of leading data axes that updates address. The remaining axes form the slice of an update. */
  readonly addressed: number;
  readonly summary: Summary;
  /** All updates, in the order in which they are applied. Updates with empty slices are omitted. */
  readonly updates: Lazy<Update>;
  /** Updated slices of data, in row-major order. */
  readonly targets: Lazy<Target>;
  /** Returns the target at the `addressed` coordinates, or null if no update has this target. */
  target(coordinates: readonly number[]): Target | null;
  /**
   * Returns the story of the output element at the given coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): CellStory;
  /**
   * Returns a new tensor with the output after the first `updates` updates. The value of `updates` is truncated to an
   * integer and clamped to the range 0 to `summary.count`. For a mean, the output contains sums until the last update,
   * when they are divided.
   */
  after(updates: number): Tensor;
}

/** An update without the values before and after it. */
export interface Update {
  /** The position of the update among all updates, starting at 0. */
  readonly order: number;
  /** The coordinates of the slice in the updates input. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the updated slice in data, one per addressed axis. */
  readonly target: readonly number[];
}

/** A slice of data that is updated, or a single element if all axes are addressed. */
export interface Target {
  /** The coordinates of the slice, one per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of updates to the slice; at least 1. */
  readonly count: number;
  /** The updates to the slice, in the order in which they are applied. The list has `count` members. */
  readonly updates: Lazy<Update>;
  /** Returns the changes to the slice, in order. The values in each change are tensors with the shape of a slice. */
  steps(): Iterable<StoryStep<Tensor>>;
}

/** An element of a scatter's output. */
export interface CellStory {
  readonly coordinates: readonly number[];
  /** The element's value in the output. */
  readonly value: Scalar;
  /** The number of updates to the element; 0 if the element keeps its data value. */
  readonly count: number;
  /** Returns the changes to the element, in order. */
  steps(): Iterable<StoryStep<Scalar>>;
}

/** A change to a slice or element: an update, or the division at the end of a mean. */
export type StoryStep<V> = UpdateStep<V> | DivisionStep<V>;

/** A step that applies an update to a value. */
export interface UpdateStep<V> {
  readonly kind: "update";
  /** The operation that combines the update with the value. With `none`, the update replaces the value. */
  readonly by: PlainStep;
  /** The position of the update among all updates, starting at 0. */
  readonly order: number;
  /** The coordinates of the slice or element in the updates input. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The value before the update. Each earlier step has rounded it to the data type. */
  readonly before: V;
  /** The value that the update applies. */
  readonly update: V;
  /** The value after the update, rounded to the data type. */
  readonly after: V;
}

/** The last step of a mean, which divides the sum by the count. */
export interface DivisionStep<V> {
  readonly kind: "division";
  /** The number of values in the sum: all updates, and the data value if `includeSelf` is true. */
  readonly divisor: number;
  readonly before: V;
  readonly after: V;
}

/** The story of a gather: the origin of each output element. */
export interface GatherStory {
  readonly kind: "gather";
  /** The number of leading data axes that indices and batches address. The remaining axes form the slice. */
  readonly addressed: number;
  readonly summary: Summary;
  /** One read per output slice, in row-major order. Reads of empty slices are omitted. */
  readonly reads: Lazy<Read>;
  /** Slices of data that are read, in row-major order. */
  readonly targets: Lazy<ReadTarget>;
  /** Returns the slice of data at the `addressed` coordinates, or null if the slice is not read. */
  target(coordinates: readonly number[]): ReadTarget | null;
  /**
   * Returns the story of the output element at the given coordinates.
   * @throws TensorError `index-out-of-range` for coordinates outside the output
   */
  cell(coordinates: readonly number[]): ReadCell;
}

/** One output slice of a gather. */
export interface Read {
  /** The coordinates of the slice in the output. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the source slice in data; null if the index is out of range and the output slice is 0. */
  readonly target: readonly number[] | null;
}

/** A slice of data that a gather reads, or a single element if all axes are addressed. */
export interface ReadTarget {
  /** The coordinates of the slice, one per addressed axis. */
  readonly coordinates: readonly number[];
  /** The number of output slices copied from this slice; at least 1. */
  readonly count: number;
  /** Returns the output slices copied from this slice, in row-major order. */
  reads(): Iterable<Read>;
}

/** An element of a gather's output. */
export interface ReadCell {
  readonly coordinates: readonly number[];
  /** The element's value in the output. */
  readonly value: Scalar;
  readonly index: IndexStory;
  /** The coordinates of the source element in data; null if the index is out of range and the output element is 0. */
  readonly source: readonly number[] | null;
}
