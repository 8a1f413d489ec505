/** The part of a graph that computes some of its values. */

import { malformed, TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import type { Graph, ModelNode } from "../model/model.ts";
import { needsOf } from "../model/uses.ts";

/**
 * Returns the nodes that compute some values, and all values between them. The names in `given` are known values: graph
 * inputs, and values of enclosing graphs. Throws `shape-mismatch` for an input without a tensor, `malformed-file` for a
 * value that no node computes.
 */
export function neededNodes(
  graph: Graph,
  wanted: readonly string[],
  given: { has(name: string): boolean },
): { readonly nodes: ReadonlySet<ModelNode>; readonly names: ReadonlySet<string> } {
  const makers = new Map<string, ModelNode>();
  for (const node of graph.nodes) for (const name of node.outputs) makers.set(name, node);
  const constants = new Set(graph.constants.map(({ name }) => name));
  const nodes = new Set<ModelNode>();
  const names = new Set<string>();
  const open = [...wanted];
  const isWanted = new Set(wanted);
  const isInput = new Set(graph.inputs.map(({ name }) => name));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === "" || names.has(name)) continue;
    names.add(name);
    if (given.has(name)) continue;
    const node = makers.get(name);
    if (node !== undefined && !nodes.has(node)) {
      nodes.add(node);
      open.push(...needsOf(node));
    } else if (node === undefined && !constants.has(name)) {
      if (isInput.has(name)) {
        const sentence = `the input ${quote(name)} of the model needs a tensor`;
        throw new TensorError("shape-mismatch", sentence, { input: name });
      }
      // The part must not require inputs that the requested values do not depend on.
      if (isWanted.has(name)) throw malformed(`no node computes ${quote(name)}`, { input: name });
    }
  }
  return { nodes, names };
}
