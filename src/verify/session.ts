/**
 * The user's own runtime, as far as it is needed: a maker of sessions of onnxruntime-node, onnxruntime-web, or anything
 * that behaves like them. This package depends on none of them.
 */

import { printValue, TensorError } from "../errors.ts";
import { asTensor, type Tensor } from "../tensor/tensor.ts";

/** A tensor of a runtime: `dims` is its shape, and `type` is called as our data types are. */
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

/** Makes a session of a model: `(bytes) => InferenceSession.create(bytes)`. */
export type CreateSession = (model: Uint8Array) => Promise<Session>;

/** What the runtime said when it did not do as it was asked. */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
}

/**
 * Runs a model once in a session of its own.
 * @param names of the outputs
 * @throws RuntimeFailure where the runtime cannot load or run the model, or has no tensor for an output
 */
export async function runOnce(
  create: CreateSession,
  model: Uint8Array,
  feeds: Readonly<Record<string, Tensor>>,
  names: readonly string[],
): Promise<ReadonlyMap<string, Tensor>> {
  const own = Object.entries(feeds).map(([name, value]) => [name, sessionTensor(value)] as const);
  try {
    const session = await create(model);
    try {
      const outputs = await session.run(Object.fromEntries(own) as never);
      // What is no tensor, such as a sequence, is a failure of that output.
      return new Map(names.map((name) => [name, asTensor(outputs[name], {}, name)]));
    } finally {
      await session.release?.();
    }
  } catch (cause) {
    throw failureFrom(cause);
  }
}

const failureFrom = (cause: unknown): RuntimeFailure =>
  new RuntimeFailure(sentenceFrom(cause), { cause });

/** What a runtime threw need not be an error. */
function sentenceFrom(cause: unknown): string {
  try {
    if (cause instanceof Error) return cause.message.trim();
  } catch {
    // A Proxy whose parts throw.
  }
  return printValue(cause);
}

/** A tensor as onnxruntime takes it, which asks for no class of its own. */
const sessionTensor = ({ dtype, shape, data }: Tensor): SessionTensor & { location: string } => ({
  type: dtype,
  dims: shape,
  data,
  location: "cpu",
});

/** @throws TensorError `attribute` for options without a maker of sessions */
export function createSessionFrom(options: Record<string, unknown>): CreateSession {
  const { createSession } = options;
  if (typeof createSession === "function") return createSession as CreateSession;
  throw new TensorError(
    "attribute",
    "createSession must be a function that makes a session of a model, such as (model) => InferenceSession.create(model)",
  );
}
