/**
 * TensorFlow.js with gradients, for comparisons in tests. The package `bench` contains it and is installed separately:
 * `npm ci --prefix bench --ignore-scripts`.
 */

import path from "node:path";
import { pathToFileURL } from "node:url";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { ROOT } from "./documents.ts";

const { IS_INSTALLED, loadTfjs } = (await import(
  pathToFileURL(path.join(ROOT, "bench", "tfjs-gradients.js")).href
)) as { readonly IS_INSTALLED: boolean; readonly loadTfjs: () => Promise<Tfjs> };

/** The reason to skip a test; false for none. */
export const WITHOUT_TFJS = IS_INSTALLED ? false : "bench is not installed";

export interface TfTensor {
  readonly shape: readonly number[];
  dataSync(): Float32Array;
}

type Shape = readonly number[];
type Differentiable = (...inputs: TfTensor[]) => TfTensor;
type Binary = (a: TfTensor, b: TfTensor) => TfTensor;

/** The part of TensorFlow.js that the tests use. */
export interface Tfjs {
  readonly version_core: string;
  readonly add: Binary;
  readonly sub: Binary;
  readonly div: Binary;
  readonly maximum: Binary;
  readonly minimum: Binary;
  setBackend(name: string): Promise<boolean>;
  tidy<T>(action: () => T): T;
  tensor(values: ArrayLike<number>, shape: Shape, dtype?: "float32" | "int32" | "bool"): TfTensor;
  grads(call: Differentiable): (inputs: TfTensor[], outputGradient: TfTensor) => TfTensor[];
  gather(x: TfTensor, indices: TfTensor, axis?: number, batchDims?: number): TfTensor;
  gatherND(x: TfTensor, indices: TfTensor): TfTensor;
  scatterND(indices: TfTensor, updates: TfTensor, shape: Shape): TfTensor;
  tensorScatterUpdate(data: TfTensor, indices: TfTensor, updates: TfTensor): TfTensor;
  sparseToDense(indices: TfTensor, values: TfTensor, shape: Shape): TfTensor;
  unsortedSegmentSum(x: TfTensor, segmentIds: TfTensor, count: number): TfTensor;
  reshape(x: TfTensor, shape: Shape): TfTensor;
  where(condition: TfTensor, a: TfTensor, b: TfTensor): TfTensor;
  slice(x: TfTensor, begin: Shape, size: Shape): TfTensor;
  concat(inputs: TfTensor[], axis: number): TfTensor;
  max(x: TfTensor, axis: number, keepDims: boolean): TfTensor;
  min(x: TfTensor, axis: number, keepDims: boolean): TfTensor;
  prod(x: TfTensor, axis: number, keepDims: boolean): TfTensor;
}

let loaded: Promise<Tfjs> | undefined;

/** TensorFlow.js on a backend. */
export async function tfjsOn(backend: "cpu" | "wasm"): Promise<Tfjs> {
  loaded ??= loadTfjs();
  const tf = await loaded;
  await tf.setBackend(backend);
  return tf;
}

/** The gradients of a function of TensorFlow.js, for inputs and an output gradient of float32. */
export const gradientsIn = (
  tf: Tfjs,
  call: Differentiable,
  inputs: readonly Tensor[],
  outputGradient: Tensor,
): Float32Array[] =>
  tf.tidy(() => {
    const given = [...inputs, outputGradient].map(({ data, shape }) =>
      tf.tensor(data as Float32Array, shape),
    );
    const gradient = given.pop() as TfTensor;
    return tf
      .grads(call)(given, gradient)
      .map((one) => one.dataSync());
  });

export const int32 = (tf: Tfjs, values: readonly number[], shape: Shape = [values.length]) =>
  tf.tensor(values, shape, "int32");

export const float32 = (values: readonly number[], shape: Shape = [values.length]): Tensor =>
  tensor("float32", shape, [...values]) as Tensor;
