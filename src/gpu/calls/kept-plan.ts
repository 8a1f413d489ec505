/**
 * Implements kept plans on the GPU. Targets and their arrangements for reductions are uploaded only once, on first use,
 * and again if the device refused them.
 */

import { checkDifferentiable, gradientArguments } from "../../core/call/gradient-options.ts";
import {
  checkReduction,
  GATHER_OPTIONS,
  repeatedTargets,
  SCATTER_OPTIONS,
  SCATTER_SIGNATURE,
  SCATTERED,
  VJP_OPTIONS,
  wrongDType,
  type KeptParts,
} from "../../core/call/kept-plan.ts";
import { checkShape } from "../../core/call/inputs.ts";
import { stepsOf, type Reducing } from "../../core/call/steps.ts";
import { TensorError } from "../../core/errors.ts";
import { optionsOf } from "../../core/foreign.ts";
import { replacedSlices } from "../../core/plan/targets.ts";
import type { DType, Step } from "../../core/tensor/dtype.ts";
import { isOrderFree } from "../kernels/combine.ts";
import type { Span } from "../kernels/kernel.ts";
import type { Placed } from "../kernels/scatter.ts";
import { flatTargets, type Targets } from "../kernels/targets.ts";
import { checkArithmetic, gatherWork, scatterWork } from "./call.ts";
import type { GpuCore } from "./core.ts";
import { dataOnGpu, inputOf, outOnGpu, placeOn } from "./inputs.ts";
import { placedFrom, wordsOf, type PlanWords, type TargetSource } from "./target-source.ts";
import { type DeviceTensor, typeOf, type GpuInput } from "./tensor.ts";
import type { GpuPlan } from "./types.ts";
import { checkGradientArithmetic, gatherGradient, scatterGradients } from "./vjp.ts";

/** Returns the methods of a kept plan. */
export function gpuPlan(core: GpuCore, parts: KeptParts): GpuPlan {
  const plan = new PlanOnGpu(core, parts);
  const methods: Pick<GpuPlan, "scatter" | "gather" | "scatterVjp" | "gatherVjp"> = {
    scatter: (...args) => plan.scatter(...args) as never,
    gather: (...args) => plan.gather(...args) as never,
    scatterVjp: (...args) => plan.scatterVjp(...args) as never,
    gatherVjp: (...args) => plan.gatherVjp(...args) as never,
  };
  return Object.freeze<GpuPlan>({
    ...methods,
    dataShape: parts.dataShape,
    shape: parts.shape,
    duplicates: () => repeatedTargets(parts),
    dispose: () => plan.dispose(),
  });
}

