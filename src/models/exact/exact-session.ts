/**
 * A model in the user's runtime whose scatters this package computes. `plan.ts` cuts the graph, `open.ts` makes the
 * sessions, `run.ts` runs the steps, and `bodies.ts` runs If, Loop, Scan and functions.
 */

import { isArray, namesOf, optionsOf, wrongOption } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { isBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { Tensor, type RuntimeTensor } from "../../core/tensor/tensor.ts";
import { listFrom, recordFrom } from "../model/foreign.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { checkUnique } from "../model/graph.ts";
import { missingInput, unknownInput } from "../model/inputs.ts";
import { nodeTitle, type Graph, type Model, type ModelNode } from "../model/model.ts";
import { listNodes, NodeIndex } from "../model/node-index.ts";
import type { ReadExternal } from "../onnx/external.ts";
import { modelBytes, readModel } from "../onnx/read-model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { createSessionFrom, orRuntimeError, sessionTensor } from "../verify/session.ts";
import { isCarried } from "./carry.ts";
import { foldConstants } from "./fold.ts";
import { createGpuFrom, engineFrom, type CreateGpu, type ExactGpu } from "./gpu.ts";
import { OpenParts } from "./open.ts";
import type { RuntimeSession } from "./part-session.ts";
import { plannedModel } from "./facts.ts";
import { planGraph } from "./plan.ts";
import type { GraphPlan } from "./steps.ts";
import { ModelRun } from "./run.ts";
import { TensorMaker } from "./tensor-maker.ts";
import { Frame, Value } from "./values.ts";

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
    return wholeSession(known.graph, session) as ExactSession<SessionValue<S>>;
  }
  const planned = plannedModel(known, replaced);
  const paths = [...replaced.values()];
  await foldConstants(planned, createGpu === null ? createSession : null);
  const plan = planGraph(planned, known.graph, known.opsets);
  const parts = new OpenParts(planned, createSession);
  await parts.openAll(plan);
  try {
    const gpu = createGpu === null ? null : await engineFrom(createGpu);
    return new CutSession(known.graph, plan, parts, paths, gpu) as ExactSession<SessionValue<S>>;
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

/** Returns a function that runs actions one at a time, because a runtime may refuse overlapping runs. */
function takingTurns(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const result = last.then(action);
    last = result.catch(() => {});
    return result;
  };
}

/** Wraps the runtime's session of a model without replaced nodes. The wrapper runs one call at a time. */
function wholeSession(graph: Graph, session: RuntimeSession): ExactSession<unknown> {
  const inTurn = takingTurns();
  return {
    inputNames: inputsOf(graph).needed,
    outputNames: graph.outputs.map(({ name }) => name),
    replaced: [],
    sessionCount: 1,
    run: (feeds, options) =>
      inTurn(async () => {
        const own = Object.entries(recordFrom("the feeds", feeds)).map(
          ([name, value]) => [name, Tensor.isTensor(value) ? sessionTensor(value) : value] as const,
        );
        const more = options === undefined ? [] : [options as never];
        const outputs = await orRuntimeError("run", "the model", graph.nodes, () =>
          session.run(Object.fromEntries(own) as never, ...more),
        );
        return outputs as Readonly<Record<string, unknown>>;
      }),
    release: () => inTurn(async () => session.release?.()),
  };
}

function nodesToReplace(model: Model, nodes: unknown): Map<ModelNode, string> {
  const index = new NodeIndex(model);
  if (isArray(nodes)) {
    const found = listFrom<unknown>("nodes", nodes).map((name) => {
      if (typeof name !== "string") throw wrongOption("nodes", "names", name);
      return index.find(name);
    });
    const other = found.find(({ node }) => !isOperator(node));
    if (other === undefined) return new Map(found.map((one) => [one.node, index.pathOf(one)]));
    const what = `${nodeTitle(other.node)} is ${other.node.op}, which is not a scatter or gather`;
    const sentence = `${what}; the model has ${listNodes(index.family)}`;
    throw new TensorError("unsupported-model", sentence, {
      node: nodeTitle(other.node),
      key: "nodes",
    });
  }
  if (nodes !== "scatters" && nodes !== "all") {
    throw wrongOption("nodes", '"scatters", "all" or a list of names', nodes);
  }
  const chosen = index.family.filter(({ node }) => nodes === "all" || node.op.includes("Scatter"));
  return new Map(chosen.map((one) => [one.node, index.pathOf(one)]));
}

class CutSession implements ExactSession<unknown> {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly replaced: readonly string[];
  readonly #plan: GraphPlan;
  #parts: OpenParts;
  readonly #maker: TensorMaker;
  readonly #known: ReadonlySet<string>;
  readonly #inTurn = takingTurns();

  readonly #gpu: ExactGpu | null;

  constructor(
    graph: Graph,
    plan: GraphPlan,
    parts: OpenParts,
    replaced: readonly string[],
    gpu: ExactGpu | null,
  ) {
    this.#plan = plan;
    this.#gpu = gpu;
    this.#parts = parts;
    this.#maker = new TensorMaker(parts.createSession);
    this.replaced = replaced;
    const { needed, all } = inputsOf(graph);
    this.#known = new Set(all);
    this.inputNames = needed;
    this.outputNames = graph.outputs.map(({ name }) => name);
  }

  get sessionCount(): number {
    return this.#parts.sessions.size;
  }

  run(
    feeds: Readonly<Record<string, unknown>>,
    options?: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.#inTurn(() => this.#run(feeds, options));
  }

  async #run(
    feeds: Readonly<Record<string, unknown>>,
    options?: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    const frame = this.#frameOf(feeds);
    this.#parts = await this.#parts.withGiven(this.#plan, Object.keys(feeds));
    const learn = (value: unknown): void => this.#maker.learn(value);
    const run = new ModelRun(this.#parts, options, learn, this.#gpu);
    try {
      await run.steps(this.#plan, frame);
      await run.end();
    } catch (error) {
      await run.abandon(frame);
      throw error;
    }
    const outputs: [string, unknown][] = [];
    for (const name of this.outputNames) {
      const value = run.valueOf(this.#plan, frame, name);
      // oxlint-disable-next-line no-await-in-loop
      if (!value.isOwn) await run.toHost([value]);
      // If no value has shown the runtime's tensor class, a small session creates a tensor of this class.
      // oxlint-disable-next-line no-await-in-loop
      outputs.push([name, await this.#maker.tensorOf(value, name)]);
    }
    // The view was copied, so the runtime's buffer is no longer needed.
    for (const name of this.outputNames) if (frame.get(name)?.isOwn === false) frame.drop(name);
    return Object.fromEntries(outputs);
  }

  /** @throws TensorError `shape-mismatch` for missing and unknown inputs */
  #frameOf(given: Readonly<Record<string, unknown>>): Frame {
    const feeds = recordFrom("the feeds", given);
    const frame = new Frame();
    for (const [name, value] of Object.entries(feeds)) {
      if (!this.#known.has(name)) throw unknownInput(name, [...this.#known], "the model");
      this.#maker.learn(value);
      frame.set(name, new Value(value, { isLent: true }));
    }
    const missing = this.inputNames.find((name) => frame.get(name) === undefined);
    if (missing !== undefined) throw missingInput(missing, this.inputNames, "the model");
    return frame;
  }

  release(): Promise<void> {
    return this.#inTurn(async () => {
      // The runtime destroys the device together with its last session.
      this.#gpu?.dispose();
      await this.#parts.release();
    });
  }
}
