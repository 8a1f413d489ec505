/**
 * The inputs of each graph during a run of the model. A body has the values of one loop iteration, and a function has
 * the inputs of one call. A graph with its inputs can run as a separate model.
 */

import { malformed } from "../../core/errors.ts";
import { iterationsOf, numberOf, SCAN_WITHOUT_BATCHES } from "../control-flow/iterations.ts";
import { calledGraph, functionOf } from "../model/bound-graph.ts";
import { quote } from "../model/graph.ts";
import { constantTensor } from "../model/inline.ts";
import {
  nodeTitle,
  renamed,
  valueNames,
  type Constant,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { freeNames } from "../model/uses.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { RuntimeFailure, type CreateSession } from "./session.ts";

/** A value, or the runtime's error. */
export type Outcome = Tensor | RuntimeFailure;

/** A value, or a constant that is read only if a node of this package needs it. Other weights stay in the file. */
export type Found = Outcome | Constant;

export type Values = ReadonlyMap<string, Tensor>;

export interface Frame {
  readonly opsets: Place["opsets"];
  /** The graph itself; in a function, the graph with the call's attribute values. */
  readonly graph: Graph;
  /**
   * The graph's inputs, or the errors of inputs that the runtime could not compute. For a body, the map also contains
   * the values that the body uses from enclosing graphs.
   */
  readonly given: ReadonlyMap<string, Outcome>;
}

/** Returns a graph's initializers and the tensors of its `Constant` nodes, by name. */
export function constantsOf({ constants, nodes }: Graph): ReadonlyMap<string, Constant> {
  // The runtime handles tensors whose data type this package lacks.
  const made = nodes.flatMap((node) => constantTensor(node) ?? []).filter(({ dtype }) => dtype);
  return new Map([...constants, ...made].map((one) => [one.name, one]));
}

/** A failure whose message explains why the nodes of a graph do not run. */
export class NotRun extends RuntimeFailure {}

/** A run of a model, with one captured iteration of each loop and one captured call of each function. */
export interface TracedRun {
  readonly model: Model;
  readonly index: NodeIndex;
  /** The nodes whose values will be requested. */
  readonly wanted: readonly PlacedNode[];
  readonly feeds: Values;
  /** The loop iteration to capture, counted from 0. */
  readonly iteration: number;
  /** The function call to capture, counted from 0 among the calls that run. */
  readonly call: number;
  readonly createSession: CreateSession;
  /** Called after each session that searches for a failing node, with the number of such sessions so far. */
  readonly onSearch: (sessions: number) => void;
}

/** The context of a frame: the run, and the frames of enclosing graphs. */
export interface Around {
  readonly run: TracedRun;
  /** Throws NotRun for a graph that does not run with these inputs. */
  frame(place: Place): Promise<Frame>;
  /** Throws NotRun for a graph that does not run with these inputs. */
  valuesOf(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Found>>;
  runGraph(frame: Frame, names: readonly string[]): Promise<Values>;
}

/** Throws NotRun for a graph that does not run with these inputs, or that cannot be traced. */
export function frameOf(place: Place, around: Around): Promise<Frame> | Frame {
  const { outer, graph, opsets, kind } = place;
  if (kind.is === "function") return calledFrame(place, kind, around);
  if (outer !== null) return bodyFrame(place, outer, around);
  return { opsets, graph, given: around.run.feeds };
}

async function calledFrame(
  { graph, opsets }: Place,
  { name, domain }: { readonly name: string; readonly domain: string },
  around: Around,
): Promise<Frame> {
  const { model, index, call } = around.run;
  const calls = index.nodes.filter(({ node }) => node.op === name && node.domain === domain);
  // If another function contains the only call, the call runs in the selected call of the other function.
  const nth = calls.length === 1 && isInFunction(calls[0].place) ? 0 : call;
  let count = 0;
  for (const placed of calls) {
    try {
      await around.frame(placed.place);
      if (count++ < nth) continue;
      const { inputs, node } = await runningNode(placed, around);
      const values = graph.inputs.map((one, at) => [one.name, inputs[at]] as const);
      const called = functionOf(model, node) as ModelFunction;
      const bound = calledGraph({ ...called, graph }, node, () => null);
      return withMore({ opsets, graph: bound, given: new Map() }, values);
    } catch (error) {
      if (!(error instanceof NotRun)) throw error;
    }
  }
  const title = `the node is in the function ${quote(name)}`;
  if (count > 0)
    throw new NotRun(
      `${title}, which has no call ${nth}: of its calls, counted from 0, ${count} ran`,
    );
  throw new NotRun(
    calls.length === 0 ? `${title}, which no node calls` : `${title}, whose calls do not run`,
  );
}

const isInFunction = ({ kind, outer }: Place): boolean =>
  kind.is === "function" || (outer !== null && isInFunction(outer));

/** A node with its attributes and inputs in the current frame of its graph. */
export interface Running {
  readonly frame: Frame;
  readonly node: ModelNode;
  readonly inputs: readonly (Found | undefined)[];
}

export async function runningNode(
  placed: PlacedNode,
  around: Pick<Around, "frame" | "valuesOf">,
): Promise<Running> {
  const frame = await around.frame(placed.place);
  const node = nodeIn(frame, placed);
  const values = await around.valuesOf(placed.place, node.inputs);
  return { frame, node, inputs: node.inputs.map((name) => values.get(name)) };
}

/** Returns a node with the attributes of the running call. */
export const nodeIn = ({ graph }: Frame, { node, place }: PlacedNode): ModelNode =>
  graph.nodes[place.graph.nodes.indexOf(node)];

async function bodyFrame(place: Place, outer: Place, around: Around): Promise<Frame> {
  const frame = await around.frame(outer);
  const [node, attribute, nth] = ownerOf(outer.graph, place.graph);
  const owner = nodeIn(frame, { node, place: outer });
  const held = owner.attributes[attribute];
  const body = (held.type === "other" && held.graphs?.[nth]) || place.graph;
  const free = freeNames(body);
  const found = await lookUp([...owner.inputs, ...free], outer, around);
  const own = withMore(
    { opsets: place.opsets, graph: body, given: new Map() },
    [...free].map((name) => [name, found.get(name)]),
  );
  const inputs = owner.inputs.map((name) => valueOf(found.get(name)));
  if (owner.op === "If") {
    const taken = numberOf(made(inputs[0])) !== 0 ? "then_branch" : "else_branch";
    if (taken === attribute) return own;
    throw new NotRun(
      `the node is in the ${attribute} of ${nodeTitle(owner)}, and the ${taken} was taken`,
    );
  }
  const isScan = owner.op === "Scan" && place.opsets["ai.onnx"] >= SCAN_WITHOUT_BATCHES;
  if (owner.op === "Loop" || isScan) return iterationFrame(owner, inputs, own, around);
  throw new NotRun(
    `the node is in the body of ${nodeTitle(owner)}, and bodies of ${owner.op} are not supported`,
  );
}

export const isConstant = (found: Found): found is Constant => "read" in found;

export const valueOf = (found: Found | undefined): Outcome | undefined =>
  found !== undefined && isConstant(found) ? found.read() : found;

/** Adds values to a frame. Constants come from the frame's graph. */
function withMore(
  frame: Frame,
  entries: readonly (readonly [name: string, found: Found | undefined])[],
): Frame {
  const given = new Map(frame.given);
  const constants: Constant[] = [];
  for (const [name, found] of entries) {
    if (found === undefined) continue;
    if (isConstant(found)) constants.push(renamed(found, name));
    else given.set(name, found);
  }
  // The next iteration reuses a session if its graph is the same object.
  if (constants.length === 0) return { ...frame, given };
  const { graph } = frame;
  return { ...frame, given, graph: { ...graph, constants: [...graph.constants, ...constants] } };
}

/** Returns the node and the attribute that contain a body, and the body's position in the attribute. */
export function ownerOf({ nodes }: Graph, body: Graph): readonly [ModelNode, string, number] {
  for (const node of nodes) {
    for (const [name, attribute] of Object.entries(node.attributes)) {
      const nth = attribute.type === "other" ? (attribute.graphs ?? []).indexOf(body) : -1;
      if (nth !== -1) return [node, name, nth];
    }
  }
  throw malformed("a body is in no node of the graph around it");
}

async function lookUp(
  names: readonly string[],
  from: Place,
  around: Around,
): Promise<ReadonlyMap<string, Found | undefined>> {
  const found = new Map<string, Found | undefined>();
  const open = new Set(names);
  for (let place: Place | null = from; place !== null && open.size > 0; place = place.outer) {
    const { graph } = await around.frame(place);
    const here = valueNames(graph).filter((name) => open.delete(name));
    const values = await around.valuesOf(place, here);
    for (const name of here) found.set(name, values.get(name));
  }
  return found;
}

/** Throws RuntimeFailure for a value that the runtime could not compute. */
function made(value: Outcome | undefined): Tensor | undefined {
  if (value instanceof RuntimeFailure) throw value;
  return value;
}

/**
 * Returns the frame of a Loop's or Scan's body in the selected iteration. The frame `body` contains the values that the
 * body uses from enclosing graphs.
 */
async function iterationFrame(
  owner: ModelNode,
  inputs: readonly (Outcome | undefined)[],
  body: Frame,
  around: Around,
): Promise<Frame> {
  const loop = iterationsOf(owner, body.graph, (at) => made(inputs[at]));
  const names = body.graph.outputs.map(({ name }) => name);
  const first = names.slice(0, loop.skipped + loop.states.length);
  let { isGoing } = loop;
  let states = inputs.slice(loop.first);
  for (let at = 0; isGoing && at < loop.count; at++) {
    const now = withMore(body, [
      ...loop.given(at),
      ...loop.states.map((name, nth) => [name, states[nth]] as const),
    ]);
    if (at === around.run.iteration) return now;
    for (const value of now.given.values()) made(value);
    const values = await around.runGraph(now, first);
    const outputs = first.map((name) => values.get(name));
    if (loop.skipped > 0) isGoing = numberOf(outputs[0]) !== 0;
    states = outputs.slice(loop.skipped);
  }
  const title = nodeTitle(owner);
  throw new NotRun(`the node is in ${title}, which has no iteration ${around.run.iteration}`);
}
