/**
 * Finds the iteration of a Loop or Scan in which the runtime fails. The search bisects over runs with fewer iterations.
 * Every output of the node is requested, so that the runtime computes all parts of the body.
 */

import { runNode as run } from "../../core/functions.ts";
import { type Graph, type Model, type ModelNode } from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { tensor, Tensor } from "../../core/tensor/tensor.ts";
import { NotRun, scannedInputs, valueOf, type Frame, type Outcome, type Values } from "./frames.ts";
import { PlaceValues } from "./place-values.ts";
import { RuntimeFailure, type CreateSession } from "./session.ts";

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
  const values = new PlaceValues(model, index.nodes, [], feeds, {
    createSession,
    iteration: 0,
    call: 0,
  });
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
  { node, place }: PlacedNode,
  values: PlaceValues,
): Promise<FailingIteration | null> {
  const limited = await limitedRuns(node, place, values);
  if (limited === null) return null;
  const messageOf = async (count: number): Promise<string | null> => {
    const { frame, names } = limited(count);
    try {
      await values.runGraph(frame, names);
      return null;
    } catch (error) {
      if (error instanceof RuntimeFailure && !error.isLoad) return error.message;
      throw error;
    }
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
async function limitedRuns(
  node: ModelNode,
  place: Place,
  values: PlaceValues,
): Promise<LimitedRuns | null> {
  let frame: Frame;
  let inputs: readonly (Outcome | undefined)[];
  let own: ModelNode;
  try {
    frame = await values.frame(place);
    own = frame.graph.nodes[place.graph.nodes.indexOf(node)];
    const known = await values.valuesOf(place, own.inputs);
    inputs = own.inputs.map((name) => valueOf(known.get(name)));
  } catch (error) {
    if (error instanceof NotRun || error instanceof RuntimeFailure) return null;
    throw error;
  }
  if (inputs.some((one) => one instanceof RuntimeFailure)) return null;
  const names = own.outputs.filter((name) => name !== "");
  const [limit, most] = own.op === "Loop" ? limitLoop(inputs) : limitScan(own, inputs);
  const withInputs = graphWith(frame.graph, own);
  const limited = (count: number): ReturnType<LimitedRuns> => {
    const replaced = limit(count);
    const graph = withInputs([...replaced.keys()]);
    const given = new Map(frame.given);
    for (const [position, value] of replaced) given.set(nameOf(position), value);
    return { frame: { ...frame, graph, given }, names };
  };
  return Object.assign(limited, { most });
}

/** Returns a name for a replaced input that models do not use. */
const nameOf = (position: number): string => `ndscatter: input ${position}`;

/** Creates a graph in which some inputs of a node are renamed. */
const graphWith =
  (graph: Graph, node: ModelNode) =>
  (positions: readonly number[]): Graph => {
    const inputs = node.inputs.map((name, at) => (positions.includes(at) ? nameOf(at) : name));
    const other = { ...node, inputs };
    return { ...graph, nodes: graph.nodes.map((one) => (one === node ? other : one)) };
  };

type Limit = readonly [inputs: (count: number) => ReadonlyMap<number, Tensor>, most: number];

function limitLoop([trips]: readonly (Outcome | undefined)[]): Limit {
  const most = trips instanceof Tensor ? Number(trips.data[0]) : MOST_ITERATIONS;
  return [(count) => new Map([[0, tensor("int64", [], BigInt(count))]]), most];
}

/**
 * Returns the first `count` slices of each scanned input. If an input is scanned in reverse, the last slices are
 * returned.
 */
function limitScan(node: ModelNode, inputs: readonly (Outcome | undefined)[]): Limit {
  const scanned = scannedInputs(node, inputs);
  const first = inputs.length - scanned.length;
  const slices = (count: number): ReadonlyMap<number, Tensor> =>
    new Map(
      scanned.map(({ value, axis, length, isReverse }, at) => {
        const start = isReverse ? length - count : 0;
        const places = Array.from({ length: count }, (_, nth) => BigInt(start + nth));
        const indices = tensor("int64", [count], places);
        const node = { op: "Gather", opset: 13, attributes: { axis } };
        return [first + at, run(node, [value, indices])[0]];
      }),
    );
  return [slices, scanned[0].length];
}
