/** Traces values back to the model inputs that contain the same elements, through operators that only move elements. */

import { calledGraph, functionOf } from "../model/bound-graph.ts";
import type { Model, ModelFunction, ModelNode, ValueInfo } from "../model/model.ts";
import { ownPlace, type Place, type PlacedNode } from "../model/places.ts";
import { walkTyped, type TypedVisitor } from "../model/typed-walk.ts";
import type { Scope } from "../model/values.ts";

/** A visited node in a walk through a model. */
export interface Visited extends PlacedNode {
  readonly scope: Scope;
  /** Returns the model inputs whose elements a value contains, as the node sees the value. */
  readonly sourcesOf: (name: string) => readonly Source[];
}

/**
 * The maximum number of traced function calls. Functions that call other functions twice double the number at each
 * level.
 */
const MAX_CALLS = 1000;

/**
 * Visits all nodes, including nodes in bodies of If, Loop and Scan. A function's nodes are visited once per call. The
 * model must have been checked by `modelFrom`.
 */
export function walkSources(model: Model, visit: (visited: Visited) => void): void {
  const sources = new Sources();
  let calls = 0;
  const walkFrom = (start: Place, around: readonly ModelFunction[]): void => {
    const visitor: TypedVisitor = {
      node(placed, scope) {
        const { node, place } = placed;
        visit({ ...placed, scope, sourcesOf: (name) => sources.of(place, name) });
        const called = functionOf(model, node);
        if (called === null) sources.follow(placed, scope);
        else if (!around.includes(called) && ++calls <= MAX_CALLS) {
          const body = placeOf(model, called, placed, scope);
          const [inputs, outputs] = [body.graph.inputs, body.graph.outputs].map(namesOf);
          sources.pass(place, node.inputs, body, inputs);
          walkFrom(body, [...around, called]);
          sources.pass(body, outputs, place, node.outputs);
        }
      },
    };
    walkTyped(model, visitor, start);
  };
  walkFrom(ownPlace(model), []);
}

const namesOf = (values: readonly ValueInfo[]): string[] => values.map(({ name }) => name);

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

/** A model input whose elements a value contains. */
export interface Source {
  readonly input: string;
  /** True if the value's last axis equals the input's last axis, component by component. */
  readonly isWhole: boolean;
}

class Sources {
  readonly #known = new Map<Place, Map<string, readonly Source[]>>();

  /** Returns a value's sources. A graph's own values hide enclosing values of the same name. */
  of(place: Place, name: string): readonly Source[] {
    const known = this.#at(place).get(name);
    if (known !== undefined) return known;
    return place.outer === null ? [] : this.of(place.outer, name);
  }

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

  /** Passes the sources of values to values of another graph: arguments of a call, or results of a function. */
  pass(from: Place, names: readonly string[], to: Place, values: readonly string[]): void {
    for (const [at, name] of values.entries())
      this.#at(to).set(name, this.of(from, names[at] ?? ""));
  }

  /** Returns the sources of a graph's own values: at first, only the model's inputs have sources. */
  #at(place: Place): Map<string, readonly Source[]> {
    const { graph, kind } = place;
    const known = this.#known.get(place);
    if (known !== undefined) return known;
    const own = new Map<string, readonly Source[]>();
    for (const { name } of graph.constants) own.set(name, []);
    for (const { name } of graph.inputs)
      own.set(name, kind.is === "model" ? [{ input: name, isWhole: true }] : []);
    this.#known.set(place, own);
    return own;
  }
}

/** Operators whose output contains elements of their first input, in the same order or repeated. */
const IN_ORDER: ReadonlySet<string> = new Set(
  "Identity Cast CastLike Reshape Unsqueeze Squeeze Flatten Expand Tile Split".split(" "),
);
/** Operators that move elements to other positions. */
const MOVED: ReadonlySet<string> = new Set(
  "Transpose Slice Gather GatherElements GatherND Compress ReverseSequence".split(" "),
);

/** Returns the inputs whose elements a node's outputs contain; empty for operators that compute new elements. */
function movedInputs({ domain, op, inputs }: ModelNode): readonly string[] {
  if (domain !== "ai.onnx") return [];
  if (IN_ORDER.has(op) || MOVED.has(op)) return inputs.slice(0, 1);
  if (op === "Concat") return inputs;
  return op === "Where" ? inputs.slice(1) : [];
}

/** Returns true if an output's last axis has the same components as the last axis of its source. */
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
