/** Changes in the meaning of single operators. */

import { malformed } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import type { Dim } from "../../../core/tensor/shape.ts";
import { quote } from "../../model/graph.ts";
import { constantOf, SHORT_VALUES } from "../../model/inline.ts";
import { refusal } from "../meaning.ts";
import { both, down, INTEGERS, up, type Facts } from "./facts.ts";
import { fromFront } from "./inputs.ts";
import type { Step } from "./step.ts";

/** The default axis of Softmax, LogSoftmax and Hardmax before version 13, and since version 13. */
const ABSENT_BEFORE = 1;
const ABSENT_NOW = -1;

/**
 * The first opset in which Reshape can read a 0 as an empty axis. In earlier opsets, a 0 copies the input's dimension.
 */
const ALLOWS_ZERO = 14;

/** The QuantizeLinear version that allows scale and input to have different data types. */
const SCALES_APART = 23;

/** ONNX's data type names, which older versions of Cast used instead of numbers, beginning with number 1. */
const WORDS = "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64";
const wordList = (): readonly string[] => ["", ...WORDS.split(" ")];

function isLast(step: Step, axis: number): boolean {
  const rank = step.rank(0);
  return axis === -1 || axis + 1 === rank;
}

/** Returns true if a 0 in the target shape might not copy the number of matrix rows. */
function mayBeEmpty(step: Step, axis: number): boolean {
  const shape = step.shape(0);
  const isSize = (dim: Dim, at: number): boolean =>
    dim === 0 || typeof dim !== "number" ? at === 0 && axis > 0 : true;
  return shape === null || !shape.every(isSize);
}

function padsItself(step: Step): boolean {
  const word = step.value("auto_pad");
  return word === "SAME_UPPER" || word === "SAME_LOWER";
}

const listOf = (step: Step, name: string): readonly number[] | undefined =>
  step.ints(name)?.map(Number);

