/**
 * How the graphs of a model are carried out with some of their nodes replaced: a list of steps for each graph. A step is a
 * part of the graph for a session of the runtime, a call that this package carries out, or a node with bodies whose graphs
 * have steps of their own. Nothing is created here; `open.ts` makes the sessions, and `run.ts` carries the steps out.
 */

import { isTensorError, malformed, sentenceOf, TensorError } from "../../core/errors.ts";
import { isOperator, resolve } from "../../core/operators/registry.ts";
import { boundGraph } from "../model/bound-graph.ts";
import { findOpset, opsetOf, quote } from "../model/graph.ts";
import { constantOf } from "../model/inline.ts";
import {
  nodeTitle,
  type Constant,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import { needsOf } from "../model/uses.ts";
import { DEFAULTS_SINCE, Scope } from "../model/values.ts";
import { GraphUses, levelsOf, sinkNodes, type IsCut } from "../split/levels.ts";
import { neededNodes } from "../split/needed.ts";
import { absorbGathers } from "./absorb.ts";
import { namesOfNoTensors } from "./kinds.ts";

export type Opsets = Readonly<Record<string, number>>;

/** Nodes that a session of the runtime carries out. */
export interface SessionStep {
  readonly is: "session";
  readonly nodes: readonly ModelNode[];
  /** Values that are used behind the session. */
  readonly outputs: readonly string[];
}

/** A replaced node. */
export interface CallStep {
  readonly is: "call";
  readonly node: ModelNode;
}

/** An If, a Loop, a Scan or a call of a function with replaced nodes in it. */
export interface BodyStep {
  readonly is: "body";
  readonly node: ModelNode;
  /** The plans of an If's branches, in the order then and else, or of the one body. */
  readonly bodies: readonly GraphPlan[];
}

export type Step = SessionStep | CallStep | BodyStep;

export interface GraphPlan {
  readonly graph: Graph;
  readonly opsets: Opsets;
  /** Of the graph around a body, whose values the body sees. */
  readonly outer: GraphPlan | null;
  readonly scope: Scope;
  /** The names of all values of the graph itself. */
  readonly own: ReadonlySet<string>;
  /** Constants of the graph, and those that `Constant` nodes make. */
  readonly constants: ReadonlyMap<string, Constant>;
  /**
   * By the names of their values, nodes that every session carries out that needs the values, because these are constants
   * or no tensors.
   */
  readonly copied: ReadonlyMap<string, ModelNode>;
  /** Values that are no tensors. */
  readonly noTensors: ReadonlySet<string>;
  readonly steps: readonly Step[];
  /** For each step the values that nothing behind it needs. */
  readonly drops: readonly (readonly string[])[];
}

/** What planning needs to know of the model. */
export interface Planned {
  readonly model: Model;
  /** The nodes to replace, with their paths. Nodes of functions are added for each call. */
  readonly replaced: Map<ModelNode, string>;
  /** True if gathers that only feed replaced nodes are carried out here too. */
  readonly absorbs: boolean;
}

/** @throws TensorError `unsupported-model` for a replaced node that cannot be carried out here, with the reason */
export function planGraph(
  planned: Planned,
  graph: Graph,
  opsets: Opsets,
  outer: GraphPlan | null = null,
  calls: readonly string[] = [],
): GraphPlan {
  const scope = new Scope(graph, outer?.scope ?? null, planned.model.irVersion);
  for (const node of graph.nodes) scope.learn(node, findOpset(opsets, node));
  const noTensors = namesOfNoTensors(graph, outer?.noTensors ?? new Set());
  const constants = constantsOf(graph, opsets, outer === null ? planned.model.irVersion : Infinity);
  const copied = new Map<string, ModelNode>();
  const own = namesOf(graph);
  const made = new Set(graph.nodes.flatMap(({ outputs }) => outputs));
  // Inputs, and values of the graphs around it.
  const given = { has: (name: string) => !made.has(name) };
  const { nodes } = neededNodes(
    graph,
    graph.outputs.map(({ name }) => name),
    given,
  );
  const uses = new GraphUses(graph.nodes.filter((node) => nodes.has(node)));
  const ours = new Set(uses.nodes.filter((node) => isOurs(planned, node)));
  if (planned.absorbs) absorbGathers(graph, opsets, uses, ours, { scope, constants });
  for (const node of uses.nodes) {
    if (ours.has(node)) continue;
    const isConstant = node.outputs.length === 1 && constants.has(node.outputs[0]);
    const isNoTensor = node.outputs.some((name) => noTensors.has(name));
    if (isConstant || isNoTensor) for (const name of node.outputs) copied.set(name, node);
  }
  const isOutput = new Set(graph.outputs.map(({ name }) => name));
  const plan: GraphPlan = {
    ...{ graph, opsets, outer, scope, own, constants, copied, noTensors },
    steps: [],
    drops: [],
  };
  const steps = stepsOf(uses, ours, plan, isOutput).map((step): Step => {
    if (step.is === "session") return step;
    if (!planned.replaced.has(step.node) && !isOperator(step.node))
      return bodyStep(planned, step.node, plan, calls);
    checkCall(planned, step.node, plan);
    return step;
  });
  return Object.assign(plan, { steps, drops: dropsOf(plan, steps, isOutput) });
}

function constantsOf(
  { constants, inputs, nodes }: Graph,
  opsets: Opsets,
  irVersion: number,
): ReadonlyMap<string, Constant> {
  const isInput = new Set(irVersion < DEFAULTS_SINCE ? [] : inputs.map(({ name }) => name));
  const all = new Map<string, Constant>();
  for (const one of constants) if (!isInput.has(one.name)) all.set(one.name, one);
  for (const node of nodes) {
    const opset = findOpset(opsets, node);
    const made = opset === null ? null : constantOf(node, opset);
    if (made !== null) all.set(made.name, made);
  }
  return all;
}

/** Whether a node is carried out here: it is replaced, or a node in its bodies or in its function is. */
function isOurs(planned: Planned, node: ModelNode, depth = 0): boolean {
  if (planned.replaced.has(node)) return true;
  const isIn = (graph: Graph): boolean =>
    graph.nodes.some((one) => isOurs(planned, one, depth + 1));
  const called = functionOf(planned.model, node);
  // A function that calls itself is refused by every runtime.
  if (called !== null && depth < MAX_DEPTH && isIn(called.graph)) return true;
  return Object.values(node.attributes).some(
    (one) => one.type === "other" && (one.graphs ?? []).some(isIn),
  );
}

/** The most bodies and functions that are followed into each other. */
const MAX_DEPTH = 64;

const functionOf = ({ functions = [] }: Model, { op, domain }: ModelNode): ModelFunction | null =>
  functions.find((one) => one.name === op && one.domain === domain) ?? null;

/** The steps of a graph: at each level first a session, and then the nodes that are carried out here. */
function stepsOf(
  uses: GraphUses,
  ours: ReadonlySet<ModelNode>,
  plan: GraphPlan,
  isOutput: ReadonlySet<string>,
): readonly (SessionStep | CallStep)[] {
  const isCut: IsCut = (_, maker, user) => ours.has(maker) && !ours.has(user);
  const levels = levelsOf(uses, isCut);
  sinkNodes(plan.graph, uses, levels, isCut, (node) => !ours.has(node));
  const isCopied = new Set(plan.copied.values());
  const count = Math.max(0, ...levels.values()) + 1;
  const sessions = Array.from({ length: count }, (_, level) => {
    const own = uses.nodes.filter(
      (node) => levels.get(node) === level && !ours.has(node) && !isCopied.has(node),
    );
    // A value that is no tensor can only be an output of the last session.
    const kept =
      level < count - 1 ? [] : [...plan.copied.keys()].filter((name) => isOutput.has(name));
    const needs = new Set(needsOfSession(plan, own, kept).needs);
    return { own, kept, needs };
  });
  const neededHere = new Set(
    uses.nodes
      .filter((node) => ours.has(node))
      .flatMap((node) => tensorNeeds(plan, [...needsOf(node)])),
  );
  return sessions.flatMap(({ own, kept }, level) => {
    const isHandedOver = (name: string): boolean =>
      isOutput.has(name) ||
      neededHere.has(name) ||
      sessions.some(({ needs }, other) => other !== level && needs.has(name));
    const outputs = own
      .flatMap((node) => node.outputs)
      .filter((name) => name !== "" && isHandedOver(name));
    const calls = uses.nodes.filter((node) => ours.has(node) && levels.get(node) === level);
    const session: SessionStep = { is: "session", nodes: own, outputs: [...outputs, ...kept] };
    const steps = calls.map((node): CallStep => ({ is: "call", node }));
    return session.outputs.length === 0 ? steps : [session, ...steps];
  });
}

/** What a session needs besides its own nodes. */
export interface SessionNeeds {
  /** Copied nodes that make values for it, in the order of their graphs. */
  readonly copies: readonly ModelNode[];
  /** Values that come from elsewhere; constants among them. */
  readonly needs: readonly string[];
}

/**
 * What some nodes need to be a model of their own.
 * @param wanted values that the model has to have besides
 */
export function needsOfSession(
  plan: GraphPlan,
  nodes: readonly ModelNode[],
  wanted: readonly string[],
): SessionNeeds {
  const made = new Set(nodes.flatMap(({ outputs }) => outputs));
  const copies = new Set<ModelNode>();
  const needs = new Set<string>();
  const open = [...wanted, ...nodes.flatMap((node) => [...needsOf(node)])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (made.has(name) || needs.has(name)) continue;
    const copied = copiedNode(plan, name);
    if (copied === null) needs.add(name);
    else if (!copies.has(copied)) {
      copies.add(copied);
      for (const output of copied.outputs) made.add(output);
      open.push(...needsOf(copied));
    }
  }
  // A copy may use another copy, and both may use what a node of the session makes.
  return { copies: inOrder(plan, copies), needs: [...needs] };
}

/** The node that is copied for a value, in the graph that has the value; null for other values. */
function copiedNode(plan: GraphPlan, name: string): ModelNode | null {
  for (let at: GraphPlan | null = plan; at !== null; at = at.outer) {
    const node = at.copied.get(name);
    if (node !== undefined) return node;
    if (at.own.has(name)) return null;
  }
  return null;
}

const namesOf = ({ inputs, constants, nodes }: Graph): ReadonlySet<string> =>
  new Set([
    ...[...inputs, ...constants].map(({ name }) => name),
    ...nodes.flatMap(({ outputs }) => outputs),
  ]);

function inOrder(plan: GraphPlan, nodes: ReadonlySet<ModelNode>): readonly ModelNode[] {
  const all: ModelNode[] = [];
  for (let at: GraphPlan | null = plan; at !== null; at = at.outer) all.unshift(...at.graph.nodes);
  return all.filter((node) => nodes.has(node));
}

/** The values that must be there for some values: for one that is copied, what its nodes need. Constants are left out. */
const tensorNeeds = (plan: GraphPlan, names: readonly string[]): readonly string[] =>
  needsOfSession(plan, [], names).needs;

/** For each step the values of the graph that no later step needs. */
function dropsOf(
  plan: GraphPlan,
  steps: readonly Step[],
  isOutput: ReadonlySet<string>,
): readonly (readonly string[])[] {
  const last = new Map<string, number>();
  for (const { name } of plan.graph.inputs) last.set(name, 0);
  for (const [at, step] of steps.entries()) {
    const { needs } =
      step.is === "session"
        ? needsOfSession(plan, step.nodes, step.outputs)
        : needsOfSession(plan, [], [...needsOf(step.node)]);
    const made = step.is === "session" ? step.outputs : step.node.outputs;
    for (const name of [...needs, ...made]) last.set(name, at);
  }
  const drops: string[][] = steps.map(() => []);
  for (const [name, at] of last) if (!isOutput.has(name)) drops[at]?.push(name);
  return drops;
}

/** @throws TensorError `unsupported-model` for a node whose operator has no version here */
function checkCall({ replaced }: Planned, node: ModelNode, { opsets, noTensors }: GraphPlan): void {
  const refused = (reason: string): TensorError => {
    const title = replaced.get(node) ?? nodeTitle(node);
    return new TensorError("unsupported-model", `${title} cannot be replaced: ${reason}`);
  };
  try {
    resolve({ domain: node.domain, op: node.op, opset: opsetOf({ opsets }, node) });
  } catch (error) {
    if (isTensorError(error)) throw refused(sentenceOf(error));
    throw error;
  }
  const odd = node.inputs.find((name) => noTensors.has(name));
  if (odd !== undefined) throw refused(`its input ${quote(odd)} is no tensor`);
}

/** The attributes with the bodies of the operators whose bodies are carried out here. */
const BODIES: ReadonlyMap<string, readonly string[]> = new Map([
  ["If", ["then_branch", "else_branch"]],
  ["Loop", ["body"]],
  ["Scan", ["body"]],
]);

/** Before this version the body of a Scan had a batch axis. */
const SCAN_WITHOUT_BATCHES = 9;

/** Plans the bodies of a node. @throws TensorError `unsupported-model` for one that is not carried out here */
function bodyStep(
  planned: Planned,
  node: ModelNode,
  plan: GraphPlan,
  calls: readonly string[],
): BodyStep {
  const called = functionOf(planned.model, node);
  if (called !== null) {
    const title = `${called.domain}.${called.name}`;
    if (calls.includes(title))
      throw refusedBody(planned, node, `the function ${title} calls itself`);
    const own = boundCall(planned, node, called, plan);
    const opsets = { ...planned.model.opsets, ...called.opsets };
    return { is: "body", node, bodies: [planGraph(planned, own, opsets, null, [...calls, title])] };
  }
  const names = BODIES.get(node.op);
  if (names === undefined || node.domain !== "ai.onnx")
    throw refusedBody(planned, node, `bodies of ${node.op} are not carried out here`);
  if (node.op === "Scan" && opsetOf(plan, node) < SCAN_WITHOUT_BATCHES)
    throw refusedBody(planned, node, "a Scan before opset 9 is not carried out here");
  const odd = [...node.inputs, ...node.outputs].find((name) => plan.noTensors.has(name));
  if (odd !== undefined)
    throw refusedBody(planned, node, `its value ${quote(odd)} is a sequence or an optional`);
  const bodies = names.map((name) => {
    const attribute = node.attributes[name];
    const graph = attribute?.type === "other" ? attribute.graphs?.[0] : undefined;
    if (graph !== undefined) return planGraph(planned, graph, plan.opsets, plan, calls);
    throw malformed(`${nodeTitle(node)} must have the attribute ${name}, a graph`);
  });
  return { is: "body", node, bodies };
}

function refusedBody({ replaced }: Planned, node: ModelNode, reason: string): TensorError {
  const inside = (one: ModelNode): string | undefined =>
    replaced.get(one) ??
    Object.values(one.attributes)
      .flatMap((each) => (each.type === "other" ? (each.graphs ?? []) : []))
      .flatMap(({ nodes }) => nodes.map(inside))
      .find((path) => path !== undefined);
  const path = inside(node);
  const what = path === undefined ? "its nodes" : path;
  const sentence = `${what} cannot be replaced, because it is in ${nodeTitle(node)}: ${reason}`;
  return new TensorError("unsupported-model", sentence);
}

/** The graph of a function in one of its calls. What is known of the call's inputs is known of the graph's. */
function boundCall(
  { replaced }: Planned,
  node: ModelNode,
  { graph, attributes }: ModelFunction,
  { scope }: GraphPlan,
): Graph {
  const absent = graph.inputs.filter((_, at) => (node.inputs[at] ?? "") === "");
  const bound = boundGraph(
    graph,
    { ...attributes, ...node.attributes },
    new Set(absent.map(({ name }) => name)),
    (one, own) => {
      const path = replaced.get(one);
      if (path !== undefined) replaced.set(own, path);
    },
  );
  const inputs = graph.inputs.map((one, at) => ({
    ...one,
    type: scope.get(node.inputs[at] ?? "").certain.type,
  }));
  return { ...bound, inputs };
}
