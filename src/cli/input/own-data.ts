/** Moves external tensor data into the model. */

import type { Attribute, Constant, Graph, Model } from "../../entries/onnx.ts";

/** `model` is a model part from `cut.ts`, including called functions and subgraphs. */
export const withOwnData = (model: Model): Model => ({
  ...model,
  graph: ownGraph(model.graph),
  ...(model.functions && {
    functions: model.functions.map((one) => ({ ...one, graph: ownGraph(one.graph) })),
  }),
});

const ownGraph = (graph: Graph): Graph => ({
  ...graph,
  constants: graph.constants.map(ownConstant),
  nodes: graph.nodes.map((node) => ({
    ...node,
    attributes: Object.fromEntries(
      Object.entries(node.attributes).map(([name, one]) => [name, ownAttribute(one)] as const),
    ),
  })),
});

function ownAttribute(attribute: Attribute): Attribute {
  switch (attribute.type) {
    case "tensor":
      return { ...attribute, value: ownConstant(attribute.value) };
    case "tensors":
      return { ...attribute, value: attribute.value.map(ownConstant) };
    case "other":
      return { ...attribute, ...(attribute.graphs && { graphs: attribute.graphs.map(ownGraph) }) };
    default:
      return attribute;
  }
}

/**
 * Removes the reference to the constant's source, so that the writer stores the values. Constants with unknown data
 * types do not change.
 */
const ownConstant = (one: Constant): Constant =>
  one.dtype === null
    ? one
    : { name: one.name, dtype: one.dtype, shape: one.shape, read: () => one.read() };
