/** The real inputs and outputs of a model's scatters and gathers, as the user's runtime makes them. */

import { isTensorError, printValue, TensorError } from "../../core/errors.ts";
import { recordFrom } from "../model/foreign.ts";
import { bindGiven } from "../model/inputs.ts";
import { nodeTitle, type Model, type ModelNode } from "../model/model.ts";
import { listNodes, NodeIndex } from "../model/node-index.ts";
import type { PlacedNode } from "../model/places.ts";
import { callOfNode, type NodeCall } from "../model/run-model.ts";
import type { ReadExternal } from "../onnx/external.ts";
import { readModel } from "../onnx/read-model.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { objectOf } from "../../core/tensor/options.ts";
import type { RuntimeTensor, Tensor } from "../../core/tensor/tensor.ts";
import { NotRun, type Frame, type Outcome } from "./frames.ts";
import { PlaceValues } from "./places.ts";
import { createSessionFrom, RuntimeFailure, type CreateSession } from "./session.ts";

export interface CaptureOptions {
  /** Makes a session of the user's own runtime: `(model) => InferenceSession.create(model)`. */
  readonly createSession: CreateSession;
  /** The name or the path of one node; all scatters and gathers by default. */
  readonly node?: string;
  /** Reads what the model keeps in other files, as `readModel` takes it; needed where a node has such an input. */
  readonly external?: ReadExternal;
  /** For nodes in loops: the iteration to capture, counted from 0. By default 0. */
  readonly iteration?: number;
  /** For nodes in functions: the call to capture, counted from 0 among the calls that run. By default 0. */
  readonly call?: number;
}

/** One node on the inputs that it has in its model. */
export interface CapturedCall {
  /** With the attributes of this run: a node in a function may have some from the function's call. */
  readonly node: ModelNode;
  /** Its place and its name, as `NodeIndex.find` takes them. */
  readonly path: string;
  /** The node and its inputs as `run` and `explain` take them; null where its inputs are not known. */
  readonly call: NodeCall | null;
  /** Why the node is no call although its inputs are known, such as an operator that its opset does not have. */
  readonly error: TensorError | null;
  /** By the names that they have in the model. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** What the runtime makes of them, by name; null where it makes nothing. */
  readonly outputs: Readonly<Record<string, Tensor>> | null;
  /** False for a node that does not run with these feeds, such as one in a branch that is not taken. */
  readonly isRun: boolean;
  /** Why inputs or outputs are missing: what the runtime said, or why the node does not run. Null where none is. */
  readonly problem: string | null;
  /** The earlier node whose failure is the reason for missing inputs; null where no earlier node failed. */
  readonly behind: ModelNode | null;
}

/** Tensors of this package or of onnxruntime, by the names of a model's inputs. */
export type Feeds = Readonly<Record<string, Tensor | RuntimeTensor>>;

/**
 * Runs an ONNX model in the user's runtime and yields every scatter and gather with its real inputs and what the runtime
 * made of them, graph by graph, and within a graph in the order in which they stand. The model is cut before a node where
 * the runtime fails, so that the inputs of the node that fails are known too. Nodes in functions and in bodies of `If`,
 * `Loop` and `Scan` are run as parts of models of their own, on the values around them; a function has the inputs of its
 * first call that runs, or of the call that the option `call` selects. The values around the nodes become outputs, so that
 * the runtime's optimiser does not fuse the nodes away. A fault that only fused nodes have is not seen.
 *
 * @param bytes of the ONNX file. `createSession` must tell the runtime where the model's external files are, for example by
 * the option `model_external_initializers_file_folder_path` of onnxruntime-node.
 * @param feeds a tensor for each input that the nodes depend on
 * @throws TensorError `attribute` for options without a session maker; `shape-mismatch`, `dtype`, `rank` for a feed that
 * the model does not declare so, and for a missing one; `unsupported-model` for another node than a scatter or gather; as
 * `readModel` and `NodeIndex.find`. What the runtime says is the `problem` of a call.
 */
export async function* captureCalls(
  bytes: Uint8Array,
  feeds: Feeds,
  options: CaptureOptions,
): AsyncGenerator<CapturedCall, void, undefined> {
  const own = objectOf("the options of a capture", options, {});
  const createSession = createSessionFrom(own);
  const { node, external } = own;
  const [iteration, call] = [countFrom(own, "iteration"), countFrom(own, "call")];
  if (node !== undefined && typeof node !== "string")
    throw new TensorError("attribute", `node must be a name, got ${printValue(node)}`);
  const model = readModel(
    bytes,
    external === undefined ? {} : { external: external as ReadExternal },
  );
  const index = new NodeIndex(model);
  const wanted = node === undefined ? index.family : [index.find(node)];
  const other = wanted.find((one) => !isOperator(one.node));
  if (other !== undefined) {
    const what = `${nodeTitle(other.node)} is ${other.node.op}, which is not a scatter or gather`;
    const sentence = `${what}; the model has ${listNodes(index.family)}`;
    throw new TensorError("unsupported-model", sentence);
  }
  const given = feedsFrom(model, feeds);
  const values = new PlaceValues(model, index.nodes, wanted, given, {
    createSession,
    iteration,
    call,
  });
  try {
    for (const [place, placed] of groupByPlace(wanted)) {
      // oxlint-disable-next-line no-await-in-loop
      const known = await knownOf(values, place, placed);
      for (const one of placed) yield capturedCall(index.pathOf(one), one, known);
    }
  } finally {
    await values.release();
  }
}

function countFrom(options: Record<string, unknown>, name: string): number {
  const { [name]: count = 0 } = options;
  if (Number.isSafeInteger(count) && Number(count) >= 0) return Number(count);
  throw new TensorError(
    "attribute",
    `${name} must be an integer of 0 or more, got ${printValue(count)}`,
  );
}

/**
 * Feeds, each read once.
 * @throws TensorError `shape-mismatch`, `dtype`, `rank` for one that is no input of the model, or not as declared
 */
export const feedsFrom = (model: Model, feeds: Feeds): ReadonlyMap<string, Tensor> =>
  bindGiven(model.graph, recordFrom("the feeds", feeds));

/** What is known of the values of some nodes of a graph, and the graph as it runs. */
interface Known {
  readonly frame: Frame;
  readonly values: ReadonlyMap<string, Outcome>;
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

/** A node as it runs. */
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

function capturedCall(
  path: string,
  placed: PlacedNode,
  known: Known | NotRun | RuntimeFailure,
): CapturedCall {
  const isRun = !(known instanceof NotRun);
  const nothing = { path, isRun, call: null, error: null, outputs: null, behind: null };
  if (known instanceof Error) {
    const behind = known instanceof RuntimeFailure ? known.at : null;
    return { ...nothing, node: placed.node, inputs: {}, problem: known.message, behind };
  }
  const { frame, values } = known;
  const node = nodeIn(frame, placed);
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

/** The tensors of some names, and the first failure among them. */
function tensorsOf(
  names: readonly string[],
  known: ReadonlyMap<string, Outcome>,
): readonly [Readonly<Record<string, Tensor>>, RuntimeFailure | null] {
  let problem: RuntimeFailure | null = null;
  const entries: [string, Tensor][] = [];
  for (const name of names) {
    const value = known.get(name);
    if (value instanceof RuntimeFailure) problem ??= value;
    else if (value !== undefined) entries.push([name, value]);
  }
  return [Object.fromEntries(entries), problem];
}
