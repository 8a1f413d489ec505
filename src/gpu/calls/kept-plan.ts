/**
 * Implements kept plans on the GPU. Targets and their arrangements for reductions are uploaded only once, on first use,
 * and again if the device refused them.
 */

import { planMethods, type KeptParts, type PlanPlace } from "../../core/call/kept-plan.ts";
import { stepsOf } from "../../core/call/steps.ts";
import { TensorError } from "../../core/errors.ts";
import { replacedSlices } from "../../core/plan/targets.ts";
import type { DType, Step } from "../../core/tensor/dtype.ts";
import { isOrderFree } from "../kernels/combine.ts";
import { checkArithmetic, gatherWork, placeOn, scatterWork } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { placedFrom, wordsOf, type PlanWords, type TargetSource } from "./target-source.ts";
import { typeOf, type DeviceTensor, type GpuInput } from "./tensor.ts";
import type { GpuPlan } from "./types.ts";
import { checkGradientArithmetic, gatherGradient, scatterGradients } from "./vjp.ts";

/** Returns a kept plan on the GPU. */
export function gpuPlan(core: GpuCore, parts: KeptParts): GpuPlan {
  const words = new UploadedPlan(core, parts);
  const methods = planMethods(parts, placeOf(core, parts, words));
  return Object.freeze({ ...methods, dispose: () => words.dispose() }) as GpuPlan;
}

/** Returns the checks and the calls of a kept plan. */
function placeOf(
  core: GpuCore,
  { plan, dataDims, dims, size, fields }: KeptParts,
  words: UploadedPlan,
): PlanPlace<GpuInput, DeviceTensor> {
  const place = placeOn(core);
  return {
    ...place,
    tensorOf(...given) {
      words.checkAlive();
      return place.tensorOf(...given);
    },
    checkArithmetic(dtype, reduction, isGradient) {
      if (isGradient) checkGradientArithmetic(dtype, reduction, fields);
      else checkArithmetic(dtype, reduction, fields);
    },
    scatter(data, updates, reducing, out) {
      const source = words.source(data.dtype, stepsOf(reducing, data.dtype).later);
      return scatterWork({ core, source, out }, data, updates, reducing);
    },
    gather: (data, out) =>
      gatherWork({ core, source: words.source(data.dtype, null), out }, data, dims, size),
    scatterBackwards(data, updates, reducing, chosen) {
      const source = words.source(data.dtype, reducing.reduction === "none" ? "none" : null);
      return scatterGradients({ ...chosen, core, source, reducing, updates: typeOf(updates) });
    },
    gatherBackwards(gradient, out) {
      const source = words.source(gradient.dtype, "add");
      return gatherGradient({ core, source, out }, gradient, dataDims, plan.size);
    },
  };
}

/** The words of a kept plan on the GPU. */
class UploadedPlan {
  readonly #core: GpuCore;
  readonly #parts: KeptParts;
  readonly #uploads = new Map<PlanWords, readonly DeviceTensor[]>();
  #isDisposed = false;

  constructor(core: GpuCore, parts: KeptParts) {
    this.#core = core;
    this.#parts = parts;
    // The targets are uploaded immediately, so that a plan that is too large for the device fails here and not in a
    // later call.
    this.#upload("targets");
  }

  #upload(which: PlanWords): readonly DeviceTensor[] {
    const known = this.#uploads.get(which);
    if (known?.every(({ lack }) => lack === null)) return known;
    for (const tensor of known ?? []) tensor.dispose();
    const { plan } = this.#parts;
    const made = wordsOf(plan, plan.offsets.length, which).map((words) =>
      this.#core.make({ dtype: "uint32", shape: [words.length], size: words.length }, words),
    );
    this.#uploads.set(which, made);
    return made;
  }

  /** Uploads all that a call needs, before the call is recorded. `step` is null for calls that only look up targets. */
  source(dtype: DType, step: Step | null): TargetSource {
    const { plan, size, fields } = this.#parts;
    const isMove = step === null || step === "none";
    const hasLast = step === "none" && size > 0 && replacedSlices(plan).length > 0;
    const isSorted = !isMove && size > 0 && !isOrderFree(dtype, step);
    const needed: PlanWords[] = [
      "targets",
      ...(hasLast ? (["last"] as const) : []),
      ...(isSorted ? (["sorted"] as const) : []),
    ];
    const inputs = needed.flatMap((which) => this.#upload(which));
    const spansOf = (which: PlanWords) => this.#upload(which).map(({ span }) => span);
    const record = () =>
      placedFrom(plan, plan.offsets.length, spansOf, hasLast ? "last" : "targets");
    return { fields, inputs, errorOf: null, record };
  }

  checkAlive(): void {
    if (!this.#isDisposed) return;
    const fields = { ...this.#parts.fields, key: "plan" };
    throw new TensorError("disposed", "the plan is gone (disposed)", fields);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const tensor of [...this.#uploads.values()].flat()) tensor.dispose();
  }
}
