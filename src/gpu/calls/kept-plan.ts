/** Plans kept on the GPU by their user: the targets, and their arrangements for reductions, are uploaded once. */

import {
  checkReduction,
  checkShape,
  GATHER_OPTIONS,
  repeatedTargets,
  SCATTER_OPTIONS,
  SCATTERED,
  wrongDType,
  type KeptParts,
} from "../../core/call/kept-plan.ts";
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
import { TensorError } from "../../core/errors.ts";
import { firstRepeat } from "../../core/plan/repeats.ts";
import type { DType, Step } from "../../core/tensor/dtype.ts";
import { optionsOf } from "../../core/tensor/options.ts";
import { checkArithmetic, gatherWork, scatterWork, type Work } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { dataOnGpu, inputOf, outOnGpu, type GpuInput } from "./inputs.ts";
import type { UploadedTargets } from "./target-source.ts";
import type { DeviceTensor } from "./tensor.ts";
import type { GpuPlan } from "./types.ts";

/**
 * A value made from a plan, and the tensors that hold it, which become inputs of calls so that the calls notice its
 * failure.
 */
interface Kept<T> {
  readonly value: T;
  readonly held: readonly DeviceTensor[];
}

const isMade = <T>(kept: Kept<T> | undefined): kept is Kept<T> =>
  kept !== undefined && kept.held.every(({ lack }) => lack === null);

/** The GPU data of a kept plan. Each part is made on first use, and again if the device refused it. */
class KeptOnGpu {
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

  /** The last position of each target, computed by a separate call. */
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
   * Makes the data that a call needs before it is recorded. @returns the inputs of the call other than data and updates
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
        throw new Error("a kept plan begins with the values of data");
      },
    };
    return { errorOf: null, record: () => ({ targets, arrangements }) };
  }

  checkAlive(): void {
    if (!this.#isDisposed) return;
    throw new TensorError("disposed", "the plan is gone (disposed)", this.#parts.fields);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const kept of [this.#targets, this.#last, this.#sorted]) dispose(kept);
  }
}

function dispose(kept: Kept<unknown> | undefined): void {
  for (const tensor of kept?.held ?? []) tensor.dispose();
}

/** The methods of a kept plan. */
export function gpuPlan(core: GpuCore, parts: KeptParts): GpuPlan {
  const kept = new KeptOnGpu(core, parts);
  // Done now, so that a plan too large for the device fails immediately and not in a later call.
  kept.prepare("uint8", null);
  const plan: Pick<GpuPlan, "scatter" | "gather"> = {
    scatter: (data, updates, options) =>
      scatterByPlan(core, parts, kept, data, updates, options) as never,
    gather: (data, options) => gatherByPlan(core, parts, kept, data, options) as never,
  };
  return Object.freeze<GpuPlan>({
    ...plan,
    dataShape: parts.dataShape,
    shape: parts.shape,
    duplicates: () => repeatedTargets(parts),
    dispose: () => kept.dispose(),
  });
}

function scatterByPlan(
  core: GpuCore,
  parts: KeptParts,
  kept: KeptOnGpu,
  given: unknown,
  list: unknown,
  options: unknown = {},
): DeviceTensor {
  const { dataDims, dims, fields } = parts;
  kept.checkAlive();
  const { reduction = "none", out } = optionsOf(options, SCATTER_OPTIONS, fields);
  const data = dataOf(core, parts, given);
  const { dtype } = data.device;
  checkReduction(dtype, reduction, fields);
  const updates = inputOf(core, list, dtype, fields, "updates");
  // Getters of foreign updates can dispose of either.
  kept.checkAlive();
  data.device.checkAlive("data", fields);
  const { type } = updates;
  if (type.dtype !== dtype) throw wrongDType(type, [dtype], fields, "updates");
  checkShape(type, dims, fields, "updates");
  checkArithmetic(dtype, { reduction }, fields);
  const target =
    out === undefined
      ? null
      : outOnGpu(core, out, dtype, dataDims, SCATTERED, [data, updates], "data", fields);
  const others = kept.prepare(dtype, reduction === "mean" ? "add" : reduction);
  const work = workOf(core, parts, kept.source(), data, target, dataDims, data.device.size);
  return scatterWork(work, updates, { reduction, includeSelf: true }, others);
}

function gatherByPlan(
  core: GpuCore,
  parts: KeptParts,
  kept: KeptOnGpu,
  given: unknown,
  options: unknown = {},
): DeviceTensor {
  const { dims, size, fields } = parts;
  kept.checkAlive();
  const { out } = optionsOf(options, GATHER_OPTIONS, fields);
  const data = dataOf(core, parts, given);
  const target =
    out === undefined
      ? null
      : outOnGpu(core, out, data.device.dtype, dims, SCATTERED, [data], null, fields);
  const others = kept.prepare(data.device.dtype, null);
  return gatherWork(workOf(core, parts, kept.source(), data, target, dims, size), others);
}

type Data = GpuInput & { readonly device: DeviceTensor };

const workOf = (
  core: GpuCore,
  { fields }: KeptParts,
  source: UploadedTargets,
  { device: data }: Data,
  out: DeviceTensor | null,
  shape: readonly number[],
  size: number,
): Work => ({ core, fields, source, data, out, shape, size });

function dataOf(core: GpuCore, { dataDims, fields }: KeptParts, given: unknown): Data {
  const data = dataOnGpu(core, given, fields, "data");
  checkShape(data.type, dataDims, fields, "data");
  return data;
}
