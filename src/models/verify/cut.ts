/** Extracts the part of a graph that computes some values from known tensors, as a separate model. */

import type { Graph, Model, ValueInfo } from "../model/model.ts";
import { neededNodes } from "../split/needed.ts";
import { partOf } from "../split/part.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/**
 * Returns a model whose outputs are the given names. The model's inputs are the known values that it uses, which are
 * not computed again. The errors are those of `neededNodes`.
 */
export function cutModel(
  model: Model,
  graph: Graph,
  wanted: readonly string[],
  given: ReadonlyMap<string, Tensor>,
): { readonly model: Model; readonly inputs: readonly string[] } {
  const { nodes, names } = neededNodes(graph, wanted, given);
  const inputs = [...names].filter((name) => given.has(name));
  const part = partOf(model, {
    ...{ graph, opsets: model.opsets },
    nodes: graph.nodes.filter((node) => nodes.has(node)),
    constants: graph.constants.filter(({ name }) => names.has(name) && !given.has(name)),
    inputs: inputs.map((name) => typed(name, given)),
    outputs: wanted.map((name) => ({ name, type: null })),
  });
  return { model: part, inputs };
}

function typed(name: string, given: ReadonlyMap<string, Tensor>): ValueInfo {
  const value = given.get(name);
  return { name, type: value === undefined ? null : { dtype: value.dtype, shape: value.shape } };
}
