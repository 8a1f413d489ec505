/** The steps that run a graph, and the values that each step needs. */

import type { Call } from "../../core/call/call.ts";
import type { Constant, Graph, ModelNode } from "../model/model.ts";
import { needsOf, type GraphUses } from "../model/uses.ts";
import type { Scope } from "../model/values.ts";
import { levelsOf, sinkNodes, type IsCut } from "../split/levels.ts";

export type Opsets = Readonly<Record<string, number>>;

/** Nodes that run in a session of the runtime. */
export interface SessionStep {
  readonly is: "session";
  readonly nodes: readonly ModelNode[];
  /** Values used after the session. */
  readonly outputs: readonly string[];
}

/** A small operator that this package computes to save a session. */
export interface GlueStep {
  readonly is: "glue";
  readonly node: ModelNode;
}

/** A replaced node. */
export interface CallStep {
  readonly is: "call";
  readonly node: ModelNode;
  /** The node as an argument of `runCall`. */
  readonly call: Call;
  /** True for a scatter, which may overwrite its data. */
  readonly mayBeInPlace: boolean;
}

/** An If, Loop, Scan or function call that contains replaced nodes. */
export interface BodyStep {
  readonly is: "body";
  readonly node: ModelNode;
  /** The plans of an If's branches, `then_branch` first, or the plan of the only body. */
  readonly bodies: readonly GraphPlan[];
}

export type Step = SessionStep | CallStep | GlueStep | BodyStep;

export interface GraphPlan {
  readonly graph: Graph;
  readonly opsets: Opsets;
  /** The plan of the graph around a body, whose values the body may use. */
  readonly outer: GraphPlan | null;
  readonly scope: Scope;
  /** The names of all values of the graph itself. */
  readonly own: ReadonlySet<string>;
  /** Constants of the graph, and the values of `Constant` nodes. */
  readonly constants: ReadonlyMap<string, Constant>;
  /**
   * Nodes by the names of their values that run in every session that needs the values, because the values are
   * constants or are not tensors.
   */
  readonly copied: ReadonlyMap<string, ModelNode>;
  /** Names of sequences and optionals. */
  readonly noTensors: ReadonlySet<string>;
  readonly steps: readonly Step[];
  /** For each step, the values that no later step needs. */
  readonly drops: readonly (readonly string[])[];
}

/** Returns the plan whose graph has a value: the given plan or an enclosing plan. */
export function ownerOf(plan: GraphPlan, name: string): GraphPlan {
  let at = plan;
  while (at.outer !== null && !at.own.has(name)) at = at.outer;
  return at;
}

/** Returns the steps of a graph in order: at each level a session, followed by the nodes that run here. */
export function stepsOf(
  uses: GraphUses,
  ours: ReadonlySet<ModelNode>,
  plan: GraphPlan,
  isOutput: ReadonlySet<string>,
): readonly (SessionStep | ModelNode)[] {
  const isCut: IsCut = (_, maker, user) => ours.has(maker) && !ours.has(user);
  const levels = levelsOf(uses, isCut);
  sinkNodes(plan.graph, uses, levels, (node) => !ours.has(node));
  const isCopy = copyTest(plan);
  const count = Math.max(0, ...levels.values()) + 1;
  const sessions = Array.from({ length: count }, (_, level) => {
    const own = uses.nodes.filter(
      (node) => levels.get(node) === level && !ours.has(node) && !isCopy(node),
    );
    // A sequence or an optional can only be an output of the last session.
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
    return session.outputs.length === 0 ? calls : [session, ...calls];
  });
}

/**
 * Returns a test for nodes that run only within the sessions that need them, because their values are not passed
 * between sessions.
 */
export const copyTest =
  ({ copied }: GraphPlan) =>
  ({ outputs }: ModelNode): boolean =>
    outputs.some(Boolean) && outputs.every((name) => name === "" || copied.has(name));

/** Nodes and values that a session needs in addition to its own nodes. */
export interface SessionNeeds {
  /** Copied nodes that make values for the session, in graph order. */
  readonly copies: readonly ModelNode[];
  /** Values from outside, including constants. */
  readonly needs: readonly string[];
}

/**
 * Finds the nodes and values that some nodes need in order to form a separate model.
 * @param wanted further values that the model must contain
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
  // A copied node may use another copied node, and both may use values of the session's nodes.
  return { copies: inOrder(plan, copies), needs: [...needs].filter((name) => !made.has(name)) };
}

/** Returns the node that is copied for a value, in the graph that has the value, or null for other values. */
function copiedNode(plan: GraphPlan, name: string): ModelNode | null {
  for (let at: GraphPlan | null = plan; at !== null; at = at.outer) {
    const node = at.copied.get(name);
    if (node !== undefined) return node;
    if (at.own.has(name)) return null;
  }
  return null;
}

function inOrder(plan: GraphPlan, nodes: ReadonlySet<ModelNode>): readonly ModelNode[] {
  let all: readonly ModelNode[] = [];
  for (let at: GraphPlan | null = plan; at !== null; at = at.outer)
    all = at.graph.nodes.concat(all);
  return all.filter((node) => nodes.has(node));
}

/**
 * Returns the values required for some values; for a copied value, the inputs of its nodes. A tensor that a node makes
 * together with a sequence is required too, because copies of the node exist in sessions only.
 */
const tensorNeeds = (plan: GraphPlan, names: readonly string[]): readonly string[] => [
  ...new Set([
    ...needsOfSession(plan, [], names).needs,
    ...names.filter((name) => copiedNode(plan, name) === null),
  ]),
];

/** Returns, for each step, the values that no later step needs. */
export function dropsOf(
  plan: GraphPlan,
  steps: readonly Step[],
  isOutput: ReadonlySet<string>,
): readonly (readonly string[])[] {
  const last = new Map<string, number>();
  for (const { name } of plan.graph.inputs) last.set(name, 0);
  for (const [at, step] of steps.entries()) {
    const needs =
      step.is === "session"
        ? needsOfSession(plan, step.nodes, step.outputs).needs
        : tensorNeeds(plan, [...needsOf(step.node)]);
    const made = step.is === "session" ? step.outputs : step.node.outputs;
    for (const name of [...needs, ...made]) last.set(name, at);
  }
  const drops: string[][] = steps.map(() => []);
  for (const [name, at] of last) if (!isOutput.has(name)) drops[at]?.push(name);
  return drops;
}
