/** Moves the data of a model's tensors from external files into the model. */

import type { Attribute, Constant, Graph, Model } from "../../entries/onnx.ts";

/**
 * @param model a part from `cut.ts`, with the functions that it calls (whose constants are attributes) and bodies of
 *   nodes
 */
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
 * Drops the reference to the constant's source, so that the writer writes its values. Constants of unknown data types
 * stay unchanged.
 */
const ownConstant = (one: Constant): Constant =>
  one.dtype === null
    ? one
    : { name: one.name, dtype: one.dtype, shape: one.shape, read: () => one.read() };
