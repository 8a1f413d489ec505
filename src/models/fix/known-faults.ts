/**
 * The table of known faults and their fixes. `docs/known-faults.md` shows the same table, with the runtimes that have
 * the faults and the rules of the specification, and `examples/faults/` contains one model per row.
 *
 * A repair describes a node that is invalid in its version, and gives the intended call. A rewrite describes a fault of
 * a runtime, and gives an equivalent call.
 */

import type { NodeSpec } from "../../core/call/call.ts";
import { isTensorError, recovering, type TensorError } from "../../core/errors.ts";
import { runNode } from "../../core/functions.ts";
import { resolve } from "../../core/operators/registry.ts";
import { reductionOf } from "../../core/operators/settings.ts";
import type { Reduction } from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { castTensor } from "../model/cast.ts";
import type { Verdict } from "../verify/verdicts.ts";
import type { KnownFaultId } from "./report.ts";
import {
  boolScatter,
  narrowScatter,
  orderedScatter,
  plainScatter,
  tupleGather,
  type Scatter,
} from "./scatters.ts";
import type { Words } from "./words.ts";

/** A node's verdict in the runtime, and the call with the captured inputs. */
export interface FaultyNode {
  readonly verdict: Verdict;
  readonly isReproducible: boolean;
  readonly call: Meant;
}

export interface Meant {
  readonly node: NodeSpec;
  readonly inputs: readonly Tensor[];
}

const reductionWord = ({ node }: Meant): string | undefined => {
  const word = node.attributes?.["reduction"];
  return typeof word === "string" ? word : undefined;
};

/** Returns the reduction of a valid call. */
export const reductionIn = (call: Meant): Reduction => (reductionWord(call) ?? "none") as Reduction;

export const axisIn = ({ node }: Meant): number => Number(node.attributes?.["axis"] ?? 0);

export const isScatter = ({ node }: Meant): boolean => node.op.includes("Scatter");

/** Returns the exact outputs; null for an invalid call. */
export const exactOutputs = ({ node, inputs }: Meant): readonly Tensor[] | null =>
  recovering<readonly Tensor[], null>(
    () => runNode(node, inputs),
    () => null,
  );

/** Returns the exact outputs, or the error of an invalid call. */
const outputsOrError = ({ node, inputs }: Meant): readonly Tensor[] | TensorError =>
  recovering<readonly Tensor[], TensorError>(
    () => runNode(node, inputs),
    (error) => error,
  );

export interface Repair extends KnownFaultId {
  readonly applies: (call: Meant) => boolean;
  readonly meant: (call: Meant) => Meant;
}

export interface Rewrite extends KnownFaultId {
  /** Returns true if the row describes the faulty node, whose intended call is given. */
  readonly applies: (faulty: FaultyNode) => boolean;
  /** Writes equivalent nodes, and returns the name of the result. */
  readonly write: (words: Words, scatter: Scatter) => string;
  /** The opset of the equivalent nodes. */
  readonly opset: number;
}

const isOf = (faulty: FaultyNode, ...verdicts: readonly Verdict[]): boolean =>
  isScatter(faulty.call) && verdicts.includes(faulty.verdict);

const dtypeOf = ({ call }: FaultyNode): string => call.inputs[0].dtype;
const isHalf = (faulty: FaultyNode): boolean =>
  dtypeOf(faulty) === "float16" || dtypeOf(faulty) === "bfloat16";
const isOrder = ({ call }: FaultyNode): boolean => ["max", "min"].includes(reductionIn(call));
const isSum = ({ call }: FaultyNode): boolean => ["add", "mul"].includes(reductionIn(call));

/**
 * Returns true if a tensor contains NaNs or zeros, because max and min of these values depend on more than magnitude.
 */
function hasOddFloats({ dtype, data, size }: Tensor): boolean {
  const read = reader(dtype, data);
  for (let at = 0; at < size; at++) {
    const value = read(at);
    if (value === 0 || Number.isNaN(value)) return true;
  }
  return false;
}

/** Reduction names that exporters and people use. `reductionOf` covers OpenVINO's names. */
const WORDS: Readonly<Record<string, string>> = {
  "": "none",
  update: "none",
  replace: "none",
  plus: "add",
  multiply: "mul",
  maximum: "max",
  amax: "max",
  minimum: "min",
  amin: "min",
};

/** The first versions of ScatterND and ScatterElements with each reduction of ONNX. */
const SINCE: ReadonlyMap<string, number> = new Map([
  ["none", 16],
  ["add", 16],
  ["mul", 16],
  ["max", 18],
  ["min", 18],
]);

/** Returns ONNX's name for a reduction; null if ONNX has no such reduction, such as mean. */
function wordFor(word: string): string | null {
  const lower = word.toLowerCase();
  const known = Object.hasOwn(WORDS, lower) ? WORDS[lower] : reductionOf(lower);
  return SINCE.has(known) ? known : null;
}

