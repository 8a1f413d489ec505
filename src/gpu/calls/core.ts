/**
 * Implements the core of a GPU engine, which records calls in order, tracks pending calls, and queries the GPU for
 * outcomes. The operators are implemented in other files.
 */

import { printCount, wrongValue } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { contentsOf, destroyBuffer, Gpu, TENSOR_USAGE } from "../kernels/gpu.ts";
import type { Kernel } from "../kernels/kernel.ts";
import type { Made } from "../kernels/moves.ts";
import { Params, Recording } from "../kernels/recording.ts";
import { checkInputs, NEVER, StatusBoard } from "../kernels/checks.ts";
import type { Placed } from "../kernels/scatter.ts";
import type { GpuBufferLike, GpuDeviceLike } from "../kernels/webgpu.ts";
import { GPU } from "../../core/limits.ts";
import { DTYPES, viewOf, type NumericStorage } from "../../core/tensor/dtype.ts";
import { part } from "../../core/tensor/shape.ts";
import type { TargetSource } from "./target-source.ts";
import { DeviceTensor, type TensorOwner } from "./tensor.ts";
import { CallCheck, watched, withFields } from "./outcome.ts";

/** The type of a call's result. */
type ResultType = Pick<DeviceTensor, "dtype" | "shape" | "size">;

/** A call that has passed all checks on the host. */
export interface GpuCall {
  readonly source: TargetSource;
  /** The tensors that the call reads, besides those of its targets. Only the first may also be `out`. */
  readonly inputs: readonly DeviceTensor[];
  /** The tensor that receives the result, or undefined for a new tensor. */
  readonly out: DeviceTensor | undefined;
  readonly result: ResultType;
  /** Records all commands of a call whose result is not empty, after the index checks. */
  readonly record: (recording: Recording, placed: Placed, made: Made) => void;
}

export class GpuCore implements TensorOwner {
  readonly gpu: Gpu;
  readonly #isOwnDevice: boolean;
  readonly #params: Params;
  readonly #board: StatusBoard;
  #pending: CallCheck[] = [];
  #isAsking = false;
  /** The kernels of calls that are not run; null except while `compile` runs its function. */
  #kernels: Map<string, Kernel> | null = null;
  /** The number of pending waits. */
  #waits = 0;
  /** The first error that `done` has not yet reported. */
  #unreported: TensorError | null = null;
  /** The number of `done` reports, with or without an error. */
  reports = 0;

  /** If `isOwnDevice` is true, the device is destroyed with the engine. */
  constructor(device: GpuDeviceLike, isOwnDevice: boolean) {
    this.gpu = new Gpu(device);
    this.#isOwnDevice = isOwnDevice;
    this.#params = new Params(this.gpu);
    this.#board = new StatusBoard(this.gpu);
  }

  /**
   * Creates a tensor with given elements or zeros. If the device's memory is exhausted, the next wait reports the
   * error. Throws `too-large` beyond the device's limits, or `engine` if the device is lost.
   */
  make(type: ResultType, data: NumericStorage | null): DeviceTensor {
    const { made, refusal } = watched(this.gpu, () => {
      const tensor = this.#create(type, false);
      if (data !== null) this.gpu.write(tensor.span.buffer, data);
      return tensor;
    });
    return this.#pend(made, new CallCheck({ refusal }));
  }

