/** Captures the real inputs and outputs of a model's scatters and gathers in the user's runtime. */

import { isError, isTensorError, TensorError, wrongOption } from "../../core/errors.ts";
import { recordFrom } from "../model/foreign.ts";
import { bindGiven } from "../model/inputs.ts";
import { nodeTitle, type Model, type ModelNode } from "../model/model.ts";
import { listNodes, NodeIndex } from "../model/node-index.ts";
import type { PlacedNode } from "../model/places.ts";
import { callOfNode, type NodeCall } from "../model/run-model.ts";
import type { ReadExternal } from "../onnx/external.ts";
import type { Bytes } from "../../core/tensor/storage.ts";
import { readModel } from "../onnx/read-model.ts";
import { slicedConstant } from "../onnx/slices.ts";
import { slicesOf } from "../../core/call/duplicates.ts";
import { findOperators, isOperator } from "../../core/operators/registry.ts";
import { namesOf, optionsOf } from "../../core/tensor/options.ts";
import type { RuntimeTensor, Tensor } from "../../core/tensor/tensor.ts";
import { isConstant, NotRun, valueOf, type Found, type Frame } from "./frames.ts";
import { PlaceValues } from "./places.ts";
import { createSessionFrom, RuntimeFailure, type CreateSession } from "./session.ts";

/** Options of {@link captureCalls}. */
export interface CaptureOptions {
  /** Makes a session of the user's own runtime, such as `(model) => InferenceSession.create(model)`. */
  readonly createSession: CreateSession;
  /** The name or the path of one node; all scatters and gathers by default. */
  readonly node?: string | undefined;
  /** Reads external data of the model, as in `readModel`; required if a node has such an input. */
  readonly external?: ReadExternal | undefined;
  /** The iteration to capture for nodes in loops, counted from 0. The default is 0. */
  readonly iteration?: number | undefined;
  /** The call to capture for nodes in functions, counted from 0 among the calls that run. The default is 0. */
  readonly call?: number | undefined;
  /**
   * Called after each session in search of a node at which the runtime fails, with the number of these sessions. The
   * search ends after 60 sessions or 30 seconds.
   */
  readonly onSearch?: ((sessions: number) => void) | undefined;
}

export const CAPTURE_OPTIONS = /* @__PURE__ */ namesOf<CaptureOptions>({
  createSession: true,
  node: true,
  external: true,
  iteration: true,
  call: true,
  onSearch: true,
});

/** A node with the inputs that it has in its model. */
export interface CapturedCall {
  /** The node with the attributes of this run: for a node in a function, the function's call may set attributes. */
  readonly node: ModelNode;
  /** The node's path, as `NodeIndex.find` accepts it. */
  readonly path: string;
  /** The node and its inputs as arguments of `run` and `explain`; null if its inputs are unknown. */
  readonly call: NodeCall | null;
  /**
   * The reason why the node is not a valid call although its inputs are known, such as an operator that its opset
   * lacks.
   */
  readonly error: TensorError | null;
  /** Inputs by their names in the model. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** The runtime's outputs by name; null if it made none. */
  readonly outputs: Readonly<Record<string, Tensor>> | null;
  /** False for a node that does not run with these feeds, such as a node in a branch that is not taken. */
  readonly isRun: boolean;
  /**
   * The reason why inputs or outputs are missing: the runtime's message, or the reason why the node does not run. Null
   * if nothing is missing.
   */
  readonly problem: string | null;
  /** The earlier node whose failure left inputs missing; null if no earlier node failed. */
  readonly behind: ModelNode | null;
}

/** Tensors of this package or of onnxruntime, by the names of a model's inputs. */
export type Feeds = Readonly<Record<string, Tensor | RuntimeTensor>>;

