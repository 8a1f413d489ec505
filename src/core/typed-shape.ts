/**
 * The specification's rules for shapes and data types, written as types for the signatures in `functions.ts`. This file
 * contains only types; every rule is checked again at run time.
 *
 * Each parameter's type is intersected with its rule's verdict. The verdict is either `unknown`, which changes nothing,
 * or a string literal. Because a tensor is never a string, the compiler then reports an error and prints the literal as
 * the reason.
 * - Shapes are compared by intersection: `[2, 4] & [2, 3]` is `never`; `[2, number] & [2, 3]` and `number[] & [2, 3]`
 *   are not. The compiler reports only definite mismatches. Data types are compared in the same way, so a tensor that
 *   was read from a file (`Tensor`, with any type and shape) is accepted everywhere.
 * - A rule is the only member of a tuple (`(...)[0]`) that first distributes over every parameter (`S extends Shape ?
 *   ... : never`). Only then does TypeScript replace a caller's own type parameter by its constraint `readonly
 *   number[]`, which breaks no rule. With a bare conditional type, both branches would have to hold, and a function
 *   that is generic in a shape would not compile.
 * - Recursion is over axes, never over sizes: a rank is the length of a tuple; nothing is added or multiplied. `Take`
 *   and `Drop` distribute over both parameters at each step: otherwise the compiler never stops looking for the
 *   constraint of an unknown `N`.
 *
 * Type parameters: `D` and `S` are the data type and the shape of data, `DI` and `I` those of indices, `DU` and `U`
 * those of updates, `DO` and `O` those of out; `B` is batchDims, and `K` is k, the last dimension of indices.
 */

import type { DType, Reduction } from "./tensor/dtype.ts";
import type { RuntimeTensor, Tensor } from "./tensor/tensor.ts";

/** A shape known at compile time: a tuple of literals or `number`, or a list of any length. */
export type Shape = readonly number[];

/** A shape of unknown rank. */
type AnyShape = number[];

/**
 * A shape, as the types in this file match it. TypeScript cannot decide whether a caller's type parameter matches
 * `number`, so no pattern in this file tests for `number`.
 */
type List = readonly unknown[];

/** Data types that indices may have. */
export type IndexDType = "int32" | "int64";

/** All dimensions except the last: `shape[:-1]`. */
type Leading<I extends List> = I extends readonly [...infer Head, unknown] ? Head : AnyShape;

/**
 * The last dimension, `shape[-1]`. For index tuples, this dimension is k, the number of axes that a tuple addresses.
 */
type Last<I extends List> = I extends readonly [...unknown[], infer K] ? K & number : number;

/** The first n dimensions, `shape[:n]`; `never` if the shape has fewer axes. */
// prettier-ignore
type Take<S extends List, N extends number, Taken extends List = []> =
  S extends List ? N extends number ?
    number extends N | S["length"] ? AnyShape
    : Taken["length"] extends N ? Taken
    : S extends readonly [infer First, ...infer Rest] ? Take<Rest, N, [...Taken, First]>
    : never
  : never : never;

/** The dimensions after the first n, `shape[n:]`; `never` if the shape has fewer axes. */
// prettier-ignore
type Drop<S extends List, N extends number, Dropped extends List = []> =
  S extends List ? N extends number ?
    number extends N | S["length"] ? AnyShape
    : Dropped["length"] extends N ? S
    : S extends readonly [infer First, ...infer Rest] ? Drop<Rest, N, [...Dropped, First]>
    : never
  : never : never;

/** Shape of ScatterND updates: `indices.shape[:-1] ++ data.shape[k:]`. */
type ScatterNDUpdatesShape<I extends List, K extends number, S extends List> = [
  ...Leading<I>,
  ...Drop<S, K>,
];

/** Shape of a GatherND output: `indices.shape[:-1] ++ data.shape[b+k:]`; the rank is unknown if b or k is unknown. */
// prettier-ignore
export type GatherNDShape<S extends Shape, I extends Shape, B extends number> =
  S extends Shape ? I extends Shape ? B extends number ?
    Numbers<Gathered<I, Drop<Drop<S, B>, Last<I>>>>
  : never : never : never;

type Gathered<I extends List, Slice extends List> = number extends Slice["length"]
  ? AnyShape
  : [...Leading<I>, ...Slice];

type Numbers<S extends List> = { [Axis in keyof S]: S[Axis] & number };

/**
 * Rules for ScatterND indices: indices are int32 or int64; data and indices have rank 1 or more; k is at most the rank
 * of data.
 */
