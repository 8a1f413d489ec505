/** Extracts one node as a separate model. */

import { TensorError, type ErrorContext } from "../../core/errors.ts";
import { checkNode, modelFrom } from "./foreign-model.ts";
import { quote } from "./graph.ts";
import {
  isReference,
  nodeTitle,
  renamed,
  type Constant,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "./model.ts";
import { NodeIndex } from "./node-index.ts";
import { walkTyped } from "./typed-walk.ts";
import { DEFAULTS_SINCE, type Scope } from "./values.ts";

/**
 * Extracts one node as a separate model. Inputs that are constant, or that follow from constants, become constants of
 * the new model. Other inputs become model inputs with their known types.
 *
 * @param given a model of any format, which stays unchanged
 * @param node a node of the model, of a body or of a function; or its name or path, as for `NodeIndex.find`
 * @throws TensorError `unsupported-model` for a node that does not exist, has a body, or depends on a function's
 * caller, and for an input or output of unknown data type; `malformed-file` for a value that is not a model or a node.
 * Errors of reading a constant are passed on.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const { graph } = extractNode(model, "sums");
 * graph.inputs.map(({ name }) => name); // ["table", "ids", "rows"]
 * ```
 */
export function extractNode(given: Model, node: ModelNode | string): Model {
  const model = modelFrom(given);
  const own = typeof node === "string" ? new NodeIndex(model).find(node).node : node;
  checkNode(own);
  let extracted: Model | null = null;
  walkTyped(model, {
    node({ node, place }, scope) {
      if (node === own) extracted ??= modelOf(own, scope, model, place.opsets);
    },
  });
  if (extracted !== null) return extracted;
  throw new TensorError("unsupported-model", `${nodeTitle(own)} is not a node of the model`, {
    node: nodeTitle(own),
  });
}

function modelOf(node: ModelNode, scope: Scope, model: Model, opsets: Model["opsets"]): Model {
  checkAlone(node);
  const names = [...new Set(node.inputs)].filter((name) => name !== "");
  const constants = names.flatMap((name): Constant[] => {
    const found = scope.constantOf(name);
    return found === null ? [] : [renamed(found, name)];
  });
  const isConstant = new Set(constants.map(({ name }) => name));
  const typed = (name: string): ValueInfo => {
    const type = scope.typeOf(name);
    if (type !== null) return { name, type };
    throw refused(node, `the data type of ${quote(name)} is unknown`, { input: name });
  };
  const graph = {
    name: node.name || node.op,
    inputs: names.filter((name) => !isConstant.has(name)).map(typed),
    outputs: node.outputs.filter((name) => name !== "").map(typed),
    nodes: [node],
    constants,
  };
  // Before this IR version, every constant must also be an input.
  const irVersion = Math.max(model.irVersion, DEFAULTS_SINCE);
  const own = Object.entries(opsets).filter(([domain]) => domain === node.domain);
  return { irVersion, producer: "ndscatter", opsets: Object.fromEntries(own), graph };
}

function checkAlone(node: ModelNode): void {
  for (const [name, attribute] of Object.entries(node.attributes)) {
    if (attribute.type !== "other") continue;
    const why = isReference(attribute)
      ? `the attribute ${name} depends on the caller of the function`
      : `the attribute ${name} is not a plain value`;
    throw refused(node, why, { key: name });
  }
}

const refused = (node: ModelNode, why: string, fields: ErrorContext): TensorError => {
  const title = nodeTitle(node);
  const sentence = `${title} cannot be extracted: ${why}`;
  return new TensorError("unsupported-model", sentence, { node: title, ...fields });
};
