/** The operators Split, Slice, Pad and TopK, which select or extend parts of a tensor. */

import { printCount } from "../../../core/foreign.ts";
import { malformed } from "../../../core/errors.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import { quote } from "../../model/graph.ts";
import type { ModelNode } from "../../model/model.ts";
import { refusal } from "../meaning.ts";
import { known, listToAttribute, listToInput } from "./axes.ts";
import type { Part } from "./change.ts";
import {
  exactIntOf,
  fromFront,
  inputOf,
  int,
  intOf,
  ints,
  intsOf,
  numberOf,
  withAttribute,
  withInputs,
  withoutAttributes,
} from "./node-edits.ts";
import type { Step } from "./step.ts";

/**
 * Split's attribute `num_outputs`. Without explicit sizes, Split requires this attribute, and the last output may be
 * smaller than the others. Some outputs after the last full one may then be empty, which the specification does not
 * define.
 */
export const splitCount: Part = {
  up(node) {
    if (inputOf(node, 1) !== "") return node;
    return withAttribute(node, "num_outputs", int(node.outputs.length));
  },
  down(node, step) {
    const count = intOf(node, "num_outputs", null);
    if (count === null) return node;
    const { length } = node.outputs;
    if (count !== length)
      throw malformed(
        `its num_outputs must be ${length}, the number of its outputs, got ${count}`,
        {
          key: "num_outputs",
          got: count,
          expected: length,
        },
      );
    const plain = withoutAttributes(node, "num_outputs");
    const axis = intOf(node, "axis", 0);
    const size = step.shapeOf(inputOf(node, 0))?.at(axis);
    if (typeof size !== "number") {
      throw refusal(`${step.title} needs parts of equal size, and the size of the axis is unknown`);
    }
    if (size % count === 0) return plain;
    const most = Math.ceil(size / count);
    const last = size - (count - 1) * most;
    if (last < 0)
      throw refusal(
        `${step.title} needs explicit sizes, and a size of ${size} cannot be split into ${printCount(count, "part")}`,
      );
    const sizes = Array.from({ length: count }, (_, at) => (at === count - 1 ? last : most));
    return withInputs(plain, { 1: step.list(node, "split", sizes) });
  },
};

/** Slice's bounds, which became inputs when steps were added. */
export const sliceInputs: Part = {
  up: (node, step) =>
    ["starts", "ends", "axes"].reduce(
      (one, name, at) => listToInput(one, step, name, at + 1),
      node,
    ),
  down(node, step) {
    const steps = inputOf(node, 4);
    if (steps !== "" && known(step, steps, "steps").some((one) => one !== 1n))
      throw refusal(`${step.title} has no steps`);
    return ["starts", "ends", "axes"].reduce(
      (one, name, at) => listToAttribute(one, step, name, at + 1),
      withInputs(node, { 4: "" }),
    );
  },
};

/** Slice's axes, which may be negative in the newer version. */
export const sliceAxesFromBack: Part = {
  down(node, step) {
    const axes = inputOf(node, 3);
    const values = axes === "" ? [] : step.integersOf(axes);
    if (values?.every((axis) => axis >= 0n) === true) return node;
    const rank = step.rankOf(inputOf(node, 0));
    if (values === null || rank === null) {
      const what =
        values === null ? "the axes are not constant" : "the rank of the input is unknown";
      throw refusal(`${step.title} needs nonnegative axes, and ${what}`);
    }
    const counted = values.map((axis) => (axis < 0n ? axis + BigInt(rank) : axis));
    // The index inputs of a Slice must have the same data type.
    const list =
      step.dtypeOf(axes) === "int32"
        ? step.constant(node, "axes", tensor("int32", [counted.length], counted.map(Number)))
        : step.list(node, "axes", counted);
    return withInputs(node, { 3: list });
  },
};