export const MEANINGS: Facts = {
  /**
   * The axes of Softmax, LogSoftmax and Hardmax. Before version 13, these operators reshaped the input to a matrix and
   * normalized each row. The axes before `axis` became rows, and the other axes became columns. Since version 13, these
   * operators normalize along one axis.
   */
  alongOneAxis: {
    up(step) {
      const axis = step.int("axis", ABSENT_BEFORE);
      if (isLast(step, axis)) return step.set("axis", -1);
      const { op, inputs } = step.node;
      const [input] = inputs;
      const matrix = step.put("Flatten", [input], { axis });
      const result = step.put(op, [matrix], { axis: -1 });
      const shape = step.put("Shape", [input]);
      if (step.target < ALLOWS_ZERO && mayBeEmpty(step, axis)) {
        step.notes.add(
          `${quote(input)} must have elements, because opsets below ${ALLOWS_ZERO} cannot reshape empty tensors`,
        );
      }
      step.node = { ...step.node, op: "Reshape", inputs: [result, shape], attributes: {} };
      if (step.target >= ALLOWS_ZERO) step.set("allowzero", 1);
    },
    down(step) {
      const axis = step.int("axis", ABSENT_NOW);
      const rank = step.rank(0);
      if (isLast(step, axis)) return step.set("axis", rank === null ? -1 : rank - 1);
      if (rank === null) {
        throw step.refusal("normalizes along the last axes, and the rank of its input is unknown");
      }
      // The axis becomes the last axis before the Softmax, and returns to its place afterwards.
      const order = Array.from({ length: rank }, (_, at) => at);
      const counted = fromFront(axis, rank);
      [order[counted], order[rank - 1]] = [rank - 1, counted];
      const { op, inputs } = step.node;
      const turned = step.put("Transpose", inputs, { perm: order });
      const result = step.put(op, [turned], { axis: rank - 1 });
      step.node = { ...step.node, op: "Transpose", inputs: [result], attributes: {} };
      step.set("perm", order);
    },
  },

  /**
   * Version 22 drops pooling windows that start beyond the input and its leading padding. Earlier versions do not
   * define such windows. They occur only with `ceil_mode` and a stride larger than the window.
   */
  ignoredWindows: both((step) => {
    const mode = step.int("ceil_mode", 0);
    if (mode === 0) return;
    const [kernel = [], strides, dilations, pads] = [
      "kernel_shape",
      "strides",
      "dilations",
      "pads",
    ].map((name) => listOf(step, name));
    const isInside = kernel.every((size, axis) => {
      const after = pads?.[kernel.length + axis] ?? 0;
      return after + (strides?.[axis] ?? 1) <= (size - 1) * (dilations?.[axis] ?? 1) + 1;
    });
    step.require(isInside && !padsItself(step), `has a different meaning with ceil_mode ${mode}`);
  }),

  /**
   * ConvTranspose's padding computed from the output size. If the total padding is odd, versions 1 and 11 put the
   * larger half on opposite sides. They also disagree about the output size if only `auto_pad` is given.
   */
  oddPadding: both((step) => {
    const sizes = listOf(step, "output_shape");
    if (sizes === undefined && !padsItself(step)) return;
    const shape = step.shape(0)?.slice(2);
    const kernel = listOf(step, "kernel_shape") ?? step.shape(1)?.slice(2);
    const setting = (name: string, axis: number, absent: number): number =>
      listOf(step, name)?.[axis] ?? absent;
    const isEven = sizes?.every((size, axis) => {
      const [input, width] = [shape?.[axis], kernel?.[axis]];
      if (typeof input !== "number" || typeof width !== "number") return false;
      const covered = (width - 1) * setting("dilations", axis, 1) + 1;
      const whole = (input - 1) * setting("strides", axis, 1) + covered;
      return (whole + setting("output_padding", axis, 0) - size) % 2 === 0;
    });
    step.require(
      isEven === true,
      "puts an odd padding element on the other side, and this node's padding may be odd",
    );
  }),

  /**
   * An attention mask with one column is broadcast to all keys in version 23. Since version 24, the mask may be shorter
   * than the keys, so that such a mask covers only the first key, and the other keys are excluded. Version 23 rejects
   * other short masks.
   */
  maskOfOneColumn: both((step) => {
    const mask = step.input(3);
    if (mask === "" || step.shape(3)?.at(-1) !== 1) return;
    if (step.input(4) === "" && step.shape(1)?.at(-2) === 1) return;
    throw refusal(
      `a mask of one column, such as ${quote(mask)}, has a different meaning in ${step.title}`,
    );
  }),

  /**
   * A 0 in Reshape's target shape. The newer version may read it as an empty dimension; earlier versions always copied
   * the input's dimension.
   */
  reshapeZero: down((step) => {
    const isEmpty = step.int("allowzero", 0) !== 0;
    step.drop("allowzero");
    step.require(
      !(isEmpty && step.known(1, "shape").includes(0n)),
      "does not read a 0 in a shape as an empty axis",
    );
  }),

  /** Shape's range attributes. Older versions need a Slice of the whole shape instead. */
  shapeBounds: down((step) => {
    const start = step.exactInt("start", 0n);
    const end = step.exactInt("end", null);
    step.drop("start", "end");
    if (start === 0n && end === null) return;
    const whole = step.put("Shape", step.node.inputs);
    const bounds = [step.list("starts", [start]), step.list("ends", [end ?? 2n ** 63n - 1n])];
    step.node = { ...step.node, op: "Slice", inputs: [whole, ...bounds] };
  }),

  sparseValue: down((step) =>
    step.require(!("sparse_value" in step.node.attributes), "has no sparse_value"),
  ),

  /** The plain numbers, texts and lists of a Constant. Earlier versions accept only tensors. */
  shortValues: down((step) => {
    const { attributes } = step.node;
    if ("value" in attributes || "sparse_value" in attributes) return;
    const value = constantOf(step.node, SHORT_VALUES);
    if (value === null) throw step.refusal("accepts only a tensor value");
    step.node = { ...step.node, attributes: { value: { type: "tensor", value } } };
  }),

  /** Dropout's mask, which became boolean. A boolean mask cannot be cast exactly to the older data type. */
  dropoutMask: both((step) => {
    if ((step.node.outputs[1] ?? "") !== "")
      throw refusal(`the mask of ${step.title} has a different data type`);
  }),

  /** The quantization axis, which has no effect if the scale is a scalar. */
  quantizedAxis: down((step) => {
    const isScalar = step.shape(1)?.length === 0;
    step.require(isScalar, "accepts only one scale, and this node may have several");
    step.drop("axis");
  }),

  /**
   * The quantization scale, which must have the input's data type. Earlier versions used float32 for integers, and
   * version 23 allows float32 again.
   */
  scaleOfInput: up((step) => {
    const isApart = step.dtype(0) !== "int32" || step.target >= SCALES_APART;
    step.require(isApart, "needs a scale of its input's data type, int32");
  }),

  /** The floored remainder of floats. Older versions of Mod compute only the truncated remainder (`fmod` 1). */
  flooredFloats: down((step) => {
    const dtype = step.dtype(0) ?? step.dtype(1) ?? "";
    const isTaken = step.int("fmod", 0) !== 0 || INTEGERS.includes(dtype);
    step.require(isTaken, "accepts only integers with fmod 0");
  }),

  /** Bit shifts by the full width or more, which only the newer version defines. */
  shiftsWithin: down((step) => {
    const dtype = step.dtype(0);
    const shifts = step.constant(1)?.data as Iterable<number | bigint> | undefined;
    const bits = dtype === null ? 0 : 8 * DTYPES[dtype].bytes;
    const isWithin = shifts !== undefined && !Array.from(shifts).some((shift) => shift >= bits);
    step.require(isWithin, "does not define shifts by all bits, which this node may need");
  }),

  /** Cast's data type, which was a word in older versions. */
  castWord: {
    up(step) {
      const word = step.value("to");
      const number = wordList().indexOf(String(word));
      if (typeof word === "string" && number > 0) return step.set("to", number);
      if (word === undefined) throw malformed("the attribute to must be given", { key: "to" });
      throw step.refusal(`has no data type named ${word}`);
    },
    down(step) {
      const number = step.int("to", 0);
      const { [number]: word = "" } = wordList();
      if (word === "") throw step.refusal(`has no name for data type ${number}`);
      step.set("to", word);
    },
  },
};
