/**
 * Stores a kept plan on the GPU: targets and their arrangements for reductions, which are uploaded or computed only
 * once.
 */

import {
  checkReduction,
  checkShape,
  wrongDType,
  type KeptParts,
} from "../../core/call/kept-plan.ts";
import type { Reducing } from "../../core/call/steps.ts";
import { TensorError } from "../../core/errors.ts";
import { firstRepeat } from "../../core/plan/targets.ts";
import type { DType, Step } from "../../core/tensor/dtype.ts";
import { isOrderFree, type SortedTargets } from "../kernels/combine.ts";
import { lastOf, type Arrangements } from "../kernels/scatter.ts";
import { sortOnHost } from "../kernels/sort.ts";
import {
  flatTargetsFrom,
  positionsOf,
  targetsFrom,
  targetsOf,
  type Targets,
} from "../kernels/targets.ts";
import type { GpuCore } from "./core.ts";
import { dataOnGpu, inputOf, type GpuInput } from "./inputs.ts";
import type { UploadedTargets } from "./target-source.ts";
import type { DeviceTensor } from "./tensor.ts";

/**
 * A value that is derived from a plan, and the tensors that contain it. The tensors are also inputs of calls, so that a
 * call fails if a tensor could not be created.
 */
interface Kept<T> {
  readonly value: T;
  readonly held: readonly DeviceTensor[];
}

const isMade = <T>(kept: Kept<T> | undefined): kept is Kept<T> =>
  kept !== undefined && kept.held.every(({ lack }) => lack === null);

/** The parts of a kept plan on the GPU. A part is created on first use, and again if the device refused it. */
export class KeptOnGpu {
  readonly #core: GpuCore;
  readonly #parts: KeptParts;
  #targets: Kept<Targets> | undefined;
  #last: Kept<Targets> | undefined;
  #sorted: Kept<SortedTargets> | undefined;
  #isDisposed = false;

  constructor(core: GpuCore, parts: KeptParts) {
    this.#core = core;
    this.#parts = parts;
  }

  #upload(words: Uint32Array): DeviceTensor {
    return this.#core.make("uint32", [words.length], words.length, words);
  }

  get #placed(): Kept<Targets> {
    if (isMade(this.#targets)) return this.#targets;
    dispose(this.#targets);
    const { plan } = this.#parts;
    const words = targetsFrom(plan, plan.offsets.length);
    const made = this.#upload(words);
    const known = { isPartial: false, isDistinct: false };
    const value = targetsOf(plan, words.length, made.span, known);
    return (this.#targets = { value, held: [made] });
  }

  /** The last position of each target, which a separate call computes. */
  get #winners(): Kept<Targets> {
    if (isMade(this.#last)) return this.#last;
    dispose(this.#last);
    const { value: targets, held } = this.#placed;
    if (firstRepeat(this.#parts.plan) === null) return (this.#last = { value: targets, held: [] });
    const size = positionsOf(targets);
    let value = targets;
    const made = this.#core.call({
      ...{ fields: this.#parts.fields, source: this.source(), inputs: held, out: null },
      ...{ dtype: "uint32", shape: [size], size },
      record(recording, _placed, result) {
        value = lastOf(recording, targets, result);
      },
    });
    return (this.#last = { value, held: [made] });
  }

  get #order(): Kept<SortedTargets> {
    if (isMade(this.#sorted)) return this.#sorted;
    dispose(this.#sorted);
    const { plan } = this.#parts;
    const flat = flatTargetsFrom(plan, plan.offsets.length);
    const { slices, slice } = this.#placed.value;
    const [keys, positions] = sortOnHost(flat, slices).map((words) => this.#upload(words));
    const sorted = { keys: keys.span, positions: positions.span };
    const value = { ...sorted, count: keys.size, slice, slices };
    return (this.#sorted = { value, held: [keys, positions] });
  }

  /**
   * Prepares all parts that a call needs, before the call is recorded. Returns the inputs of the call other than data
   * and updates.
   */
  prepare(dtype: DType, step: Step | null): readonly DeviceTensor[] {
    const { value, held } = this.#placed;
    if (step === null || positionsOf(value) === 0) return held;
    if (step === "none") return [...held, ...this.#winners.held];
    return isOrderFree(dtype, step) ? held : [...held, ...this.#order.held];
  }

  source(): UploadedTargets {
    const { value: targets } = this.#placed;
    const arrangements: Arrangements = {
      last: () => this.#winners.value,
      hasTable: () => false,
      sorted: () => this.#order.value,
      split: () => {
        throw new Error("a kept plan always begins with the values of data");
      },
    };
    return { errorOf: null, record: () => ({ targets, arrangements }) };
  }

  checkAlive(): void {
    if (!this.#isDisposed) return;
    throw new TensorError("disposed", "the plan is gone (disposed)", {
      ...this.#parts.fields,
      key: "plan",
    });
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const kept of [this.#targets, this.#last, this.#sorted]) dispose(kept);
  }
}

function dispose(kept: Kept<unknown> | undefined): void {
  for (const tensor of kept?.held ?? []) tensor.dispose();
}

export type Data = GpuInput & { readonly device: DeviceTensor };

/** A kept plan and its engine. */
export interface PlanOnGpu {
  readonly core: GpuCore;
  readonly parts: KeptParts;
  readonly kept: KeptOnGpu;
}

/** Returns the checked inputs of a kept scatter. */
export function scatterInputs(
  { core, parts, kept }: PlanOnGpu,
  given: unknown,
  list: unknown,
  reduction: unknown,
): { readonly data: Data; readonly updates: GpuInput; readonly reducing: Reducing } {
  const { dims, fields } = parts;
  kept.checkAlive();
  const data = dataOf(core, parts, given);
  const { dtype } = data.device;
  checkReduction(dtype, reduction, fields);
  const updates = inputOf(core, list, dtype, fields, "updates");
  // Data and the plan are checked again, because a getter of a foreign object may have disposed of them.
  kept.checkAlive();
  data.device.checkAlive("data", fields);
  const { type } = updates;
  if (type.dtype !== dtype) throw wrongDType(type, [dtype], fields, "updates");
  checkShape(type, dims, fields, "updates");
  return { data, updates, reducing: { reduction, includeSelf: true } };
}

export function dataOf(core: GpuCore, { dataDims, fields }: KeptParts, given: unknown): Data {
  const data = dataOnGpu(core, given, fields, "data");
  checkShape(data.type, dataDims, fields, "data");
  return data;
}
