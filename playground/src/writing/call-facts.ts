/** Collects the facts about a call that exported programs need. */

import type { Tensor } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import { defaultText } from "../values/schema.ts";
import { elementsOf } from "../values/tensor-text.ts";
import type { WritableCall } from "./source-text.ts";

/** The form of indices, as far as exported programs depend on it. */
export type Form =
  | "scatter-tuples"
  | "scatter-elements"
  | "scatter-slices"
  | "scatter-sequences"
  | "gather-tuples"
  | "gather-elements"
  | "gather-slices"
  | "gather-or-zero";

const FORMS: Readonly<Record<string, Form | undefined>> = {
  "ai.onnx/ScatterND": "scatter-tuples",
  "ai.onnx/ScatterElements": "scatter-elements",
  "ai.onnx/Scatter": "scatter-elements",
  "ai.onnx/GatherND": "gather-tuples",
  "ai.onnx/GatherElements": "gather-elements",
  "ai.onnx/Gather": "gather-slices",
  "ai.onnx/TensorScatter": "scatter-sequences",
  "openvino/ScatterNDUpdate": "scatter-tuples",
  "openvino/ScatterElementsUpdate": "scatter-elements",
  "openvino/ScatterUpdate": "scatter-slices",
  "openvino/Gather": "gather-or-zero",
  "openvino/GatherND": "gather-tuples",
  "openvino/GatherElements": "gather-elements",
};

export type Word = "none" | "add" | "mul" | "max" | "min" | "sub" | "mean";

/** The library's reductions, by their names in specifications. */
const WORDS: Readonly<Record<string, Word | undefined>> = { sum: "add", prod: "mul", "": "none" };

export interface CallFacts {
  readonly call: WritableCall;
  readonly form: Form;
  readonly names: {
    readonly data: string;
    /** The name of the indices input; null if indices are omitted. */
    readonly indices: string | null;
    readonly updates: string;
    readonly output: string;
  };
  readonly data: Tensor;
  readonly indices: Tensor | null;
  readonly updates: Tensor | null;
  /** The axis as a non-negative number. */
  readonly axis: number;
  /** The number of batch dimensions as a non-negative number. */
  readonly batchDims: number;
  readonly reduction: Word;
  /** True if a reduction starts with a target's first update instead of its old value. */
  readonly isFresh: boolean;
  readonly isRing: boolean;
  /** True if indices are a single tuple that names one element. */
  readonly isScalar: boolean;
  /** True if several updates share a target. */
  readonly hasRepeats: boolean;
}

/** Returns the facts; null if the page cannot export the operator. */
export function factsOf(call: WritableCall): CallFacts | null {
  const { version, node, inputs } = call;
  const form = FORMS[`${version.domain}/${version.name}`];
  if (form === undefined) return null;
  const positionOf = (role: string): number =>
    version.inputs.findIndex((one) => roleOf(one) === role);
  const inputOf = (role: string): Tensor | null => inputs[positionOf(role)] ?? null;
  const nameOf = (role: string): string | null =>
    inputOf(role) === null ? null : version.inputs[positionOf(role)].name;
  const attribute = (name: string): string =>
    String(node.attributes?.[name] ?? defaultText(version, name) ?? "");
  const [data, indices, typed] = [inputOf("data"), inputOf("indices"), inputOf("axis")];
  if (data === null) return null;
  const axis = Number(typed === null ? attribute("axis") || 0 : elementsOf(typed)[0]);
  const batchDims = Number(attribute("batch_dims") || 0);
  const word = attribute("reduction");
  const story = call.explanation?.story;
  return {
    ...{ call, form, data, indices, updates: inputOf("updates") },
    names: {
      data: nameOf("data") ?? "data",
      indices: nameOf("indices"),
      updates: nameOf("updates") ?? "updates",
      output: version.outputs[0].name,
    },
    axis: axis < 0 ? axis + data.shape.length : axis,
    batchDims: batchDims < 0 ? batchDims + (indices?.shape.length ?? 0) : batchDims,
    reduction: WORDS[word] ?? (word as Word),
    isFresh: attribute("use_init_val") === "false",
    isRing: attribute("mode") === "circular",
    isScalar: form === "scatter-tuples" && String(indices?.shape) === String([data.shape.length]),
    hasRepeats: (story?.kind === "scatter" ? story.summary.repeats : 0) > 0,
  };
}

/** Checks whether the call writes nothing, so that the result equals data. */
export const writesNothing = ({ form, updates }: CallFacts): boolean =>
  form.startsWith("scatter") && updates?.size === 0;

/** Checks whether index tuples are empty; an empty tuple addresses all of data. */
export const hasEmptyTuples = ({ form, indices }: CallFacts): boolean =>
  form.endsWith("tuples") && indices?.shape.at(-1) === 0;
