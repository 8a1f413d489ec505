/** Captures the actual inputs and outputs of a model's scatters and gathers in the user's runtime. */

import { recovering, TensorError } from "../../core/errors.ts";
import { namesOf, optionsOf, wrongOption } from "../../core/foreign.ts";
import { recordFrom } from "../model/foreign-model.ts";
import { bindGiven } from "../model/inputs.ts";
import { nodeTitle, type Model, type ModelNode } from "../model/model.ts";
import { listNodes, NodeIndex } from "../model/node-index.ts";
import type { PlacedNode } from "../model/places.ts";
import { callOfNode, type NodeCall } from "../model/run-model.ts";
import { slicedConstant, type ReadExternal } from "../onnx/external.ts";
import type { Bytes } from "../../core/tensor/bytes.ts";
import { readModel } from "../onnx/read-model.ts";
import { slicesOf } from "../../core/call/check.ts";
import { findOperators, isOperator } from "../../core/operators/registry.ts";
import type { RuntimeTensor, Tensor } from "../../core/tensor/tensor.ts";
import {
  isConstant,
  nodeIn,
  NotRun,
  valueOf,
  type Found,
  type Frame,
  type TracedRun,
} from "./frames.ts";
import { PlaceValues } from "./place-values.ts";
import { createSessionFrom, failureOr, RuntimeFailure, type CreateSession } from "./session.ts";

/** Options of {@link captureCalls}. */
export interface CaptureOptions {
  /** Makes a session of the user's own runtime, such as `(model) => InferenceSession.create(model)`. */
  readonly createSession: CreateSession;
  /** The name or path of a single node. By default all scatters and gathers are captured. */
  readonly node?: string | undefined;
  /** Reads the model's external data. The option is required if a captured node has an input in another file. */
  readonly external?: ReadExternal | undefined;
  /** The loop iteration to capture, counted from 0. The default is 0. */
  readonly iteration?: number | undefined;
  /** The function call to capture, counted from 0 among the calls that run. The default is 0. */
  readonly call?: number | undefined;
  /**
   * Called after each session that searches for a failing node, with the number of such sessions so far. The search
   * ends after 60 sessions or 30 seconds.
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

/** A node with its actual inputs. */
export interface CapturedCall {
  /** The node with the attributes of this run. In a function, the call may set attributes. */
  readonly node: ModelNode;
  /** The node's path, which `NodeIndex.find` accepts. */
  readonly path: string;
  /** The node and its inputs, in the form that `run` and `explain` accept; null if the inputs are unknown. */
  readonly call: NodeCall | null;
  /**
   * The error of an invalid call, such as an operator that the opset lacks; null if the call is valid or its inputs are
   * unknown.
   */
  readonly error: TensorError | null;
  /** The inputs by name. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** The runtime's outputs by name; null if the runtime returned none. */
  readonly outputs: Readonly<Record<string, Tensor>> | null;
  /** False if the node does not run with these feeds, for example because its branch is not selected. */
  readonly isRun: boolean;
  /**
   * Explains why inputs or outputs are missing; null if nothing is missing. The text is the runtime's message, or the
   * reason why the node does not run.
   */
  readonly problem: string | null;
  /** The earlier node whose failure caused missing inputs; null if no earlier node failed. */
  readonly behind: ModelNode | null;
}

/** Input tensors by name, from this package or onnxruntime. */
export type Feeds = Readonly<Record<string, Tensor | RuntimeTensor>>;

/**
 * Runs an ONNX model in the user's runtime. The function yields every scatter and gather with its actual inputs and the
 * runtime's outputs, graph by graph, in node order. If the runtime fails at a node, the model is cut before this node,
 * so that the node's inputs are captured too.
 *
 * Nodes in functions and in bodies of `If`, `Loop` and `Scan` run in separate models, with the values around them. A
 * function is captured in its first call that runs, or in the call that the option `call` selects. Captured values
 * become outputs, so the runtime's optimizer cannot fuse the nodes. Faults that occur only in fused nodes are therefore
 * not found.
 *
 * @param bytes the bytes of the ONNX file. `createSession` must tell the runtime where the model's external files are,
 * for example by onnxruntime-node's option `model_external_initializers_file_folder_path`.
 * @param feeds one tensor for each input that the nodes depend on
 * @param options `createSession` is required; `node` limits the nodes
 * @throws TensorError `attribute` for options without a session maker; `shape-mismatch`, `dtype`, `rank` for a missing
 * feed, and for a feed that differs from its declaration; `unsupported-model` for a node other than a scatter or
 * gather; and the errors of `readModel` and `NodeIndex.find`. Errors of the runtime are in the field `problem` of a
 * call.
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
  for await (const capture of captures(capturingFrom(bytes, feeds, options))) yield capture(true);
}

/**
 * Returns a node with its inputs. Constants are read from the file in each call. If `isWhole` is false, only the slices
 * of a large table that a gather selects are read; all other slices are 0.
 */
export type Capture = (isWhole: boolean) => CapturedCall;

const GATHERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ findOperators(({ kind }) => kind === "gather").map(
    ({ versions }) => versions[0].name,
  ),
);

