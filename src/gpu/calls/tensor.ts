/** Implements tensors in GPU memory, which the engine creates, or which use buffers of users and of onnxruntime. */

import { named, TensorError, type ErrorContext } from "../../core/errors.ts";
import { factOf, printValue, readForeign } from "../../core/foreign.ts";
import {
  allocate,
  checkDType,
  DTYPES,
  type DType,
  type NumericStorage,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { part, printShape, shapeOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { destroyBuffer, paddedBytes, TENSOR_USAGE, type Gpu } from "../kernels/gpu.ts";
import type { Span } from "../kernels/kernel.ts";
import type { GpuBuffer, GpuBufferLike } from "../kernels/webgpu.ts";
import type { CallCheck } from "./outcome.ts";
import type { GpuTensor } from "./types.ts";

/** The part of an engine that tensors use. */
export interface TensorOwner {
  readonly gpu: Pick<Gpu, "checkBytes">;
  /** The number of `done` reports, with or without an error. */
  readonly reports: number;
  /** Waits for all earlier calls, and reads the elements of a tensor. */
  read(tensor: DeviceTensor): Promise<NumericStorage>;
  /** Waits for all earlier calls. */
  settle(): Promise<void>;
  /** Stores a buffer for later calls, or destroys the buffer. */
  keep(buffer: GpuBufferLike): void;
}

export class DeviceTensor<D extends DType = DType> implements GpuTensor<D> {
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly size: number;
  readonly #owner: TensorOwner;
  readonly #buffer: GpuBufferLike;
  readonly #isOwn: boolean;
  /** True if code outside the package may be able to access the buffer. */
  #isShared = false;
  /** A tensor of the same type and shape without elements, for checks. */
  readonly #type: Tensor<D>;
  #isDisposed = false;
  #check: CallCheck | null = null;
  /** The calls that write to this tensor and are pending or may have failed. */
  #calls: CallCheck[] = [];

  /** If `isOwn` is true, the buffer is destroyed with the tensor. */
  constructor(
    owner: TensorOwner,
    dtype: D,
    shape: readonly number[],
    size: number,
    buffer: GpuBufferLike,
    isOwn: boolean,
  ) {
    this.dtype = dtype;
    this.shape = Object.freeze(part(shape, 0));
    this.size = size;
    this.#owner = owner;
    this.#buffer = buffer;
    this.#isOwn = isOwn;
    this.#type = new Tensor(dtype, part(shape, 0), size, allocate(dtype, 0));
    Object.freeze(this);
  }

  static isTensor(value: unknown): value is DeviceTensor {
    return typeof value === "object" && value !== null && #owner in value;
  }

  /** Returns true if the tensor belongs to this engine. */
  static isOf(tensor: DeviceTensor, owner: TensorOwner): boolean {
    return tensor.#owner === owner;
  }

  static typeOf(tensor: DeviceTensor): Tensor {
    return tensor.#type;
  }

  get buffer(): GpuBuffer {
    this.#isShared = true;
    return this.#buffer;
  }

  get span(): Span {
    return { buffer: this.#buffer, bytes: this.size * DTYPES[this.dtype].bytes };
  }

  /** Returns true if the buffer contains elements of another tensor. */
  sharesMemory(other: DeviceTensor): boolean {
    return this.#buffer === other.#buffer && other.size > 0;
  }

  /** The last call that writes to this tensor, or null without such a call. */
  get check(): CallCheck | null {
    return this.#check;
  }

  /** The reason why the tensor has no contents, if it is known to have none. */
  get lack(): TensorError | null {
    return this.#check?.outcome.lack ?? null;
  }

  /** Registers a call that writes to this tensor. */
  madeBy(check: CallCheck): void {
    this.#check = check;
    this.#calls = this.#calls.filter((call) => this.#isUnreported(call));
    this.#calls.push(check);
  }

  #isUnreported(call: CallCheck): boolean {
    return call.isPending || (call.outcome.error !== null && call.reports >= this.#owner.reports);
  }

  /** Throws a `disposed` error after `dispose`. */
  checkAlive(input: string, fields: ErrorContext): void {
    if (!this.#isDisposed) return;
    throw new TensorError("disposed", `the memory of ${input} is gone (disposed)`, {
      ...fields,
      input,
    });
  }

  async read(): Promise<Tensor<D>> {
    this.checkAlive("this tensor", {});
    const [check, calls] = [this.#check, this.#calls];
    // If a read begins before `done` reports an error, the read also rejects with this error.
    const { reports } = this.#owner;
    // The elements are copied immediately, so that the tensor may change before the outcome is known.
    const reading = this.#owner.read(this);
    // The copy fails if the device could not create the tensor, but the reason is in the outcome of the call.
    reading.catch(() => {});
    await this.#owner.settle();
    const lack = check?.outcome.lack ?? null;
    if (lack !== null) throw lack;
    const failed = calls.find((call) => call.outcome.error !== null && call.reports >= reports);
    this.#calls = this.#calls.filter((call) => call !== failed && this.#isUnreported(call));
    if (failed?.outcome.error) throw failed.outcome.error;
    const data = await reading;
    return new Tensor(this.dtype, part(this.shape, 0), this.size, data as Storage<D>);
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (!this.#isOwn) return;
    // Only buffers that a call has written are reused, because the device may have failed to create the others.
    const isMade = this.#check !== null && this.#check.outcome.lack === null;
    if (isMade && !this.#isShared) this.#owner.keep(this.#buffer);
    else destroyBuffer(this.#buffer);
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  toString(): string {
    return `GpuTensor(${this.dtype}, ${printShape(this.shape)}${this.#isDisposed ? ", disposed" : ""})`;
  }
}

/** A tensor of the engine or, for indices and updates, a tensor on the host. */
export type GpuInput = DeviceTensor | Tensor;

/** Returns an input for the checks of all engines: for a GPU tensor, a tensor of the same type without elements. */
export const typeOf = (input: GpuInput): Tensor =>
  DeviceTensor.isTensor(input) ? DeviceTensor.typeOf(input) : input;

/**
 * Creates a tensor over an existing buffer. If the tensor is disposed of, the buffer is not destroyed. Throws `dtype`
 * for text, `attribute` for a value that is not a usable `GPUBuffer`, `shape-mismatch` for a buffer that is too short,
 * or `too-large`.
 */
export function tensorOver<D extends DType>(
  owner: TensorOwner,
  buffer: unknown,
  dtype: D,
  shape: unknown,
  fields: ErrorContext = {},
): DeviceTensor<D> {
  const { shape: dims, size } = checkedShape(dtype, shape, fields);
  const who = fields.input === undefined ? "the buffer" : `the buffer of ${fields.input}`;
  const must = `${who} must be a GPUBuffer, got ${printValue(buffer)}`;
  const one = buffer as Partial<GpuBufferLike> | null | undefined;
  const read = (): unknown[] => [one?.size, one?.usage];
  const [length, usage] = readForeign(read, "attribute", must, "buffer", fields);
  if (typeof length !== "number" || typeof usage !== "number") {
    throw new TensorError("attribute", must, { ...fields, key: "buffer", got: factOf(buffer) });
  }
  const needed = paddedBytes(size * DTYPES[dtype].bytes);
  if (length < needed) {
    const sentence = `${who} must have at least ${needed} bytes, a multiple of 4, got ${length}`;
    throw new TensorError("shape-mismatch", sentence, {
      ...named(fields, "buffer"),
      got: length,
      expected: needed,
    });
  }
  if ((usage & TENSOR_USAGE) !== TENSOR_USAGE) {
    const sentence = `the usage of ${who} must include STORAGE, COPY_SRC and COPY_DST, got ${usage}`;
    throw new TensorError("attribute", sentence, { ...fields, key: "buffer", got: usage });
  }
  owner.gpu.checkBytes(needed, fields.input ?? "the tensor");
  return new DeviceTensor(owner, dtype, dims, size, buffer as GpuBufferLike, false);
}

/** Throws `dtype` for text and for an unknown data type, or the errors of `zeros` about shapes. */
export function checkedShape(
  dtype: DType,
  shape: unknown,
  fields: ErrorContext = {},
): ReturnType<typeof shapeOf> {
  checkDType(dtype, fields);
  checkHolds(dtype, fields);
  return shapeOf(shape, fields);
}

/** Throws a `dtype` error for text. */
export function checkHolds(dtype: DType, fields: ErrorContext): void {
  if (dtype !== "string") return;
  const sentence = `${fields.input ?? "the tensor"} must not be string, because a GPU cannot hold text`;
  throw new TensorError("dtype", sentence, { ...named(fields, "tensor"), got: dtype });
}

/**
 * Converts an onnxruntime tensor on the GPU to a tensor over the same buffer, or returns null for any other value.
 * Throws the errors of `tensorOver`, or `disposed` if the buffer cannot be read.
 */
export function runtimeTensor(
  owner: TensorOwner,
  given: unknown,
  fields: ErrorContext,
): DeviceTensor | null {
  if (typeof given !== "object" || given === null) return null;
  const one = given as Partial<Record<"location" | "gpuBuffer" | "type" | "dims", unknown>>;
  const who = fields.input ?? "the tensor";
  const where = (): unknown => one.location;
  const location = readForeign(where, "dtype", `${who} cannot be read`, "tensor", fields);
  if (location !== "gpu-buffer") return null;
  const read = (): unknown[] => [one.gpuBuffer, one.type, one.dims];
  const lost = `the memory of ${who} is gone`;
  const [buffer, dtype, dims] = readForeign(read, "disposed", lost, "tensor", fields);
  return tensorOver(owner, buffer, dtype as DType, dims, fields);
}