/**
 * Runs an ONNX model in the user's runtime and yields every scatter and gather with its real inputs and the runtime's
 * outputs, graph by graph, in node order. If the runtime fails at a node, the model is cut before it, so that the
 * inputs of the failing node are known too. Nodes in functions and in bodies of `If`, `Loop` and `Scan` are run as
 * parts of separate models, with the values around them; a function has the inputs of its first call that runs, or of
 * the call selected by the option `call`. The values around the nodes become outputs, so the runtime's optimizer cannot
 * fuse the nodes. Faults that occur only in fused nodes are not found.
 *
 * @param bytes of the ONNX file. `createSession` must tell the runtime the location of the model's external files, for
 *   example by the option `model_external_initializers_file_folder_path` of onnxruntime-node.
 * @param feeds a tensor for each input that the nodes depend on
 * @param options `createSession` is required; `node` limits the nodes
 * @throws TensorError `attribute` for options without a session maker; `shape-mismatch`, `dtype`, `rank` for a feed
 *   that differs from its declaration, and for a missing one; `unsupported-model` for a node other than a scatter or
 *   gather; as `readModel` and `NodeIndex.find`. Errors of the runtime become the `problem` of a call.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { InferenceSession } from "onnxruntime-node";
 *
 * const bytes = readFileSync("model.onnx");
 * const createSession = (model: Uint8Array) => InferenceSession.create(model);
 * const feeds = {
 *   table: tensor("float32", [4, 2], new Float32Array(8)),
 *   ids: tensor("int64", [2, 1], [1, 1]),
 *   rows: tensor("float32", [2, 2], [1, 2, 3, 4]),
 * };
 * for await (const { path, call } of captureCalls(bytes, feeds, { createSession })) {
 *   if (call !== null) console.log(path, explain(call.node, call.inputs).output);
 * }
 * ```
 */
export async function* captureCalls(
  bytes: Bytes,
  feeds: Feeds,
  options: CaptureOptions,
): AsyncGenerator<CapturedCall, void, undefined> {
  for await (const capture of captures(bytes, feeds, options)) yield capture(true);
}

/**
 * Returns a node with its inputs. Constants are read from the file in each call.
 * @param isWhole false if only the slices of a large table that a gather takes are needed; the others are 0
 */
export type Capture = (isWhole: boolean) => CapturedCall;

const GATHERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ findOperators(({ kind }) => kind === "gather").map(
    ({ versions }) => versions[0].name,
  ),
);

/** Returns true if a {@link Capture} may lack slices of the node's data. */
export const maybeSliced = ({ op }: ModelNode): boolean => GATHERS.has(op);

/** Captures calls like {@link captureCalls}, without reading the constants among the inputs. */
export async function* captures(
  bytes: Bytes,
  feeds: Feeds,
  options: CaptureOptions,
): AsyncGenerator<Capture, void, undefined> {
  const { createSession, node, external, iteration, call, onSearch } = captureOptionsFrom(options);
  const model = readModel(bytes, external === undefined ? {} : { external });
  const index = new NodeIndex(model);
  const wanted = wantedNodes(index, node);
  const given = feedsFrom(model, feeds);
  const values = new PlaceValues(model, index.nodes, wanted, given, {
    createSession,
    iteration,
    call,
    onSearch,
  });
  try {
    for (const [place, placed] of groupByPlace(wanted)) {
      // oxlint-disable-next-line no-await-in-loop
      const known = await knownOf(values, place, placed);
      // The runtime's memory is free before weights are read here.
      // oxlint-disable-next-line no-await-in-loop
      await values.release();
      for (const one of placed)
        yield (isWhole) =>
          capturedCall(index.pathOf(one), one, known, isWhole ? undefined : external);
    }
  } finally {
    await values.release();
  }
}

/** Returns the checked options. */
export function captureOptionsFrom(
  options: unknown,
): Required<Omit<CaptureOptions, "node" | "external">> & Pick<CaptureOptions, "node" | "external"> {
  const own = optionsOf(options, CAPTURE_OPTIONS, {}, "the options of a capture");
  const createSession = createSessionFrom(own);
  const { node, external, onSearch = () => {} } = own;
  const [iteration, call] = [countFrom(own, "iteration"), countFrom(own, "call")];
  if (typeof onSearch !== "function") throw wrongOption("onSearch", "a function", onSearch);
  if (node !== undefined && typeof node !== "string") throw wrongOption("node", "a name", node);
  return {
    ...{ createSession, iteration, call, onSearch: onSearch as (sessions: number) => void },
    ...(node !== undefined && { node }),
    ...(external !== undefined && { external: external as ReadExternal }),
  };
}

/** Returns the scatters and gathers of a model, or the node with a name. */
export function wantedNodes(index: NodeIndex, name: string | undefined): readonly PlacedNode[] {
  if (name === undefined) return index.family;
  const { node, place } = index.find(name);
  if (isOperator(node)) return [{ node, place }];
  const what = `${nodeTitle(node)} is ${node.op}, which is not a scatter or gather`;
  const sentence = `${what}; the model has ${listNodes(index.family)}`;
  throw new TensorError("unsupported-model", sentence, { node: nodeTitle(node), key: "node" });
}