// prettier-ignore
export type ScatterNDIndicesMust<S extends Shape, DI extends DType, I extends Shape, K extends number = Last<I>> = (
  S extends Shape ? DI extends DType ? I extends Shape ? K extends number ? [
    [DI & IndexDType] extends [never] ? IndexDTypeMessage<DI>
    : I["length"] extends 0 ? RankMessage<"indices">
    : S["length"] extends 0 ? RankMessage<"data">
    : [Drop<S, K>] extends [never] ? `indices.shape[-1] must be at most ${Rank<S>}, the rank of data, got ${K}`
    : unknown
  ] : never : never : never : never
)[0];

/**
 * Rules for the updates of ScatterND: they have the data type of data, and the shape `indices.shape[:-1] ++
 * data.shape[k:]`.
 */
// prettier-ignore
export type ScatterNDUpdatesMust<
  D extends DType, S extends Shape, I extends Shape, DU extends DType, U extends Shape, K extends number = Last<I>
> = (
  D extends DType ? S extends Shape ? I extends Shape ? K extends number ? DU extends DType ? U extends Shape ? [
    // `ScatterNDIndicesMust` reports wrong indices, so no second error is needed here.
    [Drop<S, K>] extends [never] ? unknown : Match<"updates", D, ScatterNDUpdatesShape<I, K, S>, DU, U>
  ] : never : never : never : never : never : never
)[0];

/**
 * Rules for ScatterElements and GatherElements indices: indices are int32 or int64; data and indices have the same
 * rank, 1 or more.
 */
// prettier-ignore
export type ElementsIndicesMust<S extends Shape, DI extends DType, I extends Shape> = (
  S extends Shape ? DI extends DType ? I extends Shape ? [
    [DI & IndexDType] extends [never] ? IndexDTypeMessage<DI>
    : S["length"] extends 0 ? RankMessage<"data">
    : [S["length"] & I["length"]] extends [never]
      ? `indices must have rank ${Rank<S>}, as data has, got shape ${Print<I>}`
    : unknown
  ] : never : never : never
)[0];

/** Rules for ScatterElements updates: data's data type, and the shape of indices, which have data's rank. */
// prettier-ignore
export type ElementsUpdatesMust<
  D extends DType, S extends Shape, I extends Shape, DU extends DType, U extends Shape
> = (
  D extends DType ? S extends Shape ? I extends Shape ? DU extends DType ? U extends Shape ? [
    Match<"updates", D, number extends I["length"] ? { [Axis in keyof S]: number } : I, DU, U>
  ] : never : never : never : never : never
)[0];

/**
 * Rules for GatherND indices: indices are int32 or int64; data and indices have rank 1 or more; b is less than both
 * ranks; data and indices have equal first b dimensions; k is from 1 to the rank of data minus b.
 */
// prettier-ignore
export type GatherNDIndicesMust<
  S extends Shape, DI extends DType, I extends Shape, B extends number, K extends number = Last<I>
> = (
  S extends Shape ? DI extends DType ? I extends Shape ? B extends number ? K extends number ? [
    [DI & IndexDType] extends [never] ? IndexDTypeMessage<DI>
    : I["length"] extends 0 ? RankMessage<"indices">
    : S["length"] extends 0 ? RankMessage<"data">
    : [Drop<I, B>] extends [readonly []] ? BatchDimsMessage<"indices", I, B>
    : [Drop<S, B>] extends [readonly []] ? BatchDimsMessage<"data", S, B>
    : [Take<S, B> & Take<I, B>] extends [never]
      ? `indices.shape must begin with ${Print<Take<S, B>>}, the batch dimensions of data, got ${Print<I>}`
    : [Drop<Drop<S, B>, Exclude<K, 0>>] extends [never]
      ? `indices.shape[-1] must be from 1 to ${Rank<Drop<S, B>>}, the rank of data${LessBatchDims<B>}, got ${K}`
    : unknown
  ] : never : never : never : never : never
)[0];

type BatchDimsMessage<
  Name extends string,
  S extends List,
  B extends number,
> = `batchDims must be at least 0 and below ${Rank<S>}, the rank of ${Name}, got ${B}`;

type LessBatchDims<B extends number> = B extends 0 ? "" : " less batchDims";

/** Rules for `out`: the result's data type `D` and shape `S`. */
// prettier-ignore
type OutMust<D extends DType, S extends Shape, DO extends DType, O extends Shape> = (
  D extends DType ? S extends Shape ? DO extends DType ? O extends Shape ? [
    Match<"out", D, S, DO, O>
  ] : never : never : never : never
)[0];

/** Verdict on a tensor that must have data type `D` and shape `S`. */
type Match<
  Name extends string,
  D extends DType,
  S extends List,
  Got extends DType,
  GotShape extends List,
> = [D & Got] extends [never]
  ? `${Name}.dtype must be ${D}, got ${Got}`
  : [S & GotShape] extends [never]
    ? `${Name}.shape must be ${Print<S>}, got ${Print<GotShape>}`
    : unknown;

type IndexDTypeMessage<Got extends DType> = `indices.dtype must be int32 or int64, got ${Got}`;

