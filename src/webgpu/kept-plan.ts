/** Plans that their user keeps on the GPU: the targets are uploaded once, and so is what reductions make of them. */

import {
  checkReduction,
  checkShape,
  GATHER_OPTIONS,
  repeatedTargets,
  SCATTER_OPTIONS,
  SCATTERED,
  wrongDType,
  type KeptParts,
} from "../call/kept-plan.ts";
import { isOrderFree, type SortedTargets } from "../engines/gpu/combine.ts";
import { TENSOR_USAGE } from "../engines/gpu/gpu.ts";
import type { Span } from "../engines/gpu/recording.ts";
import type { Arrangements } from "../engines/gpu/scatter.ts";
import { sortOnHost } from "../engines/gpu/sort.ts";
import {
  chosenTargets,
  flatTargetsFrom,
  keysOfTargets,
  positionsOf,
  targetsFrom,
  targetsOf,
  type Targets,
} from "../engines/gpu/targets.ts";
import type { GpuBufferLike } from "../engines/gpu/webgpu.ts";
import { TensorError } from "../errors.ts";
import type { DType, Reduction } from "../tensor/dtype.ts";
import { optionsOf } from "../tensor/options.ts";
import { checkArithmetic, gatherWork, scatterWork, type Work } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { dataOnGpu, inputOf, outOnGpu, type GpuInput } from "./inputs.ts";
import type { HostPlan } from "./plan-source.ts";
import type { DeviceTensor } from "./tensor.ts";
import type { GpuPlan } from "./types.ts";

/** What a kept plan has on the GPU. */
class KeptOnGpu {
  readonly #core: GpuCore;
  readonly #parts: KeptParts;
  #buffers: GpuBufferLike[] = [];
  #targets: Targets | undefined;
  #last: { readonly targets: Targets; readonly made: DeviceTensor } | undefined;
  #sorted: SortedTargets | undefined;
  #isDisposed = false;

  constructor(core: GpuCore, parts: KeptParts) {
    this.#core = core;
    this.#parts = parts;
  }

  #upload(words: Uint32Array): Span {
    const { byteLength: bytes } = words;
    const buffer = this.#core.gpu.createBuffer(bytes, TENSOR_USAGE, "offsets of a plan");
    this.#buffers.push(buffer);
    this.#core.write(buffer, words);
    return { buffer, bytes };
  }

  get targets(): Targets {
    if (this.#targets !== undefined) return this.#targets;
    const { plan } = this.#parts;
    const words = targetsFrom(plan, plan.offsets.length);
    return (this.#targets = targetsOf(plan, words.length, this.#upload(words)));
  }

  /**
   * Made by a call of its own, whose result is an input of all that use it: if the device refuses that call, they have
   * its error, and the next one makes it again.
   */
  get #madeLast(): { readonly targets: Targets; readonly made: DeviceTensor } {
    if (this.#last !== undefined && this.#last.made.lack === null) return this.#last;
    this.#last?.made.dispose();
    const { targets } = this;
    const size = positionsOf(targets);
    let last = targets;
    const made = this.#core.call({
      ...{ fields: this.#parts.fields, plan: this.plan(), inputs: [], out: null },
      ...{ dtype: "uint32", shape: [size], size },
      record(recording, _placed, result) {
        const table = keysOfTargets(recording, targets, "last");
        last = chosenTargets(recording, targets, table, "last", true, result);
      },
    });
    return (this.#last = { targets: last, made });
  }

  get sorted(): SortedTargets {
    if (this.#sorted !== undefined) return this.#sorted;
    const { plan } = this.#parts;
    const flat = flatTargetsFrom(plan, plan.offsets.length);
    const [keys, positions] = sortOnHost(flat, this.targets.slices);
    const sorted = { keys: this.#upload(keys), positions: this.#upload(positions) };
    return (this.#sorted = { ...sorted, count: keys.length, slice: plan.slice });
  }

  /** Makes what a scatter needs, before it is recorded; inputs of the scatter beside data and updates. */
  prepare(dtype: DType, reduction: Reduction): DeviceTensor[] {
    const step = reduction === "mean" ? "add" : reduction;
    if (positionsOf(this.targets) === 0) return [];
    if (step === "none") return [this.#madeLast.made];
    if (!isOrderFree(dtype, step)) void this.sorted;
    return [];
  }

  plan(): HostPlan {
    const { targets } = this;
    const arrangements: Arrangements = {
      last: () => this.#madeLast.targets,
      sorted: () => this.sorted,
      split: () => {
        throw new Error("a kept plan begins with the values of data");
      },
    };
    return { words: null, errorOf: null, record: () => ({ targets, arrangements }) };
  }

  checkAlive(): void {
    if (!this.#isDisposed) return;
    throw new TensorError("disposed", "the plan is gone (disposed)", this.#parts.fields);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers = [];
    this.#last?.made.dispose();
  }
}

/** The functions of a kept plan. */
export function gpuPlan(core: GpuCore, parts: KeptParts): GpuPlan {
  const kept = new KeptOnGpu(core, parts);
  // What is too large for the device is an error now, not in a later call.
  void kept.targets;
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
  // Getters of updates that are no tensors of this package can dispose of both.
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
  const others = kept.prepare(dtype, reduction);
  const work = workOf(core, parts, kept.plan(), data, target, dataDims, data.device.size);
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
  return gatherWork(workOf(core, parts, kept.plan(), data, target, dims, size), []);
}

type Data = GpuInput & { readonly device: DeviceTensor };

const workOf = (
  core: GpuCore,
  { fields }: KeptParts,
  plan: HostPlan,
  { device: data }: Data,
  out: DeviceTensor | null,
  shape: readonly number[],
  size: number,
): Work => ({ core, fields, plan, data, out, shape, size });

function dataOf(core: GpuCore, { dataDims, fields }: KeptParts, given: unknown): Data {
  const data = dataOnGpu(core, given, fields, "data");
  checkShape(data.type, dataDims, fields, "data");
  return data;
}
