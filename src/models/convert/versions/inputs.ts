/** Changes of attributes and inputs: attributes that became inputs, axes that may be negative, and parts of tensors. */

import { malformed } from "../../../core/errors.ts";
import { printCount } from "../../../core/foreign.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import { quote } from "../../model/graph.ts";
import type { Attribute } from "../../model/model.ts";
import { down, type Facts } from "./facts.ts";
import { int64List, type Step } from "./step.ts";

/** Reductions that return their input unchanged if no axis is reduced. */
const SAME_WITHOUT_AXES = /^Reduce(Max|Mean|Min|Prod|Sum)$/u;

/** The largest float32, which bounds Clip-6 by default for every data type. */
const LARGEST_FLOAT32 = 3.4028234663852886e38;
const LARGEST_FLOAT16 = 65504;

/** Clip's bounds: the attribute's name, the sign of its default, and the position of the input. */
const BOUNDS = [
  ["min", -1, 1],
  ["max", 1, 2],
] as const;

function listToInput(step: Step, name: string, at: number): void {
  const values = step.ints(name);
  if (values !== undefined) step.toInput(name, at, int64List(values));
}

function rename(step: Step, from: string, to: string): void {
  const values = step.ints(from);
  if (values === undefined) return;
  step.drop(from);
  step.set(to, values);
}

/** Creates a scalar with the first input's data type. */
function likeData(step: Step, value: number): Tensor {
  const dtype = step.dtype(0);
  if (dtype !== null) return tensor(dtype, [], value);
  const what = `an input of the data type of ${quote(step.input(0))}`;
  throw step.refusal(`has ${what}, which is not known`);
}

/** Returns a constant as a float attribute, which stores 32 bits. */
function floatOf(step: Step, at: number, what: string): Attribute {
  const value = step.scalar(at);
  const number = Number(value);
  if (value !== null && Object.is(Math.fround(number), number))
    return { type: "float", value: number };
  const but = value === null ? "the input is not a constant" : `${number} is not a float32`;
  throw step.refusal(`needs the ${what} as an attribute, but ${but}`);
}

/**
 * Returns a nonnegative axis number for a possibly negative axis. Throws `malformed-file` for an axis outside the rank.
 */
export function fromFront(axis: number, rank: number): number {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  const expected = [-rank, rank - 1];
  const sentence = `the axis ${axis} is out of range for rank ${rank}`;
  throw malformed(sentence, { key: "axis", got: axis, expected });
}

