/**
 * A model in another opset of ONNX, or from ONNX to OpenVINO and back. What changes is what must: nodes of this package's
 * operators, and of the few that are run beside them. What the target cannot say exactly is refused.
 *
 * No file is known here: a `Model` becomes another, and the readers and writers of the formats do the rest.
 */

import { malformed } from "../errors.ts";
import { IR_VERSION, type Model } from "../model/model.ts";
import type { Domain } from "../operators/operator.ts";
import type { ModelContext } from "./context.ts";
import { checkFunction, convertGraph } from "./convert-graph.ts";
import { ConversionLog } from "./log.ts";
import { Names } from "./names.ts";
import { checkTarget, type ConvertTarget } from "./target.ts";
import { translateGraph } from "./translate-graph.ts";

/** A converted model. The one that it was made of is as it was. */
export interface Conversion {
  readonly model: Model;
  /** A sentence for each node that changed. */
  readonly changes: readonly string[];
  /** Operators that were left as they were, unchecked, though the opset may not mean them; with the number of nodes. */
  readonly unchecked: ReadonlyMap<string, number>;
  /** What was taken on trust, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * The same model in an opset of ONNX, or in OpenVINO, with the same results bit for bit.
 *
 * Of OpenVINO's versions of an operator the newest is taken, or the newest that `opset` has; without `opset` an IR keeps
 * those that it has. Within ONNX nodes of other operators stay as they are, though the opset may mean another version of
 * them: `unchecked` counts them. From one format to the other there may be none.
 *
 * @throws TensorError `unsupported-model` for what the target cannot say, with nodes and reasons; `unknown-operator` for
 * a target that there is not; `attribute`, `reduction`, `malformed-file` and the like for a node that is wrong as it is.
 */
export function convertModel(model: Model, target: ConvertTarget): Conversion {
  const checked = checkTarget(target);
  const log = new ConversionLog(checked);
  const context = { model, target: checked, names: new Names(model.graph), log };
  const converted = convertWhole(context);
  log.check();
  const { changes, unchecked, notes } = log;
  return { model: converted, changes, unchecked, notes: [...notes] };
}

function convertWhole(context: ModelContext): Model {
  const { model, target } = context;
  const { domain, opset, irVersion } = target;
  const isForeign = domainOf(model) !== domain;
  if (domain === "openvino") {
    if (!isForeign) {
      // Nodes that have a version each do not have to change for the file.
      const graph = opset === Infinity ? model.graph : convertGraph(model.graph, null, context);
      return { ...model, irVersion, graph };
    }
    return { irVersion, producer: "", opsets: {}, graph: translateGraph(model.graph, context) };
  }
  if (isForeign) {
    return {
      irVersion: Math.max(IR_VERSION, irVersion),
      producer: "ndscatter",
      opsets: { [domain]: opset },
      graph: translateGraph(model.graph, context),
    };
  }
  for (const one of model.functions ?? []) checkFunction(one, target);
  return {
    ...model,
    irVersion: Math.max(model.irVersion, irVersion),
    opsets: { ...model.opsets, [domain]: opset },
    graph: convertGraph(model.graph, null, context),
  };
}

/** The domain of a model's operators, which tells its format. */
function domainOf({ opsets, graph }: Model): Domain {
  if (Object.hasOwn(opsets, "ai.onnx")) return "ai.onnx";
  const isOpenvino = graph.nodes.every(({ domain }) => domain.split(".")[0] === "openvino");
  if (isOpenvino) return "openvino";
  throw malformed("the model imports no version of the domain ai.onnx, and is none of openvino");
}
