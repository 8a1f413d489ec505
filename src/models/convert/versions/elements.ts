/** The operators Clip, Dropout, Resize and Cast, whose settings became inputs. */

import type { ModelNode } from "../../model/model.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { tensor } from "../../../core/tensor/tensor.ts";
import { malformed } from "../../../core/errors.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";
import {
  attributeValue,
  inputOf,
  int,
  intOf,
  numberOf,
  withAttribute,
  withInputs,
  withoutAttributes,
} from "./node-edits.ts";
import { floatOf, likeData } from "./parts.ts";
import { INTEGERS } from "./history.ts";
import type { Step } from "./step.ts";

/** The largest float32, which bounds Clip-6 by default for every data type. */
const LARGEST_FLOAT32 = 3.4028234663852886e38;
const LARGEST_FLOAT16 = 65504;

const BOUNDS = [
  ["min", -1],
  ["max", 1],
] as const;

/**
 * Clip's bounds, which became inputs. By default they are the lowest and the highest finite number of the data type.
 */
export const clipInputs: Part = {
  up(node, step) {
    const isSame = step.dtypeOf(inputOf(node, 0)) === "float32";
    return BOUNDS.reduce((one, [name, sign], at) => {
      const value = numberOf(node, name, isSame ? null : sign * LARGEST_FLOAT32);
      if (value === null) return one;
      const bound = step.constant(node, name, likeData(node, step, value));
      return withInputs(withoutAttributes(one, name), { [at + 1]: bound });
    }, node);
  },
  down(node, step) {
    const [low, high] = [1, 2].map((at) => Number(step.scalarOf(inputOf(node, at)) ?? Number.NaN));
    if (low > high) throw refusal(`${step.title} needs a min that does not exceed max`);
    const dtype = step.dtypeOf(inputOf(node, 0));
    return BOUNDS.reduce((one, [name, sign], at) => {
      const input = inputOf(node, at + 1);
      if (input === "") {
        if (dtype === "float32") return one;
        if (dtype !== "float16")
          throw refusal(`${step.title} has no ${name} equal to the largest ${dtype ?? "value"}`);
        return withAttribute(one, name, { type: "float", value: sign * LARGEST_FLOAT16 });
      }
      return withAttribute(withInputs(one, { [at + 1]: "" }), name, floatOf(step, input, name));
    }, node);
  },
};

/** Dropout's mask, which became boolean. A boolean mask cannot be cast exactly to the older data type. */
export const dropoutMask: Part = {
  up: (node, step) => withoutMask(node, step),
  down: (node, step) => withoutMask(node, step),
};

function withoutMask(node: ModelNode, { title }: Step): ModelNode {
  if ((node.outputs[1] ?? "") === "") return node;
  throw refusal(`the mask of ${title} has a different data type`);
}

/**
 * Dropout's ratio, which became an input. Another new input enables training, and by default no elements are dropped.
 */
export const dropoutInputs: Part = {
  up(node, step) {
    const ratio = numberOf(node, "ratio", null);
    if (ratio === null) return node;
    const value = step.constant(node, "ratio", tensor("float32", [], ratio));
    return withInputs(withoutAttributes(node, "ratio"), { 1: value });
  },
  down(node, step) {
    const training = inputOf(node, 2);
    if (training !== "" && Number(step.scalarOf(training) ?? 1) !== 0)
      throw refusal(`${step.title} drops no elements, but this node may drop elements`);
    const plain = withoutAttributes(withInputs(node, { 1: "", 2: "" }), "seed");
    // The attribute `ratio` has no effect unless elements are dropped.
    const ratio = step.scalarOf(inputOf(node, 1));
    if (ratio === null) return plain;
    return withAttribute(plain, "ratio", { type: "float", value: Math.fround(Number(ratio)) });
  },
};

/** Resize's region and scales, which became optional. Earlier versions used empty tensors instead. */
export const resizeInputs: Part = {
  down(node, step) {
    const empty = (position: number): string =>
      inputOf(node, position) ||
      step.constant(node, position === 1 ? "roi" : "scales", tensor("float32", [0], []));
    return withInputs(node, { 1: empty(1), 2: empty(2) });
  },
};

/** The QuantizeLinear version that allows scale and input to have different data types. */
const SCALES_APART = 23;

/** The quantization axis, which has no effect if the scale is a scalar. */
export const quantizedAxis: Part = {
  down(node, step) {
    if (step.shapeOf(inputOf(node, 1))?.length !== 0)
      throw refusal(`${step.title} accepts only one scale, and this node may have several`);
    return withoutAttributes(node, "axis");
  },
};

/**
 * The quantization scale, which must have the input's data type. Earlier versions used float32 for integers, and
 * version 23 allows float32 again.
 */
export const scaleOfInput: Part = {
  up(node, step) {
    const isInteger = step.dtypeOf(inputOf(node, 0)) === "int32";
    if (isInteger && step.target < SCALES_APART)
      throw refusal(`${step.title} needs a scale of its input's data type, int32`);
    return node;
  },
};

/** The floored remainder of floats. Older versions of Mod compute only the truncated remainder (`fmod` 1). */
export const flooredFloats: Part = {
  down(node, step) {
    const dtype = step.dtypeOf(inputOf(node, 0)) ?? step.dtypeOf(inputOf(node, 1)) ?? "";
    if (intOf(node, "fmod", 0) !== 0 || INTEGERS.includes(dtype)) return node;
    throw refusal(`${step.title} accepts only integers with fmod 0`);
  },
};

/** Bit shifts by the full width or more, which only the newer version defines. */
export const shiftsWithin: Part = {
  down(node, step) {
    const dtype = step.dtypeOf(inputOf(node, 0));
    const shifts = step.constantOf(inputOf(node, 1))?.data as Iterable<number | bigint> | undefined;
    const bits = dtype === null ? 0 : 8 * DTYPES[dtype].bytes;
    if (shifts !== undefined && Array.from(shifts).every((shift) => shift < bits)) return node;
    throw refusal(`${step.title} does not define shifts by all bits, which this node may need`);
  },
};

/** ONNX's data type names, which older versions of Cast used instead of numbers. */
const WORDS: Readonly<Record<string, number>> = {
  FLOAT: 1,
  UINT8: 2,
  INT8: 3,
  UINT16: 4,
  INT16: 5,
  INT32: 6,
  INT64: 7,
  STRING: 8,
  BOOL: 9,
  FLOAT16: 10,
  DOUBLE: 11,
  UINT32: 12,
  UINT64: 13,
};

export const castWord: Part = {
  up(node, { title }) {
    const word = attributeValue(node, "to");
    if (typeof word === "string" && Object.hasOwn(WORDS, word))
      return withAttribute(node, "to", int(WORDS[word]));
    if (word === undefined) throw malformed("the attribute to must be given", { key: "to" });
    throw refusal(`${title} has no data type named ${word}`);
  },
  down(node, { title }) {
    const number = intOf(node, "to", 0);
    const word = Object.keys(WORDS).find((one) => WORDS[one] === number);
    if (word !== undefined) return withAttribute(node, "to", { type: "string", value: word });
    throw refusal(`${title} has no name for data type ${number}`);
  },
};
