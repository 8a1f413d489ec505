/**
 * Plans that users keep to apply the same indices many times, such as those of a KV cache, an embedding or graph edges.
 */

import type { Executor } from "../engines/executor.ts";
import { factOf, checkNames, objectOf, optionsOf } from "../foreign.ts";
import { oneOf, TensorError, type ErrorContext } from "../errors.ts";
import { planIndices, type Operator } from "../operators/operator.ts";
import { noReduction } from "../operators/signature.ts";
import type { Plan } from "../plan/plan.ts";
import { split } from "../plan/targets.ts";
import { hasReduction, type DType, type Reduction } from "../tensor/dtype.ts";
import { coordinatesOf, part, shapeOf } from "../tensor/shape.ts";
import { Tensor, type RuntimeTensor } from "../tensor/tensor.ts";
import type { UpdateLists } from "../tensor/arguments.ts";
import { gatherBackwards, scatterBackwards } from "./backwards.ts";
import { plainCallOf, plainVersionOf } from "./call.ts";
import { rulesOf } from "./check.ts";
import {
  checkDifferentiable,
  GRADIENT_OPTIONS,
  gradientArguments,
  ON_HOST,
  type GradientArguments,
  type GradientOptions,
  type Place,
} from "./gradient-options.ts";
import { checkIndexBytes, checkShape, listOrTensor } from "./inputs.ts";
import { callNow, gatherNow, scatterNow, withOperator, type Reducing } from "./steps.ts";

/** A target that several indices address. */
export interface RepeatedTarget {
  /** Coordinates of the target in data; for a slice, only the coordinates in the index tuple. */
  readonly target: readonly number[];
  /** Number of indices that address the target. */
  readonly count: number;
}

/**
 * Checked indices into data of a fixed shape. The indices are read when the plan is created; later changes to them have
 * no effect.
 */
export interface KeptPlan {
  /** Shape that data must have. */
  readonly dataShape: readonly number[];
  /** Shape of a scatter's updates and of a gather's result. */
  readonly shape: readonly number[];
  /**
   * Returns a copy of data with the updates applied, for any data type.
   * @throws TensorError `attribute`, `reduction`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`
   */
  scatter(
    data: Tensor | RuntimeTensor,
    updates: Tensor | RuntimeTensor | UpdateLists,
    options?: {
      readonly reduction?: Reduction | undefined;
      readonly out?: Tensor | RuntimeTensor | undefined;
    },
  ): Tensor;
  /**
   * Returns the elements or slices that the indices address, for any data type.
   * @throws TensorError `attribute`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`
   */
  gather(
    data: Tensor | RuntimeTensor,
    options?: { readonly out?: Tensor | RuntimeTensor | undefined },
  ): Tensor;
  /**
   * Returns the gradients of data and updates in `KeptPlan.scatter`, given the gradient of its result. A gradient
   * that `argnums` (0 for data, 1 for updates) does not request is null. See `vjp`.
   * @throws TensorError the errors of `scatter`, and `dtype` for data types without gradients
   */
  scatterVjp(
    data: Tensor | RuntimeTensor,
    updates: Tensor | RuntimeTensor | UpdateLists,
    outputGradient: Tensor | RuntimeTensor,
    options?: GradientOptions & { readonly reduction?: Reduction | undefined },
  ): [data: Tensor | null, updates: Tensor | null];
  /**
   * Returns the gradient of data in `KeptPlan.gather`, given the gradient of its result, whose shape is `shape`.
   * See `vjp`.
   * @throws TensorError the errors of `gather`, and `dtype` for data types without gradients
   */
  gatherVjp(
    outputGradient: Tensor | RuntimeTensor,
    options?: { readonly out?: Tensor | RuntimeTensor | undefined },
  ): Tensor;
  /** Returns the repeated targets, in the order in which each is first repeated. */
  duplicates(): RepeatedTarget[];
}

/** Creates a kept plan that runs on the given executor. */
export function keepPlan(...given: Parameters<typeof keptParts>): KeptPlan {
  const parts = keptParts(...given);
  return Object.freeze<KeptPlan>(planMethods(parts, onHost(parts)));
}

/** Runs the checked calls of a kept plan, on the host or on a GPU. */
export interface PlanPlace<T, O extends T> extends Place<T, O> {
  /** Returns updates as a tensor; a list gets the data type. */
  inputOf(dtype: DType, given: unknown, fields: ErrorContext, input: string): T;
  /** Checks that results can be computed here. `reduction` is undefined for a gather. */
  checkArithmetic?(dtype: DType, reduction: Reduction | undefined, isGradient: boolean): void;
  scatter(data: O, updates: T, reducing: Reducing, out: O | undefined): O;
  gather(data: O, out: O | undefined): O;
  scatterBackwards(
    data: O,
    updates: T,
    reducing: Reducing,
    chosen: GradientArguments<O>,
  ): [data: O | null, updates: O | null];
  gatherBackwards(gradient: O, out: O | undefined): O;
}

