/** Converts a graph to another opset of its format: every node in its place, and the bodies of If, Loop and Scan. */

import { opsetOf, quote } from "../model/graph.ts";
import type { Attribute, Graph, ModelFunction, ModelNode } from "../model/model.ts";
import { Scope } from "../model/values.ts";
import { Additions } from "./additions.ts";
import type { GraphContext, ModelContext } from "./context.ts";
import { convertInline } from "./convert-inline.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal, versionTitle } from "./meaning.ts";
import { bodiesOf, withoutUnused } from "./names.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

/**
 * @param outer of the graph around a body, null for the model's own
 * @returns the same object where nothing in it changes
 */
export function convertGraph(graph: Graph, outer: Scope | null, context: ModelContext): Graph {
  const { model, target, names, log } = context;
  const scope = new Scope(graph, outer);
  const additions = new Additions(target.domain, names, scope);
  const around = { target, scope, additions };
  const nodes: ModelNode[] = [];
  for (const node of graph.nodes) {
    const converted = log.attempt(node, node, () => convertOne(node, around, context));
    nodes.push(...additions.takeNodes(), converted);
    scope.learn(node, opsetOf(model, node));
  }
  if (nodes.every((node, at) => node === graph.nodes[at])) return graph;
  const after = { ...graph, nodes };
  const constants = withoutUnused([...graph.constants, ...additions.constants], graph, after);
  return { ...after, constants };
}

function convertOne(node: ModelNode, around: GraphContext, context: ModelContext): ModelNode {
  const { model, target, log } = context;
  const { scope } = around;
  if (node.domain !== target.domain) return convertBodies(node, scope, context);
  const opset = opsetOf(model, node);
  if (familyVersion(node, opset) !== null) {
    const converted = convertNode(node, opset, around);
    log.converted(node, converted);
    return converted.node;
  }
  if (target.domain === "openvino") {
    if (convertBodies(node, scope, context) !== node) {
      throw refusal(
        "it has a body with nodes of another opset, and bodies in an IR stay as they are",
      );
    }
    // Every node has a version of its own, which stays.
    if (opset > target.opset) log.left(node);
    return node;
  }
  const inline = convertInline(node, opset, target, scope);
  if (inline === null) {
    if (opset !== target.opset) log.left(node);
    return convertBodies(node, scope, context);
  }
  if (inline !== node) {
    log.changed(node, `${node.op} without what opset ${target.opset} does not have`);
  }
  return inline;
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
 * Checks that a function may stay as it is. It keeps the opset that it imports, which ONNX allows as long as that means
 * the same versions as the opset of the model.
 * @throws TensorError `unsupported-model` for a node of the family that would mean another version
 */
export function checkFunction({ name, opsets, graph }: ModelFunction, target: CheckedTarget): void {
  const { domain } = target;
  if (!Object.hasOwn(opsets, domain)) return;
  const check = ({ nodes }: Graph): void => {
    for (const node of nodes) {
      const version = node.domain === domain ? familyVersion(node, opsets[domain]) : null;
      if (version !== null && version !== familyVersion(node, target.opset)) {
        throw refusal(
          `the function ${quote(name)} holds ${versionTitle(version)}, and functions are not converted to ` +
            `${printTarget(target)}; put its nodes in the place of its calls first`,
        );
      }
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type === "other") bodiesOf(attribute.graphs).forEach(check);
      }
    }
  };
  check(graph);
}
