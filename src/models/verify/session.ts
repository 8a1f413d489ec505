/**
 * The user's own runtime, reduced to a function that creates sessions. The runtime may be onnxruntime-node,
 * onnxruntime-web, or another package with the same interface. This package depends on no runtime.
 */

import { factOf, printValue } from "../../core/foreign.ts";
import { isError, isTensorError, TensorError } from "../../core/errors.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/**
 * A runtime's tensor. The field `dims` is the shape, and `type` is a data type with the same name as in this package.
 */
export interface SessionTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** A session with onnxruntime's interface. */
export interface Session {
  run(feeds: never): Promise<Readonly<Record<string, unknown>>>;
  release?(): Promise<void>;
}

/** Session settings with onnxruntime's names. */
export interface SessionSettings {
  /** The number of threads per node. */
  readonly intraOpNumThreads?: number;
  readonly executionMode?: "sequential" | "parallel";
  readonly graphOptimizationLevel?: "disabled" | "basic" | "extended" | "all";
  /** A list such as `["webgpu"]`. The first provider that supports a node runs the node. */
  readonly executionProviders?: readonly string[];
}

/**
 * Makes a session of a model, such as `(model) => InferenceSession.create(model)`. `fixModel` always passes settings;
 * `verifyModel` passes settings only if the model does not load. Settings must override the caller's own options:
 * `(model, settings) => InferenceSession.create(model, { ...mine, ...settings })`.
 */
export type CreateSession = (model: Uint8Array, settings?: SessionSettings) => Promise<Session>;

/**
 * A failure of the runtime, with the runtime's message. Functions that do not report the failure throw a TensorError
 * instead.
 */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
  readonly isLoad: boolean;
  /** The node at which the runtime failed; null if the node was not found. */
  readonly at: ModelNode | null;

  constructor(
    message: string,
    isLoad = false,
    options: { readonly cause?: unknown } = {},
    at: ModelNode | null = null,
  ) {
    super(message, options);
    this.isLoad = isLoad;
    this.at = at;
  }
}

/** Returns the result of an action. Any error becomes a failure of the runtime. */
export async function orFailure<T>(action: () => Promise<T>, isLoad = false): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new RuntimeFailure(sentenceFrom(cause), isLoad, { cause });
  }
}

/** Returns the result of an action, or the failure of the runtime. */
export async function failureOr<T>(action: () => Promise<T> | T): Promise<T | RuntimeFailure> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RuntimeFailure) return error;
    throw error;
  }
}

/** Returns a one-line message for a value that a runtime threw. The value need not be an error. */
export function sentenceFrom(cause: unknown): string {
  try {
    if (isError(cause)) return cause.message.trim().replaceAll(/\s*\n\s*/g, " ");
  } catch {
    // If the value is a Proxy, reading a property may throw.
  }
  return printValue(cause);
}

/** Patterns that find a node name in onnxruntime's messages, and patterns that find an operator. */
const NAMES = [
  / Name:'([^']*)'/,
  /node with name '([^']*)'/,
  /[Nn]ode ?\(([^()]*)\)/,
  /In Node, \("([^"]*)"/,
];
const OPS = [
  /while running (\w+) node/,
  /for (\w+)\(\d+\) node/,
  /Op \((\w+)\)/,
  /In Node, \("[^"]*", (\w+),/,
  /:(\w+)\(-?\d+\) is not a registered/,
];

const firstMatch = (text: string, patterns: readonly RegExp[]): string =>
  patterns.map((pattern) => pattern.exec(text)?.[1]).find(Boolean) ?? "";

/** Returns the node that an onnxruntime message names; null if no node or several nodes match. */
function nodeNamedBy(message: string, nodes: readonly ModelNode[]): ModelNode | null {
  const [name, op] = [firstMatch(message, NAMES), firstMatch(message, OPS)];
  if (name === "" && op === "") return null;
  const found = nodes.filter(
    (one) => (name === "" || one.name === name) && (op === "" || one.op === op),
  );
  return found.length === 1 ? found[0] : null;
}

/**
 * Returns the result of an action of the runtime. Errors of this package are thrown unchanged. The text `what` names
 * the model or part in other errors, and `nodes` are the nodes that may have failed.
 */
export async function orRuntimeError<T>(
  verb: "load" | "run",
  what: string,
  nodes: readonly ModelNode[],
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    const message = sentenceFrom(cause);
    const at = nodeNamedBy(message, nodes);
    const node = at === null ? undefined : nodeTitle(at);
    const did = cause instanceof RuntimeFailure && cause.isLoad ? "load" : verb;
    const sentence = `the runtime cannot ${did} ${node ?? what}: ${message}`;
    throw new TensorError("runtime", sentence, { got: factOf(message), node }, { cause });
  }
}

export function sessionTensor(value: Tensor): SessionTensor & { location: string } {
  const { dtype, shape, data } = value;
  return { type: dtype, dims: shape, data, location: "cpu" };
}

/** Throws `attribute` for options without a session maker. */
export function createSessionFrom(options: Record<string, unknown>): CreateSession {
  const { createSession } = options;
  if (typeof createSession === "function") return createSession as CreateSession;
  throw new TensorError(
    "attribute",
    "createSession must be a function that makes a session of a model, such as (model) => InferenceSession.create(model)",
    { key: "createSession", got: factOf(createSession) },
  );
}
