/**
 * Loads and runs the whole model. Nodes are compared in parts of the model, in one iteration of each loop and one call
 * of each function. All nodes may therefore be right although the whole model does not run. If only the run fails, the
 * failing iteration or call is located, and its nodes are captured.
 */

import { TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import { nodeTitle, type Model, type ModelNode, type ValueInfo } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { captureCalls, type CapturedCall, type CaptureOptions } from "./capture.ts";
import { withModel } from "./carried.ts";
import { findIteration } from "./search-loop.ts";
import { failureOr, type CreateSession, type OpenSession, type RuntimeFailure } from "./session.ts";

/** Whether the runtime loads a model: unchanged, only without graph optimization, or never. */
export type Loads = "as-is" | "unoptimized" | "never";

export interface WholeRun {
  readonly loads: Loads;
  /** The runtime's message if the runtime cannot load the unchanged model or cannot run the model; otherwise null. */
  readonly problem: string | null;
}

export interface Whole {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly feeds: ReadonlyMap<string, Tensor>;
}

/**
 * Loads and runs the whole model. If the model does not load, it is loaded once more without graph optimization. If
 * only one node is verified, `isPart` is true, and a model with missing inputs is only loaded. Throws `shape-mismatch`
 * for a missing input.
 */
export async function runWhole(
  { bytes, model, feeds }: Whole,
  createSession: CreateSession,
  isPart: boolean,
): Promise<WholeRun> {
  const missing = missingInput(model, feeds);
  if (missing !== null && !isPart) {
    const sentence = `the input ${quote(missing)} of the model needs a tensor`;
    throw new TensorError("shape-mismatch", sentence, { input: missing });
  }
  const failureOf = (create: CreateSession) =>
    failureOfRun(create, { bytes, model, feeds }, missing === null);
  const failure = await failureOf(createSession);
  if (failure === null || !failure.isLoad)
    return { loads: "as-is", problem: failure?.message ?? null };
  const again = await failureOf(unoptimized(createSession));
  const { message } = failure;
  if (again?.isLoad) return { loads: "never", problem: message };
  return {
    loads: "unoptimized",
    problem: again === null ? message : `${message}; ${again.message}`,
  };
}

export const unoptimized =
  (createSession: CreateSession): CreateSession =>
  (model, settings) =>
    createSession(model, { ...settings, graphOptimizationLevel: "disabled" });

function missingInput({ graph }: Model, feeds: Whole["feeds"]): string | null {
  const known = new Set([...feeds.keys(), ...graph.constants.map(({ name }) => name)]);
  return graph.inputs.find(({ name }) => !known.has(name))?.name ?? null;
}

async function failureOfRun(
  create: CreateSession,
  whole: Whole,
  isRun: boolean,
): Promise<RuntimeFailure | null> {
  const failure = await failureOfSession(create, whole, isRun);
  if (failure === null || failure.isLoad) return failure;
  // Sequence outputs are replaced, because onnxruntime-node cannot return a sequence.
  for (const copy of copiesWithoutSequences(whole.model)) {
    // oxlint-disable-next-line no-await-in-loop
    const other = await failureOfSession(create, { model: copy, feeds: whole.feeds }, isRun);
    if (other === null || !other.isLoad) return other;
  }
  return failure;
}

/**
 * Returns copies of a model without sequence outputs, in which sequence lengths or only the tensors are outputs. The
 * list is empty if all outputs are declared as tensors.
 */
function copiesWithoutSequences(model: Model): readonly Model[] {
  const { graph } = model;
  const tensors = graph.outputs.filter(({ type }) => type !== null);
  const others = graph.outputs.filter(({ type }) => type === null);
  if (others.length === 0) return [];
  const lengths = others.map(({ name }): ModelNode => {
    const outputs = [`ndscatter: length of ${name}`];
    return {
      name,
      op: "SequenceLength",
      domain: "ai.onnx",
      inputs: [name],
      outputs,
      attributes: {},
    };
  });
  const counted = lengths.map(({ outputs: [name] }) => ({ name, type: null }));
  const copyWith = (nodes: readonly ModelNode[], outputs: readonly ValueInfo[]): Model => ({
    ...model,
    graph: { ...graph, nodes: [...graph.nodes, ...nodes], outputs: [...outputs] },
  });
  return [
    copyWith(lengths, [...tensors, ...counted]),
    ...(tensors.length > 0 ? [copyWith([], tensors)] : []),
  ];
}

/** Returns the failure while the model is loaded and, if `isRun` is true, while it runs; null if there is none. */
async function failureOfSession(
  create: CreateSession,
  { bytes, model, feeds }: Omit<Whole, "bytes"> & Partial<Whole>,
  isRun: boolean,
): Promise<RuntimeFailure | null> {
  const run = async (session: OpenSession): Promise<null> => {
    if (isRun) await session.run(feeds, []);
    return null;
  };
  return await failureOr(() => withModel(create, model, run, bytes));
}

export interface WholeFailure {
  readonly message: string;
  /** The failing iteration or call, such as `iteration 4 of node "loop"`. */
  readonly where: string;
  /** The nodes that are wrong in this iteration or call; empty if another operator fails. */
  readonly captured: readonly CapturedCall[];
}

/** Parameters of the search in a model that loads but does not run. */
export interface WholeSearch extends Whole {
  readonly options: CaptureOptions;
  /** Returns true if a node's result is right. */
  readonly isFine: (captured: CapturedCall) => boolean;
}

/** Locates the failing iteration or call of a model whose run fails. */
export async function locateFailure(whole: WholeSearch): Promise<WholeFailure | null> {
  return (await inIteration(whole)) ?? (await inCall(whole));
}

async function inIteration(whole: WholeSearch): Promise<WholeFailure | null> {
  const { model, feeds, options } = whole;
  const found = await findIteration(model, new NodeIndex(model), feeds, options.createSession);
  if (found === null) return null;
  const { iteration, node, message } = found;
  const captured = await wrongNodes(whole, { iteration });
  return { message, where: `iteration ${iteration} of ${nodeTitle(node)}`, captured };
}

/** Tries the calls of functions. For each calling node, at most one call is tried. */
async function inCall(whole: WholeSearch): Promise<WholeFailure | null> {
  const { model, options } = whole;
  const { nodes } = new NodeIndex(model);
  const counts = (model.functions ?? []).map(
    ({ name, domain }) =>
      nodes.filter(({ node }) => node.op === name && node.domain === domain).length,
  );
  for (let call = 0; call < Math.max(0, ...counts); call++) {
    if (call === (options.call ?? 0)) continue;
    // oxlint-disable-next-line no-await-in-loop
    const captured = await wrongNodes(whole, { call });
    const [first] = captured;
    if (first !== undefined)
      return { message: first.problem ?? "", where: `call ${call} of its function`, captured };
  }
  return null;
}

/** Returns the nodes that are wrong in another iteration or call. */
async function wrongNodes(
  { bytes, feeds, options, isFine }: WholeSearch,
  elsewhere: Pick<CaptureOptions, "iteration" | "call">,
): Promise<readonly CapturedCall[]> {
  const wrong: CapturedCall[] = [];
  const own = { ...options, ...elsewhere };
  for await (const captured of captureCalls(bytes, Object.fromEntries(feeds), own)) {
    if (!isFine(captured)) wrong.push(captured);
  }
  return wrong;
}
