/**
 * Finds calls that the author may have intended, and computes their results. The function `diagnose` attributes such a
 * result to a runtime fault. Here, a person or an exporter may have written the wrong call.
 */

import { nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare } from "../../core/call/check.ts";
import { runNode as run } from "../../core/functions.ts";
import { equals } from "../../core/tensor/compare.ts";
import { printShape } from "../../core/tensor/shape.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { pairOf, rankOf, type Variant } from "./hypothesis.ts";
import { equalAxes, ROLES, swapped } from "./call-hypotheses.ts";
import { callWithout, predict, readCall } from "./predict.ts";
import { attempted } from "./rule.ts";
import { HYPOTHESES } from "./search.ts";

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

/** A change to a call that another node expresses. */
interface Edit extends Omit<OtherCall, "result"> {
  readonly id: ChangeId;
  readonly node: NodeSpec;
}

/** The changes of each part of a call. Of two changes, the one whose part is listed first is applied first. */
const PARTS: readonly (readonly ChangeId[])[] = [
  ["other-axis", "other-batch-dims", "other-operator"],
  ["other-reduction"],
  ["transposed-input", "exchanged-inputs", "larger-updates"],
  ["first-wins"],
];

const partOf = ({ id }: Edit): number => PARTS.findIndex((ids) => ids.includes(id));

type Inputs = readonly Tensor[];

/** A call whose result has not been computed. */
type Candidate = Omit<OtherCall, "result"> & { readonly made: () => Tensor | null };

/**
 * Yields calls that the author may have intended, most likely first. Single changes come first, then pairs. Invalid
 * calls, and calls with the same result, are skipped.
 */
export function* otherCalls(
  node: NodeSpec,
  inputs: readonly Tensor[],
): Generator<OtherCall, void, undefined> {
  const own = attempted(() => run(node, inputs)[0]);
  for (const { made, ...other } of candidates(node, inputs)) {
    const result = made();
    if (result !== null && (own === null || !equals(result, own))) yield { ...other, result };
  }
}

function* candidates(given: NodeSpec, inputs: Inputs): Generator<Candidate, void, undefined> {
  const inputsOf = ({ node, changes }: Edit): Inputs =>
    changes.reduce((tensors, change) => edited(tensors, change, node), inputs);
  const candidate = (edit: Edit, first?: Edit): Candidate => {
    const changes = [...(first?.changes ?? []), ...edit.changes];
    const made = (): Tensor | null =>
      attempted(() => run(edit.node, inputsOf({ ...edit, changes }))[0]);
    return { ...pairOf(first, edit), node: edit.node, changes, made };
  };
  const singles = editsOf(given, inputs);
  for (const edit of singles) yield candidate(edit);
  yield* hypotheses(given, inputs, false);
  for (const first of singles) {
    const others = attempted(() => editsOf(first.node, inputsOf(first))) ?? [];
    for (const second of others) {
      if (partOf(second) > partOf(first)) yield candidate(second, first);
    }
  }
  yield* hypotheses(given, inputs, true);
}

/** Applies a change to the inputs of a node. */
function edited(inputs: Inputs, change: InputChange, { op }: NodeSpec): Inputs {
  if (change.is === "exchange") {
    const [a, b] = change.inputs;
    return inputs.with(a, inputs[b]).with(b, inputs[a]);
  }
  if (change.is === "cut")
    return inputs.with(2, cut(inputs[2], change.without, neededSizes(op, inputs)));
  const input = inputs[change.input];
  if (change.is === "swap") return inputs.with(change.input, swapped(input, ...change.axes));
  const reversed = change.axes.reduce((before, axis) => {
    const size = before.shape[axis];
    return taken(before, axis, size, (at) => size - 1 - at);
  }, input);
  return inputs.with(change.input, reversed);
}

/** Returns the first elements of a tensor, after selecting the first element along the axis `without`. */
function cut(given: Tensor, without: number | null, sizes: readonly number[]): Tensor {
  const { dtype, shape } = given;
  const rest = shape.filter((_, axis) => axis !== without);
  const first = without === null ? given : tensor(dtype, rest, taken(given, without, 1).data);
  return sizes.reduce((whole, size, axis) => taken(whole, axis, size), first);
}

/** Returns the first `size` slices along an axis. */
function taken(value: Tensor, axis: number, size: number, from = (at: number) => at): Tensor {
  const places = BigInt64Array.from({ length: size }, (_, at) => BigInt(from(at)));
  const indices = tensor("int64", [size], places);
  return run({ op: "Gather", opset: 13, attributes: { axis } }, [value, indices])[0];
}

