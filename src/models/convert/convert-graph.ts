/** Converts the nodes of a graph, including the bodies of If, Loop and Scan, to another opset of the same format. */

import { isTensorError } from "../../core/errors.ts";
import { checkUnique, findOpset, opsetOf } from "../model/graph.ts";
import {
  isReference,
  nodeTitle,
  type Attribute,
  type Constant,
  type Graph,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import { hasFunction, standardBody } from "../model/standard-function.ts";
import { Scope } from "../model/values.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { Additions } from "./additions.ts";
import type { GraphContext, ModelContext } from "./context.ts";
import type { Revised } from "./log.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal } from "./meaning.ts";
import { bodiesOf } from "../model/uses.ts";
import { Names, withoutUnused } from "./names.ts";
import { kernelNote } from "./target.ts";
import { convertVersions } from "./versions/convert-versions.ts";

/**
 * Converts a graph; returns the same graph if no node needs a change. A body receives the scope of its enclosing graph as
 * `outer`.
 */
export function convertGraph(graph: Graph, outer: Scope | null, context: ModelContext): Graph {
  const { model, target, names, log } = context;
  checkUnique(graph);
  const scope = new Scope(graph, outer);
  const additions = new Additions(target, names, scope);
  const around = { target, scope, additions, force: log.force };
  const nodes: ModelNode[] = [];
  for (const node of graph.nodes) {
    scope.learn(node, findOpset(model.opsets, node));
    const converted = log.attempt(
      node,
      () => convertOne(node, around, context),
      () => [target.domain === "ai.onnx" ? convertBodies(node, scope, context) : node],
    );
    nodes.push(...additions.takeNodes(), ...converted);
  }
  if (nodes.every((node, at) => node === graph.nodes[at])) return graph;
  const after = { ...graph, nodes };
  return { ...after, constants: withoutUnused(additions.constants, graph, after) };
}

function convertOne(
  node: ModelNode,
  around: GraphContext,
  context: ModelContext,
): readonly ModelNode[] {
  const { model, target, log } = context;
  const { scope } = around;
  // Nodes in other domains stay unchanged, because each domain has its own versions.
  if (node.domain !== target.domain) return [convertBodies(node, scope, context)];
  const opset = opsetOf(model, node);
  const version = familyVersion(node, opset);
  if (version !== null) {
    const isFixed = !Object.values(node.attributes).some(isReference);
    if (!isFixed && version === familyVersion(node, target.opset)) return [node];
    const converted = convertNode(node, opset, around);
    log.converted(node, converted);
    return [converted.node];
  }
  if (target.domain === "openvino") {
    const { length } = log.changes;
    if (convertBodies(node, scope, context) !== node) {
      // Changes logged for the node's body are discarded, because the node stays unchanged.
      log.changes.length = length;
      throw refusal("the body has nodes of another opset, and bodies in an IR cannot be changed");
    }
    // The node stays unchanged, because it has its own version.
    if (opset > target.opset)
      throw refusal(`it has opset ${opset}, and this package cannot convert it`);
    return [node];
  }
  let revised: Revised;
  try {
    revised = convertVersions(node, opset, around);
  } catch (cause) {
    const inside = isTensorError(cause, "unsupported-model")
      ? replacedByBody(node, opset, around, context)
      : null;
    if (inside === null) throw cause;
    return inside;
  }
  log.revised(node, revised);
  const note = kernelNote(node.op, opset, target.opset);
  if (note !== null) log.notes.add(note);
  return revised.nodes.map((one) => convertBodies(one, scope, context));
}

/**
 * Replaces a node that an older target cannot express by the nodes of its standard definition; null if the definition
 * is not recorded.
 */
function replacedByBody(
  node: ModelNode,
  opset: number,
  around: GraphContext,
  context: ModelContext,
): readonly ModelNode[] | null {
  const { model, target, names, log } = context;
  const { scope } = around;
  if (target.opset > opset || hasFunction(model, node)) return null;
  const typeOf = (name: string): TensorType | null => scope.typeOf(name);
  const body = standardBody(node, opset, typeOf, (name) => names.fresh(name));
  if (body === null) return null;
  const { nodes } = body.graph;
  const inner = {
    ...context,
    model: { ...model, opsets: { ...model.opsets, "ai.onnx": body.opset } },
  };
  const { length } = log.changes;
  const converted: ModelNode[] = [];
  try {
    for (const one of nodes) {
      scope.learn(one, body.opset);
      const replaced = convertOne(one, around, inner);
      converted.push(...around.additions.takeNodes(), ...replaced);
    }
  } catch (cause) {
    // With `force`, the node may stay unchanged, so changes and additions for its body are discarded.
    log.changes.length = length;
    around.additions.takeNodes();
    throw cause;
  }
  log.changed(node, `${node.op}-${body.opset} to the ${nodes.length} nodes that define it`);
  log.notes.add(
    `${nodeTitle(node)}: a runtime with a kernel for ${node.op} may round differently from the nodes that define it`,
  );
  return converted;
}

function convertBodies(node: ModelNode, scope: Scope, context: ModelContext): ModelNode {
  let isSame = true;
  const attributes = Object.entries(node.attributes).map(([name, attribute]) => {
    if (attribute.type !== "other") return [name, attribute] as const;
    const before = bodiesOf(attribute.graphs);
    const graphs = before.map((body) => convertGraph(body, scope, context));
    if (graphs.every((body, at) => body === before[at])) return [name, attribute] as const;
    isSame = false;
    const changed: Attribute = { ...attribute, graphs };
    return [name, changed] as const;
  });
  return isSame ? node : { ...node, attributes: Object.fromEntries(attributes) };
}

/**
 * Converts a function to the model's opset, because a function's nodes must have the same meaning as the model's nodes.
 * The function's input types are unknown, and its only constants come from its own nodes.
 */
export function convertFunction(given: ModelFunction, context: ModelContext): ModelFunction {
  const { opsets, graph, otherOpsets: _, ...others } = given;
  const { model, target } = context;
  const { domain, opset } = target;
  if (!Object.hasOwn(opsets, domain) || opsets[domain] === opset) return given;
  const own = { ...context, model: { ...model, opsets }, names: new Names(graph) };
  const { constants, nodes } = convertGraph(graph, null, own);
  const all = [...constants.map(constantNode), ...nodes];
  const converted = { ...graph, constants: [], nodes: all };
  return { ...others, opsets: { ...opsets, [domain]: opset }, graph: converted };
}

const constantNode = (value: Constant): ModelNode => ({
  name: value.name,
  op: "Constant",
  domain: "ai.onnx",
  inputs: [],
  outputs: [value.name],
  attributes: { value: { type: "tensor", value } },
});
