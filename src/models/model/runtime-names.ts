/**
 * Names that ONNX Runtime gives to nodes and values when it inlines a body or a function. Such names occur in error
 * messages, profiles and optimized models, and this file finds the original node.
 *
 * The rules follow the optimized models of version 1.30 (`Graph::InlineIfSubgraph` and `Graph::GenerateNodeName` in
 * `onnxruntime/core/graph/graph.cc`). An If with a constant condition is replaced by one of its branches. The prefix is
 * `_if_` with the attribute name; older versions use the name of the branch's graph instead. A branch output gets the
 * name of the If's output, and other values in the branch get the prefix and their own name. A node in the branch gets
 * the prefix and its operator, because its own name is dropped. An inlined function adds `_inlfunc_`, the function's
 * name, and the name of the node or value. If a name already exists, `_token_` and a number are appended to the prefix
 * and to the whole name.
 */

import type { Place, PlacedNode } from "./places.ts";

/** The part of an inlined name after the prefix. */
export interface InlinedName {
  readonly place: Place;
  readonly rest: string;
}

/** Returns the graphs from which a runtime could have inlined a node or value with this name. */
export const inlinedFrom = (name: string, places: readonly Place[]): readonly InlinedName[] =>
  places.flatMap((place) =>
    prefixesOf(place).flatMap((prefix) => {
      if (!name.startsWith(prefix)) return [];
      const [, rest] = /^(?:_token_\d+)?_(.+)$/s.exec(name.slice(prefix.length)) ?? [];
      return rest === undefined ? [] : [{ place, rest }];
    }),
  );

function prefixesOf({ kind, graph }: Place): readonly string[] {
  if (kind.is === "function") return [`_inlfunc_${kind.name}`];
  if (kind.is !== "body" || kind.op !== "If") return [];
  return [...new Set([kind.attribute, graph.name])].map((name) => `_if_${name}`);
}

export const withoutToken = (name: string): string => name.replace(/_token_\d+$/, "");

/** Returns true if a node is inside a graph or one of its bodies. */
export function isWithin({ place }: PlacedNode, outer: Place): boolean {
  for (let at: Place | null = place; at !== null; at = at.outer) if (at === outer) return true;
  return false;
}
