/** Values of a running model: tensors of the runtime and of this package, on the host or on a GPU. */

import { malformed } from "../../core/errors.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import { sessionTensor } from "../verify/session.ts";
import {
  fromBuffer,
  gpuSessionTensor,
  runtimeGpuTensor,
  type ExactGpu,
  type ExactGpuTensor,
} from "./gpu.ts";

interface Sharing {
  readonly device?: ExactGpuTensor | null;
  readonly of?: Value | null;
  readonly isLent?: boolean;
}

/** A value created by the runtime or by this package. */
export class Value {
  /** The tensor from the caller or the runtime; null if this package created the value. */
  readonly given: unknown;
  /** True if the current run allocated the value's memory. */
  readonly isOwn: boolean;
  #tensor: Tensor | null;
  /**
   * The tensor on the GPU. Null means that the value is only on the host, or in a runtime buffer that this package has
   * not used yet.
   */
  #device: ExactGpuTensor | null;
  #holders = 0;

  /** The value whose memory is shared; null if the value has its own memory. */
  readonly #of: Value | null;

  /**
   * Wraps a tensor of the runtime or of this package, or a tensor on the GPU. The run must not overwrite a lent tensor,
   * such as a constant. A value that shares the memory of the value `of` keeps it alive.
   */
  constructor(value: unknown, { device = null, of = null, isLent = of !== null }: Sharing = {}) {
    const isTensor = Tensor.isTensor(value);
    this.given = isTensor ? null : value;
    this.#tensor = isTensor ? value : null;
    this.#device = device;
    this.isOwn = !isLent;
    this.#of = of;
  }

  /** True if the value is only on the GPU. */
  get isOnGpu(): boolean {
    if (this.#tensor !== null) return false;
    return this.#device !== null || runtimeGpuTensor(this.given) !== null;
  }

  /** Returns the value's GPU tensor. A value on the host is uploaded once. */
  onGpu(gpu: ExactGpu, name: string): ExactGpuTensor {
    if (this.#device !== null) return this.#device;
    const there = runtimeGpuTensor(this.given);
    this.#device =
      there === null
        ? gpu.upload(this.tensor(name) as never)
        : fromBuffer(gpu, there.gpuBuffer, there.type, there.dims);
    return this.#device;
  }

  /** Copies the value from the GPU, so that `tensor` can return it. */
  async toHost(gpu: ExactGpu): Promise<void> {
    if (this.isOnGpu) this.#tensor = await this.onGpu(gpu, "a value on the GPU").read();
  }

  /** Frees the tensor on the GPU, which is out of date after the tensor on the host was overwritten. */
  freeCopy(): this {
    this.#device?.dispose();
    this.#device = null;
    return this;
  }

  /** The GPU tensor of a value that exists only on the GPU; null otherwise. */
  get device(): ExactGpuTensor | null {
    return this.given === null && this.#tensor === null ? this.#device : null;
  }

  /** Returns the value as a tensor of this package, without copying the memory. */
  tensor(name: string): Tensor {
    this.#tensor ??= asTensor(this.given, {}, name);
    return this.#tensor;
  }

  /** Returns the value as a tensor of one element. The parameter `what` names the value in errors. */
  scalar(what: string): Tensor {
    const value = this.tensor(what);
    if (value.size === 1) return value;
    const { size } = value;
    throw malformed(`${what} must have one element, got ${size}`, { got: size, expected: 1 });
  }

  /** Returns the value as a tensor of the runtime, without copying the memory. */
  forRuntime(): unknown {
    if (this.given !== null) return this.given;
    if (this.#tensor !== null) return sessionTensor(this.#tensor);
    return this.#device && gpuSessionTensor(this.#device);
  }

  /** The number of names and lists that refer to the value. */
  get holders(): number {
    return this.#holders;
  }

  hold(): this {
    if (this.#holders === 0) this.#of?.hold();
    this.#holders++;
    return this;
  }

  /** Releases one reference. The last release frees memory that this package allocated. */
  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.#of?.release();
    if (this.#holders > 0) return;
    // A constant's GPU copy is freed here, and is uploaded again if necessary.
    this.freeCopy();
    if (!this.isOwn) return;
    if (this.given === null) this.#tensor?.dispose();
    // The garbage collector frees host memory, but not a runtime's buffer.
    else runtimeGpuTensor(this.given)?.dispose?.();
  }
}
