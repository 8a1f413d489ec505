/**
 * Finds calls that the author may have intended, and computes their results. The function `diagnose` attributes such a
 * result to a runtime fault. Here, a person or an exporter may have written the wrong call.
 */

import { nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare } from "../../core/call/check.ts";
import { runNode as run } from "../../core/call/run.ts";
import { isTensorError } from "../../core/errors.ts";
import { equals } from "../../core/tensor/compare.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { readCall } from "./diagnose.ts";
import type { Diagnosis, DiagnosisId } from "./diagnosis.ts";
import type { Aspect, Hypothesis } from "./hypothesis.ts";
import { equalAxes, swapped } from "./call-hypotheses.ts";
import { predict } from "./predict.ts";
import { HYPOTHESES } from "./search.ts";
import { callWithout } from "./unknown-reduction.ts";

/** A change to a node's input, which additional nodes before the node can make. */
export type InputChange =
  | { readonly is: "swap"; readonly input: number; readonly axes: readonly [number, number] }
  | { readonly is: "reverse"; readonly input: number; readonly axes: readonly number[] }
  /** Two inputs are swapped. */
  | { readonly is: "exchange"; readonly inputs: readonly [number, number] }
  /** Updates are shortened to the required size, after the first element along the axis `without` is selected. */
  | { readonly is: "cut"; readonly without: number | null };

/** A change to a call: the id of an equivalent runtime fault, or a change that only the author of the call can make. */
type ChangeId = DiagnosisId | "exchanged-inputs" | "larger-updates";

type ChangePair = Extract<`${ChangeId}+${ChangeId}`, string>;

/** A call that the author may have intended. */
export interface OtherCall {
  readonly id: ChangeId | ChangePair;
  /** Description of the change, such as `the axis is 1, not 0`. */
  readonly sentence: string;
  /** The intended node, with changes to its inputs; null if no node with the same inputs can express the change. */
  readonly node: NodeSpec | null;
  readonly changes: readonly InputChange[];
  readonly result: Tensor;
}

interface Edited {
  readonly node: NodeSpec;
  readonly inputs: readonly Tensor[];
  readonly changes: readonly InputChange[];
}

/** A change to a call. Two changes are combined only if they change different parts. */
interface Edit extends Edited {
  readonly id: ChangeId;
  readonly part: "form" | "reduction" | "input" | "order";
  readonly sentence: string;
}

const PARTS = ["form", "reduction", "input", "order"];

/**
 * Yields calls that the author may have intended, most likely first. Single changes come first, then pairs. Invalid
 * calls, and calls with the same result, are skipped.
 */
export function* otherCalls(
  given: NodeSpec,
  inputs: readonly Tensor[],
): Generator<OtherCall, void, undefined> {
  const call: Edited = { node: given, inputs, changes: [] };
  const own = resultOf(call);
  const isOther = (result: Tensor | null): result is Tensor =>
    result !== null && (own === null || !equals(result, own));
  const singles = editsOf(call);
  for (const edit of singles) {
    const { id, sentence, node, changes } = edit;
    const result = resultOf(edit);
    if (isOther(result)) yield { id, sentence, node, changes, result };
  }
  for (const [id, sentence, result] of hypotheses(call, false)) {
    if (isOther(result)) yield { id, sentence, node: null, changes: [], result };
  }
  for (const first of singles) {
    const more = editsOf(first).filter(
      ({ part }) => PARTS.indexOf(part) > PARTS.indexOf(first.part),
    );
    for (const second of more) {
      const result = resultOf(second);
      const { node, changes } = second;
      const id = `${first.id}+${second.id}` as const;
      const sentence = `${first.sentence}; and ${second.sentence}`;
      if (isOther(result)) yield { id, sentence, node, changes, result };
    }
  }
  for (const [id, sentence, result] of hypotheses(call, true)) {
    if (isOther(result)) yield { id, sentence, node: null, changes: [], result };
  }
}

