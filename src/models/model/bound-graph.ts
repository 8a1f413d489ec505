/** A model's function, specialized for one of its calls. */

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

/** Called with each node of a function, also in bodies, and with the specialized node that replaces it. */
export type OnBound = (node: ModelNode, bound: ModelNode) => void;

/** Returns a function's graph with the attribute values of a call. Inputs in `absent` are omitted by the call. */
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

export const functionOf = (
  { functions = [] }: Model,
  { op, domain }: ModelNode,
): ModelFunction | null =>
  functions.find((one) => one.name === op && one.domain === domain) ?? null;

/**
 * Returns a function's graph for one call, with the call's attributes and input types. The callback `typeOf` gives the
 * known type of an argument.
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