export const INPUTS: Facts = {
  /** A list of integers that became an input instead of an attribute. */
  listInput: {
    up: (step, name, at) => listToInput(step, name, Number(at)),
    down(step, name, given) {
      const at = Number(given);
      if (step.input(at) !== "") step.toAttribute(name, at, step.known(at, name));
    },
  },

  /** An input that must be a constant, because the older version has an attribute instead. */
  constantInput: down((step, name, at) => void step.known(Number(at), name)),

  /** A list input that the older version lacks. The input has no effect if all of its values equal `only`. */
  onlyValue: down((step, at, name, only) => {
    const values = step.input(Number(at)) === "" ? [] : step.known(Number(at), name);
    step.require(
      values.every((one) => one === BigInt(only)),
      `has no ${name}`,
    );
    step.setInputs({ [at]: "" });
  }),

  /** The default axis of a DFT, which changed from the first axis after the batch to the last signal axis. */
  signalAxis: {
    up: (step) => step.toInput("axis", 2, tensor("int64", [], BigInt(step.int("axis", 1)))),
    down(step) {
      const [axis] = step.input(2) === "" ? [-2n] : step.known(2, "axis");
      step.toAttribute("axis", 2, axis);
    },
  },

  /** The axes of a reduction. Before `noop_with_empty_axes`, an empty list always meant all axes. */
  reducedAxes: {
    up: (step) => listToInput(step, "axes", 1),
    down(step) {
      const reducesNone = step.int("noop_with_empty_axes", 0) !== 0;
      step.drop("noop_with_empty_axes");
      const axes = step.input(1) === "" ? [] : step.known(1, "axes");
      step.setInputs({ 1: "" });
      if (axes.length > 0) return step.set("axes", axes);
      if (!reducesNone) return;
      step.require(SAME_WITHOUT_AXES.test(step.node.op), "without axes reduces all axes");
      step.node = { ...step.node, op: "Identity", attributes: {} };
    },
  },

  /**
   * An attribute whose axes may be negative in the newer version. They count from the first input's rank, or with the
   * setting `added` from the result's rank, which contains the axes.
   */
  fromBack: down((step, name, added) => {
    const value = step.value(name);
    if (value === undefined) return;
    const isList = typeof value === "object";
    const axes = isList ? value.map(Number) : [Number(value)];
    if (axes.every((axis) => axis >= 0)) return;
    const rank = step.rank(0);
    if (rank === null)
      throw step.refusal(`needs nonnegative ${name}, and the rank of its input is unknown`);
    const all = rank + (added === undefined ? 0 : axes.length);
    const counted = axes.map((axis) => (axis < 0 ? axis + all : axis));
    step.set(name, isList ? counted : counted[0]);
  }),

  /** Slice's axes, which may be negative in the newer version. */
  sliceAxesFromBack: down((step) => {
    const values = step.input(3) === "" ? [] : step.integers(3);
    if (values?.every((axis) => axis >= 0n) === true) return;
    const rank = step.rank(0);
    if (values === null || rank === null) {
      const what =
        values === null ? "the axes are not constant" : "the rank of the input is unknown";
      throw step.refusal(`needs nonnegative axes, and ${what}`);
    }
    const counted = values.map((axis) => (axis < 0n ? axis + BigInt(rank) : axis));
    // The index inputs of a Slice must have the same data type.
    const list =
      step.dtype(3) === "int32"
        ? step.addConstant("axes", tensor("int32", [counted.length], counted.map(Number)))
        : step.list("axes", counted);
    step.setInputs({ 3: list });
  }),

  /** Pad's attribute `paddings`, which was renamed to `pads`. */
  padWord: {
    up: (step) => rename(step, "paddings", "pads"),
    down: (step) => rename(step, "pads", "paddings"),
  },

  /** Pad's fill value, which became an input. */
  padValue: {
    up(step) {
      const value = step.number("value", 0);
      if (Object.is(value, 0)) step.drop("value");
      else step.toInput("value", 2, likeData(step, value));
    },
    down(step) {
      if (step.input(2) !== "") step.set("value", floatOf(step, 2, "value"));
      step.setInputs({ 2: "" });
    },
  },

  /** Pad's axes, which are all axes by default. */
  padAxes: down((step) => {
    if (step.input(3) === "") return;
    const [axes, pads, rank] = [step.integers(3), step.integers(1), step.rank(0)];
    if (axes === null || pads === null || rank === null) {
      const what =
        rank === null
          ? "the rank of the input is unknown"
          : "the axes or the pads are not constant";
      throw step.refusal(
        `needs pads for all axes, but this node has pads for only some axes, and ${what}`,
      );
    }
    const [got, expected] = [pads.length, 2 * axes.length];
    if (got !== expected) {
      const sentence = `the number of pads must be ${expected}, two for each axis, got ${got}`;
      throw malformed(sentence, { key: "pads", got, expected });
    }
    const all = Array.from({ length: 2 * rank }, () => 0n);
    for (const [at, axis] of axes.entries()) {
      const counted = fromFront(Number(axis), rank);
      all[counted] = pads[at];
      all[rank + counted] = pads[axes.length + at];
    }
    step.setInputs({ 1: step.list("pads", all), 3: "" });
  }),

  /** TopK's attribute `k`, which became an input. */
  topKInput: {
    up(step) {
      const k = step.exactInt("k", null);
      if (k !== null) step.toInput("k", 1, int64List([k]));
    },
    down(step) {
      const list = step.integers(1);
      if (list === null)
        throw step.refusal("needs k as an attribute, but the input k is not a constant");
      const { length: got } = list;
      if (got !== 1) throw malformed(`k is a list of ${got}`, { key: "k", got, expected: 1 });
      step.toAttribute("k", 1, list[0]);
    },
  },

  /**
   * Split's attribute `num_outputs`. Without explicit sizes, Split requires this attribute, and the last output may be
   * smaller than the others. Some outputs after the last full one may then be empty, which the specification does not
   * define.
   */
  splitCount: {
    up(step) {
      if (step.input(1) === "") step.set("num_outputs", step.node.outputs.length);
    },
    down(step) {
      const count = step.int("num_outputs", null);
      if (count === null) return;
      const { length } = step.node.outputs;
      if (count !== length) {
        const sentence = `its num_outputs must be ${length}, the number of its outputs, got ${count}`;
        throw malformed(sentence, { key: "num_outputs", got: count, expected: length });
      }
      const size = step.shape(0)?.at(step.int("axis", 0));
      if (typeof size !== "number")
        throw step.refusal("needs parts of equal size, and the size of the axis is unknown");
      step.drop("num_outputs");
      if (size % count === 0) return;
      const most = Math.ceil(size / count);
      const last = size - (count - 1) * most;
      const parts = printCount(count, "part");
      step.require(
        last >= 0,
        `needs explicit sizes, and a size of ${size} cannot be split into ${parts}`,
      );
      const sizes = Array.from({ length: count }, (_, at) => (at === count - 1 ? last : most));
      step.setInputs({ 1: step.list("split", sizes) });
    },
  },

  /**
   * Clip's bounds, which became inputs. By default they are the lowest and the highest finite number of the data type.
   */
  clipInputs: {
    up(step) {
      const isSame = step.dtype(0) === "float32";
      for (const [name, sign, at] of BOUNDS) {
        const value = step.number(name, isSame ? null : sign * LARGEST_FLOAT32);
        if (value !== null) step.toInput(name, at, likeData(step, value));
      }
    },
    down(step) {
      const [low, high] = [1, 2].map((at) => Number(step.scalar(at) ?? Number.NaN));
      step.require(!(low > high), "needs a min that does not exceed max");
      const dtype = step.dtype(0);
      for (const [name, sign, at] of BOUNDS) {
        if (step.input(at) !== "") {
          step.toAttribute(name, at, floatOf(step, at, name));
        } else if (dtype === "float16") {
          step.set(name, { type: "float", value: sign * LARGEST_FLOAT16 });
        } else
          step.require(
            dtype === "float32",
            `has no ${name} equal to the largest ${dtype ?? "value"}`,
          );
      }
    },
  },

  /**
   * Dropout's ratio, which became an input. Another new input enables training, and by default no elements are dropped.
   */
  dropoutInputs: {
    up(step) {
      const ratio = step.number("ratio", null);
      if (ratio !== null) step.toInput("ratio", 1, tensor("float32", [], ratio));
    },
    down(step) {
      const drops = step.input(2) !== "" && Number(step.scalar(2) ?? 1) !== 0;
      step.require(!drops, "drops no elements, but this node may drop elements");
      // The attribute `ratio` has no effect unless elements are dropped.
      const ratio = step.scalar(1);
      step.setInputs({ 1: "", 2: "" });
      step.drop("seed");
      if (ratio !== null) step.set("ratio", { type: "float", value: Math.fround(Number(ratio)) });
    },
  },

  /** Resize's region and scales, which became optional. Earlier versions used empty tensors instead. */
  resizeInputs: down((step) => {
    const empty = (at: number, name: string): string =>
      step.input(at) || step.addConstant(name, tensor("float32", [0], []));
    step.setInputs({ 1: empty(1, "roi"), 2: empty(2, "scales") });
  }),
};