const BY_TUPLES: ReadonlySet<string> = new Set(["ScatterND", "GatherND"]);

export const REPAIRS: readonly Repair[] = [
  {
    id: "unknown-reduction",
    fault:
      "ScatterND and ScatterElements treat an undefined reduction, such as sum, like none. The " +
      "model loads, but updates replace values instead of being added.",
    cure: "The reduction gets its ONNX name: add for sum, mul for prod, max for amax, min for amin.",
    applies: (call) => {
      const word = reductionWord(call);
      return isScatter(call) && word !== undefined && !SINCE.has(word) && wordFor(word) !== null;
    },
    meant: (call) => {
      const reduction = wordFor(reductionWord(call) ?? "") ?? "none";
      return changed(call, { attributes: { ...call.node.attributes, reduction } });
    },
  },
  {
    id: "older-opset",
    fault:
      "The model uses max or min in opset 16 or 17, add or mul before opset 16, or GatherND's " +
      "batch_dims before opset 12. The runtime accepts max and min, but rejects the other uses " +
      "with “Unrecognized attribute”.",
    cure: "The whole model is converted to opset 18. Every other node keeps the same result bits.",
    applies: (call) => {
      const { op, attributes = {} } = call.node;
      const hasBatches = op === "GatherND" && "batch_dims" in attributes;
      const word = isScatter(call) ? (reductionWord(call) ?? "") : "";
      const since = hasBatches ? 12 : SINCE.get(word);
      return since !== undefined && resolve(call.node).sinceVersion < since;
    },
    meant: (call) => changed(call, { opset: 18 }),
  },
  {
    id: "narrow-indices",
    fault:
      "The indices have a data type that the operator does not support, such as int32 for " +
      "ScatterND. The model does not load, and the runtime says “Type 'tensor(int32)' of input " +
      "parameter … is invalid”.",
    cure: "A Cast converts the indices to int64.",
    applies: ({ node, inputs }) => {
      // TensorScatter's second input is the update, not the indices.
      if (node.op === "TensorScatter") return false;
      const dtype = inputs[1]?.dtype;
      const isInteger = /^u?int\d+$/u.test(dtype ?? "");
      return isInteger && dtype !== "int64" && (BY_TUPLES.has(node.op) || dtype !== "int32");
    },
    meant: (call) => {
      const [data, indices, ...updates] = call.inputs;
      return { ...call, inputs: [data, castTensor(indices, "int64", {}), ...updates] };
    },
  },
  {
    id: "deprecated-scatter",
    fault:
      "A model with Scatter in opset 11 or later does not load. The runtime says “Op registered " +
      "for Scatter is deprecated in domain_version of 11”.",
    cure: "ScatterElements with the same axis replaces Scatter.",
    applies: ({ node }) => node.op === "Scatter" && (node.opset ?? 1) >= 11,
    meant: (call) => changed(call, { op: "ScatterElements" }),
  },
  {
    id: "negative-indices",
    fault:
      "The model has a negative index in Scatter or Gather before opset 11, which does not " +
      "allow negative indices. This runtime counts the index from the end, but another runtime " +
      "may not.",
    cure:
      "The whole model is converted to opset 18, and ScatterElements replaces Scatter. Every " +
      "other node keeps the same result bits.",
    applies: (call) => {
      const isOld = ["Scatter", "Gather"].includes(call.node.op) && (call.node.opset ?? 1) < 11;
      return isOld && exactOutputs(call) === null && exactOutputs(countedFromEnd(call)) !== null;
    },
    meant: countedFromEnd,
  },
  {
    id: "flat-indices",
    fault:
      "The indices of ScatterND or GatherND are a list of n row numbers. The list has the shape " +
      "[n] instead of [n, 1], so it counts as a single index tuple. The runtime says “last " +
      "dimension of indices must not be larger than rank of input tensor”.",
    cure: "An Unsqueeze changes the shape of the indices from [n] to [n, 1].",
    applies: (call) => {
      if (!BY_TUPLES.has(call.node.op) || (call.inputs[1]?.shape.length ?? 0) === 0) return false;
      const error = outputsOrError(call);
      // Updates of the right shape show that a list of rows was intended. Without such updates, the index tuple must be
      // too long.
      const codes = isScatter(call) ? (["rank", "shape-mismatch"] as const) : (["rank"] as const);
      return isTensorError(error, ...codes) && exactOutputs(asColumn(call)) !== null;
    },
    meant: asColumn,
  },
];

function changed(call: Meant, how: Partial<Meant["node"]>): Meant {
  return { ...call, node: { ...call.node, ...how } };
}

function countedFromEnd(call: Meant): Meant {
  const op = call.node.op === "Scatter" ? "ScatterElements" : call.node.op;
  return changed(call, { op, opset: 18 });
}

