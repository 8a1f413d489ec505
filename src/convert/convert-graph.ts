/** Converts a graph to another opset of its format: every node in its place, and the bodies of If, Loop and Scan. */

import { findOpset, opsetOf, quote } from "../model/graph.ts";
import type { Attribute, Graph, ModelFunction, ModelNode } from "../model/model.ts";
import { Scope } from "../model/values.ts";
import { Additions } from "./additions.ts";
import type { GraphContext, ModelContext } from "./context.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal, versionTitle } from "./meaning.ts";
import { ConversionLog } from "./log.ts";
import { bodiesOf, withoutUnused } from "./names.ts";
import { convertVersions, versionName } from "./versions/convert-versions.ts";

/**
 * @param outer of the graph around a body, null for the model's own
 * @returns the same object where nothing in it changes
 */
export function convertGraph(graph: Graph, outer: Scope | null, context: ModelContext): Graph {
  const { model, target, names, log } = context;
  const scope = new Scope(graph, outer);
  const additions = new Additions(target.domain, names, scope);
  const around = { target, scope, additions, force: log.force };
  const nodes: ModelNode[] = [];
  for (const node of graph.nodes) {
    scope.learn(node, findOpset(model.opsets, node));
    const converted = log.attempt(
      node,
      () => [target.domain === "ai.onnx" ? convertBodies(node, scope, context) : node],
      () => convertOne(node, around, context),
    );
    nodes.push(...additions.takeNodes(), ...converted);
  }
  if (nodes.every((node, at) => node === graph.nodes[at])) return graph;
  const after = { ...graph, nodes };
  return { ...after, constants: withoutUnused(additions.constants, graph, after) };
}

/** @returns the nodes that take its place; the last one does what it did */
function convertOne(
  node: ModelNode,
  around: GraphContext,
  context: ModelContext,
): readonly ModelNode[] {
  const { model, target, log } = context;
  const { scope } = around;
  // A domain that is no format's has versions of its own, which stay.
  if (node.domain !== target.domain) return [convertBodies(node, scope, context)];
  const opset = opsetOf(model, node);
  if (familyVersion(node, opset) !== null) {
    const converted = convertNode(node, opset, around);
    log.converted(node, converted);
    return [converted.node];
  }
  if (target.domain === "openvino") {
    if (convertBodies(node, scope, context) !== node) {
      throw refusal(
        "it has a body with nodes of another opset, and bodies in an IR stay as they are",
      );
    }
    // Every node has a version of its own, which stays.
    if (opset > target.opset) throw refusal(`it is of opset ${opset}, and stays as it is`);
    return [node];
  }
  const revised = convertVersions(node, opset, around);
  log.revised(node, revised);
  return revised.nodes.map((one) => convertBodies(one, scope, context));
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
 * Checks that a function may stay as it is, which it may where its nodes would not change. It keeps the opset that it
 * imports, although ONNX Runtime reads its nodes by the opset of the model.
 */
export function checkFunction(
  { name, opsets, graph }: ModelFunction,
  { model, target, names, log }: ModelContext,
): void {
  const { domain } = target;
  if (!Object.hasOwn(opsets, domain)) return;
  const scope = new Scope(graph);
  const additions = new Additions(domain, names, scope);
  for (const node of graph.nodes) {
    const opset = findOpset(opsets, node);
    scope.learn(node, opset);
    log.attempt(
      node,
      () => {},
      () => {
        const own = new ConversionLog(target, false);
        const context = { model: { ...model, opsets }, target, names, log: own };
        const isSame =
          (opset !== null && versionIn(node, opset) === versionIn(node, target.opset)) ||
          convertOne(node, { target, scope, additions, force: false }, context)[0] === node;
        own.check();
        if (isSame) return;
        const version = versionIn(node, opset ?? target.opset);
        throw refusal(
          `the function ${quote(name)} holds ${version}, and functions are not converted; ` +
            "put its nodes in the place of its calls first",
        );
      },
    );
  }
}

/** The version that a node is of in an opset, such as `Softmax-13`. */
function versionIn(node: ModelNode, opset: number): string {
  const family = familyVersion(node, opset);
  return family === null ? versionName(node.op, opset) : versionTitle(family);
}
