/**
 * Runs replaced nodes on a GPU. A node with an input on the GPU runs on an engine of `ndscatter/webgpu`, which uses the
 * runtime's buffers. The user supplies the engine, and this file declares only the part of the engine's interface that
 * it uses.
 */

import type { Call } from "../../core/call/call.ts";
import { readForeign, wrongValue } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { FUNCTIONS, type FunctionName } from "../../core/operators/registry.ts";
import { settingOf } from "../../core/operators/settings.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { sentenceFrom } from "../verify/session.ts";

/** A tensor on the GPU engine. */
export interface ExactGpuTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly buffer: unknown;
  read(): Promise<Tensor>;
  dispose(): void;
}

type Compute = (...args: never[]) => ExactGpuTensor;

/** The part of the `ndscatter/webgpu` engine that an exact session uses. */
export interface ExactGpu extends Readonly<Record<FunctionName, Compute>> {
  readonly fromBuffer: Compute;
  readonly upload: Compute;
  /** Waits for all calls; rejects with the first error since the previous `done`. */
  done(): Promise<void>;
  dispose(): void;
}

/** Creates the GPU engine. The function is called after the runtime has its device. */
export type CreateGpu = () => ExactGpu | Promise<ExactGpu>;

export function createGpuFrom(gpu: unknown): CreateGpu | null {
  if (gpu === undefined) return null;
  if (typeof gpu === "function") return gpu as CreateGpu;
  const must =
    "gpu must be a function that creates an engine, such as async () => createGpuEngine({ device: await ort.env.webgpu.device })";
  throw wrongValue("attribute", must, gpu, { key: "gpu" });
}

/**
 * Creates the GPU engine. Throws `attribute` for a value that is not an engine, and for an error of `createGpu`, which
 * is its cause.
 */
export async function engineFrom(createGpu: CreateGpu): Promise<ExactGpu> {
  let made: unknown;
  try {
    made = await createGpu();
  } catch (cause) {
    const sentence = `gpu did not return an engine: ${sentenceFrom(cause)}`;
    throw new TensorError("attribute", sentence, { key: "gpu" }, { cause });
  }
  const names = [...Object.keys(FUNCTIONS), "fromBuffer", "upload", "done", "dispose"];
  const must = "gpu must return an engine of ndscatter/webgpu";
  const isEngine = readForeign(
    () =>
      typeof made === "object" &&
      made !== null &&
      names.every((name) => typeof Reflect.get(made, name) === "function"),
    "attribute",
    must,
    "gpu",
  );
  if (isEngine) return made as ExactGpu;
  throw wrongValue("attribute", must, made, { key: "gpu" });
}

/** An onnxruntime tensor on a GPU. */
interface RuntimeGpuTensor {
  readonly gpuBuffer: unknown;
  readonly type: string;
  readonly dims: readonly number[];
  dispose?(): void;
}

/** Returns an onnxruntime tensor on a GPU; null for other values. */
export function runtimeGpuTensor(value: unknown): RuntimeGpuTensor | null {
  if (typeof value !== "object" || value === null) return null;
  const isThere = readForeign(
    () => "location" in value && value.location === "gpu-buffer",
    "dtype",
    "a tensor of the runtime cannot be read",
    "tensor",
  );
  return isThere ? (value as RuntimeGpuTensor) : null;
}

export const fromBuffer = (
  gpu: ExactGpu,
  buffer: unknown,
  dtype: string,
  shape: readonly number[],
): ExactGpuTensor => gpu.fromBuffer(...([buffer, dtype, shape] as never[]));

/** Converts a tensor on the GPU engine to a tensor of the runtime. */
export const gpuSessionTensor = ({
  dtype,
  shape,
  buffer,
}: ExactGpuTensor): { location: string } & RuntimeGpuTensor => ({
  type: dtype,
  dims: shape,
  gpuBuffer: buffer,
  location: "gpu-buffer",
});

/**
 * Starts a node on the engine and returns immediately; null for calls that the engine cannot compute, such as sums of
 * float64. A bad index on the GPU rejects `done`. For a scatter in place, `out` is the tensor of data. Throws the
 * errors of `run` for errors that do not depend on index values.
 */
export function callOnEngine(
  gpu: ExactGpu,
  call: Call,
  inputs: readonly (ExactGpuTensor | undefined)[],
  out: ExactGpuTensor | undefined,
): ExactGpuTensor | null {
  const names = Object.keys(FUNCTIONS) as FunctionName[];
  const name = names.find((one) => FUNCTIONS[one] === call.operator);
  const plain = name === undefined ? undefined : FUNCTIONS[name].plain;
  if (name === undefined || plain === undefined) return null;
  const attributes = plain.attributes.map((one) => {
    const setting = settingOf(one) as keyof Call["settings"];
    return [one.name, call.settings[setting]] as const;
  });
  const isStrict = !call.version.negativeIndices && call.version.indexForm !== "sequences";
  const options = {
    ...Object.fromEntries(attributes),
    ...(isStrict && { negative: "error" }),
    ...(out !== undefined && { out }),
  };
  const given = Array.from({ length: plain.inputs.length }, (_, at) => inputs[at]);
  try {
    return gpu[name](...([...given, options] as never[]));
  } catch (error) {
    if (isTensorError(error, "dtype")) return null;
    throw error;
  }
}
