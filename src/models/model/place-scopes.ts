/** Types and constants of the values in all graphs of a model, collected during a walk. */

import { findOpset } from "./graph.ts";
import type { PlacedNode, Place } from "./places.ts";
import { Scope } from "./values.ts";

export class PlaceScopes {
  readonly #irVersion: number;
  readonly #scopes = new Map<Place, Scope>();

  constructor(irVersion: number) {
    this.#irVersion = irVersion;
  }

  /** Records a node's outputs, and returns its graph's values. Call this method in the order of `walkNodes`. */
  learn({ node, place }: PlacedNode): Scope {
    const scope = this.scopeOf(place);
    scope.learn(node, findOpset(place.opsets, node));
    return scope;
  }

  scopeOf(place: Place): Scope {
    const known = this.#scopes.get(place);
    if (known !== undefined) return known;
    const { graph, outer } = place;
    const scope = new Scope(graph, outer && this.scopeOf(outer), this.#irVersion);
    this.#scopes.set(place, scope);
    return scope;
  }
}
