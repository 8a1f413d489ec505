/** A call told: the same steps as `run`, and what there is to know at each of them. */

import { createJs } from "../engines/js.ts";
import { isTensorError, TensorError } from "../errors.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { callNow, execute, gatherExecution, scatterExecution } from "../call/execute.ts";
import { byRole, roleOf, type Inputs, type OperatorVersion } from "../operators/operator.ts";
import { lookUp } from "../operators/registry.ts";
import { joinTerms, printTerms } from "../operators/terms.ts";
import { callOf, type Call, type NodeSpec } from "../call/call.ts";
import { prepare, rulesOf, withAxis } from "../call/prepare.ts";
import { tensorsOf } from "../call/inputs.ts";
import { printShape, product, sameShape } from "../tensor/shape.ts";
import { asTensor, type Tensor } from "../tensor/tensor.ts";
import type { BadIndex, DerivedShape, Explanation } from "./explanation.ts";
import { gatherStory } from "./gather-story.ts";
import { scatterStory } from "./scatter-story.ts";

/**
 * What `run` does with a node, as data: which updates hit which cell, in order, with the values before and after; where
 * each element of a gather comes from; the shapes that follow from the inputs', term by term; and every bad index.
 *
 * It does not throw for what `run` refuses, not even for an operator that there is not: that is its `error`. What it
 * gives is read from the inputs when it is asked for, so leave them as they are until then.
 *
 * @param inputs tensors in the order of the version's inputs; `undefined` for an optional one that is left out
 */
export function explain(node: NodeSpec, inputs: readonly unknown[]): Explanation {
  const version = attempt(() => lookUp(node).version).value ?? null;
  const found = attempt(() => callOf(node));
  const tensors = version === null ? [] : tensorsThere(version, inputs);
  const told = version?.inputs.map((schema, position) => ({
    name: schema.name,
    role: roleOf(schema),
    tensor: tensors[position] ?? null,
  }));
  const common = { version, inputs: told ?? [] };
  const nothing = { badIndices: [], badCount: 0, output: null, story: null };
  if (found.value === undefined) return { ...common, ...nothing, shapes: [], error: found.error };
  const call = found.value;
  const shapes = attempt(() => derivedShapes(call, tensors)).value ?? [];
  const result = attempt(() => tell(call, tensorsOf(call, inputs)));
  return result.value === undefined
    ? {
        ...common,
        ...nothing,
        shapes,
        error: result.error,
        ...badIndicesOf(call, tensors, result.error),
      }
    : { ...common, ...nothing, shapes, error: null, ...result.value };
}

type Attempt<T> =
  | { readonly value: T; readonly error: null }
  | { readonly value: undefined; readonly error: TensorError };

function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { value: action(), error: null };
  } catch (error) {
    if (isTensorError(error)) return { value: undefined, error };
    throw error;
  }
}

/** The inputs that are tensors; what is wrong with the others is told by the call. */
function tensorsThere(version: OperatorVersion, inputs: unknown): Inputs<Tensor> {
  const given: readonly unknown[] = Array.isArray(inputs) ? inputs : [];
  return version.inputs.map((_, position) => attempt(() => asTensor(given[position], {})).value);
}

/** The output, and the story of it. */
function tell(
  unsettled: Call,
  tensors: Inputs<Tensor>,
): Required<Pick<Explanation, "output" | "story">> {
  // Every engine gives the same bits; this one has no memory that has to be released.
  const executor = createJs();
  const prepared = prepare(unsettled, tensors);
  const { call, data, updates, planInputs, shape } = prepared;
  return callNow(executor, call.fields, (session) => {
    const rules = { ...rulesOf(call, {}, session.readIndices), merge: false };
    const plan = call.operator.plan(planInputs, call, rules);
    if (updates === undefined) {
      const output = execute(session, gatherExecution(executor, plan, data, shape, undefined));
      return { output, story: gatherStory(prepared, plan, output) };
    }
    const { settings } = call;
    const filled = scatterExecution(executor, plan, data, updates, settings, undefined);
    const output = execute(session, filled);
    return { output, story: scatterStory(executor, prepared, plan, updates, output) };
  });
}

/** Data, indices and, where that is an input, the axis: what everything else follows from; null where one is missing. */
function knownInputs(
  { operator, version }: Call,
  tensors: Inputs<Tensor>,
): { readonly data: Tensor; readonly indices: Tensor } | null {
  const {
    data,
    indices = data && operator.defaultIndices?.(data.shape),
    axis,
  } = byRole(version, tensors);
  const isAxisMissing = axis === undefined && version.inputs.some((one) => roleOf(one) === "axis");
  return data === undefined || indices === undefined || isAxisMissing ? null : { data, indices };
}

/** @throws TensorError where nothing follows from the shapes of data and indices */
function derivedShapes(call: Call, tensors: Inputs<Tensor>): DerivedShape[] {
  const { operator, version } = call;
  const known = knownInputs(call, tensors);
  const settled = withAxis(call, byRole(call.version, tensors));
  // Data types have not been checked.
  if (known === null || !Number.isSafeInteger(settled.settings.axis)) return [];
  const { updates } = byRole(version, tensors);
  const shapes = {
    data: known.data.shape,
    indices: known.indices.shape,
    updates: updates?.shape ?? null,
  };
  return operator.derive(shapes, settled).map(({ of, terms, orOneElement }) => {
    const position = version.inputs.findIndex((schema) => roleOf(schema) === of);
    const name = (of === "output" ? version.outputs[0] : version.inputs[position]).name;
    // Of tensors every dimension is known.
    const expected = joinTerms(terms) as number[];
    const got = tensors[position]?.shape ?? null;
    const isOne = orOneElement === true && expected.length === 0;
    const fits = got === null || sameShape(got, expected) || (isOne && product(got) === 1);
    const verb = of === "output" ? "is" : "must be";
    const found = got === null ? "" : `, got ${printShape(got)}`;
    const sentence = `${name} ${verb} ${printTerms(terms)}${isOne ? ", or one element" : ""}${found}`;
    return { of: name, terms, expected, got, fits, sentence };
  });
}

const MOST_BAD = 1000;

/** All bad indices of a call that fails, where data and indices fit, whatever the updates are. */
function badIndicesOf(
  unsettled: Call,
  tensors: Inputs<Tensor>,
  { code }: TensorError,
): Pick<Explanation, "badIndices" | "badCount"> {
  const badIndices: BadIndex[] = [];
  let badCount = 0;
  const onBad = (errorOf: () => TensorError): void => {
    badCount++;
    if (badCount > MOST_BAD) return;
    const { input = "", at = [], axis = 0, got = 0, expected = [], message: sentence } = errorOf();
    badIndices.push({ input, at, axis, got, expected, sentence });
  };
  // Updates that do not fit say nothing of indices.
  const fitting =
    code === "index-out-of-range"
      ? tensors
      : tensors.map((tensor, position) =>
          roleOf(unsettled.version.inputs[position]) === "updates" ? undefined : tensor,
        );
  attempt(() => {
    if (knownInputs(unsettled, tensors) === null) return;
    const { call, planInputs } = prepare(unsettled, fitting);
    const rules = { ...rulesOf(call, {}, readIndices), onBad };
    call.operator.plan(planInputs, call, rules);
  });
  return { badIndices, badCount };
}
