/**
 * Converts a model to another opset of ONNX, or between ONNX and OpenVINO. What the target cannot express exactly is
 * refused.
 *
 * No format is known here: a `Model` becomes another `Model`, which the writer of its format writes.
 */

import { malformed, printValue, TensorError } from "../../core/errors.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { IR_VERSION, type Model } from "../model/model.ts";
import { DEFAULTS_SINCE } from "../model/values.ts";
import type { Domain } from "../../core/operators/operator.ts";
import { objectOf } from "../../core/tensor/options.ts";
import type { ModelContext } from "./context.ts";
import { convertFunction, convertGraph } from "./convert-graph.ts";
import { ConversionLog } from "./log.ts";
import { Names } from "./names.ts";
import { checkTarget, runtimeNote, type CheckedTarget, type ConvertTarget } from "./target.ts";
import { translateGraph } from "./translate-graph.ts";

export interface ConvertOptions {
  /**
   * Whether nodes of operators outside the family that cannot be converted, or not certainly, are left as they are; by
   * default they are refused.
   */
  readonly force?: boolean;
}

/** A converted model. The model that it was made of is unchanged. */
export interface Conversion {
  readonly model: Model;
  /** A sentence for each node that changed. */
  readonly changes: readonly string[];
  /** With `force`, operators of which nodes were left as they were, with the number of those nodes. */
  readonly unchecked: ReadonlyMap<string, number>;
  /** Sentences about what the conversion assumes without being certain, and about runtimes that do not load the result. */
  readonly notes: readonly string[];
}

/**
 * Converts a model to an opset of ONNX, or to OpenVINO, so that it gives the same results bit for bit.
 *
 * To OpenVINO an operator becomes its newest version, or the newest that `opset` has; without `opset` an IR keeps the
 * versions that it has. Within ONNX every operator of ai.onnx is converted; operators of other domains have versions of
 * their own, which stay. From one format to the other there may be no other operators than those of this package,
 * `Constant`, `Identity` and `Cast`.
 *
 * @throws TensorError `unsupported-model` for what the target cannot express, with nodes, counts and reasons;
 * `unknown-operator` for a target that does not exist; `attribute`, `reduction`, `malformed-file` and the like for a
 * node that is wrong by its own version, and for what is no model; `too-large` for bodies more than 16 deep; and
 * whatever else than a TensorError reading a constant throws
 */
export function convertModel(
  given: Model,
  target: ConvertTarget,
  options: ConvertOptions = {},
): Conversion {
  const { force = false } = objectOf("the options of a conversion", options, {});
  if (typeof force !== "boolean") {
    throw new TensorError("attribute", `force must be true or false, got ${printValue(force)}`);
  }
  const model = modelFrom(given);
  const checked = checkTarget(target);
  const log = new ConversionLog(checked, force);
  const context = { model, target: checked, names: new Names(model.graph), log };
  const converted = convertWhole(context);
  log.check();
  const { changes, unchecked, notes } = log;
  const newer =
    checked.domain === "ai.onnx" ? runtimeNote(checked.opset, converted.irVersion) : null;
  if (newer !== null) notes.add(newer);
  // A graph that may stay as it is stays the caller's own.
  const graph = converted.graph === model.graph ? given.graph : converted.graph;
  return { model: { ...converted, graph }, changes, unchecked, notes: [...notes] };
}

function convertWhole(context: ModelContext): Model {
  const { model, target } = context;
  const { domain, opset, irVersion } = target;
  const isForeign = domainOf(model) !== domain;
  if (domain === "openvino") {
    if (!isForeign) {
      // Every node has a version of its own, so that the file may stay as it is.
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
  const { functions } = model;
  const graph = convertGraph(model.graph, null, context);
  const before = new Set(model.graph.constants);
  const isPlain = graph.constants.every((one) => before.has(one));
  return {
    ...model,
    ...(functions && { functions: functions.map((one) => convertFunction(one, context)) }),
    irVersion: fileVersion(model, target, isPlain),
    opsets: { ...model.opsets, [domain]: opset },
    graph,
  };
}

/** IR versions that brought functions, and several functions of one name. ONNX: Versioning, Released Versions. */
const FUNCTIONS_SINCE = 8;
const OVERLOADS_SINCE = 10;

/**
 * The IR version that came with the opset. A newer one stays where the opset does not become older; where it does, the
 * model is for an older runtime, which takes no newer file.
 * @param isPlain whether no constant came in. One that did is no input, which in older files every constant has to be.
 */
function fileVersion(
  { irVersion, opsets, functions = [] }: Model,
  target: CheckedTarget,
  isPlain: boolean,
): number {
  const isOlder = target.opset < (opsets[target.domain] ?? target.opset);
  const kept = [
    irVersion >= DEFAULTS_SINCE || !isPlain ? DEFAULTS_SINCE : 0,
    functions.length > 0 ? FUNCTIONS_SINCE : 0,
    functions.length > 0 && irVersion >= OVERLOADS_SINCE ? OVERLOADS_SINCE : 0,
  ];
  return Math.max(target.irVersion, ...kept, isOlder ? 0 : irVersion);
}

/** The domain of a model's operators, which stands for its format. */
function domainOf({ opsets, graph }: Model): Domain {
  if (Object.hasOwn(opsets, "ai.onnx")) return "ai.onnx";
  const isOpenvino = graph.nodes.every(({ domain }) => domain.split(".")[0] === "openvino");
  if (isOpenvino) return "openvino";
  throw malformed("the model must import an opset of ai.onnx, or be of openvino");
}