export const maybeSliced = ({ op }: ModelNode): boolean => GATHERS.has(op);

/** Captures calls without reading constant inputs. */
export async function* captures(from: Capturing): AsyncGenerator<Capture, void, undefined> {
  const { external, index, wanted } = from;
  const values = new PlaceValues(from);
  try {
    for (const place of new Set(wanted.map((one) => one.place))) {
      const placed = wanted.filter((one) => one.place === place);
      const known = await failureOr(async () => {
        const frame = await values.frame(place);
        const nodes = placed.map((one) => nodeIn(frame, one));
        const names = nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]);
        return { frame, values: await values.valuesOf(place, names) };
      });
      // Weights are read only after the runtime has released its memory.
      await values.release();
      for (const one of placed)
        yield (isWhole) =>
          capturedCall(index.pathOf(one), one, known, isWhole ? undefined : external);
    }
  } finally {
    await values.release();
  }
}

/** A model whose calls are captured, with its checked inputs and options. */
export type Capturing = TracedRun & Pick<CaptureOptions, "node" | "external">;

/** The errors are those of `captureCalls`. */
export function capturingFrom(bytes: Bytes, feeds: Feeds, options: unknown): Capturing {
  const own = optionsOf(options, CAPTURE_OPTIONS, {}, "the options of a capture");
  const createSession = createSessionFrom(own);
  const { node, onSearch = () => {} } = own;
  const external = own["external"] as ReadExternal | undefined;
  const [iteration, call] = [countFrom(own, "iteration"), countFrom(own, "call")];
  if (typeof onSearch !== "function") throw wrongOption("onSearch", "a function", onSearch);
  if (node !== undefined && typeof node !== "string") throw wrongOption("node", "a name", node);
  const model = readModel(bytes, external === undefined ? {} : { external });
  const given = feedsFrom(model, feeds);
  const index = new NodeIndex(model);
  return {
    ...{ createSession, node, iteration, call, external, model, feeds: given, index },
    onSearch: onSearch as (sessions: number) => void,
    wanted: node === undefined ? index.family : [operatorNamed(index, node, "node")],
  };
}

/** Returns a model's scatter or gather by its name, which is the value of the option `key`. */
export function operatorNamed(index: NodeIndex, name: string, key: string): PlacedNode {
  const found = index.find(name);
  if (isOperator(found.node)) return found;
  const node = nodeTitle(found.node);
  const what = `${node} is ${found.node.op}, which is not a scatter or gather`;
  const sentence = `${what}; the model has ${listNodes(index.family)}`;
  throw new TensorError("unsupported-model", sentence, { node, key });
}

function countFrom(options: Record<string, unknown>, name: string): number {
  const { [name]: count = 0 } = options;
  if (Number.isSafeInteger(count) && Number(count) >= 0) return Number(count);
  throw wrongOption(name, "an integer of 0 or more", count);
}

/**
 * Returns the feeds; each feed is read once. Throws `shape-mismatch`, `dtype`, `rank` for a feed that is not an input
 * of the model, or that differs from its declaration.
 */
export const feedsFrom = (model: Model, feeds: Feeds): ReadonlyMap<string, Tensor> =>
  bindGiven(model.graph, recordFrom("the feeds", feeds));

/** Known values of a graph's nodes, with the graph as it runs. */
interface Known {
  readonly frame: Frame;
  readonly values: ReadonlyMap<string, Found>;
}

/** Returns a node with its captured inputs. The reader `external` is undefined if a large table must be read whole. */
function capturedCall(
  path: string,
  placed: PlacedNode,
  known: Known | RuntimeFailure,
  external: ReadExternal | undefined,
): CapturedCall {
  const isRun = !(known instanceof NotRun);
  const nothing = { path, isRun, call: null, error: null, outputs: null, behind: null };
  if (known instanceof RuntimeFailure) {
    const { message: problem, at: behind } = known;
    return { ...nothing, node: placed.node, inputs: {}, problem, behind };
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
  return recovering(
    () => ({ ...common, call: callOfNode(frame.opsets, node, inputs) }),
    (error) => ({ ...common, error }),
  );
}

/** Returns a gather's data with only the selected slices; null if the whole data must be read. */
function tableOf(node: ModelNode, { frame, values }: Known, external: ReadExternal): Tensor | null {
  const [name, ...others] = node.inputs;
  const data = maybeSliced(node) ? values.get(name) : undefined;
  if (data === undefined || !isConstant(data) || others.includes(name)) return null;
  const table = slicedConstant(data, external);
  if (table === null) return null;
  const [inputs] = tensorsOf(node.inputs, new Map([...values, [name, table.tensor]]));
  const read = (): Tensor | null => {
    const call = callOfNode(frame.opsets, node, inputs);
    return table.read(slicesOf(call.node, call.inputs)) ? table.tensor : null;
  };
  // The same error is reported later, when the whole table is checked.
  return recovering(read, () => null);
}

/** Returns the tensors with the given names, and the first failure among them. */
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
