/**
 * Values while a model runs: tensors of the runtime and of this package, by name, in the graph that runs and in those
 * around it.
 */

import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { sessionTensor } from "../verify/session.ts";
import {
  fromBuffer,
  gpuSessionTensor,
  runtimeGpuTensor,
  type ExactGpu,
  type ExactGpuTensor,
} from "./gpu.ts";

/** A value, as the runtime made it or as this package did. */
export class Value {
  /** As the runtime made it, or the caller; null if this package made the value. */
  readonly given: unknown;
  /** True if this run made the memory of the value. */
  readonly isOwn: boolean;
  #tensor: Tensor | null;
  /** The value on the GPU; null where it is only on the host, or in a buffer of the runtime that was not used here. */
  #device: ExactGpuTensor | null = null;
  #holders = 0;

  /** The value whose memory this one is in; null if it is in memory of its own. */
  readonly #of: Value | null;

  private constructor(
    given: unknown,
    tensor: Tensor | null,
    isOwn: boolean,
    of: Value | null = null,
  ) {
    this.given = given;
    this.#tensor = tensor;
    this.isOwn = isOwn;
    this.#of = of;
  }

  /** A value of the caller's. */
  static lent = (value: unknown): Value => new Value(value, null, false);

  /** A tensor of this package whose memory is not this run's to change, such as a constant. */
  static lentTensor = (tensor: Tensor): Value => new Value(null, tensor, false);

  /** A value that a session made in this run. */
  static ofRuntime = (value: unknown): Value => new Value(value, null, true);

  /** A tensor that this package made in this run. */
  static ofTensor = (tensor: Tensor): Value => new Value(null, tensor, true);

  /** A tensor in the memory of another value, which is needed as long as this one is. */
  static view = (tensor: Tensor, of: Value): Value => new Value(null, tensor, false, of);

  /** A tensor that an engine on the GPU made in this run. */
  static ofDevice(device: ExactGpuTensor): Value {
    const value = new Value(null, null, true);
    value.#device = device;
    return value;
  }

  /** A tensor of the engine in the buffer of another value, which is needed as long as this one is. */
  static viewOnGpu(device: ExactGpuTensor, of: Value): Value {
    const value = new Value(null, null, false, of);
    value.#device = device;
    return value;
  }

  /** True where the value is on the GPU and not on the host. */
  get isOnGpu(): boolean {
    if (this.#tensor !== null) return false;
    return this.#device !== null || runtimeGpuTensor(this.given) !== null;
  }

  /** The value on the GPU: in the buffer where it is, or uploaded once. */
  onGpu(gpu: ExactGpu, name: string): ExactGpuTensor {
    if (this.#device !== null) return this.#device;
    const there = runtimeGpuTensor(this.given);
    this.#device =
      there === null
        ? gpu.upload(this.tensor(name) as never)
        : fromBuffer(gpu, there.gpuBuffer, there.type, there.dims);
    return this.#device;
  }

  /** Reads a value of the GPU, which {@link tensor} then gives. */
  async toHost(gpu: ExactGpu, name: string): Promise<void> {
    if (this.isOnGpu) this.#tensor = await this.onGpu(gpu, name).read();
  }

  /** The engine's tensor of a value that only the engine has. */
  get device(): ExactGpuTensor | null {
    return this.given === null && this.#tensor === null ? this.#device : null;
  }

  /** The value as this package takes it, in the same memory. */
  tensor(name: string): Tensor {
    this.#tensor ??= asTensor(this.given, {}, name);
    return this.#tensor;
  }

  /** The value as the runtime takes it, in the same memory. */
  forRuntime(): unknown {
    if (this.given !== null) return this.given;
    if (this.#tensor !== null) return sessionTensor(this.#tensor);
    return this.#device && gpuSessionTensor(this.#device);
  }

  /** The number of names and lists that need the value now. */
  get holders(): number {
    return this.#holders;
  }

  hold(): this {
    if (this.#holders === 0) this.#of?.hold();
    this.#holders++;
    return this;
  }

  /** Gives memory that this package made back to it, once nothing needs the value any more. */
  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.#of?.release();
    if (this.#holders > 0) return;
    this.#device?.dispose();
    // A constant is uploaded again when it is needed again.
    this.#device = null;
    if (!this.isOwn) return;
    if (this.given === null) this.#tensor?.dispose();
    // Of memory on the host the garbage collector takes care; nobody else frees a buffer of the runtime.
    else runtimeGpuTensor(this.given)?.dispose?.();
  }
}

/** The values of a graph while it runs. */
export class Frame {
  readonly #outer: Frame | null;
  readonly #own = new Map<string, Value>();

  constructor(outer: Frame | null = null) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    return this.#own.get(name) ?? this.#outer?.get(name);
  }

  /** Tells whether this run made the value and only this name holds it, so that its memory may be written to. */
  mayChange(name: string): boolean {
    const value = this.#own.get(name);
    return value !== undefined && value.isOwn && value.holders === 1;
  }

  set(name: string, value: Value): void {
    value.hold();
    this.drop(name);
    this.#own.set(name, value);
  }

  /** Forgets a value that nothing needs any more. */
  drop(name: string): void {
    this.#own.get(name)?.release();
    this.#own.delete(name);
  }

  dropAll(): void {
    for (const name of this.#own.keys()) this.drop(name);
  }
}
