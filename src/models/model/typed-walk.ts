/** Visits a model's nodes together with the types and constants of the values in their graphs. */

import { functionOf } from "./bound-graph.ts";
import { findOpset } from "./graph.ts";
import type { Model } from "./model.ts";
import {
  placeName,
  walkNodes,
  walkPlace,
  type Place,
  type PlacedNode,
  type Visitor,
} from "./places.ts";
import { standardBody } from "./standard-function.ts";
import { Scope } from "./values.ts";

/** Callbacks of a typed walk. A node's scope contains the values of its graph, with the node's own outputs. */
export interface TypedVisitor extends Pick<Visitor, "tooDeep"> {
  readonly place?: (place: Place, scope: Scope) => void;
  readonly node?: (placed: PlacedNode, scope: Scope) => void;
  /** Called for each node in the standard definition of an operator. The file does not contain these nodes. */
  readonly defining?: (placed: PlacedNode, scope: Scope) => void;
}

/** Visits all nodes of a model, or of the graph and bodies of one function, in the order of `walkNodes`. */
export function walkTyped(model: Model, visitor: TypedVisitor, start?: Place): void {
  const { place: onPlace, node: onNode, defining, tooDeep } = visitor;
  const scopes = new Map<Place, Scope>();
  const scopeOf = (place: Place): Scope => {
    const { graph, outer } = place;
    const scope = scopes.get(place) ?? new Scope(graph, outer && scopeOf(outer), model.irVersion);
    scopes.set(place, scope);
    return scope;
  };
  const visiting =
    (visit: TypedVisitor["node"]) =>
    (placed: PlacedNode): void => {
      const scope = scopeOf(placed.place);
      scope.learn(placed.node, findOpset(placed.place.opsets, placed.node));
      visit?.(placed, scope);
      const inside = defining && definitionOf(placed, scope, model);
      if (inside) walkPlace(inside, { node: visiting(defining) });
    };
  const untyped = {
    place: (place: Place): void => onPlace?.(place, scopeOf(place)),
    node: visiting(onNode),
    tooDeep,
  };
  if (start === undefined) walkNodes(model, untyped);
  else walkPlace(start, untyped);
}

/**
 * Returns the location of a node's standard definition; null if no definition is recorded. A model function with the
 * operator's name takes precedence.
 */
function definitionOf({ node, place }: PlacedNode, scope: Scope, model: Model): Place | null {
  if (functionOf(model, node) !== null) return null;
  const opset = findOpset(place.opsets, node);
  const body = standardBody(node, opset, (name) => scope.typeOf(name));
  const path = [...place.path, placeName(node)];
  const kind = { is: "definition", op: node.op } as const;
  return body && { graph: body.graph, opsets: { "ai.onnx": body.opset }, path, outer: place, kind };
}