/** Pad's attribute `paddings`, which was renamed to `pads`. */
export const padWord: Part = {
  up: (node) => renamed(node, "paddings", "pads"),
  down: (node) => renamed(node, "pads", "paddings"),
};

function renamed(node: ModelNode, from: string, to: string): ModelNode {
  const values = intsOf(node, from);
  return values === undefined
    ? node
    : withAttribute(withoutAttributes(node, from), to, ints(values));
}

/** Pad's sizes and fill value, which became inputs. */
export const padInputs: Part = {
  up(node, step) {
    const plain = withoutAttributes(listToInput(node, step, "pads", 1), "value");
    const value = numberOf(node, "value", 0);
    if (Object.is(value, 0)) return plain;
    return withInputs(plain, { 2: step.constant(node, "value", likeData(node, step, value)) });
  },
  down(node, step) {
    const plain = withInputs(listToAttribute(node, step, "pads", 1), { 2: "" });
    const name = inputOf(node, 2);
    return name === "" ? plain : withAttribute(plain, "value", floatOf(step, name, "value"));
  },
};

/** Creates a scalar with the first input's data type. */
export function likeData(node: ModelNode, step: Step, value: number): Tensor {
  const dtype = step.dtypeOf(inputOf(node, 0));
  if (dtype === null) {
    const sentence = `${step.title} has an input of the data type of ${quote(inputOf(node, 0))}`;
    throw refusal(`${sentence}, which is not known`);
  }
  return tensor(dtype, [], value);
}

/** Returns a constant as a float attribute, which stores 32 bits. */
export function floatOf(
  step: Step,
  name: string,
  what: string,
): { readonly type: "float"; readonly value: number } {
  const value = step.scalarOf(name);
  const number = Number(value);
  if (value !== null && Object.is(Math.fround(number), number))
    return { type: "float", value: number };
  const but = value === null ? "the input is not a constant" : `${number} is not a float32`;
  throw refusal(`${step.title} needs the ${what} as an attribute, but ${but}`);
}

/** Pad's axes, which are all axes by default. */
export const padAxes: Part = {
  down(node, step) {
    const name = inputOf(node, 3);
    if (name === "") return node;
    const axes = step.integersOf(name);
    const pads = step.integersOf(inputOf(node, 1));
    const rank = step.rankOf(inputOf(node, 0));
    if (axes === null || pads === null || rank === null) {
      const what =
        rank === null
          ? "the rank of the input is unknown"
          : "the axes or the pads are not constant";
      throw refusal(
        `${step.title} needs pads for all axes, but this node has pads for only some axes, and ${what}`,
      );
    }
    if (pads.length !== 2 * axes.length) {
      throw malformed(
        `the number of pads must be ${2 * axes.length}, two for each axis, got ${pads.length}`,
        {
          key: "pads",
          got: pads.length,
          expected: 2 * axes.length,
        },
      );
    }
    const all = Array.from({ length: 2 * rank }, () => 0n);
    for (const [at, axis] of axes.entries()) {
      const counted = fromFront(Number(axis), rank);
      all[counted] = pads[at];
      all[rank + counted] = pads[axes.length + at];
    }
    return withInputs(node, { 1: step.list(node, "pads", all), 3: "" });
  },
};

/** TopK's attribute `k`, which became an input. */
export const topKInput: Part = {
  up(node, step) {
    const k = exactIntOf(node, "k", null);
    if (k === null) return node;
    return withInputs(withoutAttributes(node, "k"), { 1: step.list(node, "k", [k]) });
  },
  down(node, step) {
    const list = step.integersOf(inputOf(node, 1));
    if (list === null)
      throw refusal(`${step.title} needs k as an attribute, but the input k is not a constant`);
    const [k] = list;
    if (list.length !== 1)
      throw malformed(`k is a list of ${list.length}`, {
        key: "k",
        got: list.length,
        expected: 1,
      });
    return withAttribute(withInputs(node, { 1: "" }), "k", int(k));
  },
};
