/**
 * A model in the user's runtime whose scatters this package computes. `plan.ts` cuts the graph, `open.ts` makes the
 * sessions, and `run.ts` runs the steps.
 */

import { isArray, namesOf, optionsOf, wrongOption } from "../../core/foreign.ts";
import { isBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { Tensor, type RuntimeTensor } from "../../core/tensor/tensor.ts";
import { listFrom, modelFrom, recordFrom } from "../model/foreign-model.ts";
import { checkUnique } from "../model/graph.ts";
import { missingInput, unknownInput } from "../model/inputs.ts";
import type { Graph, Model, ModelNode } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import type { ReadExternal } from "../onnx/external.ts";
import { modelBytes, readModel } from "../onnx/read-model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { operatorNamed } from "../verify/capture.ts";
import { createSessionFrom, orRuntimeError, sessionTensor } from "../verify/session.ts";
import { foldConstants } from "./fold.ts";
import { createGpuFrom, engineFrom, type CreateGpu, type ExactGpu } from "./gpu.ts";
import { OpenParts } from "./open.ts";
import { planGraph } from "./plan.ts";
import type { GraphPlan } from "./steps.ts";
import { GraphRun } from "./run.ts";
import { isCarried, TensorMaker, type RuntimeSession } from "./runtime.ts";
import { Value } from "./values.ts";

/** The tensor type that the runtime's sessions accept and return. */
export type SessionValue<S extends RuntimeSession> =
  Awaited<ReturnType<S["run"]>> extends Readonly<Record<string, infer V>>
    ? unknown extends V
      ? RuntimeTensor
      : V
    : RuntimeTensor;

/** Options of {@link createExactSession}. */
export interface ExactSessionOptions<S extends RuntimeSession> {
  /**
   * Makes a session of the user's own runtime, such as `(model) => InferenceSession.create(model)`. The function is
   * called once per part of the model, and must tell the runtime where the model's external files are.
   */
  readonly createSession: (model: Uint8Array) => Promise<S>;
  /**
   * The nodes that this package computes: `"scatters"` (default), `"all"` for scatters and gathers, or a list of node
   * names or paths.
   */
  readonly nodes?: "scatters" | "all" | readonly string[] | undefined;
  /** Reads the external data of replaced nodes. The function has the same form as for `readModel`. */
  readonly external?: ReadExternal | undefined;
  /**
   * Creates an engine of `ndscatter/webgpu` on onnxruntime-web's device. The function is called after the sessions are
   * created. The engine runs replaced nodes that have an input on the GPU, and is disposed of together with the exact
   * session.
   */
  readonly gpu?: CreateGpu | undefined;
}

const EXACT_OPTIONS = /* @__PURE__ */ namesOf<ExactSessionOptions<RuntimeSession>>({
  createSession: true,
  nodes: true,
  external: true,
  gpu: true,
});

/**
 * A session in which this package computes some nodes and the user's runtime computes the others. An exact session has
 * the same interface as the runtime's own session.
 */
export interface ExactSession<V = RuntimeTensor> {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** The paths of the nodes that this package computes. */
  readonly replaced: readonly string[];
  /** The number of runtime sessions that the model was split into. */
  readonly sessionCount: number;
  /**
   * Runs the model. Overlapping calls run one after another.
   * @param feeds a tensor for each input, from onnxruntime or this package; an input with a default may be omitted
   * @param options run options for the runtime's sessions
   * @returns the outputs by name, as tensors of onnxruntime
   * @throws TensorError as `run` for an invalid call of a replaced node, which the sentence names; `shape-mismatch` for
   * a missing or unknown input; `runtime` for an error of the runtime, which is its cause
   */
  run(
    feeds: Readonly<Record<string, V | Tensor | RuntimeTensor>>,
    options?: object,
  ): Promise<Readonly<Record<string, V>>>;
  /** Releases the runtime's sessions after pending runs have finished. */
  release(): Promise<void>;
}

/**
 * Makes a session in which this package computes the scatters and the user's runtime computes everything else. The
 * scatters' results are exact and identical in every run, with any number of threads. The model is split into one
 * session per level of replaced nodes.
 *
 * If, Loop, Scan and functions that contain a replaced node run in this package, and their graphs are split in the same
 * way. A model without replaced nodes becomes a single session.
 *
 * @param model an ONNX file, or a model from `readModel`
 * @param options `createSession` is required; `nodes` selects the replaced nodes
 * @throws TensorError `unsupported-model` for a node that cannot be replaced, with the reason, and for a name without a
 * matching scatter or gather; `attribute` for wrong options; `runtime` for an error of `createSession`, which is its
 * cause; and the errors of `readModel`.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { InferenceSession } from "onnxruntime-node";
 *
 * const bytes = readFileSync("model.onnx");
 * const session = await createExactSession(bytes, {
 *   createSession: (model) => InferenceSession.create(model),
 * });
 * console.log(session.inputNames); // [ 'table', 'ids', 'rows' ]
 * ```
 */
export async function createExactSession<S extends RuntimeSession>(
  model: Bytes | Model,
  options: ExactSessionOptions<S>,
): Promise<ExactSession<SessionValue<S>>> {
  const own = optionsOf(options, EXACT_OPTIONS, {}, "the options of createExactSession");
  const createSession = createSessionFrom(own) as (part: Uint8Array) => Promise<RuntimeSession>;
  const createGpu = createGpuFrom(own["gpu"]);
  const { nodes = "scatters", external } = own;
  const bytes = isBytes(model) ? modelBytes(model) : null;
  const read =
    bytes === null
      ? (model as Model)
      : readModel(bytes, external === undefined ? {} : { external: external as ReadExternal });
  const known = modelFrom(read);
  checkUnique(known.graph);
  const replaced = nodesToReplace(known, nodes);
  const { needed, all } = inputsOf(known.graph);
  const borders = [...known.graph.inputs, ...known.graph.outputs];
  // onnxruntime-node ignores values for inputs that have a default, and cannot transfer every data type.
  const isPlain = needed.length === all.length && !borders.some(({ type }) => isCarried(type));
  if (replaced.size === 0 && isPlain) {
    const session = await orRuntimeError("load", "the model", known.graph.nodes, () =>
      createSession(bytes ?? writeModel(known)),
    );
    const whole = sessionOf(known.graph, [], wholeRuns(known.graph, session));
    return whole as ExactSession<SessionValue<S>>;
  }
  const paths = [...replaced.values()];
  const planned = { model: known, replaced, ours: new Map(), folded: new Map(), graphs: 0 };
  await foldConstants(planned, createGpu === null ? createSession : null);
  const plan = planGraph(planned, known.graph, known.opsets);
  const parts = await new OpenParts(planned, plan, createSession).open();
  try {
    const gpu = createGpu === null ? null : await engineFrom(createGpu);
    const cut = sessionOf(known.graph, paths, cutRuns(known.graph, plan, parts, gpu));
    return cut as ExactSession<SessionValue<S>>;
  } catch (error) {
    await parts.release();
    throw error;
  }
}

function inputsOf({ inputs, constants }: Graph): {
  readonly needed: readonly string[];
  readonly all: readonly string[];
} {
  const defaults = new Set(constants.map(({ name }) => name));
  const all = inputs.map(({ name }) => name);
  return { needed: all.filter((name) => !defaults.has(name)), all };
}

/** The runs of a model with or without replaced nodes. */
interface Runs {
  readonly sessionCount: number;
  run(feeds: Readonly<Record<string, unknown>>, options?: object): Promise<object>;
  release(): Promise<void>;
}

/** Returns a session that runs actions one at a time, because a runtime may refuse overlapping runs. */
function sessionOf(graph: Graph, replaced: readonly string[], runs: Runs): ExactSession<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const result = last.then(action);
    last = result.catch(() => {});
    return result;
  };
  return {
    inputNames: inputsOf(graph).needed,
    outputNames: graph.outputs.map(({ name }) => name),
    replaced,
    get sessionCount() {
      return runs.sessionCount;
    },
    run: (feeds, options) =>
      inTurn(async () => {
        const outputs = await runs.run(recordFrom("the feeds", feeds), options);
        return outputs as Readonly<Record<string, unknown>>;
      }),
    release: () => inTurn(() => runs.release()),
  };
}

