/**
 * Loads and runs the whole model. Nodes are compared in parts of the model, in one iteration of each loop and one call
 * of each function. All nodes may therefore be right although the whole model does not run. If only the run fails, the
 * failing iteration or call is located, and its nodes are captured.
 */

import { scannedInputs, take, type Scanned } from "../control-flow/iterations.ts";
import { nodeTitle, type Model, type ModelNode, type ValueInfo } from "../model/model.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { needsTensor } from "../split/part.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { captures, type CapturedCall, type Capturing } from "./capture.ts";
import { withModel, type OpenSession } from "./carried.ts";
import { runningNode, valueOf, type Frame, type Running } from "./frames.ts";
import { PlaceValues } from "./place-values.ts";
import { failureOr, RuntimeFailure, type CreateSession } from "./session.ts";

/** Whether the runtime loads a model: unchanged, only without graph optimization, or never. */
export type Loads = "as-is" | "unoptimized" | "never";

export interface WholeRun {
  readonly loads: Loads;
  /** The runtime's message if the runtime cannot load the unchanged model or cannot run the model; otherwise null. */
  readonly problem: string | null;
}

/** The model, as it was read from the file. */
export type Whole = Capturing & { readonly bytes: Uint8Array };

/**
 * Loads and runs the whole model. If the model does not load, it is loaded once more without graph optimization. If
 * only one node is verified, a model with missing inputs is only loaded. Throws `shape-mismatch` for a missing input.
 */
