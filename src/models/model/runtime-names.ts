/**
 * The names that ONNX Runtime gives to nodes and values when it inlines a body or a function, so that a name from its
 * messages, its profile or an optimized model leads back to the node in the file.
 *
 * As in the optimized models of version 1.30 (`Graph::InlineIfSubgraph` and `Graph::GenerateNodeName` in
 * `onnxruntime/core/graph/graph.cc`): an If whose condition is constant is replaced by a branch. The prefix is `_if_`
 * and the attribute, or in older versions the name of the branch's graph. A value inside gets the prefix and its name;
 * an output of the branch gets the name of the If's output. A node gets the prefix and its operator, because its own
 * name is dropped. An inlined function gives `_inlfunc_`, its name, and the name of the node or value. If a name is
 * taken, `_token_` and a number are appended, to the prefix as well as to the whole.
 */

import type { Place, PlacedNode } from "./places.ts";

/** The part of a name after the prefix of a place. */
export interface InlinedName {
  readonly place: Place;
  readonly rest: string;
}

/** Returns the places from which a runtime could have inlined a node or value with that name. */
export const inlinedFrom = (name: string, places: Iterable<Place>): readonly InlinedName[] =>
  [...places].flatMap((place) =>
    prefixesOf(place).flatMap((prefix) => {
      if (!name.startsWith(prefix)) return [];
      const [, rest] = /^(?:_token_\d+)?_(.+)$/s.exec(name.slice(prefix.length)) ?? [];
      return rest === undefined ? [] : [{ place, rest }];
    }),
  );

function prefixesOf({ kind, graph }: Place): readonly string[] {
  switch (kind.is) {
    case "function":
      return [`_inlfunc_${kind.name}`];
    case "body":
      return kind.op === "If"
        ? [...new Set([kind.attribute, graph.name])].map((name) => `_if_${name}`)
        : [];
    case "model":
    case "definition":
      return [];
  }
}

/** Returns a name without the number that made it unique. */
export const withoutToken = (name: string): string => name.replace(/_token_\d+$/, "");

/** Returns true if a node is in a place, or in a body of a node there. */
export function isWithin({ place }: PlacedNode, outer: Place): boolean {
  for (let at: Place | null = place; at !== null; at = at.outer) if (at === outer) return true;
  return false;
}