/** Yields results for hypotheses that no other node can express, such as a mean, or for pairs of hypotheses. */
function* hypotheses(
  node: NodeSpec,
  inputs: Inputs,
  arePairs: boolean,
): Generator<Candidate, void, undefined> {
  const read = attempted(() => {
    const { call } = callWithout(nodeFrom(node));
    return readCall(prepare(call, tensorsOf(call, inputs)));
  });
  if (read === null || (read.facts.isError && arePairs)) return;
  const { rule, facts } = read;
  // A call with an out-of-range index has a result only if the index has a different meaning. The author of a call
  // cannot have confused its arithmetic.
  const tried = HYPOTHESES.filter(({ aspect }) =>
    facts.isError ? aspect === "places" : aspect !== "arithmetic" && aspect !== "type",
  );
  for (const first of tried) {
    for (const one of first.variants(rule, facts)) {
      if (!arePairs) yield wish(one);
      else {
        const seconds = tried.filter((other) => rankOf(other) > rankOf(first));
        for (const other of seconds.flatMap((second) => second.variants(one.rule, facts)))
          yield wish(other, one);
      }
    }
  }
}

/** Creates a candidate for a rule. A sentence about a runtime becomes a sentence about the intended call. */
function wish(variant: Variant, first?: Variant): Candidate {
  const { id, sentence } = pairOf(first, variant);
  const said = sentence
    .replaceAll(/\bwas\b/g, "is")
    .replaceAll(/\bwere\b/g, "are")
    .replaceAll(/\bbegan\b/g, "begins");
  return { id, sentence: said, node: null, changes: [], made: () => predict(variant.rule) };
}

const isScatter = ({ op }: NodeSpec): boolean => op.includes("Scatter");

const axisOf = ({ attributes }: NodeSpec, rank: number): number => {
  const axis = Number(attributes?.["axis"] ?? 0);
  return axis < 0 ? axis + rank : axis;
};

/** Returns the operator of a node, where the operator `Scatter` is replaced with its successor. */
const ownOp = ({ op }: NodeSpec): string => (op === "Scatter" ? "ScatterElements" : op);

/** Returns all changes to a call that another node can express. */
const editsOf = (node: NodeSpec, inputs: Inputs): readonly Edit[] =>
  (node.domain ?? "ai.onnx") === "ai.onnx" && inputs.length >= 2
    ? [
        ...forms(node, inputs),
        ...reductions(node),
        ...orders(node, inputs),
        ...transposes(node, inputs),
        ...exchanges(node, inputs),
        ...cuts(node, inputs),
      ]
    : [];

/** Creates a change of a node's operator and attributes. */
function nodeEdit(
  given: NodeSpec,
  id: DiagnosisId,
  sentence: string,
  since: number,
  attributes: NodeSpec["attributes"],
  op = ownOp(given),
): Edit {
  const node = { ...given, op, attributes, opset: Math.max(given.opset ?? 1, since) };
  return { id, sentence, node, changes: [] };
}

/** Returns changes to the axis and batch_dims, and then to the operator. */
function forms(node: NodeSpec, [{ shape }, indices]: Inputs): readonly Edit[] {
  const rank = shape.length;
  const { axis: _, batch_dims: batch = 0, ...others } = node.attributes ?? {};
  const own = ownOp(node);
  const ownValues = { axis: axisOf(node, rank), batch_dims: Number(batch) };
  const most = { axis: rank, batch_dims: Math.min(rank, indices.shape.length) };
  const formsOf = (op: string, key: keyof typeof most): Edit[] =>
    [...Array(most[key]).keys()].flatMap((value): Edit[] => {
      const attributes = { ...others, [key]: value };
      const since = key === "batch_dims" ? 12 : op === own ? 1 : 11;
      if (op !== own) {
        const sentence = `the operator is ${op}, not ${own}, with the ${key} ${value}`;
        return [nodeEdit(node, "other-operator", sentence, since, attributes, op)];
      }
      if (value === ownValues[key]) return [];
      const sentence = `${key === "axis" ? "the axis" : key} is ${value}, not ${ownValues[key]}`;
      const id = key === "axis" ? "other-axis" : "other-batch-dims";
      return [nodeEdit(node, id, sentence, since, attributes)];
    });
  if (!isScatter(node)) {
    // The node's own operator comes first.
    return (["GatherElements", "Gather", "GatherND"] as const)
      .toSorted((a, b) => Number(b === own) - Number(a === own))
      .flatMap((op) => formsOf(op, op === "GatherND" ? "batch_dims" : "axis"));
  }
  const elements = formsOf("ScatterElements", "axis");
  if (own === "ScatterND") return elements;
  const sentence = `the operator is ScatterND, not ${own}`;
  return [...elements, nodeEdit(node, "other-operator", sentence, 11, others, "ScatterND")];
}

