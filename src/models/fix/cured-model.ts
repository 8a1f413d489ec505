/** Rewrites a model's faulty nodes with other operators, in the graph, in bodies and in functions. */

import { isTensorError, sentenceOf } from "../../core/errors.ts";
import { convertModel } from "../convert/convert-model.ts";
import { Names } from "../convert/context.ts";
import type { Attribute, Graph, Model, ModelNode } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import { bodiesOf } from "../model/uses.ts";
import type { NodeCure } from "./cured-node.ts";
import { Words } from "./words.ts";

export interface CuredModel {
  readonly model: Model;
  /** Sentences about a conversion to a newer opset. */
  readonly notes: readonly string[];
}

/**
 * Returns the fixed model, or the reason why the model cannot be fixed by rewriting. The node fixes are given by node
 * path.
 */
export function curedModel(
  given: Model,
  cures: ReadonlyMap<string, NodeCure>,
): CuredModel | { readonly refused: string } {
  const index = new NodeIndex(given);
  const placed = [...cures].map(([path, cure]) => ({ ...index.find(path), path, cure }));
  const opset = Math.max(...placed.map(({ cure }) => cure.opset));
  const isOld = placed.some(({ place }) => (place.opsets["ai.onnx"] ?? 0) < opset);
  if (!isOld) {
    const writers = new Map(placed.map(({ node, cure }) => [node, writer(node, cure)]));
    return { model: rewrittenModel(given, writers), notes: [] };
  }
  try {
    // A faulty node may be invalid, so a placeholder replaces the node during the conversion of the model.
    const standIns = new Map(placed.map(({ node }) => [node, () => [standIn(node)]]));
    const plain = rewrittenModel(withDomain(given), standIns);
    const { model, notes } = convertModel(plain, { opset });
    const converted = new NodeIndex(model);
    const writers = placed.map(
      ({ node, path, cure }) => [converted.find(path).node, writer(node, cure)] as const,
    );
    const note = `the model was converted to opset ${opset}`;
    const written = rewrittenModel(model, new Map(writers));
    return { model: withoutDomain(written), notes: [note, ...notes] };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { refused: sentenceOf(error) };
  }
}

type Writer = (names: Names) => readonly ModelNode[];

const writer =
  (node: ModelNode, cure: NodeCure): Writer =>
  (names) =>
    cure.write(node, new Words(names, node.outputs[0] || node.name || node.op));

const STAND_INS = "ndscatter.stand-in";

/**
 * Returns a placeholder node with the same name, inputs and outputs. A conversion leaves the placeholder unchanged, and
 * its output types are unknown.
 */
const standIn = (node: ModelNode): ModelNode => {
  const { name, inputs, outputs } = node;
  return { name, inputs, outputs, op: "Any", domain: STAND_INS, attributes: {} };
};

const withDomain = (model: Model): Model =>
  withOpsets(model, (all) => ({ ...all, [STAND_INS]: 1 }));

const withoutDomain = (model: Model): Model =>
  withOpsets(model, (all) =>
    Object.fromEntries(Object.entries(all).filter(([domain]) => domain !== STAND_INS)),
  );

type Opsets = Model["opsets"];

function withOpsets(model: Model, change: (opsets: Opsets) => Opsets): Model {
  const functions = model.functions?.map((one) => ({ ...one, opsets: change(one.opsets) }));
  return { ...model, opsets: change(model.opsets), ...(functions && { functions }) };
}

function rewrittenModel(model: Model, writers: ReadonlyMap<ModelNode, Writer>): Model {
  const { functions } = model;
  const graph = rewrittenGraph(model.graph, writers, new Names(model.graph));
  if (functions === undefined) return { ...model, graph };
  const others = functions.map((one) => ({
    ...one,
    graph: rewrittenGraph(one.graph, writers, new Names(one.graph)),
  }));
  return { ...model, graph, functions: others };
}

function rewrittenGraph(
  graph: Graph,
  writers: ReadonlyMap<ModelNode, Writer>,
  names: Names,
): Graph {
  const nodes = graph.nodes.flatMap(
    (node) => writers.get(node)?.(names) ?? [withBodies(node, writers, names)],
  );
  return { ...graph, nodes };
}

function withBodies(
  node: ModelNode,
  writers: ReadonlyMap<ModelNode, Writer>,
  names: Names,
): ModelNode {
  const attributes = Object.entries(node.attributes).map(([key, one]): [string, Attribute] => {
    if (one.type !== "other" || one.graphs === undefined) return [key, one];
    const graphs = bodiesOf(one.graphs).map((body) => rewrittenGraph(body, writers, names));
    return [key, { ...one, graphs }];
  });
  return { ...node, attributes: Object.fromEntries(attributes) };
}