export async function runWhole(whole: Whole): Promise<WholeRun> {
  const { model, feeds, node, createSession } = whole;
  const { inputs, constants } = model.graph;
  const known = new Set([...feeds.keys(), ...constants.map(({ name }) => name)]);
  const missing = inputs.find(({ name }) => !known.has(name));
  if (missing !== undefined && node === undefined) throw needsTensor(missing.name);
  const failureOf = (create: CreateSession) => failureOfRun(create, whole, missing === undefined);
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

/** Returns the failure while the model is loaded and, if `isRun` is true, while it runs; null if there is none. */
async function failureOfRun(
  create: CreateSession,
  { model, feeds, bytes }: Whole,
  isRun: boolean,
): Promise<RuntimeFailure | null> {
  const run = async (session: OpenSession): Promise<null> => {
    if (isRun) await session.run(feeds, []);
    return null;
  };
  const failure = await failureOr(() => withModel(create, model, run, bytes));
  if (failure === null || failure.isLoad) return failure;
  // Sequence outputs are replaced, because onnxruntime-node cannot return a sequence.
  for (const copy of copiesWithoutSequences(model)) {
    const other = await failureOr(() => withModel(create, copy, run));
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
  const lengths = others.map(({ name }): ModelNode => ({
    ...{ name, op: "SequenceLength", domain: "ai.onnx", inputs: [name], attributes: {} },
    outputs: [`ndscatter: length of ${name}`],
  }));
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

export interface WholeFailure {
  readonly message: string;
  /** The failing iteration or call, such as `iteration 4 of node "loop"`. */
  readonly where: string;
  /** The nodes that are wrong in this iteration or call; empty if another operator fails. */
  readonly captured: readonly CapturedCall[];
}

/** Returns true if a node's result is right. */
type IsFine = (captured: CapturedCall) => boolean;

/** Locates the failing iteration or call of a model that loads, but whose run fails. */
export const locateFailure = async (whole: Whole, isFine: IsFine): Promise<WholeFailure | null> =>
  (await inIteration(whole, isFine)) ?? (await inCall(whole, isFine));

async function inIteration(whole: Whole, isFine: IsFine): Promise<WholeFailure | null> {
  const found = await findIteration(whole);
  if (found === null) return null;
  const { iteration, node, message } = found;
  const captured = await wrongNodes({ ...whole, iteration }, isFine);
  return { message, where: `iteration ${iteration} of ${nodeTitle(node)}`, captured };
}

/** Tries the calls of functions. For each calling node, at most one call is tried. */
async function inCall(whole: Whole, isFine: IsFine): Promise<WholeFailure | null> {
  const { model, index } = whole;
  const counts = (model.functions ?? []).map(
    ({ name, domain }) =>
      index.nodes.filter(({ node }) => node.op === name && node.domain === domain).length,
  );
  for (let call = 0; call < Math.max(0, ...counts); call++) {
    if (call === whole.call) continue;
    const captured = await wrongNodes({ ...whole, call }, isFine);
    const [first] = captured;
    if (first !== undefined)
      return { message: first.problem ?? "", where: `call ${call} of its function`, captured };
  }
  return null;
}

async function wrongNodes(whole: Whole, isFine: IsFine): Promise<readonly CapturedCall[]> {
  const wrong: CapturedCall[] = [];
  for await (const capture of captures(whole)) {
    const captured = capture(true);
    if (!isFine(captured)) wrong.push(captured);
  }
  return wrong;
}

interface FailingIteration {
  readonly iteration: number;
  readonly node: ModelNode;
  readonly message: string;
}

/** The maximum number of tried iterations of a Loop without an iteration limit. */
const MOST_ITERATIONS = 2 ** 31;

/**
 * Returns the first failing iteration of the first failing loop; null if no loop fails. Nested loops are not searched.
 * The search bisects over runs with fewer iterations. Every output of the node is requested, so that the runtime
 * computes all parts of the body.
 */
async function findIteration(whole: Whole): Promise<FailingIteration | null> {
  const first = { wanted: [], iteration: 0, call: 0, onSearch: () => {} };
  const values = new PlaceValues({ ...whole, ...first });
  try {
    for (const placed of whole.index.nodes) {
      if (!isLoop(placed.node) || isInLoop(placed.place)) continue;
      const found = await failingIteration(placed, values);
      if (found !== null) return found;
    }
    return null;
  } catch (error) {
    // If the runtime cannot load the model, no iteration is the cause.
    if (error instanceof RuntimeFailure && error.isLoad) return null;
    throw error;
  } finally {
    await values.release();
  }
}

const isLoop = ({ op, domain }: ModelNode): boolean =>
  domain === "ai.onnx" && (op === "Loop" || op === "Scan");

const isInLoop = ({ kind, outer }: Place): boolean =>
  outer !== null && ((kind.is === "body" && kind.op !== "If") || isInLoop(outer));

async function failingIteration(
  placed: PlacedNode,
  values: PlaceValues,
): Promise<FailingIteration | null> {
  const { node } = placed;
  const running = await failureOr(() => runningNode(placed, values));
  if (running instanceof RuntimeFailure) return null;
  const inputs = running.inputs.map(valueOf);
  if (inputs.some((one) => one instanceof RuntimeFailure)) return null;
  const [most, limit] = limitsOf(running.node, inputs as (Tensor | undefined)[]);
  const names = running.node.outputs.filter((name) => name !== "");
  const messageOf = async (count: number): Promise<string | null> => {
    const frame = withInputs(running, limit(count));
    const made = await failureOr(() => values.runGraph(frame, names));
    if (!(made instanceof RuntimeFailure)) return null;
    if (made.isLoad) throw made;
    return made.message;
  };
  // If a run without iterations fails, the failure is outside the loop's body. This test excludes Scan, because a
  // runtime may refuse a Scan without slices.
  if (node.op === "Loop" && (await messageOf(0)) !== null) return null;
  let [good, bad] = [0, 1];
  let message: string | null;
  while ((message = await messageOf(bad)) === null) {
    if (bad >= most) return null;
    [good, bad] = [bad, Math.min(2 * bad, most)];
  }
  while (bad - good > 1) {
    const middle = good + Math.floor((bad - good) / 2);
    const said = await messageOf(middle);
    if (said === null) good = middle;
    else [bad, message] = [middle, said];
  }
  const iteration = bad - 1;
  return { iteration, node, message };
}

/** Returns the frame of a running node in which some inputs, by position, have other values. */
function withInputs({ frame, node }: Running, values: ReadonlyMap<number, Tensor>): Frame {
  const given = new Map(frame.given);
  const inputs = node.inputs.slice();
  for (const [position, value] of values) {
    // Models do not use this name.
    inputs[position] = `ndscatter: input ${position}`;
    given.set(inputs[position], value);
  }
  const nodes = frame.graph.nodes.map((one) => (one === node ? { ...node, inputs } : one));
  return { ...frame, graph: { ...frame.graph, nodes }, given };
}

/**
 * Returns the maximum number of iterations, and a function that returns the inputs, by position, that limit the node to
 * `count` iterations. A Scan is limited to the first slices of each scanned input.
 */
function limitsOf(
  node: ModelNode,
  inputs: readonly (Tensor | undefined)[],
): readonly [most: number, limit: (count: number) => ReadonlyMap<number, Tensor>] {
  if (node.op === "Loop") {
    const [trips] = inputs;
    const most = trips === undefined ? MOST_ITERATIONS : Number(trips.data[0]);
    return [most, (count) => new Map([[0, tensor("int64", [], BigInt(count))]])];
  }
  const scanned = scannedInputs(node, (at) => inputs[at]);
  const first = inputs.length - scanned.length;
  return [
    scanned[0].length,
    (count) => new Map(scanned.map((one, at) => [first + at, firstSlices(one, count)])),
  ];
}

/** Returns the first slices of a scanned input; in reverse order, the last slices. */
function firstSlices({ value, axis, length, isReverse }: Scanned, count: number): Tensor {
  const start = isReverse ? length - count : 0;
  const positions = Array.from({ length: count }, (_, nth) => BigInt(start + nth));
  return take(value, axis, tensor("int64", [count], positions));
}
