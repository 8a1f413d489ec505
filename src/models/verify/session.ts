/**
 * The user's own runtime, reduced to a maker of sessions: onnxruntime-node, onnxruntime-web, or anything with the same
 * interface. This package depends on none of them.
 */

import { factOf, isError, isTensorError, printValue, TensorError } from "../../core/errors.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import { OPEN } from "../../core/resources.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";

/** A tensor of a runtime: `dims` is its shape, and `type` has the names of our data types. */
export interface SessionTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** A session of onnxruntime. */
export interface Session {
  run(feeds: never): Promise<Readonly<Record<string, unknown>>>;
  release?(): Promise<void>;
}

/** Settings of a session, under onnxruntime's names. */
export interface SessionSettings {
  /** The number of threads per node. */
  readonly intraOpNumThreads?: number;
  readonly executionMode?: "sequential" | "parallel";
  readonly graphOptimizationLevel?: "disabled" | "basic" | "extended" | "all";
  /** A list such as `["webgpu"]`; the first provider that supports a node runs it. */
  readonly executionProviders?: readonly string[];
}

/**
 * Makes a session of a model, such as `(model) => InferenceSession.create(model)`. `fixModel` passes settings, and
 * `verifyModel` does if the model does not load. Settings override the caller's: `(model, settings) =>
 * InferenceSession.create(model, { ...mine, ...settings })`.
 */
export type CreateSession = (model: Uint8Array, settings?: SessionSettings) => Promise<Session>;

/** A failure of the runtime, with its message. Functions that do not report it throw {@link runtimeError} instead. */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
  /** True if the runtime could not load the model. */
  readonly isLoad: boolean;
  /** The node at which the runtime failed; null if it was not found. */
  readonly at: ModelNode | null;

  constructor(
    message: string,
    isLoad: boolean,
    options: { readonly cause?: unknown },
    at: ModelNode | null = null,
  ) {
    super(message, options);
    this.isLoad = isLoad;
    this.at = at;
  }
}

/** A session in which a model can run repeatedly. */
export interface OpenSession {
  /**
   * @param names of the outputs
   * @throws RuntimeFailure if the runtime cannot run the model, or an output is not a tensor, such as a sequence
   */
  run(
    feeds: ReadonlyMap<string, Tensor>,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, Tensor>>;
  /** Releases the session. An error is ignored, because the results already exist. */
  release(): Promise<void>;
}

/** @throws RuntimeFailure if the runtime cannot load the model */
export async function openSession(create: CreateSession, model: Uint8Array): Promise<OpenSession> {
  const session = await orFailure(() => create(model), true);
  OPEN.sessions++;
  return {
    run: (feeds, names) =>
      orFailure(async () => {
        const own = [...feeds].map(([name, value]) => [name, sessionTensor(value)] as const);
        const outputs = await session.run(Object.fromEntries(own) as never);
        return new Map(names.map((name) => [name, asTensor(outputs[name], {}, name)]));
      }),
    async release() {
      OPEN.sessions--;
      await orFailure(async () => session.release?.()).catch(() => {});
    },
  };
}

/** Returns the result of an action; any error becomes a failure of the runtime. */
export async function orFailure<T>(action: () => Promise<T>, isLoad = false): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new RuntimeFailure(sentenceFrom(cause), isLoad, { cause });
  }
}

/** Returns the message of a value thrown by a runtime, which need not be an error, in one line. */
export function sentenceFrom(cause: unknown): string {
  try {
    if (isError(cause)) return cause.message.trim().replaceAll(/\s*\n\s*/g, " ");
  } catch {
    // A Proxy may throw at any access.
  }
  return printValue(cause);
}

/** Patterns with the name of a node in messages of onnxruntime, and patterns with an operator. */
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

/** Returns the node that a message of onnxruntime names; null if the message fits no node or several. */
function nodeNamedBy(message: string, nodes: readonly ModelNode[]): ModelNode | null {
  const [name, op] = [firstMatch(message, NAMES), firstMatch(message, OPS)];
  if (name === "" && op === "") return null;
  const found = nodes.filter(
    (one) => (name === "" || one.name === name) && (op === "" || one.op === op),
  );
  return found.length === 1 ? found[0] : null;
}

/**
 * Returns the error for a failure of the runtime that ends a call; an error of this package is returned unchanged.
 * @param what the model or the part of it that failed
 * @param nodes the nodes that may have failed
 */
export function runtimeError(
  verb: "load" | "run",
  what: string,
  cause: unknown,
  nodes: readonly ModelNode[],
): TensorError {
  if (isTensorError(cause)) return cause;
  const message = sentenceFrom(cause);
  const at = nodeNamedBy(message, nodes);
  const node = at === null ? undefined : nodeTitle(at);
  const sentence = `the runtime cannot ${verb} ${node ?? what}: ${message}`;
  return new TensorError("runtime", sentence, { got: factOf(message), node }, { cause });
}

/** Returns a tensor as a plain object, which onnxruntime accepts instead of its own class. */
export const sessionTensor = ({
  dtype,
  shape,
  data,
}: Tensor): SessionTensor & { location: string } => ({
  type: dtype,
  dims: shape,
  data,
  location: "cpu",
});

/** @throws TensorError `attribute` for options without a session maker */
export function createSessionFrom(options: Record<string, unknown>): CreateSession {
  const { createSession } = options;
  if (typeof createSession === "function") return createSession as CreateSession;
  throw new TensorError(
    "attribute",
    "createSession must be a function that makes a session of a model, such as (model) => InferenceSession.create(model)",
    { key: "createSession", got: factOf(createSession) },
  );
}