const REDUCTIONS = { none: 1, add: 16, mul: 16, max: 18, min: 18 } as const;

function reductions(node: NodeSpec): readonly Edit[] {
  if (!isScatter(node) || node.op === "TensorScatter") return [];
  const { reduction: own = "none", ...others } = node.attributes ?? {};
  const otherOnes = Object.entries(REDUCTIONS).filter(([reduction]) => reduction !== own);
  return otherOnes.map(([reduction, since]) => {
    const attributes = { ...others, ...(reduction !== "none" && { reduction }) };
    const sentence = `the reduction is ${reduction}, not ${String(own)}`;
    return nodeEdit(node, "other-reduction", sentence, since, attributes);
  });
}

/** Returns the call with reversed updates, so that the first update of each repeated target wins. */
function orders(node: NodeSpec, [{ shape }, indices, updates]: Inputs): readonly Edit[] {
  const { op, attributes } = node;
  const isPlain = (attributes?.["reduction"] ?? "none") === "none";
  if (updates === undefined || !isPlain || !isScatter(node) || op === "TensorScatter") return [];
  const { length } = indices.shape;
  const tupleAxes = [...Array(Math.max(0, length - 1)).keys()];
  const axes = op === "ScatterND" ? tupleAxes : [axisOf(node, shape.length)];
  if (axes.some((axis) => axis >= Math.min(length, updates.shape.length))) return [];
  const sentence = "the first update of each repeated target wins, not the last";
  const changes = [1, 2].map((input) => ({ is: "reverse" as const, input, axes }));
  return [{ id: "first-wins", sentence, node, changes }];
}

const transposes = (node: NodeSpec, inputs: Inputs): readonly Edit[] =>
  [2, 1, 0].flatMap((input) =>
    equalAxes(inputs[input]?.shape ?? []).map(([a, b]): Edit => {
      const sentence = `${ROLES[input]} is transposed: axes ${a} and ${b} are swapped`;
      const changes = [{ is: "swap" as const, input, axes: [a, b] as const }];
      return { id: "transposed-input", sentence, node, changes };
    }),
  );

/** Returns calls in which two inputs of the same data type, such as data and updates, are swapped. */
const exchanges = (node: NodeSpec, inputs: Inputs): readonly Edit[] =>
  [[0, 2] as const, [0, 1] as const, [1, 2] as const]
    .filter(([a, b]) => inputs[a].dtype === inputs[b]?.dtype)
    .map((pair): Edit => {
      const sentence = `${ROLES[pair[0]]} and ${ROLES[pair[1]]} are exchanged`;
      const changes = [{ is: "exchange" as const, inputs: pair }];
      return { id: "exchanged-inputs", sentence, node, changes };
    });

/** Returns calls with shortened updates, because PyTorch ignores the excess elements of updates that are too large. */
function cuts(node: NodeSpec, inputs: Inputs): readonly Edit[] {
  const { op } = node;
  const updates = inputs.at(2);
  if (updates === undefined || updates.size === 0 || op === "TensorScatter") return [];
  const { shape } = updates;
  const needed = neededSizes(op, inputs);
  const part = `${printShape(needed)} of ${printShape(shape)}`;
  const sentence = `updates are cut to ${part}, the size that ${op} needs`;
  const axes = shape.length === needed.length ? [null] : shape.map((_, axis) => axis);
  return axes.flatMap((without): Edit[] => {
    const sizes = shape.filter((_, axis) => axis !== without);
    const isLarger = needed.some((size, axis) => size < sizes[axis]) || without !== null;
    const fits =
      sizes.length === needed.length && needed.every((size, axis) => size <= sizes[axis]);
    const changes = [{ is: "cut" as const, without }];
    return isLarger && fits ? [{ id: "larger-updates", sentence, node, changes }] : [];
  });
}

/** Returns the shape that updates need. */
const neededSizes = (op: string, [data, { shape }]: Inputs): readonly number[] =>
  op === "ScatterND" ? [...shape.slice(0, -1), ...data.shape.slice(shape.at(-1))] : shape;