class PlanOnGpu {
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
      this.#core.make("uint32", [words.length], words.length, words),
    );
    this.#uploads.set(which, made);
    return made;
  }

  /** Uploads all that a call needs, before the call is recorded. `step` is null for calls that only look up targets. */
  #source(dtype: DType, step: Step | null): TargetSource {
    const { plan, size, fields } = this.#parts;
    const used = size === 0 ? null : step;
    const hasLast = used === "none" && replacedSlices(plan).length > 0;
    const isSorted = used !== null && used !== "none" && !isOrderFree(dtype, used);
    const inputs = [
      ...this.#upload("targets"),
      ...(hasLast ? this.#upload("last") : []),
      ...(isSorted ? this.#upload("sorted") : []),
    ];
    const spansOf = (which: PlanWords): Span[] => this.#upload(which).map(({ span }) => span);
    const placed = placedFrom(plan, plan.offsets.length, spansOf);
    const { targets } = placed;
    const last = (): Targets =>
      hasLast ? flatTargets(targets, spansOf("last")[0], true) : targets;
    const record = (): Placed => ({ ...placed, last, hasTable: () => false });
    return { fields, inputs, errorOf: null, record };
  }

  scatter(given: unknown, list: unknown, options: unknown = {}): DeviceTensor {
    const { dataDims, fields } = this.#parts;
    const core = this.#core;
    const { reduction = "none", out: givenOut } = optionsOf(options, SCATTER_OPTIONS, fields);
    const { data, updates, reducing } = this.#scatterInputs(given, list, reduction);
    const { dtype, size } = data;
    checkArithmetic(dtype, reducing, fields);
    const inputs = [data, updates];
    const out = outOnGpu(core, givenOut, dtype, dataDims, SCATTERED, inputs, "data", fields);
    const source = this.#source(dtype, stepsOf(reducing, dtype).later);
    return scatterWork({ core, source, data, out, shape: dataDims, size }, updates, reducing);
  }

  gather(given: unknown, options: unknown = {}): DeviceTensor {
    const { dims: shape, size, fields } = this.#parts;
    const core = this.#core;
    this.#checkAlive();
    const { out: givenOut } = optionsOf(options, GATHER_OPTIONS, fields);
    const data = this.#data(given);
    const out = outOnGpu(core, givenOut, data.dtype, shape, SCATTERED, [data], null, fields);
    return gatherWork({ core, source: this.#source(data.dtype, null), data, out, shape, size });
  }

  scatterVjp(
    given: unknown,
    list: unknown,
    outputGradient: unknown,
    options: unknown = {},
  ): readonly [data: DeviceTensor | null, updates: DeviceTensor | null] {
    const { dataDims, fields } = this.#parts;
    const core = this.#core;
    const { reduction = "none", ...rest } = optionsOf(options, VJP_OPTIONS, fields);
    const { data, updates, reducing } = this.#scatterInputs(given, list, reduction);
    const { dtype } = data;
    const place = placeOn(core, () => checkGradientArithmetic(dtype, reducing.reduction, fields));
    const tensors = [data, updates];
    const call = { signature: SCATTER_SIGNATURE, tensors, shape: dataDims, fields };
    const chosen = gradientArguments(call, outputGradient, rest, place);
    const source = this.#source(dtype, reducing.reduction === "none" ? "none" : null);
    return scatterGradients({ ...chosen, core, source, reducing, updates: typeOf(updates) });
  }

  gatherVjp(outputGradient: unknown, options: unknown = {}): DeviceTensor {
    const { plan, dataDims, dims, fields } = this.#parts;
    const core = this.#core;
    this.#checkAlive();
    const { out: givenOut } = optionsOf(options, GATHER_OPTIONS, fields);
    const gradient = dataOnGpu(core, outputGradient, fields, "outputGradient");
    const { dtype } = gradient;
    checkDifferentiable(typeOf(gradient), "outputGradient", fields);
    checkShape(typeOf(gradient), dims, fields, "outputGradient");
    checkGradientArithmetic(dtype, undefined, fields);
    const names = [{ name: "outputGradient" }];
    const out = outOnGpu(core, givenOut, dtype, dataDims, names, [gradient], null, fields);
    const data = { shape: dataDims, size: plan.size };
    return gatherGradient(core, this.#source(dtype, "add"), gradient, data, out);
  }

  /** Returns the checked inputs of a scatter. */
  #scatterInputs(
    given: unknown,
    list: unknown,
    reduction: unknown,
  ): {
    readonly data: DeviceTensor;
    readonly updates: GpuInput;
    readonly reducing: Reducing;
  } {
    const { dims, fields } = this.#parts;
    this.#checkAlive();
    const data = this.#data(given);
    const { dtype } = data;
    checkReduction(dtype, reduction, fields);
    const updates = inputOf(this.#core, list, dtype, fields, "updates");
    // Data and the plan are checked again, because a getter of a foreign object may have disposed of them.
    this.#checkAlive();
    data.checkAlive("data", fields);
    const type = typeOf(updates);
    if (type.dtype !== dtype) throw wrongDType(type, [dtype], fields, "updates");
    checkShape(type, dims, fields, "updates");
    return { data, updates, reducing: { reduction, includeSelf: true } };
  }

  #data(given: unknown): DeviceTensor {
    const { dataDims, fields } = this.#parts;
    const data = dataOnGpu(this.#core, given, fields, "data");
    checkShape(typeOf(data), dataDims, fields, "data");
    return data;
  }

  #checkAlive(): void {
    if (!this.#isDisposed) return;
    const fields = { ...this.#parts.fields, key: "plan" };
    throw new TensorError("disposed", "the plan is gone (disposed)", fields);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const tensor of [...this.#uploads.values()].flat()) tensor.dispose();
  }
}
