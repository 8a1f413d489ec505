/** Rewrites a model's faulty nodes with other operators, in the graph, in bodies and in functions. */

import { recovering } from "../../core/errors.ts";
import { Names } from "../convert/context.ts";
import { convertModel } from "../convert/convert-model.ts";
import type { Graph, Model, ModelFunction, ModelNode } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import { withBodies } from "../model/uses.ts";
import type { NodeCure } from "./candidates.ts";
import { Words } from "./words.ts";

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
