/** A subset of a graph's nodes as a separate model. */

import type { Constant, Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";

/** The nodes and values of a part. Values keep their names. */
export interface PartSpec {
  /** The graph of the nodes; declared types of its values are dropped, because runtimes do not need them. */
  readonly graph: Graph;
  readonly opsets: Readonly<Record<string, number>>;
  /** Nodes, in an executable order. */
  readonly nodes: readonly ModelNode[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: readonly Constant[];
}

/** @param model whose functions the part keeps, because its nodes may call them */
export function partOf(
  model: Model,
  { graph, opsets, nodes, inputs, outputs, constants }: PartSpec,
): Model {
  return {
    ...model,
    opsets: { ...model.opsets, ...opsets },
    graph: {
      ...graph,
      nodes: [...nodes],
      inputs: [...inputs],
      outputs: [...outputs],
      constants: [...constants],
      values: [],
    },
  };
}
