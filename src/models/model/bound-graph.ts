/** A function of a model as one of its calls has it. */

import { isReference, type Attribute, type Graph, type ModelNode } from "./model.ts";

export type Attributes = Readonly<Record<string, Attribute>>;

/** Called with each node of a function, also in bodies, and the node that stands for it in a call. */
export type OnBound = (node: ModelNode, bound: ModelNode) => void;

/**
 * A graph of a function in which attributes have the values of a call.
 * @param absent inputs that the call leaves out
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
