/** The types of a model's values that are known before the model runs. */

import type { TensorType } from "../../core/operators/operator.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { findOpset } from "../model/graph.ts";
import { valueNames, type Graph, type Model } from "../model/model.ts";
import type { Place } from "../model/places.ts";
import { walkTyped } from "../model/typed-walk.ts";
import { isCertain, Scope } from "../model/values.ts";

/** A value's type. Unknown sizes are null or names. */
export interface InferredType extends TensorType {
  /**
   * False if the type depends on a declaration. Runtimes do not check the declared type of a value between two nodes.
   */
  readonly isCertain: boolean;
}

/**
 * Returns the types of a model's values. The types follow from the model's inputs, constants, declared types, and the
 * rules of ONNX operators.
 *
 * @param model a model of any format, as from `readModel` or `readOutline`
 * @returns types by value name. For a value in a body or a function, the path of its graph precedes the name, as in `If
 * "choose" / then_branch / y`. Values of unknown type, sequences and optionals are left out.
 * @throws TensorError `malformed-file` for a value that is not a model
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * inferTypes(model).get("sums")?.shape; // [4, 2]
 * ```
 */
export function inferTypes(model: Model): ReadonlyMap<string, InferredType> {
  const own = modelFrom(model);
  const types = new Map<string, InferredType>();
  const scopes = new Map<Place, Scope>();
  walkTyped(own, { place: (place, scope) => scopes.set(place, scope) });
  for (const [{ path, graph }, scope] of scopes) {
    const prefix = path.map((part) => `${part} / `).join("");
    for (const name of valueNames(graph)) {
      const value = scope.get(name);
      const { type } = value.believed;
      if (name !== "" && type !== null)
        types.set(prefix + name, { ...type, isCertain: isCertain(value) });
    }
  }
  return types;
}

/** Returns the scope of a graph after all of its nodes. */
export function scopeOf(
  graph: Graph,
  opsets: Model["opsets"],
  outer: Scope | null,
  irVersion: number,
): Scope {
  const scope = new Scope(graph, outer, irVersion);
  for (const node of graph.nodes) scope.learn(node, findOpset(opsets, node));
  return scope;
}
