/** Plans that their user keeps, to apply the same indices many times: a KV cache, an embedding, a graph's edges. */

import { reductionsOf, type Reduction } from "../tensor/dtype.ts";
import type { Executor } from "../engines/executor.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { executeGather, executeScatter } from "./execute.ts";
import { settingsOf } from "../operators/settings.ts";
import type { Operator } from "../operators/operator.ts";
import { objectOf, optionsOf } from "./options.ts";
import { checkOut } from "./out.ts";
import { split, type Plan } from "../plan/plan.ts";
import { listOrTensor } from "./inputs.ts";
import { plainOf } from "./call.ts";
import { coordinatesOf, printShape, sameShape, sizeOf } from "../tensor/shape.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "../tensor/tensor.ts";
import type { Nested, ScalarInput } from "../tensor/values.ts";

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
  dataShape: readonly number[],
  indices: unknown,
  options: unknown = {},
): KeptPlan {
  const version = plainOf(operator);
  const fields = { op: version.name };
  const settings = settingsOf(version, [version], objectOf("options", options, fields), fields);
  const call = { version, settings, fields };
  const tensor = listOrTensor("int64", indices, fields, "indices");
  checkDType(tensor, ["int32", "int64"], fields, "indices");
  sizeOf(dataShape, { ...fields, input: "dataShape" });
  operator.inferShape({ data: dataShape, indices: tensor.shape, updates: null }, call);
  const inputs = { data: dataShape, indices: tensor };
  const { positions, addressed } = operator.layout(inputs, call);
  const shape = [...positions, ...dataShape.slice(addressed)];
  sizeOf(shape, fields);
  const plan = executor.scope(() => {
    const fresh = operator.plan(inputs, call, {
      negative: version.negativeIndices,
      bounds: "error",
      merge: false,
      read: executor.readIndices,
    });
    // What the executor made them in is given back with the scope.
    return { ...fresh, offsets: fresh.offsets.slice() };
  });
  return keptPlan(executor, plan, [...dataShape], shape, addressed, fields);
}

function keptPlan(
  executor: Executor,
  plan: Plan,
  dataShape: readonly number[],
  shape: readonly number[],
  addressed: number,
  fields: ErrorFields,
): KeptPlan {
  const dataOf = (given: unknown): Tensor => {
    const data = asTensor(given, fields, "data");
    checkShape(data, dataShape, fields, "data");
    return data;
  };
  return {
    dataShape,
    shape,
    scatter(given, list, options = {}) {
      const { reduction = "none", out } = optionsOf(options, ["reduction", "out"], fields);
      const data = dataOf(given);
      const { dtype } = data;
      const isReduction = (word: unknown): word is Reduction =>
        reductionsOf(dtype).some((one) => one === word);
      if (!isReduction(reduction)) {
        const words = reductionsOf(dtype).join(", ");
        const sentence = `${dtype} has no reduction ${printValue(reduction)}, only ${words}`;
        throw new TensorError("reduction", sentence, fields);
      }
      const updates = listOrTensor(dtype, list, fields, "updates");
      checkDType(updates, [dtype], fields, "updates");
      checkShape(updates, shape, fields, "updates");
      const type = { dtype, shape: dataShape };
      const target =
        out === undefined ? undefined : checkOut(out, type, { data, updates }, "data", fields);
      return executor.scope(() =>
        executeScatter(
          executor,
          plan,
          data,
          updates,
          { reduction, includeSelf: true },
          target,
          fields,
        ),
      );
    },
    gather(given, options = {}) {
      const { out } = optionsOf(options, ["out"], fields);
      const data = dataOf(given);
      const type = { dtype: data.dtype, shape };
      const target = out === undefined ? undefined : checkOut(out, type, { data }, null, fields);
      return executor.scope(() => executeGather(executor, plan, data, shape, target));
    },
    duplicates() {
      const counts = new Map<number, number>();
      for (const target of split(plan).later.offsets) {
        counts.set(target, (counts.get(target) ?? 1) + 1);
      }
      return [...counts].map(([target, count]) => ({
        target: coordinatesOf(target, dataShape).slice(0, addressed),
        count,
      }));
    },
  };
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