/** Returns the methods of a kept plan, which check their arguments. */
export function planMethods<T, O extends T>(parts: KeptParts, place: PlanPlace<T, O>) {
  const { dataShape, dataDims, shape, dims, fields } = parts;
  return {
    dataShape,
    shape,
    scatter(given: unknown, list: unknown, options: unknown = {}): O {
      const { reduction = "none", out } = optionsOf(options, SCATTER_OPTIONS, fields);
      const { dtype, data, updates, reducing } = scatterInputs(
        parts,
        place,
        given,
        list,
        reduction,
      );
      place.checkArithmetic?.(dtype, reducing.reduction, false);
      const inputs = [data, updates];
      const target = place.checkOut(out, dtype, dataDims, SCATTERED, inputs, "data", fields);
      return place.scatter(data, updates, reducing, target);
    },
    gather(given: unknown, options: unknown = {}): O {
      const { out } = optionsOf(options, GATHER_OPTIONS, fields);
      const data = dataOf(parts, place, given);
      const { dtype } = place.typeOf(data);
      return place.gather(data, place.checkOut(out, dtype, dims, SCATTERED, [data], null, fields));
    },
    scatterVjp(
      given: unknown,
      list: unknown,
      outputGradient: unknown,
      options: unknown = {},
    ): [data: O | null, updates: O | null] {
      const { reduction = "none", ...rest } = optionsOf(options, VJP_OPTIONS, fields);
      const { dtype, data, updates, reducing } = scatterInputs(
        parts,
        place,
        given,
        list,
        reduction,
      );
      const forward = { signature: SCATTER_SIGNATURE, tensors: [data, updates], shape: dataDims };
      const check = (): void => place.checkArithmetic?.(dtype, reducing.reduction, true);
      const chosen = gradientArguments({ ...forward, fields }, outputGradient, rest, place, check);
      return place.scatterBackwards(data, updates, reducing, chosen);
    },
    gatherVjp(outputGradient: unknown, options: unknown = {}): O {
      const { out: givenOut } = optionsOf(options, GATHER_OPTIONS, fields);
      const gradient = place.tensorOf(outputGradient, fields, "outputGradient");
      const type = place.typeOf(gradient);
      const { dtype } = type;
      checkDifferentiable(type, "outputGradient", fields);
      checkShape(type, dims, fields, "outputGradient");
      place.checkArithmetic?.(dtype, undefined, true);
      const names = [{ name: "outputGradient" }];
      const out = place.checkOut(givenOut, dtype, dataDims, names, [gradient], null, fields);
      return place.gatherBackwards(gradient, out);
    },
    duplicates: () => repeatedTargets(parts),
  };
}

/**
 * Reads an operator's indices, and returns the parts of a kept plan.
 * @throws TensorError the errors of the operator's function that depend only on the indices and the shape of data
 */
export function keptParts(
  executor: Executor,
  operator: Operator,
  givenShape: readonly number[],
  indices: unknown,
  options: unknown = {},
): KeptParts {
  const { name, attributes } = plainVersionOf(operator);
  const fields = { op: name };
  const given = objectOf("options", options, fields);
  if (given["reduction"] !== undefined) {
    const sentence = "reduction is an option of the plan's scatter; give it there";
    const facts = { ...fields, key: "reduction", got: factOf(given["reduction"]) };
    throw new TensorError("attribute", sentence, facts);
  }
  const known = attributes.map((one) => one.name).filter((one) => one !== "reduction");
  checkNames("option", given, known, fields);
  const call = plainCallOf(operator, given);
  const { shape: dataShape } = shapeOf(givenShape, { ...fields, input: "dataShape" });
  const dataDims = part(dataShape, 0);
  checkIndexBytes(indices, dataDims, call, "indices");
  const tensor = listOrTensor("int64", indices, fields, "indices");
  const types = ["int32", "int64"];
  if (!types.includes(tensor.dtype)) throw wrongDType(tensor, types, fields, "indices");
  operator.inferShape({ data: dataDims, indices: Tensor.dimsOf(tensor), updates: null }, call);
  const inputs = { data: dataDims, indices: tensor };
  const { positions, addressed } = operator.layout(inputs, call);
  const { shape, size } = shapeOf([...positions, ...dataDims.slice(addressed)], fields);
  const rules = { ...rulesOf(call), merge: false };
  const plan = callNow(executor, fields, ({ readIndices }): Plan => {
    const made = planIndices(inputs, call, rules, readIndices);
    // The offsets are copied, because they outlive the session.
    return { ...made, offsets: made.offsets.slice(), isKept: true, derived: new Map() };
  });
  const dims = part(shape, 0);
  return { executor, plan, dataShape, dataDims, shape, dims, size, addressed, fields };
}

