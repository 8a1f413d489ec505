/** The user's runtime: its sessions for parts of a model, and its tensors. */

import type { TensorType } from "../../core/operators/operator.ts";
import { DTYPES } from "../../core/tensor/dtype.ts";
import { asTensor, tensor } from "../../core/tensor/tensor.ts";
import { buildModel } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { carrierOf, openModel } from "../verify/carried.ts";
import type { CreateSession } from "../verify/session.ts";
import { gpuSessionTensor, runtimeGpuTensor, type ExactGpuTensor } from "./gpu.ts";
import type { Value } from "./values.ts";

/** The methods and fields of an onnxruntime session that this package uses. */
export interface RuntimeSession {
  run(feeds: never, ...more: never[]): Promise<object>;
  release?(): Promise<void>;
  /** The output metadata, which onnxruntime provides since version 1.21. */
  readonly outputMetadata?: readonly OutputMetadata[];
}

/** Creates a session for one part of the model. */
export type CreatePart = (part: Uint8Array) => Promise<RuntimeSession>;

export interface OutputMetadata {
  readonly name: string;
  readonly type?: unknown;
  /** The sizes or the names of the dimensions. */
  readonly shape?: unknown;
}

export const isCarried = (type: TensorType | null): boolean =>
  type !== null && carrierOf(type.dtype) !== null;

/** Creates a session in which a Cast converts each unsupported input or output without losing a bit. */
export async function carriedSession(create: CreatePart, part: Model): Promise<RuntimeSession> {
  const session = await openModel(create as CreateSession, part);
  const names = part.graph.outputs.map(({ name }) => name);
  return {
    async run(feeds) {
      const own = Object.entries<unknown>(feeds).map(
        ([name, value]) => [name, asTensor(value, {}, name)] as const,
      );
      return Object.fromEntries(await session.run(new Map(own), names));
    },
    release: () => session.release(),
  };
}

interface TensorClass {
  new (type: string, data: unknown, dims: readonly number[]): unknown;
  /** A function of tensor classes that exists only in onnxruntime-web. */
  fromGpuBuffer?(buffer: unknown, options: object): unknown;
}

/** Creates tensors of the runtime's own class, which this package does not import, from this package's results. */
export class TensorMaker {
  readonly #createSession: CreatePart;
  #known: TensorClass | null = null;

  constructor(createSession: CreatePart) {
    this.#createSession = createSession;
  }

  /** Stores the tensor class of a value that the runtime or its user created. */
  learn(value: unknown): void {
    if (this.#known !== null || typeof value !== "object" || value === null) return;
    const { constructor } = value;
    // This package and fake runtimes use plain objects as tensors. A plain object does not show the tensor class.
    if (constructor !== Object && "dims" in value) this.#known = constructor as TensorClass;
  }

  /**
   * Returns a value in the form of the runtime's session outputs. The memory belongs to the caller. The parameter
   * `name` names the output in errors.
   */
  async tensorOf(value: Value, name: string): Promise<unknown> {
    if (value.isOwn && value.given !== null) return value.given;
    const Class = this.#known ?? (await this.#classOfRuntime());
    if (value.device !== null) return gpuTensorOf(Class, value.device);
    const { dtype, shape, data } = value.tensor(name);
    const own = value.isOwn ? data : data.slice();
    // The runtime's tensor class rejects some data types, such as bfloat16.
    return Class === null || !("runtime" in DTYPES[dtype])
      ? { type: dtype, dims: shape, data: own }
      : new Class(dtype, own, shape);
  }

  /** Finds the runtime's tensor class from the output of a small session; null if the runtime returns plain objects. */
  async #classOfRuntime(): Promise<TensorClass | null> {
    const session = await this.#createSession(writeModel(probe()));
    try {
      const { y } = (await session.run({} as never)) as { readonly y: unknown };
      this.learn(y);
      runtimeGpuTensor(y)?.dispose?.();
    } finally {
      await session.release?.();
    }
    return this.#known;
  }
}

/** Returns a tensor on the GPU, which the caller must dispose of. */
const gpuTensorOf = (Class: TensorClass | null, device: ExactGpuTensor): unknown =>
  Class?.fromGpuBuffer?.(device.buffer, {
    dataType: device.dtype,
    dims: device.shape,
    download: async () => (await device.read()).data,
    dispose: () => device.dispose(),
  }) ?? gpuSessionTensor(device);

const probe = (): ReturnType<typeof buildModel> =>
  buildModel({
    opsets: { "ai.onnx": 13 },
    constants: { one: tensor("float32", [1], [1]) },
    nodes: [{ op: "Identity", inputs: ["one"], outputs: ["y"] }],
    outputs: { y: { dtype: "float32", shape: [1] } },
  });
