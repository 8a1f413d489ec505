/** The files in which a model stores the data of its tensors. */

import { modelFrom } from "../model/foreign-model.ts";
import { SOURCE, type Constant, type Graph, type Model } from "../model/model.ts";
import { externalRange } from "./external.ts";
import { isHeader, tensorTitle } from "./tensor-proto.ts";

/**
 * Returns the paths of the external data files of a model read from an ONNX file, relative to its folder, without
 * repeats. `writeModel` keeps these references.
 *
 * @param model as from {@link readModel}
 * @throws TensorError `malformed-file` for a path that leaves the model's folder
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * externalFiles(model); // []
 * ```
 */
export function externalFiles(model: Model): string[] {
  const { graph, functions = [] } = modelFrom(model);
  const found = new Set<string>();
  const addConstant = (one: Constant): void => {
    const { [SOURCE]: header } = one;
    if (!isHeader(header) || header.external === null) return;
    found.add(externalRange(header.external, tensorTitle(one.name)).location);
  };
  const addGraph = ({ constants, nodes }: Graph): void => {
    constants.forEach(addConstant);
    for (const attribute of nodes.flatMap((node) => Object.values(node.attributes))) {
      if (attribute.type === "tensor") addConstant(attribute.value);
      if (attribute.type === "tensors") attribute.value.forEach(addConstant);
      if (attribute.type === "other") attribute.graphs?.forEach(addGraph);
    }
  };
  addGraph(graph);
  for (const one of functions) addGraph(one.graph);
  return [...found];
}
