/** Some nodes of a graph as a model of their own. */

import type { Constant, Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";

/** The nodes and values of a part. Names of values stay as they are. */
export interface PartSpec {
  /** The graph that the nodes are of; its declared types of values are dropped, because runtimes do not need them. */
  readonly graph: Graph;
  readonly opsets: Readonly<Record<string, number>>;
  /** In an order in which they can run. */
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
