/**
 * Explains which update wrote each cell, and the value of the cell before each update. The explanation performs the
 * same steps as `run` and keeps their intermediate results. This file contains no operator-specific code. Shapes,
 * layouts and Plans come from the functions of each operator.
 */

import { Executor } from "../../core/engines/executor.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import { callNow, gatherNow, scatterNow } from "../../core/call/steps.ts";
import { planIndices, type Inputs } from "../../core/operators/operator.ts";
import { rolesOf, signatureOf } from "../../core/operators/signature.ts";
import { lookUp } from "../../core/operators/registry.ts";
import { joinTerms, printTerms } from "../../core/operators/shapes.ts";
import { callOf, fieldsOf, nodeFrom, type Call, type NodeSpec } from "../../core/call/call.ts";
import { prepare, rulesOf, withAxis } from "../../core/call/check.ts";
import { checkInputCount, readInputs } from "../../core/call/inputs.ts";
import { printShape, product, sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import type { BadIndex, DerivedShape, Explanation } from "./explanation.ts";
import { gatherStory, scatterStory } from "./stories.ts";

/**
 * Explains how `run` computes a node's output. The explanation contains the derived shapes, all updates per cell with
 * the values before and after, the sources of gathered elements, and every out-of-range index.
 *
 * If `run` would throw an error, the explanation ends at the failure, and `error` contains the error. Stories are
 * computed from the inputs on demand, so do not change the inputs while using a story. Explaining a million updates
 * takes 0.1 s and 17 MB.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs; `undefined` for an omitted optional input
 * @throws TensorError `unknown-operator` and `attribute` for a node that `run` does not support
 *
 * @example
 * ```ts
 * const inputs = [tensor("float32", [3], [1, 2, 3]), tensor("int64", [2, 1], [1, 1]), tensor("float32", [2], [10, 20])];
 * const { output } = explain({ op: "ScatterND", opset: 18, attributes: { reduction: "add" } }, inputs);
 * console.log(output?.toArray()); // [1, 32, 3]
 * ```
 */
export function explain(node: NodeSpec, inputs: readonly unknown[]): Explanation {
  const found: { -readonly [Key in keyof Explanation]: Explanation[Key] } = {
    ...{ version: null, inputs: [], shapes: [], badIndices: [], badCount: 0 },
    ...{ error: null, output: null, story: null },
  };
  const { error } = attempted(() => {
    const spec = nodeFrom(node);
    const { version } = lookUp(spec);
    found.version = version;
    // The input list, and the fields of each input, are read only once.
    const fields = fieldsOf(version);
    const list = attempted(() => readInputs(version, inputs, fields));
    const tried = version.inputs.map(({ name }, position) =>
      attempted(() => {
        const value = list.value?.given[position];
        return value === undefined ? undefined : asTensor(value, fields, name);
      }),
    );
    const tensors = tried.map(({ value }) => value);
    found.inputs = signatureOf(version).inputs.map(({ name, role }, position) => {
      return { name, role, tensor: tensors[position] ?? null };
    });
    const call = callOf(spec);
    found.shapes = attempted(() => derivedShapes(call, tensors)).value ?? [];
    const result = attempted(() => {
      checkInputCount(call, valueOf(list));
      Object.assign(found, storyOf(call, tried.map(valueOf)));
    });
    if (result.error !== null) Object.assign(found, badIndicesOf(call, tensors, result.error));
    valueOf(result);
  });
  return { ...found, error };
}

type Attempted<T> =
  | { readonly value: T; readonly error: null }
  | { readonly value: undefined; readonly error: TensorError };

/** Throws the error of the action. */
function valueOf<T>(attempt: Attempted<T>): T {
  if (attempt.error !== null) throw attempt.error;
  return attempt.value;
}

/** Calls an action and returns its result, or the TensorError that it throws. */
function attempted<T>(action: () => T): Attempted<T> {
  try {
    return { value: action(), error: null };
  } catch (error) {
    if (isTensorError(error)) return { value: undefined, error };
    throw error;
  }
}

/** Runs the call, and records its story. */
function storyOf(
  unsettled: Call,
  tensors: Inputs<Tensor>,
): Required<Pick<Explanation, "output" | "story">> {
  // Any engine can be used, because all engines produce the same bits. The JavaScript engine allocates no memory that
  // must be released, so stories remain valid after the call.
  const executor = new Executor();
  const prepared = prepare(unsettled, tensors);
  const { call, data, updates, planInputs, shape, size } = prepared;
  // Stories list individual updates, so rows must not be merged. Offsets are used after the call, so they must not be
  // in a session's memory.
  const rules = { ...rulesOf(call), merge: false };
  const plan = planIndices(planInputs, call, rules, readIndices);
  const output = callNow(executor, call.fields, (session) =>
    updates === undefined
      ? gatherNow(session, executor, plan, data, shape, size, undefined)
      : scatterNow(session, executor, plan, data, updates, call.settings, undefined),
  );
  if (updates === undefined) return { output, story: gatherStory(prepared, plan, output) };
  return { output, story: scatterStory(prepared, plan, updates, output) };
}

/** Returns true if no input is missing, apart from updates. */
const isComplete = ({ signature }: Call, tensors: Inputs<Tensor>): boolean =>
  signature.inputs.every(
    ({ role, isOptional }, position) =>
      isOptional || role === "updates" || tensors[position] !== undefined,
  );

/** Throws a TensorError if the shapes of data and indices do not determine the other shapes. */
function derivedShapes(call: Call, tensors: Inputs<Tensor>): DerivedShape[] {
  const { operator, version, signature } = call;
  const roles = rolesOf(signature, tensors);
  const settled = withAxis(call, roles);
  // An axis input has not been validated yet, so it may have any data type and contain a fraction.
  if (!isComplete(call, tensors) || !Number.isSafeInteger(settled.settings.axis)) return [];
  const data = (roles.data as Tensor).shape;
  const indices = roles.indices ?? operator.defaultIndices?.(data);
  const shapes = {
    data,
    indices: (indices as Tensor).shape,
    // Only a sequence has a length of its own; other updates may be wrong, and must not affect what is derived.
    updates: version.indexForm === "sequences" ? (roles.updates?.shape ?? null) : null,
  };
  return operator.derive(shapes, settled).map(({ of, terms, orOneElement }) => {
    const position = of === "output" ? -1 : signature.positions[of];
    const { name } = of === "output" ? version.outputs[0] : version.inputs[position];
    // All dimensions are known, because every tensor has a known shape.
    const expected = joinTerms(terms) as number[];
    const got = tensors[position]?.shape ?? null;
    const isOne = orOneElement === true && expected.length === 0;
    const fits = got === null || sameShape(got, expected) || (isOne && product(got) === 1);
    const orOne = isOne ? ", or one element" : "";
    const found = got === null ? "" : `, got ${printShape(got)}`;
    // For a correct shape, the sentence says "is", because "must be" would read like an error.
    const sentence =
      of === "output" || (got !== null && sameShape(got, expected))
        ? `${name} is ${printTerms(terms)}`
        : `${name} must be ${printTerms(terms)}${orOne}${found}`;
    return { of: name, terms, expected, got, fits, sentence };
  });
}

const MAX_BAD = 1000;

/**
 * Returns the out-of-range indices of a failed call, provided that data and indices are valid. Updates may be invalid.
 */
function badIndicesOf(
  unsettled: Call,
  tensors: Inputs<Tensor>,
  { code }: TensorError,
): Pick<Explanation, "badIndices" | "badCount"> {
  const badIndices: BadIndex[] = [];
  let badCount = 0;
  const onBad = (errorOf: () => TensorError): void => {
    badCount++;
    if (badCount > MAX_BAD) return;
    const error = errorOf();
    if (!isTensorError(error, "index-out-of-range")) throw error;
    const { input = "", at = [], axis, got, expected, message: sentence } = error;
    badIndices.push({ input, at, axis, got, expected, sentence });
  };
  // Updates are omitted and their shape is not checked, because updates may also be invalid if the indices are.
  const { updates } = unsettled.signature.positions;
  const fitting =
    code === "index-out-of-range" || updates < 0 ? tensors : tensors.with(updates, undefined);
  attempted(() => {
    if (!isComplete(unsettled, tensors)) return;
    const { call, planInputs } = prepare(unsettled, fitting);
    planIndices(planInputs, call, { ...rulesOf(call), onBad }, readIndices);
  });
  return { badIndices, badCount };
}
