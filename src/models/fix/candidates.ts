/**
 * Faulty nodes: the intended call of each node, equivalent nodes, a test that runs each node in its own session, and
 * the model in which other nodes replace the faulty nodes, also in bodies and in functions.
 */

import { recovering } from "../../core/errors.ts";
import type { Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { normalizeAxis } from "../../core/operators/shapes.ts";
import { Names } from "../convert/context.ts";
import { convertModel } from "../convert/convert-model.ts";
import { buildModel } from "../model/build-model.ts";
import {
  isReference,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import { withBodies } from "../model/uses.ts";
import { writeModel } from "../onnx/write-model.ts";
import type { VerifiedNode } from "../verify/node-state.ts";
import type { CreateSession } from "../verify/session.ts";
import {
  axisIn,
  exactOutputs,
  isScatter,
  reductionIn,
  REPAIRS,
  REWRITES,
  type FaultyNode,
  type Meant,
} from "./known-faults.ts";
import { opener, type NodeCheck } from "./measure.ts";
import type { KnownFaultId } from "./report.ts";
import { plainScatter, type Scatter } from "./scatters.ts";
import { Words } from "./words.ts";

/** The call that a faulty node was meant to be. */
export interface Intention {
  readonly call: Meant;
  /** The known faults that describe the repair; empty for a node that is valid in its version. */
  readonly repairs: readonly KnownFaultId[];
  readonly outputs: readonly Tensor[];
}

/** Infers the intended call; null if the call stays invalid, or if its meaning is unknown. */
export function intentionOf(given: Meant): Intention | null {
  const repairs: KnownFaultId[] = [];
  let call = given;
  for (const row of REPAIRS) {
    if (!row.applies(call)) continue;
    call = row.meant(call);
    repairs.push(row);
  }
  const outputs = exactOutputs(call);
  return outputs && { call, repairs, outputs };
}

export interface NodeCure {
  readonly faults: readonly KnownFaultId[];
  readonly opset: number;
  readonly write: (node: ModelNode, words: Words) => readonly ModelNode[];
}

/**
 * The number of updates above which a node is assumed to race. ONNX Runtime races above 10,000 updates, but other
 * inputs may be larger than the captured ones.
 */
const MOST_UPDATES = 5000;

/** Returns equivalent nodes that the runtime computes correctly; null for an unknown fault. */
export function cureOf(faulty: FaultyNode, intention: Intention): NodeCure | null {
  const { call, repairs } = intention;
  const row = REWRITES.find((one) => one.applies({ ...faulty, call }));
  if (row === undefined && repairs.length === 0) return null;
  const opset = Math.max(row?.opset ?? 1, repairs.length > 0 ? neededOpset(call) : 1);
  return {
    faults: [...repairs, ...(row === undefined ? [] : [row])],
    opset,
    write(node, words) {
      const [data, indices, updates = ""] = node.inputs;
      const [, given] = faulty.call.inputs;
      const [, meant] = call.inputs;
      const cast = given.dtype === meant.dtype ? indices : words.cast(indices, "int64");
      const isColumn = given.shape.length < meant.shape.length;
      const own = isColumn ? words.put("Unsqueeze", [cast, words.list(-1)]) : cast;
      // A repaired gather keeps its attributes.
      if (row === undefined && !isScatter(call))
        words.put(call.node.op ?? node.op, [data, own], node.attributes);
      else {
        const all = { data, indices: own, updates };
        (row?.write ?? plainScatter)(words, scatterOf(faulty, call, all));
      }
      return withResult(words.nodes, node);
    },
  };
}

/** Returns the opset that supports the repaired call. A call in opset 18 or later keeps its opset. */
const neededOpset = ({ node }: Meant): number => Math.min(node.opset ?? 1, 18);

function scatterOf(
  { isReproducible }: FaultyNode,
  call: Meant,
  names: Pick<Scatter, "data" | "indices" | "updates">,
): Scatter {
  const [data, indices] = call.inputs;
  const form = call.node.op === "ScatterND" ? "tuples" : "elements";
  const updates = indices.size / (form === "tuples" ? Math.max(indices.shape.at(-1) ?? 1, 1) : 1);
  const reduction: Reduction = reductionIn(call);
  const mayRace = !isReproducible || updates > MOST_UPDATES;
  const axis = isScatter(call)
    ? axisIn(call)
    : normalizeAxis(axisIn(call), data.shape.length, { op: call.node.op });
  return { form, axis, reduction, dtype: data.dtype, mayRace, ...names };
}

/** Gives the last replacement node the name and the output of the faulty node. */
function withResult(nodes: readonly ModelNode[], { name, outputs }: ModelNode): ModelNode[] {
  const last = nodes.length - 1;
  const result = { ...nodes[last], outputs: [...outputs], ...(name !== "" && { name }) };
  return [...nodes.slice(0, last), result];
}

/** A faulty node, with the known facts about its fix. */
export interface Candidate {
  readonly verified: VerifiedNode;
  readonly node: ModelNode;
  readonly opsets: Readonly<Record<string, number>>;
  /** The intended call; null if the inputs are unknown, or if no intended call can be inferred. */
  readonly intention: Intention | null;
  readonly cure: NodeCure | null;
  /** Explains why the node cannot be rewritten; null if it can. */
  readonly uncured: string | null;
}

export const isFaulty = ({ verdict, isReproducible }: VerifiedNode): boolean =>
  !isReproducible || !["not-run", "equal", "near", "behind"].includes(verdict);

export function candidateOf(verified: VerifiedNode, index: NodeIndex): Candidate {
  const { node, place } = index.find(verified.path);
  const { call, verdict, isReproducible } = verified;
  const made = (
    uncured: string | null,
    intention: Intention | null = null,
    cure: NodeCure | null = null,
  ): Candidate => ({ verified, node, opsets: place.opsets, intention, cure, uncured });
  if (call === null || call.inputs.includes(undefined)) return made("the inputs are unknown");
  const meant: Meant = { node: call.node, inputs: call.inputs as readonly Tensor[] };
  const intention = intentionOf(meant);
  if (intention === null) return made("this call is an error according to the specification");
  const cure = cureOf({ verdict, isReproducible, call: meant }, intention);
  if (cure === null) return made("no equivalent nodes are known", intention);
  // A function's caller sets attributes that are references.
  return Object.values(node.attributes).some(isReference)
    ? made("the attributes depend on the caller of the function", intention)
    : made(null, intention, cure);
}

/** Returns a model that contains only the node or its replacement. */
export function nodeCheck(
  { verified, node, opsets, intention, cure }: Candidate,
  isCured: boolean,
  createSession: CreateSession,
): NodeCheck {
  const { call } = verified;
  const feeds = new Map(node.inputs.map((name, at) => [name, call?.inputs[at] as Tensor]));
  const names = node.outputs.map((name, at) => [name, intention?.outputs[at] as Tensor] as const);
  const exact = new Map(names.filter(([name]) => name !== ""));
  const open = (): ReturnType<NodeCheck["open"]> => {
    const { op, domain = "ai.onnx", opset = 1, attributes = {} } = call?.node ?? { op: node.op };
    const model = buildModel({
      opsets: isCured
        ? { ...opsets, "ai.onnx": Math.max(opset, cure?.opset ?? 1) }
        : { [domain]: opset },
      inputs: Object.fromEntries(
        [...feeds].map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
      ),
      outputs: Object.fromEntries([...exact.keys()].map((name) => [name, null])),
      nodes: [
        {
          op: op ?? node.op,
          domain,
          inputs: node.inputs,
          outputs: node.outputs,
          attributes: attributes as never,
        },
      ],
    });
    if (isCured && cure !== null) {
      const words = new Words(new Names(model.graph), node.outputs[0] || node.op);
      model.graph.nodes = [...cure.write(node, words)];
    }
    return opener(createSession, writeModel(model))();
  };
  return { open, feeds, exact };
}

export interface CuredModel {
  readonly model: Model;
  /** Sentences about a conversion to a newer opset. */
  readonly notes: readonly string[];
}

/** Returns the fixed model; null if the model cannot be fixed by rewriting. The node fixes are given by node path. */
export function curedModel(given: Model, cures: ReadonlyMap<string, NodeCure>): CuredModel | null {
  const index = new NodeIndex(given);
  const placed = [...cures].map(([path, cure]) => ({ ...index.find(path), path, cure }));
  const opset = Math.max(...placed.map(({ cure }) => cure.opset));
  const isOld = placed.some(({ place }) => (place.opsets["ai.onnx"] ?? 0) < opset);
  if (!isOld) {
    const writers = new Map(placed.map(({ node, cure }) => [node, writer(node, cure)]));
    return { model: rewrittenModel(given, writers), notes: [] };
  }
  const converted = (): CuredModel => {
    // A faulty node may be invalid, so a placeholder replaces the node during the conversion of the model.
    const standIns = new Map(placed.map(({ node }) => [node, () => [standIn(node)]]));
    const { model, notes } = convertModel(rewrittenModel(given, standIns), { opset });
    const after = new NodeIndex(model);
    const writers = placed.map(
      ({ node, path, cure }) => [after.find(path).node, writer(node, cure)] as const,
    );
    const note = `the model was converted to opset ${opset}`;
    return { model: rewrittenModel(model, new Map(writers)), notes: [note, ...notes] };
  };
  return recovering(converted, () => null);
}

type Writer = (names: Names) => readonly ModelNode[];
type Writers = ReadonlyMap<ModelNode, Writer>;

const writer =
  (node: ModelNode, cure: NodeCure): Writer =>
  (names) =>
    cure.write(node, new Words(names, node.outputs[0] || node.name || node.op));

/**
 * Returns a placeholder node with the same name, inputs and outputs. A conversion leaves the placeholder unchanged, and
 * its output types are unknown.
 */
const standIn = ({ name, inputs, outputs }: ModelNode): ModelNode => ({
  ...{ name, inputs, outputs, attributes: {} },
  ...{ op: "Any", domain: "ndscatter.stand-in" },
});

function rewrittenModel(model: Model, writers: Writers): Model {
  const { functions } = model;
  const inFunction = (one: ModelFunction): ModelFunction => ({
    ...one,
    graph: rewrittenGraph(one.graph, writers),
  });
  const graph = rewrittenGraph(model.graph, writers);
  return { ...model, graph, ...(functions && { functions: functions.map(inFunction) }) };
}

function rewrittenGraph(graph: Graph, writers: Writers, names = new Names(graph)): Graph {
  const rewritten = (node: ModelNode): readonly ModelNode[] =>
    writers.get(node)?.(names) ?? [
      withBodies(node, (body) => rewrittenGraph(body, writers, names)),
    ];
  return { ...graph, nodes: graph.nodes.flatMap(rewritten) };
}