/** Input names of a kept plan, as printed in errors. */
const SCATTERED = [{ name: "data" }, { name: "updates" }] as const;
const SCATTER_OPTIONS = ["reduction", "out"] as const;
const GATHER_OPTIONS = ["out"] as const;
const VJP_OPTIONS = ["reduction", ...GRADIENT_OPTIONS] as const;
const SCATTER_SIGNATURE = { inputs: SCATTERED, positions: { data: 0, updates: 1 } };

export interface KeptParts {
  readonly executor: Executor;
  readonly plan: Plan;
  readonly dataShape: readonly number[];
  /** An unfrozen copy of `dataShape`, for the reason that `Tensor.dimsOf` gives. */
  readonly dataDims: readonly number[];
  /** Shape of a scatter's updates and of a gather's result. */
  readonly shape: readonly number[];
  readonly dims: readonly number[];
  readonly size: number;
  /** Number of leading axes of data that an index tuple addresses. */
  readonly addressed: number;
  readonly fields: ErrorContext;
}

/** Checks the inputs of a kept plan's scatter. */
function scatterInputs<T, O extends T>(
  parts: KeptParts,
  place: PlanPlace<T, O>,
  given: unknown,
  list: unknown,
  reduction: unknown,
): { readonly dtype: DType; readonly data: O; readonly updates: T; readonly reducing: Reducing } {
  const { dims, fields } = parts;
  const data = dataOf(parts, place, given);
  const { dtype } = place.typeOf(data);
  checkReduction(dtype, reduction, fields);
  const updates = place.inputOf(dtype, list, fields, "updates");
  // Data is checked again, because a getter of a foreign object may have disposed of it.
  if (updates !== list) place.tensorOf(data, fields, "data");
  const type = place.typeOf(updates);
  if (type.dtype !== dtype) throw wrongDType(type, [dtype], fields, "updates");
  checkShape(type, dims, fields, "updates");
  return { dtype, data, updates, reducing: { reduction, includeSelf: true } };
}

function dataOf<T, O extends T>(
  { dataDims, fields }: KeptParts,
  place: PlanPlace<T, O>,
  given: unknown,
): O {
  const data = place.tensorOf(given, fields, "data");
  checkShape(place.typeOf(data), dataDims, fields, "data");
  return data;
}

const NO_REDUCTION: Reducing = { reduction: "none", includeSelf: true };

function onHost(parts: KeptParts): PlanPlace<Tensor, Tensor> {
  const { executor, plan, dataDims, fields } = parts;
  return {
    ...ON_HOST,
    inputOf: listOrTensor,
    scatter: (data, updates, reducing, out) => runPlan(parts, data, updates, reducing, out),
    gather: (data, out) => runPlan(parts, data, undefined, NO_REDUCTION, out),
    scatterBackwards(data, updates, reducing, chosen) {
      const call = { executor, plan, reducing, data, updates, chosen };
      return callNow(executor, fields, (session) => scatterBackwards(session, call));
    },
    gatherBackwards: (gradient, out) =>
      callNow(executor, fields, (session) =>
        gatherBackwards(session, executor, plan, gradient, dataDims, out),
      ),
  };
}

/** Scatters updates, or gathers without updates. `callNow` with a closure takes a sixth longer. */
function runPlan(
  { executor, plan, dims, size, fields }: KeptParts,
  data: Tensor,
  updates: Tensor | undefined,
  reducing: Reducing,
  out: Tensor | undefined,
): Tensor {
  const session = executor.begin();
  try {
    return updates === undefined
      ? gatherNow(session, executor, plan, data, dims, size, out)
      : scatterNow(session, executor, plan, data, updates, reducing, out);
  } catch (error) {
    throw withOperator(error, fields);
  } finally {
    session.end();
  }
}

/** Implements `KeptPlan.duplicates`. */
function repeatedTargets({ plan, dataShape, addressed }: KeptParts): RepeatedTarget[] {
  const counts = new Map<number, number>();
  for (const target of split(plan).later.offsets) counts.set(target, (counts.get(target) ?? 1) + 1);
  return [...counts].map(([target, count]) => ({
    target: coordinatesOf(target, dataShape).slice(0, addressed),
    count,
  }));
}

/**
 * Checks that a data type supports a reduction.
 * @throws TensorError `reduction`
 */
function checkReduction(
  dtype: DType,
  word: unknown,
  fields: ErrorContext,
): asserts word is Reduction {
  if (!hasReduction(dtype, word)) throw noReduction(dtype, word, fields);
}

/** Creates the error for an input with the wrong data type. */
function wrongDType(
  { dtype }: Tensor,
  types: readonly string[],
  who: ErrorContext,
  input: string,
): TensorError {
  const sentence = `${input} must be ${oneOf(types)}, got ${dtype}`;
  return new TensorError("dtype", sentence, { ...who, input, got: dtype, allowed: types });
}
