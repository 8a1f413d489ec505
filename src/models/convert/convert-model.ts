/**
 * Converts a model to another ONNX opset, or between ONNX and OpenVINO. The conversion refuses features that the target
 * cannot express exactly.
 *
 * The result is a plain `Model`, which the writers turn into a file.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { optionsOf, wrongOption } from "../../core/foreign.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { newerOpset } from "../model/graph.ts";
import { IR_VERSION } from "../model/opset.ts";
import type { Model } from "../model/model.ts";
import { DEFAULTS_SINCE } from "../model/values.ts";
import { NEWEST_OPSETS, type Domain } from "../../core/operators/operator.ts";
import { opsetNotes } from "../model/model-notes.ts";
import { ConversionLog, Names, type ModelContext } from "./context.ts";
import { convertFunction, convertGraph } from "./convert-graph.ts";
import { checkTarget, runtimeNote, type CheckedTarget, type ConvertTarget } from "./target.ts";
import { translateGraph } from "./translate-graph.ts";

/** Options of {@link convertModel}. */
export interface ConvertOptions {
  /**
   * True leaves nodes unchanged that cannot be converted with certainty, except scatters and gathers. By default such a
   * node is an error.
   */
  readonly force?: boolean | undefined;
}

/** A converted model, with a report of the changes. The original model is unchanged. */
export interface Conversion {
  readonly model: Model;
  /** One sentence per changed node. */
  readonly changes: readonly string[];
  /** With `force: true`, the operators of the nodes that were left unchanged, with the number of nodes per operator. */
  readonly unchecked: ReadonlyMap<string, number>;
  /** Sentences about assumptions of the conversion, and about runtimes that do not load the converted model. */
  readonly notes: readonly string[];
}

/**
 * Converts a model to another ONNX opset or to OpenVINO. The results defined by the specification stay the same bit for
 * bit. A runtime may use other kernels for another opset, and these kernels may round differently.
 *
 * In OpenVINO, each operator gets its newest version up to `opset`; without `opset`, an IR keeps its versions. Between
 * ONNX opsets, every ai.onnx operator is converted, and operators of other domains stay unchanged. Between ONNX and
 * OpenVINO, only scatters, gathers, `Constant`, `Identity` and `Cast` are converted.
 *
 * @param given a model of any format, which stays unchanged
 * @param target the target domain and opset
 * @param options the option `force`
 * @returns the converted model, and a log of the changes
 * @throws TensorError `unsupported-model` for parts that the target cannot express, with nodes, counts and reasons;
 * `unknown-operator` for a target that does not exist; `attribute`, `reduction`, `malformed-file` and others for an
 * invalid node or model; `too-large` for bodies nested more than 16 deep. Errors of reading a constant are passed on.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const { model: older } = convertModel(model, { opset: 16 });
 * older.opsets; // { "ai.onnx": 16 }
 * ```
 */
export function convertModel(
  given: Model,
  target: ConvertTarget,
  options: ConvertOptions = {},
): Conversion {
  const { force = false } = optionsOf(options, ["force"], {}, "the options of a conversion");
  if (typeof force !== "boolean") {
    throw wrongOption("force", "true or false", force);
  }
  const whole = modelFrom(given);
  const { otherOpsets: _, ...model } = whole;
  const checked = checkTarget(target);
  const { domain, opset } = checked;
  const names = new Names(model.graph);
  const from = domainOf(model);
  // Nodes that stay unchanged, as `force` allows, cannot be part of a graph in another format.
  const log = new ConversionLog(checked, force && from === domain);
  checkKnown(model, from, force, log);
  const converted = convertWhole({ model, target: checked, names, log }, from);
  log.check();
  const { changes, unchecked, notes } = log;
  for (const { id, sentence } of opsetNotes(whole))
    if (id === "domain-repeated") notes.add(sentence);
  const newer = domain === "ai.onnx" ? runtimeNote(opset, converted.irVersion) : null;
  if (newer !== null) notes.add(newer);
  // If the graph is unchanged, the result contains the caller's own graph object.
  const graph = converted.graph === model.graph ? given.graph : converted.graph;
  return { model: { ...converted, graph }, changes, unchecked, notes: [...notes] };
}

function convertWhole(context: ModelContext, from: Domain): Model {
  const { model, target } = context;
  const { domain, opset, irVersion } = target;
  if (from !== domain) {
    const graph = translateGraph(model.graph, context);
    return domain === "openvino"
      ? { irVersion, producer: "", opsets: {}, graph }
      : {
          irVersion: Math.max(IR_VERSION, irVersion),
          producer: "ndscatter",
          opsets: { [domain]: opset },
          graph,
        };
  }
  // OpenVINO nodes have their own versions, so the model may be returned unchanged.
  const graph = opset === Infinity ? model.graph : convertGraph(model.graph, null, context);
  if (domain === "openvino") return { ...model, irVersion, graph };
  const before = new Set(model.graph.constants);
  const isPlain = graph.constants.every((one) => before.has(one));
  const { functions } = model;
  return {
    ...model,
    ...(functions && { functions: functions.map((one) => convertFunction(one, context)) }),
    irVersion: fileVersion(model, target, isPlain),
    opsets: { ...model.opsets, [domain]: opset },
    graph,
  };
}

/** The IR versions that introduced functions and overloaded functions. ONNX: Versioning, Released Versions. */
const FUNCTIONS_SINCE = 8;
const OVERLOADS_SINCE = 10;

/**
 * Returns the IR version for a converted model. A newer IR version is lowered only if the opset becomes older, because
 * older runtimes reject newer files. Older IR versions require every constant to be a graph input. Constants added by a
 * conversion are not graph inputs, so they need a newer IR version.
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

/**
 * Checks that this package knows the model's opsets, because newer opsets may change an operator's meaning. Throws
 * `unsupported-model` for an unknown opset; with `force`, a note is added instead.
 */
function checkKnown(
  { opsets, functions = [] }: Model,
  domain: Domain,
  force: boolean,
  { notes }: ConversionLog,
): void {
  const newest = NEWEST_OPSETS[domain];
  const opset = [opsets, ...functions.map((one) => one.opsets)]
    .map(({ [domain]: one = 0 }) => one)
    .find((one) => one > newest);
  if (opset === undefined) return;
  const sentence = newerOpset(domain, opset);
  if (!force)
    throw new TensorError("unsupported-model", sentence, { got: opset, expected: newest });
  notes.add(sentence);
}

function domainOf({ opsets, graph }: Model): Domain {
  if (Object.hasOwn(opsets, "ai.onnx")) return "ai.onnx";
  const isOpenvino = graph.nodes.every(({ domain }) => domain.split(".")[0] === "openvino");
  if (isOpenvino) return "openvino";
  throw malformed("the model must import an opset of ai.onnx, or be an OpenVINO model");
}
