/** What is known of the values of every graph of a model, on the way through it. */

import { findOpset } from "./graph.ts";
import type { PlacedNode, Place } from "./places.ts";
import { Scope } from "./values.ts";

export class PlaceScopes {
  readonly #irVersion: number;
  readonly #scopes = new Map<Place, Scope>();

  constructor(irVersion: number) {
    this.#irVersion = irVersion;
  }

  /** Takes note of what a node makes, and returns the values of its graph; nodes come as `walkNodes` visits them. */
  learn({ node, place }: PlacedNode): Scope {
    const scope = this.scopeOf(place);
    scope.learn(node, findOpset(place.opsets, node));
    return scope;
  }

  /** The values of a graph as far as its nodes, and those around it, have been learned. */
  scopeOf(place: Place): Scope {
    const known = this.#scopes.get(place);
    if (known !== undefined) return known;
    const { graph, outer } = place;
    const scope = new Scope(graph, outer && this.scopeOf(outer), this.#irVersion);
    this.#scopes.set(place, scope);
    return scope;
  }
}
