/** Implements tensors in GPU memory. */

import { destroyBuffer } from "../kernels/gpu.ts";
import type { Span } from "../kernels/kernel.ts";
import type { GpuBuffer, GpuBufferLike } from "../kernels/webgpu.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import {
  allocate,
  DTYPES,
  type DType,
  type NumericStorage,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { part, printShape } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { CallCheck } from "./checks.ts";
import type { GpuTensor } from "./types.ts";

/** The part of an engine that tensors use. */
export interface TensorOwner {
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