/** Runs a model without replaced nodes in the runtime's session. */
const wholeRuns = ({ nodes }: Graph, session: RuntimeSession): Runs => ({
  sessionCount: 1,
  run(feeds, options) {
    const own = Object.entries(feeds).map(
      ([name, value]) => [name, Tensor.isTensor(value) ? sessionTensor(value) : value] as const,
    );
    const more = options === undefined ? [] : [options as never];
    const start = (): Promise<object> => session.run(Object.fromEntries(own) as never, ...more);
    return orRuntimeError("run", "the model", nodes, start);
  },
  release: async () => session.release?.(),
});

function nodesToReplace(model: Model, nodes: unknown): Map<ModelNode, string> {
  const index = new NodeIndex(model);
  if (isArray(nodes)) {
    const found = listFrom<unknown>("nodes", nodes).map((name) => {
      if (typeof name !== "string") throw wrongOption("nodes", "names", name);
      return operatorNamed(index, name, "nodes");
    });
    return new Map(found.map((one) => [one.node, index.pathOf(one)]));
  }
  if (nodes !== "scatters" && nodes !== "all") {
    throw wrongOption("nodes", '"scatters", "all" or a list of names', nodes);
  }
  const chosen = index.family.filter(({ node }) => nodes === "all" || node.op.includes("Scatter"));
  return new Map(chosen.map((one) => [one.node, index.pathOf(one)]));
}

/** Runs a model in parts. */
function cutRuns(graph: Graph, plan: GraphPlan, opened: OpenParts, gpu: ExactGpu | null): Runs {
  let parts = opened;
  const { needed, all } = inputsOf(graph);
  const maker = new TensorMaker(parts.createSession);
  return {
    get sessionCount() {
      return parts.sessions.size;
    },
    async run(feeds, options) {
      const unknown = Object.keys(feeds).find((name) => !all.includes(name));
      if (unknown !== undefined) throw unknownInput(unknown, all, "the model");
      const missing = needed.find((name) => !Object.hasOwn(feeds, name));
      if (missing !== undefined) throw missingInput(missing, needed, "the model");
      parts = await parts.withGiven(Object.keys(feeds));
      const run = new GraphRun({ parts, options, gpu, maker, onGpu: new Set() }, plan);
      for (const [name, value] of Object.entries(feeds)) {
        maker.learn(value);
        run.set(name, new Value(value, { isLent: true }));
      }
      await run.all();
      const outputs = new Map<string, unknown>();
      for (const { name } of graph.outputs) {
        const value = run.valueOf(name);
        if (!value.isOwn && gpu !== null) await value.toHost(gpu);
        // If no value has shown the runtime's tensor class, a small session creates a tensor of this class.
        outputs.set(name, await maker.tensorOf(value, name));
      }
      for (const name of outputs.keys()) {
        const value = run.valueOf(name);
        // A view was copied, so its buffer is no longer needed.
        if (!value.isOwn) run.drop(name);
        // The caller gets the value, but not the engine's copy or view of it.
        else if (value.device === null) value.freeCopy();
      }
      return Object.fromEntries(outputs);
    },
    async release() {
      // The runtime destroys the device together with its last session.
      gpu?.dispose();
      await parts.release();
    },
  };
}
