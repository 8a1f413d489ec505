/** Converts the nodes of a graph, including the bodies of If, Loop and Scan, to another opset of the same format. */

import { isTensorError } from "../../core/errors.ts";
import { functionOf } from "../model/bound-graph.ts";
import { checkUnique, findOpset, opsetOf } from "../model/graph.ts";
import {
  isReference,
  nodeTitle,
  type Constant,
  type Graph,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import { standardBody } from "../model/standard-function.ts";
import { usesOf, withBodies } from "../model/uses.ts";
import { Scope } from "../model/values.ts";
import { inGraph, Names, onnxNode, type GraphContext, type ModelContext } from "./context.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal } from "./meaning.ts";
import { kernelNote } from "./target.ts";
import { convertVersions } from "./versions/convert-versions.ts";

/**
 * Converts a graph; returns the same graph if no node needs a change. A body receives the scope of its enclosing graph
 * as `outer`.
 */
export function convertGraph(graph: Graph, outer: Scope | null, context: ModelContext): Graph {
  checkUnique(graph);
  const around = inGraph(context, new Scope(graph, outer));
  const { model, target, scope, additions, log } = around;
  const unchanged = (node: ModelNode): readonly ModelNode[] => {
    // Nodes that were added for a refused node are not needed.
    additions.takeNodes();
    return [target.domain === "ai.onnx" ? convertBodies(node, around) : node];
  };
  const nodes: ModelNode[] = [];
  for (const node of graph.nodes) {
    scope.learn(node, findOpset(model.opsets, node));
    const convert = (): readonly ModelNode[] => convertOne(node, around);
    const converted = log.attempt(node, convert, () => unchanged(node));
    nodes.push(...additions.takeNodes(), ...converted);
  }
  if (nodes.every((node, at) => node === graph.nodes[at])) return graph;
  const after = { ...graph, nodes };
  return { ...after, constants: neededConstants(additions.constants, graph, after) };
}

/**
 * Returns a converted graph's constants, without those that the conversion made unused, and without unused added ones.
 */
function neededConstants(added: readonly Constant[], before: Graph, after: Graph): Constant[] {
  const [were, are] = [usesOf(before), usesOf(after)];
  const kept = before.constants.filter(({ name }) => are.has(name) || !were.has(name));
  return [...kept, ...added.filter(({ name }) => are.has(name))];
}

function convertOne(node: ModelNode, context: GraphContext): readonly ModelNode[] {
  const { model, target, log } = context;
  // Nodes in other domains stay unchanged, because each domain has its own versions.
  if (node.domain !== target.domain) return [convertBodies(node, context)];
  const opset = opsetOf(model, node);
  const version = familyVersion(node, opset);
  if (version !== null) {
    const isFixed = !Object.values(node.attributes).some(isReference);
    if (!isFixed && version === familyVersion(node, target.opset)) return [node];
    return convertNode(node, opset, context);
  }
  if (target.domain === "openvino") {
    if (convertBodies(node, context) !== node)
      throw refusal("the body has nodes of another opset, and bodies in an IR cannot be changed");
    // The node stays unchanged, because it has its own version.
    if (opset > target.opset)
      throw refusal(`it has opset ${opset}, and this package cannot convert it`);
    return [node];
  }
  let nodes: readonly ModelNode[];
  try {
    nodes = convertVersions(node, opset, context);
  } catch (cause) {
    const isRefused = isTensorError(cause, "unsupported-model");
    const inside = isRefused ? replacedByBody(node, opset, context) : null;
    if (inside === null) throw cause;
    return inside;
  }
  const note = kernelNote(node.op, opset, target.opset);
  if (note !== null) log.notes.add(note);
  return nodes.map((one) => convertBodies(one, context));
}

/**
 * Replaces a node that an older target cannot express by the nodes of its standard definition; null if the definition
 * is not recorded.
 */
function replacedByBody(
  node: ModelNode,
  opset: number,
  context: GraphContext,
): readonly ModelNode[] | null {
  const { model, target, names, log, scope, additions } = context;
  if (target.opset > opset || functionOf(model, node) !== null) return null;
  const typeOf = (name: string): ReturnType<Scope["typeOf"]> => scope.typeOf(name);
  const body = standardBody(node, opset, typeOf, (name) => names.fresh(name));
  if (body === null) return null;
  const { nodes } = body.graph;
  const inside = {
    ...context,
    model: { ...model, opsets: { ...model.opsets, "ai.onnx": body.opset } },
  };
  const converted = nodes.flatMap((one) => {
    scope.learn(one, body.opset);
    const replaced = convertOne(one, inside);
    return [...additions.takeNodes(), ...replaced];
  });
  log.changed(node, `${node.op}-${body.opset} to the ${nodes.length} nodes that define it`);
  log.notes.add(
    `${nodeTitle(node)}: a runtime with a kernel for ${node.op} may round differently from the nodes that define it`,
  );
  return converted;
}

const convertBodies = (node: ModelNode, context: GraphContext): ModelNode =>
  withBodies(node, (body) => convertGraph(body, context.scope, context));

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

const constantNode = (value: Constant): ModelNode =>
  onnxNode("Constant", [], [value.name], { value: { type: "tensor", value } });
