/** The part of a graph that makes some of its values, as a model of its own. */

import { malformed, TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import type { Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
import { needsOf } from "../model/uses.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/**
 * What some values need: nodes, and all values between them.
 *
 * @param given values that are known, by name: inputs of the graph, and values of the graphs around it
 * @throws TensorError `shape-mismatch` for an input without a tensor, `malformed-file` for a value that nothing makes
 */
export function neededFor(
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
        const sentence = `there is no tensor for the input ${quote(name)} of the model`;
        throw new TensorError("shape-mismatch", sentence, { input: name });
      }
      // The runtime may not need a value that is not wanted itself.
      if (isWanted.has(name)) throw malformed(`nothing makes ${quote(name)}`);
    }
  }
  return { nodes, names };
}

/**
 * A model with the nodes that are needed for some values, which are its outputs. Its inputs are those values of `given`
 * that it uses; what is given is not made again.
 *
 * @param given, @throws as for {@link neededFor}
 */
export function cutModel(
  model: Model,
  graph: Graph,
  wanted: readonly string[],
  given: ReadonlyMap<string, Tensor>,
): { readonly model: Model; readonly inputs: readonly string[] } {
  const { nodes, names } = neededFor(graph, wanted, given);
  const inputs = [...names].filter((name) => given.has(name));
  const cut: Graph = {
    ...graph,
    nodes: graph.nodes.filter((node) => nodes.has(node)),
    constants: graph.constants.filter(({ name }) => names.has(name) && !given.has(name)),
    inputs: inputs.map((name) => typed(name, given)),
    outputs: wanted.map((name) => ({ name, type: null })),
    values: [],
  };
  return { model: { ...model, graph: cut }, inputs };
}

function typed(name: string, given: ReadonlyMap<string, Tensor>): ValueInfo {
  const value = given.get(name);
  return { name, type: value === undefined ? null : { dtype: value.dtype, shape: value.shape } };
}
