/** Finds gathers that feed replaced nodes and can run together with them. */

import { findVersion, isOperator } from "../../core/operators/registry.ts";
import type { Constant, Graph, ModelNode } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import type { GraphUses } from "../model/uses.ts";
import { findOpset } from "../model/graph.ts";

/**
 * Adds to `ours` each gather whose results only nodes of `ours` use. The runtime then transfers the gather's data
 * instead of its result. In a graph network the result is larger than the data, because the network gathers one row per
 * edge. A gather from weights stays in the runtime, because its data would otherwise be in memory twice.
 */
export function absorbGathers(
  graph: Graph,
  opsets: Readonly<Record<string, number>>,
  uses: GraphUses,
  ours: Set<ModelNode>,
  { scope, constants }: { scope: Scope; constants: ReadonlyMap<string, Constant> },
): void {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of uses.nodes.toReversed()) {
    const [data = ""] = node.inputs;
    const [output = ""] = node.outputs;
    const users = uses.usersOf(output);
    const isFeeder =
      users.length > 0 &&
      !outputs.has(output) &&
      users.every((user) => ours.has(user) && isOperator(user));
    if (!isFeeder || ours.has(node) || !isGather(node, opsets)) continue;
    if (scope.constantOf(data) !== null || constants.has(data)) continue;
    const [before, after] = [sizeOf(scope, data), sizeOf(scope, output)];
    if (before === null || after === null || before <= after) ours.add(node);
  }
}

function isGather(node: ModelNode, opsets: Readonly<Record<string, number>>): boolean {
  const { domain, op } = node;
  const opset = findOpset(opsets, node);
  if (opset === null || !op.startsWith("Gather")) return false;
  return findVersion({ domain, op, opset }) !== null;
}

function sizeOf(scope: Scope, name: string): number | null {
  const shape = scope.get(name).certain.type?.shape ?? null;
  if (shape === null) return null;
  let size = 1;
  for (const dim of shape) {
    if (typeof dim !== "number") return null;
    size *= dim;
  }
  return size;
}
