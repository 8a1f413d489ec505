/**
 * Finds the iteration of a Loop or Scan in which the runtime fails. The search bisects over runs with fewer iterations.
 * Every output of the node is requested, so that the runtime computes all parts of the body.
 */

import { scannedInputs, take } from "../control-flow/iterations.ts";
import type { Model, ModelNode } from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { runningNode, valueOf, type Frame, type Values } from "./frames.ts";
import { PlaceValues } from "./place-values.ts";
import { failureOr, RuntimeFailure, type CreateSession } from "./session.ts";

export interface FailingIteration {
  readonly iteration: number;
  readonly node: ModelNode;
  readonly message: string;
}

/** The maximum number of tried iterations of a Loop without an iteration limit. */
const MOST_ITERATIONS = 2 ** 31;

/**
 * Returns the first failing iteration of the first failing loop; null if no loop fails. Nested loops are not searched.
 */
export async function findIteration(
  model: Model,
  index: NodeIndex,
  feeds: Values,
  createSession: CreateSession,
): Promise<FailingIteration | null> {
  const run = { model, nodes: index.nodes, feeds, iteration: 0, call: 0 };
  const values = new PlaceValues(run, [], createSession);
  try {
    for (const placed of index.nodes) {
      if (!isLoop(placed.node) || isInLoop(placed.place)) continue;
      // oxlint-disable-next-line no-await-in-loop
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
  const limited = await limitedRuns(placed, values);
  if (limited === null) return null;
  const messageOf = async (count: number): Promise<string | null> => {
    const { frame, names } = limited(count);
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
  // oxlint-disable-next-line no-await-in-loop
  while ((message = await messageOf(bad)) === null) {
    if (bad >= limited.most) return null;
    [good, bad] = [bad, Math.min(2 * bad, limited.most)];
  }
  while (bad - good > 1) {
    const middle = good + Math.floor((bad - good) / 2);
    // oxlint-disable-next-line no-await-in-loop
    const said = await messageOf(middle);
    if (said === null) good = middle;
    else [bad, message] = [middle, said];
  }
  const iteration = bad - 1;
  return { iteration, node, message };
}

interface LimitedRuns {
  (count: number): { readonly frame: Frame; readonly names: readonly string[] };
  /** The node's maximum number of iterations. */
  readonly most: number;
}

/** Returns a function that limits the node to `count` iterations; null if the node's inputs are unknown. */
async function limitedRuns(placed: PlacedNode, values: PlaceValues): Promise<LimitedRuns | null> {
  const running = await failureOr(() => runningNode(placed, values));
  if (running instanceof RuntimeFailure) return null;
  const { frame, node: own } = running;
  const inputs = running.inputs.map(valueOf);
  if (inputs.some((one) => one instanceof RuntimeFailure)) return null;
  const names = own.outputs.filter((name) => name !== "");
  const { most, limit } = limitsOf(own, inputs as (Tensor | undefined)[]);
  const limited = (count: number): ReturnType<LimitedRuns> => {
    const given = new Map(frame.given);
    const renamed = own.inputs.slice();
    for (const [position, value] of limit(count)) {
      // Models do not use this name.
      renamed[position] = `ndscatter: input ${position}`;
      given.set(renamed[position], value);
    }
    const other = { ...own, inputs: renamed };
    const nodes = frame.graph.nodes.map((one) => (one === own ? other : one));
    return { frame: { ...frame, graph: { ...frame.graph, nodes }, given }, names };
  };
  return Object.assign(limited, { most });
}

interface Limits {
  readonly most: number;
  /** Returns the inputs, by position, that limit the node to `count` iterations. */
  limit(count: number): readonly (readonly [position: number, value: Tensor])[];
}

/** A Scan is limited to the first slices of each scanned input; in reverse order, to the last slices. */
function limitsOf(node: ModelNode, inputs: readonly (Tensor | undefined)[]): Limits {
  if (node.op === "Loop") {
    const [trips] = inputs;
    const most = trips === undefined ? MOST_ITERATIONS : Number(trips.data[0]);
    return { most, limit: (count) => [[0, tensor("int64", [], BigInt(count))]] };
  }
  const scanned = scannedInputs(node, (at) => inputs[at]);
  const first = inputs.length - scanned.length;
  const limit: Limits["limit"] = (count) =>
    scanned.map(({ value, axis, length, isReverse }, at) => {
      const start = isReverse ? length - count : 0;
      const positions = Array.from({ length: count }, (_, nth) => BigInt(start + nth));
      return [first + at, take(value, axis, tensor("int64", [count], positions))];
    });
  return { most: scanned[0].length, limit };
}
