/** A function of a model, specialized to one of its calls. */

import type { TensorType } from "../../core/operators/operator.ts";
import {
  isReference,
  type Attribute,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
} from "./model.ts";

export type Attributes = Readonly<Record<string, Attribute>>;

/** A function that is called with each node of a function, also in bodies, and the node that replaces it in a call. */
export type OnBound = (node: ModelNode, bound: ModelNode) => void;

/**
 * Returns a function's graph with the attribute values of a call.
 * @param absent inputs that the call omits
 */
export function boundGraph(
  graph: Graph,
  attributes: Attributes,
  absent: ReadonlySet<string>,
  onBound: OnBound = () => {},
): Graph {
  const bodies = (attribute: Attribute): Attribute =>
    attribute.type !== "other" || !attribute.graphs
      ? attribute
      : {
          ...attribute,
          graphs: attribute.graphs.map((one) => boundGraph(one, attributes, absent, onBound)),
        };
  const nodes = graph.nodes.map((node) => {
    const own = Object.entries(node.attributes).flatMap(([name, one]) => {
      const value = isReference(one) ? attributes[one.reference] : one;
      return value === undefined ? [] : [[name, bodies(value)] as const];
    });
    const bound = {
      ...node,
      inputs: node.inputs.map((name) => (absent.has(name) ? "" : name)),
      attributes: Object.fromEntries(own),
    };
    onBound(node, bound);
    return bound;
  });
  return { ...graph, nodes };
}

/** Returns the function that a node calls, or null for an operator. */
export const functionOf = (
  { functions = [] }: Model,
  { op, domain }: ModelNode,
): ModelFunction | null =>
  functions.find((one) => one.name === op && one.domain === domain) ?? null;

/**
 * Returns a function's graph for one of its calls, with the call's attributes and input types.
 * @param typeOf returns the known type of an input of the call
 */
export function calledGraph(
  { graph, attributes }: ModelFunction,
  call: ModelNode,
  typeOf: (name: string) => TensorType | null,
  onBound?: OnBound,
): Graph {
  const absent = graph.inputs.filter((_, at) => (call.inputs[at] ?? "") === "");
  const bound = boundGraph(
    graph,
    { ...attributes, ...call.attributes },
    new Set(absent.map(({ name }) => name)),
    onBound,
  );
  const inputs = graph.inputs.map((one, at) => ({ ...one, type: typeOf(call.inputs[at] ?? "") }));
  return { ...bound, inputs };
}
