/** Traces values back to the model inputs whose elements they contain, through operators that only move elements. */

import { calledGraph, functionOf } from "../model/bound-graph.ts";
import type { Model, ModelFunction, ModelNode } from "../model/model.ts";
import { PlaceScopes } from "../model/place-scopes.ts";
import { ownPlace, walkPlace, type Place, type PlacedNode } from "../model/places.ts";
import type { Scope } from "../model/values.ts";

/** A node visited during a walk through a model. */
export interface Visited extends PlacedNode {
  readonly scope: Scope;
  /** The model inputs that a value seen by the node consists of. */
  readonly sourcesOf: (name: string) => readonly Source[];
}

/**
 * The maximum number of function calls that are traced: functions that call others twice double the number at each
 * level.
 */
const MAX_CALLS = 1000;

/**
 * Visits the nodes of a model, of bodies of If, Loop and Scan, and of functions, once per function call.
 * @param model checked by `modelFrom`
 */
export function walkSources(model: Model, visit: (visited: Visited) => void): void {
  const scopes = new PlaceScopes(model.irVersion);
  const sources = new Sources();
  let calls = 0;
  const walkFrom = (start: Place, around: readonly ModelFunction[]): void =>
    walkPlace(start, {
      node(placed) {
        const { node, place } = placed;
        const scope = scopes.learn(placed);
        visit({ ...placed, scope, sourcesOf: (name) => sources.of(place, name) });
        const called = functionOf(model, node);
        if (called === null) sources.follow(placed, scope);
        else if (!around.includes(called) && ++calls <= MAX_CALLS) {
          const body = placeOf(model, called, placed, scope);
          sources.enter(body, placed);
          walkFrom(body, [...around, called]);
          sources.leave(body, placed);
        }
      },
    });
  walkFrom(ownPlace(model), []);
}

/** Returns the graph of a function in one of its calls. */
function placeOf(
  { opsets }: Model,
  called: ModelFunction,
  { node, place }: PlacedNode,
  scope: Scope,
): Place {
  const { name, domain } = called;
  return {
    graph: calledGraph(called, node, (input) => scope.typeOf(input)),
    opsets: { ...opsets, ...called.opsets },
    path: [...place.path, `function ${domain}.${name}`],
    outer: null,
    kind: { is: "function", name, domain },
  };
}

/** A model input whose elements a value consists of. */
export interface Source {
  readonly input: string;
  /** True if the last axis is the input's last axis, with every component in its place. */
  readonly isWhole: boolean;
}

/** The model inputs that the values of graphs consist of. */
class Sources {
  readonly #known = new Map<Place, Map<string, readonly Source[]>>();

  of(place: Place, name: string): readonly Source[] {
    const known = this.#at(place).get(name);
    if (known !== undefined) return known;
    return place.outer === null ? [] : this.of(place.outer, name);
  }

  /** Records the outputs of a node. */
  follow({ node, place }: PlacedNode, scope: Scope): void {
    const moved = movedInputs(node);
    for (const output of node.outputs) {
      const sources = moved.flatMap((input) => {
        const keeps = keepsLastAxis(node, input, output, scope);
        return this.of(place, input).map((one) => ({ ...one, isWhole: one.isWhole && keeps }));
      });
      this.#at(place).set(output, sources);
    }
  }

  /** Records the inputs of a function in a call. */
  enter(body: Place, { node, place }: PlacedNode): void {
    for (const [at, { name }] of body.graph.inputs.entries())
      this.#at(body).set(name, this.of(place, node.inputs[at] ?? ""));
  }

  /** Records the outputs of a function call. */
  leave(body: Place, { node, place }: PlacedNode): void {
    for (const [at, { name }] of body.graph.outputs.entries())
      this.#at(place).set(node.outputs[at] ?? "", this.of(body, name));
  }

  /** Returns the sources of a graph's own values, whose names hide the names in enclosing graphs. */
  #at(place: Place): Map<string, readonly Source[]> {
    const known = this.#known.get(place) ?? new Map(ownSources(place));
    this.#known.set(place, known);
    return known;
  }
}

/** Returns the sources of a graph's own values before its nodes: the inputs of the model. */
function ownSources({ graph, kind }: Place): (readonly [string, readonly Source[]])[] {
  const inputs = graph.inputs.map(({ name }): [string, readonly Source[]] => [
    name,
    kind.is === "model" ? [{ input: name, isWhole: true }] : [],
  ]);
  const isInput = new Set(graph.inputs.map(({ name }) => name));
  const constants = graph.constants.filter(({ name }) => !isInput.has(name));
  return [...inputs, ...constants.map(({ name }): [string, readonly Source[]] => [name, []])];
}

/** Operators whose outputs consist of elements of their first input, in order or repeated. */
const IN_ORDER: ReadonlySet<string> = new Set(
  "Identity Cast CastLike Reshape Unsqueeze Squeeze Flatten Expand Tile Split".split(" "),
);
/** The operators that move elements to other positions. */
const MOVED: ReadonlySet<string> = new Set(
  "Transpose Slice Gather GatherElements GatherND Compress ReverseSequence".split(" "),
);

/** Returns the inputs of which a node's outputs consist, element by element, or none for operators that compute. */
function movedInputs({ domain, op, inputs }: ModelNode): readonly string[] {
  if (domain !== "ai.onnx") return [];
  if (IN_ORDER.has(op) || MOVED.has(op)) return inputs.slice(0, 1);
  if (op === "Concat") return inputs;
  return op === "Where" ? inputs.slice(1) : [];
}

/** Returns true if an output has the same components along its last axis as the input that it consists of. */
function keepsLastAxis(node: ModelNode, input: string, output: string, scope: Scope): boolean {
  const [from, to] = [input, output].map((name) => scope.typeOf(name)?.shape ?? []);
  const last = from.at(-1);
  if (typeof last !== "number" || last !== to.at(-1)) return false;
  if (!MOVED.has(node.op)) return true;
  const { perm } = node.attributes;
  return (
    node.op === "Transpose" && perm?.type === "ints" && Number(perm.value.at(-1)) === to.length - 1
  );
}
