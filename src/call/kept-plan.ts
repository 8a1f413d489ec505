/** Plans that their user keeps, to apply the same indices many times: a KV cache, an embedding, a graph's edges. */

import type { Executor } from "../engines/executor.ts";
import { TensorError, type ErrorFields } from "../errors.ts";
import type { Operator } from "../operators/operator.ts";
import { noReduction } from "../operators/dtypes.ts";
import { settingsOf } from "../operators/settings.ts";
import type { Plan } from "../plan/plan.ts";
import { split } from "../plan/repeats.ts";
import { hasReduction, type DType, type Reduction } from "../tensor/dtype.ts";
import { coordinatesOf, printShape, sameShape, shapeOf } from "../tensor/shape.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "../tensor/tensor.ts";
import type { Nested, ScalarInput } from "../tensor/values.ts";
import { plainVersionOf } from "./call.ts";
import { callNow, execute, gatherExecution, scatterExecution } from "./execute.ts";
import { listOrTensor } from "./inputs.ts";
import { objectOf, optionsOf } from "../tensor/options.ts";
import { checkOut } from "./out.ts";
import { rulesOf } from "./prepare.ts";

/** A target that more than one index addresses. */
export interface RepeatedTarget {
  /** Its coordinates in data; of a slice those that the tuple addresses. */
  readonly target: readonly number[];
  /** How many indices address it. */
  readonly count: number;
}

/** Checked indices into data of one shape. They were read once: later changes to them do not matter. */
export interface KeptPlan {
  /** The shape of data. */
  readonly dataShape: readonly number[];
  /** The shape of the updates of a scatter, and of the result of a gather. */
  readonly shape: readonly number[];
  /**
   * A copy of data with the updates applied; any data type.
   * @throws TensorError `attribute`, `reduction`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`
   */
  scatter(
    data: Tensor | RuntimeTensor,
    updates: Tensor | RuntimeTensor | Nested<ScalarInput>,
    options?: { readonly reduction?: Reduction | undefined; readonly out?: Tensor | undefined },
  ): Tensor;
  /**
   * What the indices address; any data type.
   * @throws TensorError `attribute`, `dtype`, `shape-mismatch`, `overlap`, `disposed`, `too-large`
   */
  gather(data: Tensor | RuntimeTensor, options?: { readonly out?: Tensor | undefined }): Tensor;
  /** The targets that repeat, in the order in which they do so first. */
  duplicates(): RepeatedTarget[];
}

/**
 * The Plan of an operator's indices.
 * @throws TensorError as the operator's function, as far as the indices and the shape of data tell
 */
export function keepPlan(
  executor: Executor,
  operator: Operator,
  givenShape: readonly number[],
  indices: unknown,
  options: unknown = {},
): KeptPlan {
  const version = plainVersionOf(operator);
  const fields = { op: version.name };
  const settings = settingsOf(version, [version], objectOf("options", options, fields), fields);
  const call = { operator, version, settings, fields };
  const tensor = listOrTensor("int64", indices, fields, "indices");
  checkDType(tensor, ["int32", "int64"], fields, "indices");
  const { shape: dataShape } = shapeOf(givenShape, { ...fields, input: "dataShape" });
  operator.inferShape({ data: dataShape, indices: tensor.shape, updates: null }, call);
  const inputs = { data: dataShape, indices: tensor };
  const { positions, addressed } = operator.layout(inputs, call);
  const { shape } = shapeOf([...positions, ...dataShape.slice(addressed)], fields);
  const plan = callNow(executor, fields, ({ readIndices }) => {
    const rules = { ...rulesOf(call, {}, readIndices), merge: false };
    const made = operator.plan(inputs, call, rules);
    // The offsets outlive the session.
    return { ...made, offsets: made.offsets.slice(), isKept: true };
  });
  return keptPlan({ executor, plan, dataShape, shape, addressed, fields });
}

/** The inputs of a kept plan, as errors name them. */
const SCATTERED = [{ name: "data" }, { name: "updates" }] as const;

interface Parts {
  readonly executor: Executor;
  readonly plan: Plan;
  readonly dataShape: readonly number[];
  /** Of updates, or of what is gathered. */
  readonly shape: readonly number[];
  /** How many leading axes of data an index tuple addresses. */
  readonly addressed: number;
  readonly fields: ErrorFields;
}

const keptPlan = (parts: Parts): KeptPlan =>
  Object.freeze<KeptPlan>({
    dataShape: parts.dataShape,
    shape: parts.shape,
    scatter: (data, updates, options) => scatterBy(parts, data, updates, options),
    gather: (data, options) => gatherBy(parts, data, options),
    duplicates: () => repeatedTargets(parts),
  });

function scatterBy(parts: Parts, given: unknown, list: unknown, options: unknown = {}): Tensor {
  const { executor, plan, dataShape, shape, fields } = parts;
  const { reduction = "none", out } = optionsOf(options, ["reduction", "out"], fields);
  const data = dataOf(parts, given);
  const { dtype } = data;
  checkReduction(dtype, reduction, fields);
  const updates = listOrTensor(dtype, list, fields, "updates");
  checkDType(updates, [dtype], fields, "updates");
  checkShape(updates, shape, fields, "updates");
  const type = { dtype, shape: dataShape };
  const target =
    out === undefined ? undefined : checkOut(out, type, SCATTERED, [data, updates], "data", fields);
  const reducing = { reduction, includeSelf: true };
  return callNow(executor, fields, (session) =>
    execute(session, scatterExecution(executor, plan, data, updates, reducing, target)),
  );
}

function gatherBy(parts: Parts, given: unknown, options: unknown = {}): Tensor {
  const { executor, plan, shape, fields } = parts;
  const { out } = optionsOf(options, ["out"], fields);
  const data = dataOf(parts, given);
  const type = { dtype: data.dtype, shape };
  const target =
    out === undefined ? undefined : checkOut(out, type, SCATTERED, [data], null, fields);
  return callNow(executor, fields, (session) =>
    execute(session, gatherExecution(executor, plan, data, shape, target)),
  );
}

function dataOf({ dataShape, fields }: Parts, given: unknown): Tensor {
  const data = asTensor(given, fields, "data");
  checkShape(data, dataShape, fields, "data");
  return data;
}

function repeatedTargets({ plan, dataShape, addressed }: Parts): RepeatedTarget[] {
  const counts = new Map<number, number>();
  for (const target of split(plan).later.offsets) counts.set(target, (counts.get(target) ?? 1) + 1);
  return [...counts].map(([target, count]) => ({
    target: coordinatesOf(target, dataShape).slice(0, addressed),
    count,
  }));
}

function checkReduction(
  dtype: DType,
  word: unknown,
  fields: ErrorFields,
): asserts word is Reduction {
  if (!hasReduction(dtype, word)) throw noReduction(dtype, word, fields);
}

function checkDType(
  { dtype }: Tensor,
  types: readonly string[],
  who: ErrorFields,
  input: string,
): void {
  if (types.includes(dtype)) return;
  const must = types.length === 1 ? types[0] : `one of ${types.join(", ")}`;
  throw new TensorError("dtype", `${input} must be ${must}, got ${dtype}`, { ...who, input });
}

function checkShape(
  { shape }: Tensor,
  expected: readonly number[],
  who: ErrorFields,
  input: string,
): void {
  if (sameShape(shape, expected)) return;
  const sentence = `${input} must have the shape ${printShape(expected)}, got ${printShape(shape)}`;
  throw new TensorError("shape-mismatch", sentence, { ...who, input, expected });
}
