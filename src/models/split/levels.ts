/**
 * Assigns a graph's nodes to levels, between which the graph is cut. A node's level is the greatest number of cuts on
 * any path from the graph's inputs to the node. This choice minimizes the number of parts.
 */

import type { Graph, ModelNode } from "../model/model.ts";
import type { GraphUses } from "../model/uses.ts";

export type Levels = Map<ModelNode, number>;

/** Returns true if the graph is cut between the node that computes a value and a node that uses the value. */
export type IsCut = (name: string, maker: ModelNode, user: ModelNode) => boolean;

export function levelsOf(uses: GraphUses, isCut: IsCut): Levels {
  const levels: Levels = new Map();
  for (const node of uses.nodes) {
    let level = 0;
    for (const name of uses.needsOf(node)) {
      const maker = uses.makers.get(name);
      if (maker === undefined) continue;
      const before = (levels.get(maker) ?? 0) + (isCut(name, maker, node) ? 1 : 0);
      level = Math.max(level, before);
    }
    levels.set(node, level);
  }
  return levels;
}

/**
 * Moves nodes to the last possible level, next to the nodes that use their results. A runtime fuses two operators only
 * if no other node or output uses the value between them. After the move, no such value passes between levels, because
 * a fused convolution and addition rounds differently from separate operators. A node that reduces its input is moved
 * only if the later level needs the input anyway.
 */
export function sinkNodes(
  graph: Graph,
  uses: GraphUses,
  levels: Levels,
  mayMove: (node: ModelNode) => boolean,
): void {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of uses.nodes.toReversed()) {
    if (!mayMove(node) || node.outputs.some((name) => outputs.has(name))) continue;
    const users = node.outputs.flatMap((name) => uses.usersOf(name));
    if (users.length === 0) continue;
    const level = users.reduce((least, user) => Math.min(least, levels.get(user) ?? 0), Infinity);
    const isThere = (name: string): boolean =>
      !uses.makers.has(name) ||
      uses.usersOf(name).some((user) => user !== node && levels.get(user) === level);
    if (!REDUCES.test(node.op) || uses.needsOf(node).every(isThere)) levels.set(node, level);
  }
}

/** Operators with outputs much smaller than their inputs. */
const REDUCES = /^(Arg|Global|Reduce|Shape|Size)/;