function resultOf({ node, inputs }: Pick<Edited, "node" | "inputs">): Tensor | null {
  try {
    return run(node, inputs)[0];
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

const isScatter = ({ op }: NodeSpec): boolean => op.includes("Scatter");

const axisOf = ({ attributes }: NodeSpec, rank: number): number => {
  const axis = Number(attributes?.["axis"] ?? 0);
  return axis < 0 ? axis + rank : axis;
};

/** Returns a node with changed attributes. The value `undefined` removes an attribute. */
function withNode(call: Edited, opset: number, changed: Partial<NodeSpec>): Edited {
  const { node, inputs, changes } = call;
  const own = { ...node, ...changed, opset: Math.max(node.opset ?? 1, opset) };
  return { node: own, inputs, changes };
}

/** Returns all changes to a call that another node can express. */
const editsOf = (call: Edited): readonly Edit[] =>
  (call.node.domain ?? "ai.onnx") === "ai.onnx" && call.inputs.length >= 2
    ? [
        ...forms(call),
        ...reductions(call),
        ...orders(call),
        ...transposes(call),
        ...exchanges(call),
        ...cuts(call),
      ]
    : [];

/** Returns changes to the axis, batch_dims and the operator. */
function forms(call: Edited): readonly Edit[] {
  const { node, inputs } = call;
  const [{ shape }, indices] = inputs;
  const rank = shape.length;
  const { axis: _, batch_dims: batch = 0, ...others } = node.attributes ?? {};
  const own = node.op === "Scatter" ? "ScatterElements" : node.op;
  const all: Edit[] = [];
  const add = (id: DiagnosisId, op: string, key: string, value: number): void => {
    const isSame = op === own;
    const is = key === "" ? "" : isSame ? `the ${key} is ${value}` : `, with the ${key} ${value}`;
    const not = key === "axis" ? axisOf(node, rank) : Number(batch);
    const sentence = isSame
      ? `${is.replace("the batch_dims", "batch_dims")}, not ${not}`
      : `the operator is ${op}, not ${own}${is}`;
    const attributes = { ...others, ...(key !== "" && { [key]: value }) };
    const since = key === "batch_dims" ? 12 : isSame ? 1 : 11;
    all.push({ id, part: "form", sentence, ...withNode(call, since, { op, attributes }) });
  };
  const byAxis = isScatter(node) ? ["ScatterElements"] : ["GatherElements", "Gather"];
  const byTuples = isScatter(node) ? "ScatterND" : "GatherND";
  for (const op of byAxis) {
    for (let axis = 0; axis < rank; axis++) {
      if (op !== own) add("other-operator", op, "axis", axis);
      else if (axis !== axisOf(node, rank)) add("other-axis", op, "axis", axis);
    }
  }
  if (isScatter(node)) {
    if (own !== byTuples) add("other-operator", byTuples, "", 0);
    return sorted(all);
  }
  for (let dims = 0; dims < Math.min(rank, indices.shape.length); dims++) {
    if (own !== byTuples) add("other-operator", byTuples, "batch_dims", dims);
    else if (dims !== Number(batch)) add("other-batch-dims", byTuples, "batch_dims", dims);
  }
  return sorted(all);
}

/** Sorts operator changes after attribute changes. */
const sorted = (all: readonly Edit[]): readonly Edit[] => [
  ...all.filter(({ id }) => id !== "other-operator"),
  ...all.filter(({ id }) => id === "other-operator"),
];

const REDUCTIONS = { none: 1, add: 16, mul: 16, max: 18, min: 18 } as const;

function reductions(call: Edited): readonly Edit[] {
  const { node } = call;
  if (!isScatter(node) || node.op === "TensorScatter") return [];
  const { reduction: own = "none", ...others } = node.attributes ?? {};
  return Object.entries(REDUCTIONS).flatMap(([reduction, since]): Edit[] => {
    if (reduction === own) return [];
    const attributes = { ...others, ...(reduction !== "none" && { reduction }) };
    const op = node.op === "Scatter" ? "ScatterElements" : node.op;
    const edited = withNode(call, since, { op, attributes });
    const sentence = `the reduction is ${reduction}, not ${String(own)}`;
    return [{ id: "other-reduction", part: "reduction", sentence, ...edited }];
  });
}

/** Returns the call with reversed updates, so that the first update of each repeated target wins. */
function orders(call: Edited): readonly Edit[] {
  const { node, inputs } = call;
  const [data, indices, updates] = inputs;
  const isPlain = (node.attributes?.["reduction"] ?? "none") === "none";
  if (updates === undefined || !isPlain || !isScatter(node) || node.op === "TensorScatter")
    return [];
  const { length } = indices.shape;
  const axes =
    node.op === "ScatterND"
      ? Array.from({ length: Math.max(0, length - 1) }, (_, axis) => axis)
      : [axisOf(node, data.shape.length)];
  if (axes.some((axis) => axis >= Math.min(length, updates.shape.length))) return [];
  const reversed = [data, reverse(indices, axes), reverse(updates, axes)];
  const changes = [1, 2].map((input) => ({ is: "reverse" as const, input, axes }));
  const sentence = "the first update of each repeated target wins, not the last";
  return [
    {
      ...{ id: "first-wins", part: "order", sentence, node, inputs: reversed },
      changes: [...call.changes, ...changes],
    },
  ];
}

function reverse(value: Tensor, axes: readonly number[]): Tensor {
  return axes.reduce((before, axis) => {
    const size = before.shape[axis];
    return taken(before, axis, size, (at) => size - 1 - at);
  }, value);
}

/** Returns the first `size` slices along an axis. */
function taken(value: Tensor, axis: number, size: number, from = (at: number) => at): Tensor {
  const places = BigInt64Array.from({ length: size }, (_, at) => BigInt(from(at)));
  const indices = tensor("int64", [size], places);
  return run({ op: "Gather", opset: 13, attributes: { axis } }, [value, indices])[0];
}

const NAMES = ["data", "indices", "updates"] as const;

function transposes(call: Edited): readonly Edit[] {
  return [2, 1, 0].flatMap((input): Edit[] => {
    const value = call.inputs[input];
    if (value === undefined) return [];
    return equalAxes(value.shape).map(([a, b]) => ({
      id: "transposed-input",
      part: "input",
      sentence: `${NAMES[input]} is transposed: axes ${a} and ${b} are swapped`,
      node: call.node,
      get inputs() {
        return call.inputs.with(input, swapped(value, a, b));
      },
      changes: [...call.changes, { is: "swap", input, axes: [a, b] }],
    }));
  });
}

/** Returns calls in which two inputs of the same data type, such as data and updates, are swapped. */
const exchanges = (call: Edited): readonly Edit[] =>
  [[0, 2] as const, [0, 1] as const, [1, 2] as const].flatMap(([a, b]): Edit[] => {
    const [first, second] = [call.inputs[a], call.inputs[b]];
    if (second === undefined || first.dtype !== second.dtype) return [];
    return [
      {
        ...{ id: "exchanged-inputs", part: "input", node: call.node },
        sentence: `${NAMES[a]} and ${NAMES[b]} are exchanged`,
        inputs: call.inputs.with(a, second).with(b, first),
        changes: [...call.changes, { is: "exchange", inputs: [a, b] }],
      },
    ];
  });

/** Returns calls with shortened updates, because PyTorch ignores the excess elements of updates that are too large. */
function cuts(call: Edited): readonly Edit[] {
  const { op } = call.node;
  const [data, indices, updates] = call.inputs;
  if (updates === undefined || op === "TensorScatter") return [];
  const { shape } = indices;
  const needed =
    op === "ScatterND" ? [...shape.slice(0, -1), ...data.shape.slice(shape.at(-1))] : shape;
  const axes =
    updates.shape.length === needed.length ? [null] : updates.shape.map((_, axis) => axis);
  return axes.flatMap((without): Edit[] => {
    const sizes = updates.shape.filter((_, axis) => axis !== without);
    const isLarger = needed.some((size, axis) => size < sizes[axis]) || without !== null;
    const fits =
      sizes.length === needed.length && needed.every((size, axis) => size <= sizes[axis]);
    if (!isLarger || !fits || updates.size === 0) return [];
    const part = `[${needed.join(", ")}] of [${updates.shape.join(", ")}]`;
    return [
      {
        ...{ id: "larger-updates", part: "input", node: call.node },
        sentence: `updates are cut to ${part}, the size that ${op} needs`,
        get inputs() {
          const whole =
            without === null
              ? updates
              : tensor(updates.dtype, sizes, taken(updates, without, 1).data);
          return call.inputs.with(
            2,
            needed.reduce((cut, size, axis) => taken(cut, axis, size), whole),
          );
        },
        changes: [...call.changes, { is: "cut", without }],
      },
    ];
  });
}

/** Parts of a rule that the author of the call may have confused, in the order in which two changes are applied. */
const ASPECTS: readonly Aspect[] = ["input", "operator", "places", "reduction", "order"];

/** Yields results for hypotheses that no other node can express, such as a mean, and for pairs of hypotheses. */
function* hypotheses(
  { node, inputs }: Edited,
  arePairs: boolean,
): Generator<readonly [Diagnosis["id"], string, Tensor | null], void, undefined> {
  try {
    const { call } = callWithout(nodeFrom(node));
    const { rule, facts } = readCall(prepare(call, tensorsOf(call, inputs)));
    if (facts.isError && arePairs) return;
    const rankOf = ({ aspect }: Hypothesis): number => ASPECTS.indexOf(aspect);
    // A call with an out-of-range index has a result only if the index has a different meaning.
    const tried = HYPOTHESES.filter((one) =>
      facts.isError ? one.aspect === "places" : rankOf(one) !== -1,
    );
    const variants = tried.flatMap((hypothesis) =>
      hypothesis.variants(rule, facts).map((variant) => ({ hypothesis, variant })),
    );
    if (!arePairs) {
      for (const { hypothesis, variant } of variants)
        yield [hypothesis.id, asWish(variant.sentence), predict(variant.rule)];
      return;
    }
    for (const { hypothesis, variant } of variants) {
      for (const other of tried.filter((one) => rankOf(one) > rankOf(hypothesis))) {
        for (const second of other.variants(variant.rule, facts)) {
          const sentence = asWish(`${variant.sentence}; and ${second.sentence}`);
          yield [`${hypothesis.id}+${other.id}`, sentence, predict(second.rule)];
        }
      }
    }
  } catch (error) {
    if (!isTensorError(error)) throw error;
  }
}

/** Converts a diagnosis sentence about a runtime to a sentence about the intended call. */
const asWish = (sentence: string): string =>
  sentence
    .replaceAll(/\bwas\b/g, "is")
    .replaceAll(/\bwere\b/g, "are")
    .replaceAll(/\bbegan\b/g, "begins");
