/** The steps that run a graph, with the values that each step needs. */

import type { Call } from "../../core/call/call.ts";
import type { Graph, ModelNode } from "../model/model.ts";
import { needsOf, type GraphUses } from "../model/uses.ts";
import { countLevels, levelsOf, sinkNodes, type IsCut } from "../split/part.ts";
import type { GraphFacts, Opsets } from "./facts.ts";

export interface SessionStep extends SessionNeeds {
  readonly is: "session";
  readonly nodes: readonly ModelNode[];
  /** The session's values that later steps use. */
  readonly outputs: readonly string[];
}

/** A small operator that runs in this package to save a session. */
export interface GlueStep {
  readonly is: "glue";
  readonly node: ModelNode;
}

/** A replaced node. */
export interface CallStep {
  readonly is: "call";
  readonly node: ModelNode;
  /** The node in the form that `runCall` accepts. */
  readonly call: Call;
}

/** An If, Loop, Scan or function call that contains replaced nodes. */
export interface BodyStep {
  readonly is: "body";
  readonly node: ModelNode;
  /** The plans of the node's bodies. For an If, the plan of `then_branch` comes first. */
  readonly bodies: readonly GraphPlan[];
}

export type Step = SessionStep | CallStep | GlueStep | BodyStep;

export interface GraphPlan extends Omit<GraphFacts, "folded"> {
  readonly graph: Graph;
  readonly opsets: Opsets;
  /** The plan of the enclosing graph, whose values a body may use. */
  readonly outer: GraphPlan | null;
  /**
   * Nodes that are copied into every session that needs their values, by value name. Constants and values that are not
   * tensors cannot be passed between sessions.
   */
  readonly copied: ReadonlyMap<string, ModelNode>;
  readonly noTensors: ReadonlySet<string>;
  readonly steps: readonly Step[];
  /** For each step, the names of values that no later step needs. */
  readonly drops: readonly (readonly string[])[];
}

export function ownerOf(plan: GraphPlan, name: string): GraphPlan {
  let at = plan;
  while (at.outer !== null && !at.own.has(name)) at = at.outer;
  return at;
}

/** Returns a graph's steps in order: at each level a session, followed by the nodes that run in this package. */
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
  const count = countLevels(levels);
  const sessions = Array.from({ length: count }, (_, level) => {
    const own = uses.nodes.filter(
      (node) => levels.get(node) === level && !ours.has(node) && !isCopy(node),
    );
    // Only the last session can return a sequence or an optional.
    const kept =
      level < count - 1 ? [] : [...plan.copied.keys()].filter((name) => isOutput.has(name));
    return { own, kept, ...needsOfSession(plan, own, kept) };
  });
  const neededHere = uses.nodes
    .filter((node) => ours.has(node))
    .flatMap((node) => tensorNeeds(plan, [...needsOf(node)]));
  const neededLater = sessions.flatMap(({ needs }) => needs);
  const handedOver = new Set([...isOutput, ...neededHere, ...neededLater]);
  return sessions.flatMap(({ own, kept, copies, needs }, level) => {
    const made = own.flatMap((node) => node.outputs).filter((name) => handedOver.has(name));
    const outputs = [...made.filter((name) => name !== ""), ...kept];
    const calls = uses.nodes.filter((node) => ours.has(node) && levels.get(node) === level);
    if (outputs.length === 0) return calls;
    return [{ is: "session", nodes: own, outputs, copies, needs }, ...calls];
  });
}

/** Returns a test for nodes that are copied into sessions, because their values cannot be passed between sessions. */
export const copyTest =
  ({ copied }: GraphPlan) =>
  ({ outputs }: ModelNode): boolean =>
    outputs.some(Boolean) && outputs.every((name) => name === "" || copied.has(name));

/** Nodes and values that a session needs besides its own nodes. */
export interface SessionNeeds {
  /** Copied nodes whose values the session uses, in graph order. */
  readonly copies: readonly ModelNode[];
  readonly needs: readonly string[];
}

/**
 * Finds everything that some nodes need to form a separate model. The model must also contain the values in `wanted`.
 */
function needsOfSession(
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
      for (const need of needsOf(copied)) open.push(need);
    }
  }
  // Copied nodes may use each other's values and values of the session's own nodes.
  return { copies: inOrder(plan, copies), needs: [...needs].filter((name) => !made.has(name)) };
}

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
 * Returns the values that a session needs from outside. A copied value is replaced by its nodes' inputs. A tensor that
 * a node makes together with a sequence also requires a copy of the node.
 */
const tensorNeeds = (plan: GraphPlan, names: readonly string[]): readonly string[] => [
  ...new Set([
    ...needsOfSession(plan, [], names).needs,
    ...names.filter((name) => copiedNode(plan, name) === null),
  ]),
];

export function dropsOf(
  plan: GraphPlan,
  steps: readonly Step[],
  isOutput: ReadonlySet<string>,
): readonly (readonly string[])[] {
  const last = new Map<string, number>();
  for (const { name } of plan.graph.inputs) last.set(name, 0);
  for (const [at, step] of steps.entries()) {
    const needs = step.is === "session" ? step.needs : tensorNeeds(plan, [...needsOf(step.node)]);
    const made = step.is === "session" ? step.outputs : step.node.outputs;
    for (const name of [...needs, ...made]) last.set(name, at);
  }
  const drops: string[][] = steps.map(() => []);
  for (const [name, at] of last) if (!isOutput.has(name)) drops[at]?.push(name);
  return drops;
}