  /** `isWritten` is true if a call will write all elements, so that released memory may be reused. */
  #create({ dtype, shape, size }: ResultType, isWritten: boolean): DeviceTensor {
    const bytes = size * DTYPES[dtype].bytes;
    const what = `a tensor of ${printCount(size, "element")} of ${dtype}`;
    const used = isWritten ? this.gpu.takeUsed(bytes) : null;
    const buffer = used ?? this.gpu.createBuffer(bytes, TENSOR_USAGE, what);
    return new DeviceTensor(this, dtype, part(shape, 0), size, buffer, true);
  }

  /**
   * Submits a call and returns its result. Throws `too-large` beyond the device's limits, or `engine` if the device is
   * lost.
   */
  call(call: GpuCall): DeviceTensor {
    const { source, out } = call;
    const { fields, errorOf } = source;
    if (this.#kernels !== null) return withFields(fields, () => this.#record(call)[0]);
    const inputs = inputsOf(call);
    for (const { lack } of inputs) if (lack !== null) throw lack;
    const submit = () => {
      this.gpu.checkThere();
      return this.#record(call);
    };
    const { made, refusal } = withFields(fields, () => watched(this.gpu, submit));
    const [result, slot] = made;
    const parts = { slot, inputs: checksOf(inputs), errorOf, refusal };
    const before = out === undefined ? "new" : out.check;
    return this.#pend(result, new CallCheck({ ...parts, before }));
  }

  /**
   * Records and submits a call, or only collects its kernels. The returned slot is null for a call that cannot fail on
   * the GPU.
   */
  #record(call: GpuCall): [result: DeviceTensor, slot: number | null] {
    const { source, out, inputs, result: type } = call;
    const kernels = this.#kernels;
    const slots = slotsOf(call);
    // When a collected call runs, it may have to read the status slots of its inputs.
    const isChecked = kernels !== null || source.errorOf !== null || slots.length > 0;
    const made = out ?? (kernels === null ? this.#create(type, true) : this.#unmade(type));
    let slot: number | null = null;
    let recording: Recording | null = null;
    try {
      if (isChecked && kernels === null) slot = this.#board.take();
      const guard = { status: this.#board.span, slot: slot ?? NEVER };
      recording = new Recording(this.gpu, this.#params, guard, kernels);
      // If `out` is known to have no contents, it is written like a new tensor.
      const before = out === undefined || out.lack !== null ? null : (out.check?.slot ?? NEVER);
      const checked = { inputs: slots, before };
      if (isChecked && source.errorOf === null) checkInputs(recording, checked);
      const placed = source.record(recording, checked);
      const result = out === undefined ? "new" : out.sharesMemory(inputs[0]) ? "in place" : "given";
      const { dtype, size } = type;
      if (size > 0) call.record(recording, placed, { dtype, out: made.span, result });
      recording.end();
    } catch (error) {
      recording?.abandon();
      if (slot !== null) this.#board.give(slot);
      if (out === undefined) made.dispose();
      throw error;
    }
    return [made, slot];
  }

  /** Returns the result of a call that is only compiled, which has neither elements nor memory. */
  #unmade({ dtype, shape, size }: ResultType): DeviceTensor {
    const result = new DeviceTensor(this, dtype, part(shape, 0), size, this.#params.buffer, false);
    const check = new CallCheck({ refusal: Promise.resolve(null) });
    const sentence = "the call was only compiled, not run";
    check.settle(null, new TensorError("engine", sentence), this.reports);
    result.madeBy(check);
    return result;
  }

  /** Marks a tensor as the result of a pending call. */
  #pend(result: DeviceTensor, check: CallCheck): DeviceTensor {
    this.#pending.push(check);
    result.madeBy(check);
    if (this.#pending.length > GPU.pending) void this.#ask();
    return result;
  }

  /**
   * Settles pending calls in the background, with one query at a time. The failures are reported when the program waits
   * for results.
   */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    await this.settle().catch(() => {});
    this.#isAsking = false;
  }

  /**
   * Compiles the kernels of the calls in the function `calls`. Throws `engine` for a kernel that cannot be compiled,
   * `attribute` for a value that is not a synchronous function, or the errors of the calls.
   */
  async compile(calls: unknown): Promise<void> {
    if (typeof calls !== "function") {
      const must = "compile needs a function that makes calls";
      throw wrongValue("attribute", must, calls, { key: "calls" });
    }
    this.gpu.checkThere();
    const kernels = new Map<string, Kernel>();
    const outer = this.#kernels;
    this.#kernels = kernels;
    let returned: unknown;
    try {
      returned = calls();
    } finally {
      this.#kernels = outer;
    }
    if (typeof (returned as Partial<Promise<unknown>> | undefined)?.then === "function") {
      // The result and the error of this promise are ignored.
      Promise.resolve(returned).catch(() => {});
      const sentence =
        "compile needs a synchronous function, got a function that returns a Promise";
      throw new TensorError("attribute", sentence, { key: "calls" });
    }
    await this.#during(() => this.#wait(this.gpu.compileAll(kernels.values())));
  }

  keep(buffer: GpuBufferLike): void {
    if (this.gpu.hasEnded) destroyBuffer(buffer);
    else this.gpu.keep([buffer]);
  }

  /** Waits for all earlier calls, and records their outcomes. */
  async settle(): Promise<void> {
    return this.#during(async () => {
      const calls = this.#pending.slice();
      const stateOf = await this.#wait(this.#board.read());
      for (const call of calls) {
        // oxlint-disable-next-line no-await-in-loop -- a call's outcome depends on those of earlier calls
        const refusal = await call.refusal();
        const { slot } = call;
        if (!call.isPending) continue;
        // The shared memory of calls is freed, because a refused buffer would make later calls fail.
        if (refusal !== null) this.gpu.clear();
        call.settle(slot === null ? null : stateOf(slot), refusal, this.reports);
        if (slot !== null) this.#board.give(slot);
        this.#unreported ??= call.outcome.error;
      }
      this.#pending = this.#pending.filter((call) => call.isPending);
    });
  }

  /** Keeps the engine's resources until a wait has ended, even if the engine is disposed of earlier. */
  async #during<T>(wait: () => Promise<T>): Promise<T> {
    this.gpu.checkThere();
    this.#waits++;
    try {
      return await wait();
    } finally {
      this.#waits--;
      if (this.gpu.hasEnded && this.#waits === 0) this.#free();
    }
  }

  /** Waits for a promise of the device, and converts failures to errors of this package. */
  async #wait<T>(promise: Promise<T>): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      if (isTensorError(error)) throw error;
      // The loss of a device is reported shortly after a wait has failed.
      await Promise.race([this.gpu.device.lost, new Promise((done) => setTimeout(done, 1000))]);
      throw this.gpu.failureOf(error);
    }
  }

  async done(): Promise<void> {
    await this.settle();
    const error = this.#unreported;
    this.#unreported = null;
    this.reports++;
    if (error !== null) throw error;
  }

  /** Waits for all earlier calls, and reads the elements of a tensor. */
  async read({ span, dtype, size }: DeviceTensor): Promise<NumericStorage> {
    return this.#during(async () => {
      const { made: staging, refusal } = watched(this.gpu, () =>
        this.gpu.copyForHost(span.buffer, span.bytes, "copy of a tensor"),
      );
      const contents = await this.#wait(contentsOf(staging));
      const refused = await refusal;
      if (refused !== null) throw refused;
      return viewOf(dtype, contents, 0, size * DTYPES[dtype].lanes) as NumericStorage;
    });
  }

  /** Ends the engine, so that later calls and waits throw errors. Pending waits still return their results. */
  dispose(): void {
    if (this.gpu.hasEnded) return;
    this.gpu.hasEnded = true;
    if (this.#waits === 0) this.#free();
  }

  #free(): void {
    for (const { slot } of this.#pending) if (slot !== null) this.#board.give(slot);
    this.#pending = [];
    this.gpu.clear();
    destroyBuffer(this.#params.buffer);
    this.#board.destroy();
    if (this.#isOwnDevice) this.gpu.device.destroy();
  }
}

/** Returns all tensors that a call reads. */
const inputsOf = ({ inputs, source }: GpuCall): DeviceTensor[] => [...inputs, ...source.inputs];

const checksOf = (inputs: readonly DeviceTensor[]): CallCheck[] =>
  inputs.flatMap(({ check }) => check ?? []);

/** Returns the slots of the pending calls that compute the inputs. */
const slotsOf = (call: GpuCall): number[] =>
  checksOf(inputsOf(call)).flatMap(({ slot }) => slot ?? []);
