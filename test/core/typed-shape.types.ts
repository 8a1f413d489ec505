/**
 * What compiles and what does not, and the types that results have. Nothing here runs: compiling it is the test. What
 * the compiler says where it refuses is tested in `typed-shape.test.ts`.
 */

import type { DType } from "../../src/core/tensor/dtype.ts";
import type * as functions from "../../src/core/functions.ts";
import type { full, RuntimeTensor, Tensor, tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { Float16Like } from "../../src/core/tensor/storage.ts";
import type { GatherNDShape } from "../../src/core/typed-shape.ts";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Says that a value's type is `Expected`, exactly: `is<Expected>()(value, true)`. */
type Is = <Expected>() => <Actual>(value: Actual, equal: Equal<Actual, Expected>) => void;

/** A tensor of a literal shape, as `zeros` makes it. */
type Make = typeof zeros;

export interface Given {
  scatterND: typeof functions.scatterND;
  scatterElements: typeof functions.scatterElements;
  gatherND: typeof functions.gatherND;
  gatherElements: typeof functions.gatherElements;
  tensorScatter: typeof functions.tensorScatter;
  tensor: typeof tensor;
  full: typeof full;
  make: Make;
  is: Is;
  runtime: RuntimeTensor;
  /** Out of a file: nothing is known. */
  any: Tensor;
  dynamic: Tensor<"float32", number[]>;
  anything: ReturnType<typeof JSON.parse>;
  halves: Float16Like;
}

export function literals({ tensor, full, make, is }: Given): void {
  is<Tensor<"float32", [4, 4]>>()(tensor("float32", [4, 4], []), true);
  is<Tensor<"float32", [4, 4]>>()(make("float32", [4, 4]), true);
  is<Tensor<"float32", []>>()(full("float32", [], 1), true);
}

/** The data type is that of the array's class, or of the elements; a shape is that which is given, or that of the lists. */
export function valuesAlone(given: Given): void {
  const { tensor, is, any, dynamic } = given;
  is<Tensor<"float32", [4, 3]>>()(tensor(new Float32Array(12), [4, 3]), true);
  is<Tensor<"int64", [number]>>()(tensor(new BigInt64Array(2)), true);
  is<Tensor<"uint64", [2, 1]>>()(tensor(new BigUint64Array(2), [2, 1]), true);
  is<Tensor<"uint8", [number]>>()(tensor(new Uint8ClampedArray(2)), true);
  is<Tensor<"uint8", [2]>>()(tensor(new Uint8Array(2), [2]), true);
  is<Tensor<"int16", [number]>>()(tensor(new Int16Array(2)), true);
  is<Tensor<"float64", [number]>>()(tensor(new Float64Array(2)), true);
  is<Tensor<"float16", [2]>>()(tensor(given.halves, [2]), true);
  is<Tensor<"float32", [3, 2]>>()(
    tensor([
      [1, 2],
      [3, 4],
      [5, 6],
    ]),
    true,
  );
  is<Tensor<"float32", [2, 2]>>()(tensor([1, 2, 3, 4], [2, 2]), true);
  is<Tensor<"int64", [1, 2]>>()(tensor([[1n, 2n]]), true);
  is<Tensor<"bool", [2]>>()(tensor([true, false]), true);
  is<Tensor<"string", [2]>>()(tensor(["a", "b"]), true);
  is<Tensor<"float32", []>>()(tensor(5), true);
  is<Tensor<"float32", [0]>>()(tensor([]), true);
  is<Tensor<"int32", [2, 1]>>()(tensor([[0], [2]], "int32"), true);
  is<Tensor<"int32", [2]>>()(tensor([0, 2], [2], "int32"), true);
  is<Tensor<"int64", [number]>>()(tensor(new Int32Array(2), "int64"), true);
  is<Tensor<"complex64", number[]>>()(tensor([[0, 1]], "complex64"), true);
  const rows: number[][] = [[1, 2]];
  is<Tensor<"float32", [number, number]>>()(tensor(rows), true);
  is<number>()(tensor(rows).toArray()[0][0], true);
  const typed: Float64Array[] = [];
  is<Tensor<"float64", [number, number]>>()(tensor(typed), true);
  is<Tensor<"float32", number[]>>()(tensor(dynamic.toArray()), true);
  is<Tensor<DType, number[]>>()(tensor(given.anything), true);
  const claimed: Tensor<"float32", [4, 3]> = tensor("float32", [4, 3], new Float32Array(12));
  void claimed;

  // @ts-expect-error a tensor is no list
  tensor(any);
  // @ts-expect-error mixed kinds
  tensor([1, "a"]);
  // @ts-expect-error no data type has this name
  tensor([1, 2], "f32");
  // @ts-expect-error the shape is a list
  tensor(new Float32Array(4), 4);
}

/** Typed arrays and lists of any depth go wherever lists go. */
export function typedArrays({
  scatterND,
  gatherND,
  scatterElements,
  tensorScatter,
  make,
}: Given): void {
  const data = make("float32", [4, 2]);
  const ids = new Int32Array(2);
  const wide = new BigInt64Array(2);
  const list: number[] = [0, 1];
  gatherND(data, ids);
  gatherND(data, wide, { out: make("float32", []) });
  gatherND(data, list);
  gatherND(data, [ids, ids]);
  scatterND(data, [[1], [2]], [Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  scatterND(data, ids, Float32Array.of(1));
  scatterElements(make("float32", [4]), new Uint16Array(2), new Float64Array(2));
  tensorScatter(make("float32", [1, 4, 2]), [[[1, 2]]], ids);

  // @ts-expect-error bytes of any type
  gatherND(data, new ArrayBuffer(8));
  // @ts-expect-error text
  gatherND(data, "1");
}

export function ofScatterND({ scatterND, make, is }: Given): void {
  const data = make("float32", [4, 4, 4]);
  const indices = make("int64", [2, 1]);
  const updates = make("float32", [2, 4, 4]);
  is<Tensor<"float32", [4, 4, 4]>>()(scatterND(data, indices, updates), true);
  scatterND(scatterND(data, indices, updates, { out: data, reduction: "add" }), indices, updates);
  // k = 0 and k = r, indices of rank 1, int32.
  scatterND(data, make("int64", [2, 0]), make("float32", [2, 4, 4, 4]));
  scatterND(data, make("int32", [5, 3]), make("float32", [5]));
  scatterND(data, make("int32", [3]), make("float32", []));
  // Empty tensors.
  scatterND(make("int8", [0, 3]), make("int64", [0, 1]), make("int8", [0, 3]));

  // @ts-expect-error updates.shape[1] is 3
  scatterND(data, indices, make("float32", [2, 3, 4]));
  // @ts-expect-error updates lack an axis
  scatterND(data, indices, make("float32", [2, 4]));
  // @ts-expect-error one update too many
  scatterND(data, make("int32", [3]), make("float32", [1]));
  // @ts-expect-error k is 4
  scatterND(data, make("int64", [2, 4]), updates);
  // @ts-expect-error indices of rank 0
  scatterND(data, make("int64", []), data);
  // @ts-expect-error data of rank 0
  scatterND(make("float32", []), make("int64", [1, 0]), make("float32", [1]));
  // @ts-expect-error float64 into float32
  scatterND(data, indices, make("float64", [2, 4, 4]));
  // @ts-expect-error uint8 indices
  scatterND(data, make("uint8", [2, 1]), updates);
  // @ts-expect-error out of another shape
  scatterND(data, indices, updates, { out: make("float32", [4, 4]) });
  // @ts-expect-error out of another data type
  scatterND(data, indices, updates, { out: make("float64", [4, 4, 4]) });
  // @ts-expect-error no such reduction
  scatterND(data, indices, updates, { reduction: "avg" });
  // @ts-expect-error no such option
  scatterND(data, indices, updates, { axis: 1 });
}

export function ofScatterElements({ scatterElements, make, is }: Given): void {
  const data = make("float16", [3, 3]);
  const indices = make("int32", [2, 3]);
  const updates = make("float16", [2, 3]);
  is<Tensor<"float16", [3, 3]>>()(
    scatterElements(data, indices, updates, { axis: 1, reduction: "max" }),
    true,
  );
  // Longer than data along the axis.
  scatterElements(data, make("int64", [9, 3]), make("float16", [9, 3]), { out: data });

  // @ts-expect-error updates are not as indices
  scatterElements(data, indices, make("float16", [3, 3]));
  // @ts-expect-error indices lack an axis
  scatterElements(data, make("int32", [3]), make("float16", [3]));
  // @ts-expect-error the rank of updates, whatever the list
  scatterElements(data, [[0]], make("float16", [1]));
  // @ts-expect-error rank 0
  scatterElements(make("float16", []), make("int32", []), make("float16", []));
  // @ts-expect-error the data type of updates
  scatterElements(data, indices, make("bfloat16", [2, 3]));
  // @ts-expect-error the data type of indices
  scatterElements(data, make("float32", [2, 3]), updates);
}

export function ofGatherND({ gatherND, make, is }: Given): void {
  const data = make("float32", [2, 3, 4]);
  is<Tensor<"float32", [5, 3, 4]>>()(gatherND(data, make("int64", [5, 1])), true);
  is<Tensor<"float32", [5]>>()(gatherND(data, make("int64", [5, 3])), true);
  is<Tensor<"float32", []>>()(gatherND(data, make("int64", [3])), true);
  is<Tensor<"float32", [2, 4]>>()(gatherND(data, make("int32", [2, 1]), { batchDims: 1 }), true);
  is<Tensor<"float32", [2, 3, 7]>>()(
    gatherND(data, make("int64", [2, 3, 7, 1]), { batchDims: 2 }),
    true,
  );
  // The result goes on.
  const rows = gatherND(data, make("int64", [5, 1]), { out: make("float32", [5, 3, 4]) });
  is<Tensor<"float32", [5, 7]>>()(gatherND(rows, make("int32", [5, 7, 2]), { batchDims: 1 }), true);
  // What is not known gives a shape of any rank.
  is<Tensor<"float32", number[]>>()(gatherND(data, [[0], [1]]), true);

  // @ts-expect-error k = 0
  gatherND(data, make("int64", [2, 0]));
  // @ts-expect-error k = 4
  gatherND(data, make("int64", [2, 4]));
  // @ts-expect-error k = 3 beside a batch axis
  gatherND(data, make("int64", [2, 3]), { batchDims: 1 });
  // @ts-expect-error batches of 2 and 5
  gatherND(data, make("int64", [5, 1]), { batchDims: 1 });
  // @ts-expect-error no axis of indices is left
  gatherND(data, make("int64", [2, 3]), { batchDims: 2 });
  // @ts-expect-error no axis of data is left
  gatherND(make("int8", [2]), make("int64", [2, 1]), { batchDims: 1 });
  // @ts-expect-error batchDims is never negative
  gatherND(data, make("int64", [2, 1]), { batchDims: -1 });
  // @ts-expect-error rank 0
  gatherND(make("int8", []), make("int64", [1, 1]));
  // @ts-expect-error rank 0
  gatherND(data, make("int64", []));
  // @ts-expect-error out of another shape
  gatherND(data, make("int64", [5, 1]), { out: make("float32", [5, 3]) });
  // @ts-expect-error a result of rows is no result of elements
  is<Tensor<"float32", [2]>>()(gatherND(data, make("int64", [2, 1])), true);
}

export function ofGatherElements({ gatherElements, make, is }: Given): void {
  const data = make("string", [3, 3]);
  is<Tensor<"string", [9, 2]>>()(gatherElements(data, make("int32", [9, 2]), { axis: -2 }), true);
  is<Tensor<"string", readonly number[]>>()(gatherElements(data, [[0, 1]]), true);
  gatherElements(data, make("int64", [2, 2]), { out: make("string", [2, 2]) });

  // @ts-expect-error ranks differ
  gatherElements(data, make("int64", [2]));
  // @ts-expect-error out is not as indices
  gatherElements(data, make("int64", [2, 2]), { out: data });
  // @ts-expect-error the data type of indices
  gatherElements(data, make("uint64", [2, 2]));
}

/** The lists of a tensor can be indexed as deep as its shape is, and go back into calls. */
export function listsOfTensors({ scatterND, gatherND, make, is, any, dynamic }: Given): void {
  const data = make("float32", [4, 2]);
  const rows = scatterND(data, [[1]], [[1, 2]]).toArray();
  is<number[][]>()(rows, true);
  is<number>()(rows[1][0], true);
  scatterND(data, [[1], [0]], rows);
  is<bigint>()(make("int64", []).toArray(), true);
  is<boolean[]>()(make("bool", [3]).toArray(), true);
  is<[number, number][]>()(make("complex64", [3]).toArray(), true);
  is<string[][][]>()(gatherND(make("string", [4, 2]), make("int32", [5, 1, 1])).toArray(), true);
  const anyRows: Tensor<"float32", readonly [number, 4]> = make("float32", [2, 4]);
  is<number>()(anyRows.toArray()[1][2], true);

  // Of an unknown rank, the one question that tells.
  const unknown = dynamic.toArray();
  if (Array.isArray(unknown)) scatterND(data, [[1]], unknown[0]);
  else is<number>()(unknown, true);
  const lists: unknown = any.toArray();
  void lists;

  // @ts-expect-error an element is no list
  void rows[1][0][0];
  // @ts-expect-error a scalar is no list
  void make("float32", []).toArray()[0];
  // @ts-expect-error the rank is not known
  void dynamic.toArray()[0];
}

/** Lists and tensors of onnxruntime go wherever a tensor goes, unchecked. */
export function listsAndRuntimeTensors(given: Given): void {
  const { scatterND, scatterElements, gatherND, gatherElements, make, is, runtime } = given;
  const data = make("float32", [4, 4]);
  is<Tensor<"float32", [4, 4]>>()(
    scatterND(
      data,
      [[0], [2]],
      [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ],
    ),
    true,
  );
  scatterND(data, [[0n], [2n]], make("float32", [2, 4]));
  scatterND(data, make("int64", [2, 1]), [[1, 2, 3, 4]]);
  scatterND(data, runtime, runtime);
  scatterND(make("bool", [2]), [[0]], [true]);
  scatterND(make("complex64", [2]), [[0]], [[1, 2]]);
  scatterND(make("string", [2]), [[0]], ["a"]);
  is<Tensor<DType, readonly number[]>>()(scatterND(runtime, runtime, runtime), true);
  is<Tensor<DType, readonly number[]>>()(scatterElements(runtime, [[0]], [[1]]), true);
  is<Tensor<DType, number[]>>()(gatherND(runtime, [[0]]), true);
  is<Tensor<DType, [2, 2]>>()(gatherElements(runtime, make("int64", [2, 2])), true);

  // @ts-expect-error text into numbers
  scatterND(data, [[0]], [["a"]]);
  // @ts-expect-error text as indices
  gatherND(data, [["0"]]);
  // @ts-expect-error nothing says that it is float32
  const claimed: Tensor<"float32"> = scatterND(runtime, [[0]], [1]);
  void claimed;
}

/** What is unknown stays unknown, and what is known to be wrong is wrong all the same. */
export function partlyKnown({
  scatterND,
  scatterElements,
  gatherND,
  make,
  is,
  any,
  dynamic,
}: Given): void {
  is<Tensor>()(scatterND(any, any, any), true);
  is<Tensor>()(scatterElements(any, any, any, { out: any }), true);
  is<Tensor<DType, number[]>>()(gatherND(any, any, { out: any }), true);
  const data = make("float32", [4, 4]);
  const indices = make("int64", [2, 1]);
  scatterND(data, any, any, { out: any });
  scatterND(data, indices, dynamic, { out: dynamic });
  scatterND(dynamic, indices, dynamic);
  scatterND(dynamic, indices, make("float32", [2, 9]));

  const anyRows: Tensor<"float32", [number, 4]> = data;
  const anyCount: Tensor<"int64", readonly [number, 1]> = indices;
  is<Tensor<"float32", [number, 4]>>()(scatterND(anyRows, indices, make("float32", [2, 4])), true);
  scatterND(anyRows, anyCount, anyRows);
  is<Tensor<"float32", [number, 4]>>()(gatherND(data, anyCount), true);
  const anyDepth: Tensor<"int64", [2, number]> = indices;
  is<Tensor<"float32", number[]>>()(gatherND(data, anyDepth), true);
  const batchDims: number = 1;
  is<Tensor<"float32", number[]>>()(gatherND(data, indices, { batchDims }), true);
  const readonlyShape: Tensor<"float32", readonly [4, 4]> = data;
  is<Tensor<"float32", readonly [4, 4]>>()(
    scatterND(readonlyShape, indices, readonlyUpdates(make)),
    true,
  );
  const either: Tensor<"float32" | "float64", [4] | [4, 4]> = data;
  scatterND(either, indices, make("float64", [2]));

  // @ts-expect-error the second axis is 4
  scatterND(anyRows, anyCount, make("float32", [2, 3]));
  // @ts-expect-error two tuples of any length do not take three updates
  scatterND(data, anyDepth, make("float32", [3]));
  // @ts-expect-error neither float32 nor float64
  scatterND(either, indices, make("int8", [2]));
}

const readonlyUpdates = (make: Make): Tensor<"float32", readonly [2, 4]> => make("float32", [2, 4]);

/** Callers that are generic in data types, shapes and dimensions. */
export function genericData<S extends readonly number[]>(
  { scatterND, scatterElements, gatherND, gatherElements, make }: Given,
  data: Tensor<"float32", S>,
): Tensor<"float32", S> {
  gatherND(data, make("int64", [2, 1]));
  gatherElements(data, make("int64", [2, 1]));
  scatterElements(data, make("int64", [2, 1]), make("float32", [2, 1]));
  return scatterND(data, make("int64", [2, 1]), make("float32", [2, 4, 4]), { out: data });
}

export function genericThroughout<
  D extends DType,
  S extends readonly number[],
  I extends readonly number[],
  U extends readonly number[],
>(
  { scatterND, scatterElements, gatherND, gatherElements }: Given,
  data: Tensor<D, S>,
  indices: Tensor<"int32" | "int64", I>,
  updates: Tensor<D, U>,
): Tensor<D, S> {
  const elements: Tensor<D, I> = gatherElements(data, indices, { out: updates, axis: 1 });
  const slices: Tensor<D, GatherNDShape<S, I, 1>> = gatherND(data, indices, { batchDims: 1 });
  gatherND(data, indices, { out: slices });
  scatterElements(data, indices, elements, { reduction: "add" });
  scatterND(data, indices, slices);
  return scatterND(scatterElements(data, indices, updates), indices, updates, { out: data });
}

export function genericTensor<T extends Tensor, I extends Tensor<"int64">, B extends number>(
  { scatterND, scatterElements, gatherND, gatherElements }: Given,
  data: T,
  indices: I,
  updates: T,
  batchDims: B,
): void {
  scatterND(data, indices, updates, { out: data });
  scatterElements(data, indices, updates);
  gatherND(data, indices, { batchDims });
  gatherElements(data, indices);
}

export function genericDimension<N extends number, M extends number>(
  { scatterND, scatterElements, gatherND, make }: Given,
  data: Tensor<"float32", [N, 4]>,
  indices: Tensor<"int64", [M, 1]>,
  updates: Tensor<"float32", readonly [M, 4]>,
): Tensor<"float32", [N, 4]> {
  gatherND(data, indices);
  scatterElements(data, indices, make("float32", [2, 1]));
  // @ts-expect-error the second axis is 1
  scatterElements(data, indices, make("float32", [2, 4]));
  return scatterND(data, indices, updates);
}
