/**
 * The inputs of each graph during a run of the model. A body has the values of one loop iteration, and a function has
 * the inputs of one call. A graph with its inputs can run as a separate model.
 */

import { malformed } from "../../core/errors.ts";
import { runNode as run } from "../../core/functions.ts";
import { boundGraph, type Attributes } from "../model/bound-graph.ts";
import { quote } from "../model/graph.ts";
import { constantTensor } from "../model/inline.ts";
import {
  nodeTitle,
  renamed,
  type Constant,
  type Graph,
  type ModelFunction,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { freeNames } from "../model/uses.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { RuntimeFailure } from "./session.ts";

/** A value, or the runtime's error. */
export type Outcome = Tensor | RuntimeFailure;

/** A value, or a constant that is read only if a node of this package needs it. Other weights stay in the file. */
export type Found = Outcome | Constant;

export type Values = ReadonlyMap<string, Tensor>;

export interface Frame {
  readonly opsets: Place["opsets"];
  /** The graph itself; in a function, the graph with the call's attribute values. */
  readonly graph: Graph;
  /** The graph's inputs. For a body, the map also contains the values that the body uses from enclosing graphs. */
  readonly given: Values;
  /** Errors for the inputs that the runtime could not compute. */
  readonly failed: ReadonlyMap<string, RuntimeFailure>;
  /** The attributes of the function call; null outside of functions. */
  readonly attributes: Attributes | null;
}

/** Returns a graph's initializers and the tensors of its `Constant` nodes, by name. */
export function constantsOf({ constants, nodes }: Graph): ReadonlyMap<string, Constant> {
  // The runtime handles tensors whose data type this package lacks.
  const made = nodes.flatMap((node) => constantTensor(node) ?? []).filter(({ dtype }) => dtype);
  return new Map([...constants, ...made].map((one) => [one.name, one]));
}

/** An error whose message explains why the nodes of a graph do not run. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

/** The context of a frame: nodes, functions, and the frames of enclosing graphs. */
export interface Around {
  readonly nodes: readonly PlacedNode[];
  readonly functions: readonly ModelFunction[];
  /** The loop iteration to capture, counted from 0. */
  readonly iteration: number;
  /** The function call to capture, counted from 0 among the calls that run. */
  readonly call: number;
  /** Throws NotRun for a graph that does not run with these inputs. */
  frame(place: Place): Promise<Frame>;
  /** Throws NotRun for a graph that does not run with these inputs. */
  valuesOf(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Found>>;
  runGraph(frame: Frame, names: readonly string[]): Promise<Values>;
}

/** Throws NotRun for a graph that does not run with these inputs, or that cannot be traced. */
export function frameOf(place: Place, feeds: Values, around: Around): Promise<Frame> | Frame {
  const { outer, graph, opsets, kind } = place;
  if (kind.is === "function") return calledFrame(place, kind, around);
  return outer === null
    ? { opsets, graph, given: feeds, failed: new Map(), attributes: null }
    : bodyFrame(place, outer, around);
}

async function calledFrame(
  { graph, opsets }: Place,
  { name, domain }: { readonly name: string; readonly domain: string },
  around: Around,
): Promise<Frame> {
  const defaults = around.functions.find((one) => one.name === name && one.domain === domain);
  const calls = around.nodes.filter(({ node }) => node.op === name && node.domain === domain);
  // If another function contains the only call, the call runs in the selected call of the other function.
  const nth = calls.length === 1 && isInFunction(calls[0].place) ? 0 : around.call;
  let count = 0;
  for (const placed of calls) {
    try {
      // oxlint-disable-next-line no-await-in-loop
      await around.frame(placed.place);
      if (count++ < nth) continue;
      // oxlint-disable-next-line no-await-in-loop
      const [inputs, node] = await inputsOf(placed, around);
      const values = graph.inputs.map((one, at) => [one.name, inputs[at]] as const);
      const absent = new Set(values.flatMap(([key, value]) => (value ? [] : [key])));
      const attributes = { ...defaults?.attributes, ...node.attributes };
      const bound = boundGraph(graph, attributes, absent);
      return withMore({ ...EMPTY, opsets, graph: bound, attributes }, values);
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

/** Returns the inputs of a running node, and the node with its current attributes. */
async function inputsOf(
  { node, place }: PlacedNode,
  around: Around,
): Promise<readonly [(Found | undefined)[], ModelNode]> {
  const { graph } = await around.frame(place);
  const own = graph.nodes[place.graph.nodes.indexOf(node)];
  const values = await around.valuesOf(place, own.inputs);
  return [own.inputs.map((name) => (name === "" ? undefined : values.get(name))), own];
}

async function bodyFrame(place: Place, outer: Place, around: Around): Promise<Frame> {
  const frame = await around.frame(outer);
  const [node, attribute, nth] = ownerOf(outer.graph, place.graph);
  const owner = frame.graph.nodes[outer.graph.nodes.indexOf(node)];
  const held = owner.attributes[attribute];
  const body = (held.type === "other" && held.graphs?.[nth]) || place.graph;
  const free = freeNames(body);
  const found = await lookUp([...owner.inputs, ...free], outer, around);
  const inner = { ...EMPTY, opsets: place.opsets, graph: body, attributes: frame.attributes };
  const own = withMore(
    inner,
    [...free].map((name) => [name, found.get(name)]),
  );
  const inputs = owner.inputs.map((name) => valueOf(found.get(name)));
  const bodied = { owner, attribute, inputs, frame: own, around };
  if (owner.op === "If") return branchFrame(bodied);
  if (owner.op === "Loop") return loopFrame(bodied);
  if (owner.op === "Scan" && place.opsets["ai.onnx"] >= 9) return scanFrame(bodied);
  throw new NotRun(
    `the node is in the body of ${nodeTitle(owner)}, and bodies of ${owner.op} are not supported`,
  );
}

/** A body with its node's inputs. An input may be the runtime's error. */
interface Bodied {
  readonly owner: ModelNode;
  readonly attribute: string;
  readonly inputs: readonly (Outcome | undefined)[];
  /** The body's frame, including the values that the body uses from enclosing graphs. */
  readonly frame: Frame;
  readonly around: Around;
}

export const isConstant = (found: Found): found is Constant => "read" in found;

export const valueOf = (found: Found | undefined): Outcome | undefined =>
  found !== undefined && isConstant(found) ? found.read() : found;

const EMPTY = {
  given: new Map<string, Tensor>(),
  failed: new Map<string, RuntimeFailure>(),
} as const;

/** Adds values to a frame. Constants come from the frame's graph. */
function withMore(
  frame: Frame,
  entries: readonly (readonly [name: string, found: Found | undefined])[],
): Frame {
  const [given, failed] = [new Map(frame.given), new Map(frame.failed)];
  const constants: Constant[] = [];
  for (const [name, found] of entries) {
    if (found instanceof RuntimeFailure) failed.set(name, found);
    else if (found !== undefined && isConstant(found)) constants.push(renamed(found, name));
    else if (found !== undefined) given.set(name, found);
  }
  // The next iteration reuses a session if its graph is the same object.
  const { graph } = frame;
  const all = [...graph.constants, ...constants];
  return {
    ...frame,
    ...{ given, failed, graph: constants.length === 0 ? graph : { ...graph, constants: all } },
  };
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
    // oxlint-disable-next-line no-await-in-loop
    const { graph, given: fed } = await around.frame(place);
    for (const [name, one] of constantsOf(graph)) {
      if (!fed.has(name) && open.delete(name)) found.set(name, one);
    }
    const made = [
      ...graph.inputs.map(({ name }) => name),
      ...graph.nodes.flatMap((one) => one.outputs),
    ];
    const here = made.filter((name) => open.delete(name));
    // oxlint-disable-next-line no-await-in-loop
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

function branchFrame({ owner, attribute, inputs, frame }: Bodied): Frame {
  const taken = scalarOf(made(inputs[0])) ? "then_branch" : "else_branch";
  if (taken === attribute) return frame;
  throw new NotRun(
    `the node is in the ${attribute} of ${nodeTitle(owner)}, and the ${taken} was taken`,
  );
}

/**
 * Returns the shape of a Loop's iteration number or condition. The shape is [1] if the body declares it, as in a
 * runtime.
 */
export const shapeOf = ({ type }: ValueInfo): readonly number[] =>
  type?.shape?.length === 1 ? [1] : [];

/** Returns the inputs of a Loop's body in the selected iteration. */
async function loopFrame({ owner, inputs, frame, around }: Bodied): Promise<Frame> {
  const [number, going, ...states] = frame.graph.inputs;
  if (going === undefined)
    throw malformed(`the body of ${nodeTitle(owner)} must have 2 inputs at least`, {
      node: nodeTitle(owner),
      key: "inputs",
    });
  const [most, condition, ...carried] = inputs;
  const limit = most === undefined ? Infinity : Number(scalarOf(made(most)));
  let isGoing = condition === undefined || Boolean(scalarOf(made(condition)));
  let values: readonly (Outcome | undefined)[] = carried;
  for (let at = 0; isGoing && at < limit; at++) {
    const now = withMore(frame, [
      [number.name, tensor("int64", shapeOf(number), BigInt64Array.of(BigInt(at)))],
      [going.name, tensor("bool", shapeOf(going), Uint8Array.of(Number(isGoing)))],
      ...states.map(({ name }, position) => [name, values[position]] as const),
    ]);
    if (at === around.iteration) return now;
    // oxlint-disable-next-line no-await-in-loop
    const [next, ...after] = await firstOutputs(now, states.length + 1, around);
    isGoing = Boolean(scalarOf(next));
    values = after;
  }
  throw noIteration(owner, around);
}

/** A scanned input of a Scan, from which each iteration gets one slice. */
interface Scanned {
  readonly value: Tensor;
  readonly axis: number;
  readonly length: number;
  /** True if the slices are used from last to first. */
  readonly isReverse: boolean;
}

/**
 * Returns the scanned inputs of a Scan. A Scan has at least one scanned input, because scanned inputs determine the
 * number of iterations. Throws RuntimeFailure for an input that the runtime could not compute.
 */
export function scannedInputs(
  owner: ModelNode,
  inputs: readonly (Outcome | undefined)[],
): readonly Scanned[] {
  const first = inputs.length - Number(integers(owner, "num_scan_inputs")[0] ?? 0);
  const axes = integers(owner, "scan_input_axes");
  const directions = integers(owner, "scan_input_directions");
  const scanned = inputs.slice(first);
  if (scanned.length === 0)
    throw malformed(`${nodeTitle(owner)} has no input to scan`, { node: nodeTitle(owner) });
  return scanned.map((input, at) => {
    const value = made(input);
    if (value === undefined)
      throw malformed(
        `${nodeTitle(owner)} must have all inputs that it scans, and one is missing`,
        { node: nodeTitle(owner) },
      );
    const axis = Number(axes[at] ?? 0);
    const length = value.shape.at(axis) ?? 0;
    return { value, axis, length, isReverse: Number(directions[at]) === 1 };
  });
}

/** Returns the inputs of a Scan's body in the selected iteration: the states, and one slice per scanned input. */
async function scanFrame({ owner, inputs, frame, around }: Bodied): Promise<Frame> {
  const names = frame.graph.inputs.map(({ name }) => name);
  const scanned = scannedInputs(owner, inputs);
  const first = inputs.length - scanned.length;
  let states = inputs.slice(0, first);
  for (let at = 0; at < scanned[0].length; at++) {
    const slices = scanned.map(({ value, axis, length, isReverse }) => {
      const index = tensor("int64", [], BigInt(isReverse ? length - 1 - at : at));
      return run({ op: "Gather", opset: 13, attributes: { axis } }, [value, index])[0];
    });
    const values = [...states, ...slices];
    const now = withMore(
      frame,
      names.map((name, nth) => [name, values[nth]] as const),
    );
    if (at === around.iteration) return now;
    // oxlint-disable-next-line no-await-in-loop
    states = await firstOutputs(now, first, around);
  }
  throw noIteration(owner, around);
}

async function firstOutputs(frame: Frame, count: number, around: Around): Promise<Tensor[]> {
  for (const failure of frame.failed.values()) throw failure;
  const names = frame.graph.outputs.slice(0, count).map(({ name }) => name);
  const outputs = await around.runGraph(frame, names);
  return names.map((name) => outputs.get(name) as Tensor);
}

const noIteration = (owner: ModelNode, { iteration }: Around): NotRun =>
  new NotRun(`the node is in ${nodeTitle(owner)}, which has no iteration ${iteration}`);

export function integers({ attributes }: ModelNode, name: string): readonly (number | bigint)[] {
  const one = attributes[name];
  if (one?.type === "ints") return one.value;
  return one?.type === "int" ? [one.value] : [];
}

const scalarOf = (value: Tensor | undefined): number | bigint | boolean =>
  value === undefined ? 0 : (value.data[0] as number | bigint | boolean);
