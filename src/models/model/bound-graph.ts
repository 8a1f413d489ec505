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

export const functionOf = (
  { functions = [] }: Model,
  { op, domain }: ModelNode,
): ModelFunction | null =>
  functions.find((one) => one.name === op && one.domain === domain) ?? null;

/**
 * Returns a function's graph for one call, with the call's attributes and input types. The callback `typeOf` gives the
 * known type of an argument. The callback `onBound` receives each node of the function, also in bodies, and the
 * specialized node that replaces it.
 */
export function calledGraph(
  { graph, attributes: defaults }: ModelFunction,
  call: ModelNode,
  typeOf: (name: string) => TensorType | null,
  onBound: (node: ModelNode, bound: ModelNode) => void = () => {},
): Graph {
  const omitted = graph.inputs.filter((_, at) => (call.inputs[at] ?? "") === "");
  const absent = new Set(omitted.map(({ name }) => name));
  const attributes: Readonly<Record<string, Attribute>> = { ...defaults, ...call.attributes };
  const attributeFor = (one: Attribute): Attribute | undefined => {
    // A graph attribute of the call belongs to the caller, so its references are not resolved with the function's
    // attributes.
    if (isReference(one)) return attributes[one.reference];
    return one.type === "other" && one.graphs ? { ...one, graphs: one.graphs.map(bound) } : one;
  };
  const bound = (own: Graph): Graph => ({
    ...own,
    nodes: own.nodes.map((node) => {
      const given = Object.entries(node.attributes).flatMap(([name, one]) => {
        const value = attributeFor(one);
        return value === undefined ? [] : [[name, value] as const];
      });
      const inputs = node.inputs.map((name) => (absent.has(name) ? "" : name));
      const made = { ...node, inputs, attributes: Object.fromEntries(given) };
      onBound(node, made);
      return made;
    }),
  });
  const inputs = graph.inputs.map((one, at) => ({ ...one, type: typeOf(call.inputs[at] ?? "") }));
  return { ...bound(graph), inputs };
}
