/** What an explanation holds. Everything of which there is one an update, or one a cell, is made when it is asked for. */

import type { Reduction, Scalar, Step } from "../tensor/dtype.ts";
import type { TensorError } from "../errors.ts";
import type { OperatorVersion, Role, Term } from "../operators/operator.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** One call, told: what followed from its shapes, what was wrong, and where each element of the output comes from. */
export interface Explanation {
  /** The version whose rules hold; null where there is none. */
  readonly version: OperatorVersion | null;
  /** In the order of the version. */
  readonly inputs: readonly ExplainedInput[];
  /** The shapes that follow from those of data and indices; none where nothing follows. */
  readonly shapes: readonly DerivedShape[];
  /** What `run` throws for the call; null where it gives `output`. */
  readonly error: TensorError | null;
  /** The first 1000 indices outside their axes, in row-major order, whatever else is wrong. */
  readonly badIndices: readonly BadIndex[];
  /** How many there are in all. */
  readonly badCount: number;
  readonly output: Tensor | null;
  /** Null where there is no output. */
  readonly story: ScatterStory | GatherStory | null;
}

export interface ExplainedInput {
  readonly name: string;
  readonly role: Role;
  /** Null for an input that is left out, or that is no tensor. */
  readonly tensor: Tensor | null;
}

/** A shape that an input must have, or that the output has. */
export interface DerivedShape {
  /** The name of the input or of the output. */
  readonly of: string;
  readonly terms: readonly Term[];
  /** The terms, one after the other. */
  readonly expected: readonly number[];
  /** The shape of the input; null for an output, and for an input that is no tensor. */
  readonly got: readonly number[] | null;
  /** Whether `got` will do; true where there is none. */
  readonly fits: boolean;
  /** `updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]` */
  readonly sentence: string;
}

/** An index outside its axis. */
export interface BadIndex {
  /** The name of the input that it stands in. */
  readonly input: string;
  /** Where in it. */
  readonly at: readonly number[];
  /** The axis of data that it is for. */
  readonly axis: number;
  readonly got: number | bigint;
  /** The least and the greatest that are taken; the second is below the first where none is. */
  readonly expected: readonly number[];
  readonly sentence: string;
}

/** A list whose members are made when they are asked for. */
export interface Lazy<T> extends Iterable<T> {
  readonly length: number;
  /** Undefined outside the list; -1 is the last. */
  at(position: number): T | undefined;
}

/** An index, or the indices of a tuple. */
export interface IndexStory {
  /** Where in the input of indices it stands. */
  readonly at: readonly number[];
  /** Its values as they are given. */
  readonly given: readonly (number | bigint)[];
  /** The axes of data that they are for. */
  readonly axes: readonly number[];
  /**
   * The coordinates along these axes that they lead to, negative ones wrapped; in a sequence, as far behind its begin as
   * the update stands in it. Null for an index that is out of range and gives 0.
   */
  readonly places: readonly number[] | null;
}

/** The whole in few numbers. */
export interface Summary {
  /** Updates of a scatter, slices of the output of a gather. */
  readonly count: number;
  /** Different targets among theirs: slices of data that are hit, or read. */
  readonly targets: number;
  /** Targets that are met more than once. */
  readonly repeats: number;
  /** The 10 targets that are met most often, and more than once; of equals the first. */
  readonly most: readonly { readonly coordinates: readonly number[]; readonly count: number }[];
  /** The first 100 ranges along axis 0 of data in which targets lie, both ends included. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  /** How many ranges there are in all. */
  readonly rowRanges: number;
  /** Elements of data that no update hits, or that nothing reads. */
  readonly untouched: number;
  /** Elements of the output of a gather that are 0 because their index is out of range. */
  readonly filled: number;
}

/** Where the output of a scatter comes from. */
export interface ScatterStory {
  readonly kind: "scatter";
  readonly reduction: Reduction;
  /** Whether a reduction begins with the value of data, and not with the first update. */
  readonly includeSelf: boolean;
  /** How many leading axes of data say which slice an update hits. */
  readonly addressed: number;
  readonly summary: Summary;
  /** In the order in which they are applied. */
  readonly updates: Lazy<Update>;
  /** What updates hit, in row-major order. */
  readonly targets: Lazy<Target>;
  /** The target with these coordinates, as many as axes are addressed; null where no update hits it. */
  target(coordinates: readonly number[]): Target | null;
  /** @throws TensorError `index-out-of-range` outside the output */
  cell(coordinates: readonly number[]): CellStory;
  /** The output after that many updates, all at most; a mean is divided after the last alone. */
  after(updates: number): Tensor;
}

/** An update, without what it does. */
export interface Update {
  /** The how manieth it is, from 0. */
  readonly order: number;
  /** Where in updates it stands: the coordinates of its slice. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the slice that it hits. */
  readonly target: readonly number[];
}

/** A slice of the output that updates hit; an element where all axes are addressed. */
export interface Target {
  readonly coordinates: readonly number[];
  /** How many updates hit it. */
  readonly count: number;
  /** What happens to it, in order; slices are tensors. */
  steps(): Iterable<StoryStep<Tensor>>;
}

/** One element of the output. */
export interface CellStory {
  readonly coordinates: readonly number[];
  readonly value: Scalar;
  /** How many updates hit it; with none it is what data holds. */
  readonly count: number;
  /** What happens to it, in order. */
  steps(): Iterable<StoryStep<Scalar>>;
}

export type StoryStep<V> = UpdateStep<V> | DivisionStep<V>;

/** An update meets a value. */
export interface UpdateStep<V> {
  readonly kind: "update";
  /** What it does: `none` replaces. */
  readonly by: Step;
  /** The how manieth of all updates it is, from 0. */
  readonly order: number;
  /** Where in updates it stands: the coordinates of its slice, or of its element. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  readonly before: V;
  readonly update: V;
  readonly after: V;
}

/** The end of a mean. */
export interface DivisionStep<V> {
  readonly kind: "division";
  /** How many values went into the sum. */
  readonly divisor: number;
  readonly before: V;
  readonly after: V;
}

/** Where the output of a gather comes from. */
export interface GatherStory {
  readonly kind: "gather";
  /** How many leading axes of data say which slice is read. */
  readonly addressed: number;
  readonly summary: Summary;
  /** A read for each slice of the output, in row-major order. */
  readonly reads: Lazy<Read>;
  /** The slices of data that are read, in row-major order. */
  readonly targets: Lazy<ReadTarget>;
  /** The slice of data with these coordinates, as many as axes are addressed; null where nothing reads it. */
  target(coordinates: readonly number[]): ReadTarget | null;
  /** @throws TensorError `index-out-of-range` outside the output */
  cell(coordinates: readonly number[]): ReadCell;
}

/** A slice of the output. */
export interface Read {
  /** Its coordinates in the output. */
  readonly at: readonly number[];
  readonly index: IndexStory;
  /** The coordinates of the slice of data; null where the index is out of range and gives 0. */
  readonly target: readonly number[] | null;
}

/** A slice of data that is read; an element where all axes are addressed. */
export interface ReadTarget {
  readonly coordinates: readonly number[];
  /** How many slices of the output come from it. */
  readonly count: number;
  reads(): Iterable<Read>;
}

/** One element of the output. */
export interface ReadCell {
  readonly coordinates: readonly number[];
  readonly value: Scalar;
  readonly index: IndexStory;
  /** The coordinates of the element of data; null where the index is out of range and gives 0. */
  readonly source: readonly number[] | null;
}