type RankMessage<Name extends string> = `${Name} must have rank 1 or more, got shape []`;

type Rank<S extends List> = S["length"] & number;

/** A printed shape, such as `[2, ?, 4]`, or `[2, ...]` if the rank is unknown. */
type Print<S extends List> = string & PrintFrom<S, "", "">;

type PrintFrom<S extends List, Text extends string, Comma extends string> = S extends readonly []
  ? `[${Text}]`
  : S extends readonly [infer First, ...infer Rest]
    ? PrintFrom<Rest, `${Text}${Comma}${number extends First ? "?" : First & number}`, ", ">
    : `[${Text}${Comma}...]`;

/** Shape of a Gather output: `data.shape[:axis] ++ indices.shape[b:] ++ data.shape[axis+1:]`. */
// prettier-ignore
export type GatherShape<S extends Shape, I extends Shape, A extends number, B extends number> =
  S extends Shape ? I extends Shape ? A extends number ? B extends number ?
    `${A}${B}` extends `${string}-${string}` ? AnyShape
    : Numbers<Around<Take<S, A>, Drop<I, B>, Drop<Drop<S, A>, 1>>>
  : never : never : never : never;

/** Three shapes concatenated; the rank is unknown if any of the three ranks is unknown. */
type Around<Before extends List, Own extends List, Behind extends List> = number extends
  | Before["length"]
  | Own["length"]
  | Behind["length"]
  ? AnyShape
  : [...Before, ...Own, ...Behind];

/** Rules for Gather indices: indices are int32 or int64; data has rank 1 or more. */
// prettier-ignore
export type GatherIndicesMust<S extends Shape, DI extends DType> = (
  S extends Shape ? DI extends DType ? [
    [DI & IndexDType] extends [never] ? IndexDTypeMessage<DI>
    : S["length"] extends 0 ? RankMessage<"data">
    : unknown
  ] : never : never
)[0];

/** Scatter options except `out`. */
export interface ScatterChoices {
  /**
   * Operation that combines an update with the value at its target: `"none"`, the default, replaces the value; `"mean"`
   * divides the sum of all values by their number, rounding integers toward minus infinity.
   */
  readonly reduction?: Reduction | undefined;
  /**
   * Treatment of repeated targets if the reduction is `"none"`: `"last"`, the default, keeps the last update; `"error"`
   * throws `duplicate-index`.
   */
  readonly duplicates?: "last" | "error" | undefined;
  /**
   * Start of a reduction: with the value in data if true (the default), or with the first update of each target if
   * false.
   */
  readonly includeSelf?: boolean | undefined;
  /**
   * Treatment of an index outside its axis: `"error"`, the default, throws; `"clip"` clips the index to the axis;
   * `"drop"` skips the update.
   */
  readonly bounds?: "error" | "clip" | "drop" | undefined;
  /** Treatment of a negative index: `"wrap"`, the default, counts from the end of the axis; `"error"` throws. */
  readonly negative?: "wrap" | "error" | undefined;
}

/** Gather options except `out`. */
export interface GatherChoices {
  /**
   * Treatment of an index outside its axis: `"error"`, the default, throws; `"clip"` clips the index to the axis;
   * `"fill"` returns 0, `""` or false.
   */
  readonly bounds?: "error" | "clip" | "fill" | undefined;
  /** Treatment of a negative index: `"wrap"`, the default, counts from the end of the axis; `"error"` throws. */
  readonly negative?: "wrap" | "error" | undefined;
}

/** Scatter options, with an `out` that may be data itself. */
export interface ScatterOptions<
  D extends DType = DType,
  S extends Shape = Shape,
  DO extends DType = DType,
  O extends Shape = Shape,
> extends ScatterChoices {
  /** Tensor to write the result to, with data's data type and shape; it may be data itself. */
  readonly out?: (Tensor<DO, O> & OutMust<D, S, DO, O>) | RuntimeTensor | undefined;
}

/** Gather options, for a result with data type `D` and shape `S`. */
export interface GatherOptions<
  D extends DType = DType,
  S extends Shape = Shape,
  DO extends DType = DType,
  O extends Shape = Shape,
> extends GatherChoices {
  /** Tensor to write the result to, with data's data type and the result's shape; it must not be an input. */
  readonly out?: (Tensor<DO, O> & OutMust<D, S, DO, O>) | RuntimeTensor | undefined;
}

/** Axis option of `scatterElements` and `gatherElements`. */
export interface AxisOption {
  /** Axis that the indices address, from -r to r - 1 for data of rank r; 0 by default. */
  readonly axis?: number | undefined;
}

/** Batch option of `gatherND` and `gather`. */
export interface BatchOption {
  /** Number of leading axes of data and indices that are batch axes; 0 by default. */
  readonly batchDims?: number | undefined;
}