function countFrom(options: Record<string, unknown>, name: string): number {
  const { [name]: count = 0 } = options;
  if (Number.isSafeInteger(count) && Number(count) >= 0) return Number(count);
  throw wrongOption(name, "an integer of 0 or more", count);
}

/**
 * Returns the feeds, each of which is read once.
 * @throws TensorError `shape-mismatch`, `dtype`, `rank` for one that is not an input of the model or differs from its
 *   declaration
 */
export const feedsFrom = (model: Model, feeds: Feeds): ReadonlyMap<string, Tensor> =>
  bindGiven(model.graph, recordFrom("the feeds", feeds));

/** The known values of some nodes of a graph, and the graph as it runs. */
interface Known {
  readonly frame: Frame;
  readonly values: ReadonlyMap<string, Found>;
}

async function knownOf(
  values: PlaceValues,
  place: PlacedNode["place"],
  placed: readonly PlacedNode[],
): Promise<Known | NotRun | RuntimeFailure> {
  try {
    const frame = await values.frame(place);
    const nodes = placed.map((one) => nodeIn(frame, one));
    const names = nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]);
    return { frame, values: await values.valuesOf(place, names) };
  } catch (error) {
    if (error instanceof NotRun || error instanceof RuntimeFailure) return error;
    throw error;
  }
}

/** Returns a node in the form in which it runs. */
const nodeIn = ({ graph }: Frame, { node, place }: PlacedNode): ModelNode =>
  graph.nodes[place.graph.nodes.indexOf(node)];

function groupByPlace(
  nodes: readonly PlacedNode[],
): ReadonlyMap<PlacedNode["place"], PlacedNode[]> {
  const groups = new Map<PlacedNode["place"], PlacedNode[]>();
  for (const one of nodes) {
    const group = groups.get(one.place);
    if (group === undefined) groups.set(one.place, [one]);
    else group.push(one);
  }
  return groups;
}

/** @param external reads slices of a table in another file; undefined to read all of it */
function capturedCall(
  path: string,
  placed: PlacedNode,
  known: Known | NotRun | RuntimeFailure,
  external: ReadExternal | undefined,
): CapturedCall {
  const isRun = !(known instanceof NotRun);
  const nothing = { path, isRun, call: null, error: null, outputs: null, behind: null };
  if (isError(known)) {
    const behind = known instanceof RuntimeFailure ? known.at : null;
    return { ...nothing, node: placed.node, inputs: {}, problem: known.message, behind };
  }
  const { frame } = known;
  const node = nodeIn(frame, placed);
  const table = external && tableOf(node, known, external);
  const values = table ? new Map([...known.values, [node.inputs[0], table]]) : known.values;
  const [inputs, missing] = tensorsOf(node.inputs, values);
  if (missing !== null)
    return { ...nothing, node, inputs, problem: missing.message, behind: missing.at };
  const [made, failure] = tensorsOf(node.outputs, values);
  const problem = failure?.message ?? null;
  const common = { ...nothing, node, inputs, outputs: problem === null ? made : null, problem };
  try {
    return { ...common, call: callOfNode(frame.opsets, node, inputs) };
  } catch (error) {
    if (isTensorError(error)) return { ...common, error };
    throw error;
  }
}

/** Returns the data of a gather, with only the slices that the node takes; null to read all of it. */
function tableOf(node: ModelNode, { frame, values }: Known, external: ReadExternal): Tensor | null {
  const [name, ...others] = node.inputs;
  const data = maybeSliced(node) ? values.get(name) : undefined;
  if (data === undefined || !isConstant(data) || others.includes(name)) return null;
  const table = slicedConstant(data, external);
  if (table === null) return null;
  const [inputs] = tensorsOf(node.inputs, new Map([...values, [name, table.tensor]]));
  try {
    const call = callOfNode(frame.opsets, node, inputs);
    return table.read(slicesOf(call.node, call.inputs)) ? table.tensor : null;
  } catch (error) {
    // The check of the whole table reports the same error later.
    if (isTensorError(error)) return null;
    throw error;
  }
}

/** Returns the tensors of some names, and the first failure among them. */
function tensorsOf(
  names: readonly string[],
  known: ReadonlyMap<string, Found>,
): readonly [Readonly<Record<string, Tensor>>, RuntimeFailure | null] {
  let problem: RuntimeFailure | null = null;
  const entries: [string, Tensor][] = [];
  for (const name of names) {
    const value = valueOf(known.get(name));
    if (value instanceof RuntimeFailure) problem ??= value;
    else if (value !== undefined) entries.push([name, value]);
  }
  return [Object.fromEntries(entries), problem];
}
