/**
 * Runs the whole model after its nodes were compared in one iteration of each loop and one call of each function. If
 * the runtime fails, the failing iteration or call is located, and the nodes are captured there.
 */

import { nodeTitle, type Model } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { captureCalls, type CapturedCall, type CaptureOptions } from "./capture.ts";
import { findIteration } from "./search-loop.ts";
import { openSession, RuntimeFailure } from "./session.ts";

export interface WholeFailure {
  /** The runtime's message. */
  readonly message: string;
  /** The failing iteration or call, such as `iteration 4 of node "loop"`; null if not located. */
  readonly where: string | null;
  /** The nodes that are wrong there; empty if another operator fails. */
  readonly captured: readonly CapturedCall[];
}

/** Parameters for running the whole model. */
export interface WholeRun {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly feeds: ReadonlyMap<string, Tensor>;
  readonly options: CaptureOptions;
  /** Returns true if a node is right. */
  readonly isFine: (captured: CapturedCall) => boolean;
}

/**
 * Runs the whole model; null if that succeeds. A model without bodies and functions is not run again, because it has
 * already run.
 */
export async function runWhole(whole: WholeRun): Promise<WholeFailure | null> {
  const { graph, functions = [] } = whole.model;
  const hasBodies = graph.nodes.some(({ attributes }) =>
    Object.values(attributes).some((one) => one.type === "other" && one.graphs !== undefined),
  );
  if (functions.length === 0 && !hasBodies) return null;
  const message = await problemOf(whole);
  if (message === null) return null;
  return (
    (await inIteration(whole)) ?? (await inCall(whole)) ?? { message, where: null, captured: [] }
  );
}

async function problemOf({ bytes, feeds, options }: WholeRun): Promise<string | null> {
  try {
    const session = await openSession(options.createSession, bytes);
    try {
      await session.run(feeds, []);
    } finally {
      await session.release();
    }
    return null;
  } catch (error) {
    if (error instanceof RuntimeFailure) return error.message;
    throw error;
  }
}

async function inIteration(whole: WholeRun): Promise<WholeFailure | null> {
  const { model, feeds, options } = whole;
  const found = await findIteration(model, new NodeIndex(model), feeds, options.createSession);
  if (found === null) return null;
  const { iteration, node, message } = found;
  const captured = await wrongNodes(whole, { iteration });
  return { message, where: `iteration ${iteration} of ${nodeTitle(node)}`, captured };
}

/** Tries the calls of functions. A function has at most one call to try for each node that calls it. */
async function inCall(whole: WholeRun): Promise<WholeFailure | null> {
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
  { bytes, feeds, options, isFine }: WholeRun,
  elsewhere: Pick<CaptureOptions, "iteration" | "call">,
): Promise<readonly CapturedCall[]> {
  const wrong: CapturedCall[] = [];
  const own = { ...options, ...elsewhere };
  for await (const captured of captureCalls(bytes, Object.fromEntries(feeds), own)) {
    if (!isFine(captured)) wrong.push(captured);
  }
  return wrong;
}
