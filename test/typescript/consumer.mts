/** A user's module, with every entry. Compiling it is the test: nothing here runs. */

import {
  createEngine,
  diagnose,
  DTYPES,
  explain,
  gather,
  gatherElements,
  gatherND,
  infer,
  isTensorError,
  planScatterND,
  run,
  scatterElements,
  scatterND,
  tensor,
  tensorScatter,
  TensorError,
  toRuntime,
  vjp,
  zeros,
  type DType,
  type ErrorCode,
  type NodeSpec,
  type Tensor,
} from "ndscatter";
import { createWorker, submitJob, type SubmitOptions } from "ndscatter/bullmq";
import { findJobs, runJob, scatterChunked, startPool } from "ndscatter/chunked";
import * as js from "ndscatter/js";
import { readNpy, writeNpy } from "ndscatter/npy";
import {
  buildModel,
  convertModel,
  createExactSession,
  inspectModel,
  readModel,
  runModel,
  verifyModel,
  writeModel,
} from "ndscatter/onnx";
import { readIR, writeIR } from "ndscatter/openvino";
import { compareVersions, resolve } from "ndscatter/operators";
import { createGpuEngine, type GpuTensor } from "ndscatter/webgpu";
import { createArray, openArray, openGroup, type OpenOptions } from "ndscatter/zarr";

/** Accepts a value of exactly the type `T`. */
type Exactly<T> = <U>(value: U, same: Same<T, U>) => void;
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
declare function is<T>(): Exactly<T>;

/** Options that may be undefined, as values of an environment are, with `exactOptionalPropertyTypes`. */
declare const perhaps: undefined;

export const data = tensor("float32", [4, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
export const indices = zeros("int64", [2, 1]);
const updates = tensor("float32", [2, 3], new Float32Array(6));
const node: NodeSpec = { op: "ScatterND", opset: 18, attributes: { reduction: "add" } };

export function calls(): void {
  is<Tensor<"float32", [4, 3]>>()(data, true);
  is<Tensor<"float32", [4, 3]>>()(tensor(new Float32Array(12), [4, 3]), true);
  scatterND(data, new Int32Array([1, 2]), [1, 2]);
  is<Tensor<"float32", [4, 3]>>()(scatterND(data, indices, updates, { reduction: "add" }), true);
  is<Tensor<"float32", [4, 3]>>()(scatterND(data, [[1]], [[1, 2, 3]], { out: perhaps }), true);
  is<Tensor<"float32", [2, 3]>>()(gatherND(data, indices), true);
  is<Tensor<"float32", [5, 3]>>()(gather(data, zeros("int64", [5])), true);
  is<Tensor<"float32", [4, 3]>>()(js.scatterND(data, indices, updates), true);
  scatterElements(data, [[0, 1, 2]], [[1, 2, 3]], { axis: perhaps });
  gatherElements(data, [[0, 1, 2]]);
  tensorScatter(zeros("float16", [1, 4, 2]), [[[1, 2]]]);
  is<[Tensor]>()(run(node, [data, indices, updates]), true);
  const [gradient] = vjp(node, [data, indices, updates], data);
  const rows: number[][] = data.toArray();
  const values: Float32Array = toRuntime(data).data;
  const names: DType[] = Object.keys(DTYPES) as DType[];
  const version = resolve({ op: "ScatterND", opset: 16 });
  compareVersions(version, resolve({ op: "ScatterND", opset: 18 }));
  infer(node, [
    { dtype: "float32", shape: [4, "n"] },
    { dtype: "int64", shape: null },
    { dtype: "float32", shape: null },
  ]);
  planScatterND([4, 3], indices).scatter(data, updates, { reduction: "max" });
  explain(node, [data, indices, updates]);
  diagnose(node, [data, indices, updates], data);
  // @ts-expect-error the shape of updates is [2, 3]
  scatterND(data, indices, zeros("float32", [2, 4]));
  using temporary = zeros("uint8", []);
  void [gradient, rows, values, names, temporary];
}

export function failures(error: unknown): ErrorCode | null {
  if (isTensorError(error, "index-out-of-range")) return error.at === undefined ? null : error.code;
  return error instanceof TensorError ? error.code : null;
}

export async function engines(gpuDevice: never): Promise<GpuTensor> {
  const engine = await createEngine({ threads: perhaps });
  is<Tensor<"float32", [4, 3]>>()(await engine.async.scatterND(data, indices, updates), true);
  run(node, [data, indices, updates], { engine });
  const gpu = await createGpuEngine({ device: gpuDevice });
  return gpu.scatterND(gpu.upload(data), indices, updates);
}

export async function files(bytes: Uint8Array): Promise<Uint8Array> {
  const model = buildModel({
    nodes: [{ op: "ScatterND", inputs: ["x", "i", "u"], outputs: ["y"], name: perhaps }],
    inputs: {},
    outputs: { y: null },
    opsets: { "ai.onnx": 18 },
    producer: perhaps,
  });
  const { y } = runModel(readModel(bytes), { x: data, i: indices, u: updates });
  is<Tensor | undefined>()(y, true);
  const [first] = inspectModel(model).nodes;
  convertModel(model, { domain: "ai.onnx", opset: 13 }, { force: perhaps });
  const create = (): Promise<never> => Promise.reject(new Error(first?.op));
  await verifyModel(bytes, { x: data }, { createSession: create, onProgress: perhaps });
  await createExactSession(bytes, { createSession: create, nodes: perhaps });
  const { xml } = writeIR(readIR("<net/>", bytes));
  return xml === "" ? writeModel(model) : writeNpy(readNpy(bytes));
}

export async function arrays(signal: OpenOptions["signal"]): Promise<void> {
  const settings = { region: perhaps, accessKeyId: perhaps };
  const array = await openArray("s3://bucket/array", { s3: settings, signal, onNote: perhaps });
  const part: Tensor = await array.slice([0, 2]).read();
  await createArray("new.zarr", { like: array, codecs: perhaps, dtype: part.dtype });
  const group = await openGroup("group.zarr", { signal });
  for (const { name } of await group.members()) await group.open(name);
  await scatterChunked(array, array, array, { out: "out.zarr", signal, memory: perhaps });
  for (const { folder } of await findJobs("jobs")) await runJob(folder ?? "job", { signal });
  const pool = await startPool({ threads: 2 });
  await pool.end();
}

export async function queues(): Promise<void> {
  const options: SubmitOptions = { connection: "redis://queue:6379", signal: perhaps };
  await submitJob("/shared/job", {
    ...options,
    queue: perhaps,
    onProgress: ({ done }) => void done,
  });
  const connection = { host: "queue", port: 6379 };
  const worker = await createWorker({ connection, roots: perhaps, threads: 2, memory: 2 ** 30 });
  await worker.close();
}