/** Adds an axis to a call's indices. Unsqueeze reads its axes from an input since opset 13. */
function asColumn(call: Meant): Meant {
  const [data, { dtype, shape, size, data: values }, ...updates] = call.inputs;
  const indices = new Tensor(dtype, [...shape, 1], size, values);
  const { node } = changed(call, { opset: Math.max(call.node.opset ?? 1, 13) });
  return { node, inputs: [data, indices, ...updates] };
}

export const REWRITES: readonly Rewrite[] = [
  {
    id: "half-sum",
    fault:
      "ScatterND and ScatterElements with add or mul do not run on float16. In onnxruntime-node " +
      "1.30.0, they do not run on bfloat16 either. The runtime says “MLFloat16 data type is not " +
      "supported with ScatterND opset 16 when reduction is 'add'”. With 20,000 updates on two " +
      "threads, a segmentation fault or a floating point exception may end the process.",
    cure:
      "A Loop applies the first update of each target, then the second, and so on. The Loop " +
      "computes in float32 and rounds to float16 or bfloat16 after each step, which gives the " +
      "exact bits.",
    applies: (faulty) => isOf(faulty, "failed", "wrong") && isHalf(faulty) && isSum(faulty),
    write: narrowScatter,
    opset: 18,
  },
  {
    id: "half-max",
    fault:
      "With max or min, ScatterND does not run on float16, and ScatterElements does not run on " +
      "bfloat16. The runtime says “MLFloat16 data type is not supported with ScatterND opset 18 " +
      "when reduction is 'max'”.",
    cure:
      "The same scatter runs in float32, because max and min do not round. NaN and the signs of " +
      "zeros are handled as for nan-max.",
    applies: (faulty) => isOf(faulty, "failed", "wrong") && isHalf(faulty) && isOrder(faulty),
    write: orderedScatter,
    opset: 18,
  },
  {
    id: "bool-max",
    fault:
      "ScatterND and ScatterElements with max or min do not run on bool. The runtime says “bool " +
      "data type is not supported with ScatterND opset 18 when reduction is 'max'”.",
    cure: "The same scatter runs on uint8, and a Cast converts the result to bool.",
    applies: (faulty) =>
      isOf(faulty, "failed", "wrong") && dtypeOf(faulty) === "bool" && isOrder(faulty),
    write: boolScatter,
    opset: 18,
  },
  {
    id: "nan-max",
    fault:
      "ScatterND and ScatterElements with max or min lose a NaN when they compare a later " +
      "update with it. If 0 and -0 have the same target, the last update wins. The result " +
      "therefore depends on the order of the updates.",
    cure:
      "The first scatter excludes NaNs, and a second scatter marks the cells that receive a NaN " +
      "or the winning zero. Where and IsNaN insert these values.",
    applies: (faulty) => {
      const { inputs } = faulty.call;
      const isFloat = dtypeOf(faulty).startsWith("float");
      if (!isOf(faulty, "differs", "nan-or-zero", "wrong") || !isOrder(faulty) || !isFloat)
        return false;
      return hasOddFloats(inputs[0]) || hasOddFloats(inputs[2]);
    },
    write: orderedScatter,
    opset: 18,
  },
  {
    id: "lost-updates",
    fault:
      "ScatterND on several threads loses updates if several updates have the same target. " +
      "Threads read and write the same element at once, so the result changes from run to run.",
    cure:
      "ScatterElements along axis 0 replaces ScatterND, with data as a matrix. This runtime " +
      "applies the updates of ScatterElements in order.",
    applies: (faulty) =>
      isOf(faulty, "differs", "nan-or-zero") && faulty.call.node.op === "ScatterND",
    write: (words, scatter) => plainScatter(words, { ...scatter, mayRace: true }),
    opset: 14,
  },
  {
    id: "string-gather",
    fault:
      "Gather of strings copies only the first element of each slice, and leaves the other " +
      "elements empty. Along the last axis, each slice has one element, so the result is right.",
    cure:
      "GatherND with one-index tuples replaces Gather. If the axis is not the first axis, " +
      "GatherND runs in batches.",
    applies: ({ call, verdict }) =>
      call.node.op === "Gather" && verdict === "differs" && call.inputs[0].dtype === "string",
    write: tupleGather,
    opset: 13,
  },
];

/** A fault of the whole model that another opset fixes. */
export const NEWER_OPSET: KnownFaultId = {
  id: "newer-opset",
  fault:
    "A model does not load if its opset or IR version is newer than the runtime. The runtime " +
    "says “Opset 27 is under development” or “Unsupported model IR version: 14, max supported " +
    "IR version: 13”. Release 1.32.0 loads models up to opset 28 and IR version 14.",
  cure:
    "The model is converted to the newest opset that the runtime loads, if every node keeps the " +
    "same result bits.",
};

export const KNOWN_FAULTS: readonly KnownFaultId[] = [...REWRITES, ...REPAIRS, NEWER_OPSET];
