/**
 * The attribute `axes`, which became an input: in version 13 for Squeeze, Unsqueeze and ReduceSum, and in version 18
 * for the other reductions.
 */

import type { ModelNode } from "../../model/model.ts";
import { tensor } from "../../../core/tensor/tensor.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";
import {
  attributeValue,
  inputOf,
  int,
  intOf,
  ints,
  intsOf,
  withAttribute,
  withInputs,
  withoutAttributes,
} from "./node-edits.ts";
import type { Step } from "./step.ts";

/** A list of integers that became an input instead of an attribute. */
export const listInput = (name: string, position: number): Part => ({
  up: (node, step) => listToInput(node, step, name, position),
  down: (node, step) => listToAttribute(node, step, name, position),
});

export function listToInput(
  node: ModelNode,
  step: Step,
  name: string,
  position: number,
): ModelNode {
  const values = intsOf(node, name);
  if (values === undefined) return node;
  return withInputs(withoutAttributes(node, name), { [position]: step.list(node, name, values) });
}

export function listToAttribute(
  node: ModelNode,
  step: Step,
  name: string,
  position: number,
): ModelNode {
  const input = inputOf(node, position);
  if (input === "") return node;
  return withAttribute(withInputs(node, { [position]: "" }), name, ints(known(step, input, name)));
}

/** The default axis of a DFT, which changed from the first axis after the batch to the last signal axis. */
export const signalAxis: Part = {
  up(node, step) {
    const axis = tensor("int64", [], BigInt(intOf(node, "axis", 1)));
    const input = step.constant(node, "axis", axis);
    return withInputs(withoutAttributes(node, "axis"), { 2: input });
  },
  down(node, step) {
    const input = inputOf(node, 2);
    const [axis] = input === "" ? [-2n] : known(step, input, "axis");
    return withAttribute(withInputs(node, { 2: "" }), "axis", int(axis));
  },
};

/** Throws `unsupported-model` unless the input is a constant. */
export function known(step: Step, input: string, name: string): readonly bigint[] {
  const values = step.integersOf(input);
  if (values !== null) return values;
  throw refusal(`${step.title} needs a constant ${name}, but the input ${name} is not a constant`);
}

/** Reductions that return their input unchanged if no axis is reduced. */
const SAME_WITHOUT_AXES = new Set([
  "ReduceMax",
  "ReduceMean",
  "ReduceMin",
  "ReduceProd",
  "ReduceSum",
]);

/** The axes of a reduction. Before `noop_with_empty_axes`, an empty list always meant all axes. */
export const reducedAxes: Part = {
  up: (node, step) => listToInput(node, step, "axes", 1),
  down(node, step) {
    const reducesNone = intOf(node, "noop_with_empty_axes", 0) !== 0;
    const plain = withoutAttributes(node, "noop_with_empty_axes");
    const axes = inputOf(node, 1) === "" ? [] : known(step, inputOf(node, 1), "axes");
    const bare = withInputs(plain, { 1: "" });
    if (axes.length > 0) return withAttribute(bare, "axes", ints(axes));
    if (!reducesNone) return bare;
    if (!SAME_WITHOUT_AXES.has(node.op))
      throw refusal(`${step.title} without axes reduces all axes`);
    return { ...bare, op: "Identity", attributes: {} };
  },
};

/**
 * An attribute whose axes may be negative in the newer version. They count from the first input's rank plus
 * `added(node)`.
 */
export const fromBack = (name: string, added: (axes: number) => number = () => 0): Part => ({
  down(node, step) {
    const value = attributeValue(node, name);
    if (value === undefined) return node;
    const isList = typeof value === "object";
    const axes = isList ? value.map(Number) : [Number(value)];
    if (axes.every((axis) => axis >= 0)) return node;
    const rank = step.rankOf(inputOf(node, 0));
    if (rank === null) {
      throw refusal(
        `${step.title} needs nonnegative ${name}, and the rank of its input is unknown`,
      );
    }
    const counted = axes.map((axis) => (axis < 0 ? axis + rank + added(axes.length) : axis));
    return withAttribute(node, name, isList ? ints(counted) : int(counted[0]));
  },
});
