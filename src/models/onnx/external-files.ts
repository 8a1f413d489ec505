/** The external data files of a model. */

import { modelFrom } from "../model/foreign-model.ts";
import { SOURCE, type Constant, type Model } from "../model/model.ts";
import { walkNodes } from "../model/places.ts";
import { externalRange } from "./external.ts";
import { isHeader, tensorTitle } from "./tensor-proto.ts";

/**
 * Returns the paths of a model's external data files, relative to the model's folder. Each path is listed once.
 * `writeModel` keeps references to these files.
 *
 * @param model a model from {@link readModel}
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
  const found = new Set<string>();
  const addConstant = (one: Constant): void => {
    const { [SOURCE]: header } = one;
    if (!isHeader(header) || header.external === null) return;
    found.add(externalRange(header.external, tensorTitle(one.name)).location);
  };
  walkNodes(modelFrom(model), {
    place: ({ graph }) => graph.constants.forEach(addConstant),
    node: ({ node }) => {
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type === "tensor") addConstant(attribute.value);
        if (attribute.type === "tensors") attribute.value.forEach(addConstant);
      }
    },
  });
  return [...found];
}
