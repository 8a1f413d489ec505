/**
 * Plans how a model's graphs run when some nodes are replaced. The plan of each graph is a list of steps: a runtime
 * session for part of the graph, a call that this package computes, or a node whose bodies have their own steps.
 * Planning creates nothing: `open.ts` creates the sessions, and `run.ts` runs the steps.
 */

import { malformed, recovering, sentenceOf, TensorError } from "../../core/errors.ts";
import { readCall } from "../../core/call/call.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { findVersion, isOperator } from "../../core/operators/registry.ts";
import { isKnown, product } from "../../core/tensor/shape.ts";
import { SCAN_WITHOUT_BATCHES } from "../control-flow/iterations.ts";
import { calledGraph, functionOf } from "../model/bound-graph.ts";
import { findOpset, opsetOf, quote } from "../model/graph.ts";
import {
  nodeTitle,
  renamed,
  type Constant,
  type Graph,
  type ModelFunction,
  type ModelNode,
} from "../model/model.ts";
import { meantSpec } from "../model/run-model.ts";
import { Scope } from "../model/values.ts";
import { bodiesIn, GraphUses } from "../model/uses.ts";
import { levelsOf, neededNodes } from "../split/part.ts";
import {
  factsOf,
  isOurs,
  mayFold,
  namesOfNoTensors,
  replacedIn,
  type Opsets,
  type Planned,
} from "./facts.ts";
import { isGlue, isGlueGraph } from "./glue.ts";
import {
  copyTest,
  dropsOf,
  ownerOf,
  stepsOf,
  type BodyStep,
  type CallStep,
  type GraphPlan,
  type Step,
} from "./steps.ts";

/** Throws `unsupported-model` for a node that cannot be replaced, with the reason. */
export function planGraph(
  planned: Planned,
  graph: Graph,
  opsets: Opsets,
  outer: GraphPlan | null = null,
  calls: readonly string[] = [],
): GraphPlan {
  if (++planned.graphs > MAX_GRAPHS) {
    const sentence = `the model has more than ${MAX_GRAPHS} graphs in functions and bodies`;
    throw new TensorError("too-large", `${sentence}, which is too many to split`, {
      limit: MAX_GRAPHS,
    });
  }
  const isOuterConstant = (name: string): boolean => outer !== null && isConstantHere(outer, name);
  const facts = factsOf(planned, graph, opsets, outer, isOuterConstant);
  const { scope, folded } = facts;
  const noTensors = namesOfNoTensors(graph, outer?.noTensors ?? new Set());
  const copied = new Map<string, ModelNode>();
  const made = new Set(graph.nodes.flatMap(({ outputs }) => outputs));
  // The set contains graph inputs, values of enclosing graphs, and constant results.
  const given = { has: (name: string) => !made.has(name) || folded.has(name) };
  const { nodes } = neededNodes(
    graph,
    graph.outputs.map(({ name }) => name),
    given,
  );
  const uses = new GraphUses(graph.nodes.filter((node) => nodes.has(node)));
  const ours = new Set(uses.nodes.filter((node) => isOurs(planned, node)));
  const plan: GraphPlan = {
    ...{ ...facts, graph, opsets, outer, copied, noTensors },
    steps: [],
    drops: [],
  };
  absorbGathers(plan, uses, ours);
  for (const node of uses.nodes) {
    if (ours.has(node)) continue;
    const isWhole = isCopied(planned, plan, uses, ours, node);
    for (const name of node.outputs) if (isWhole || noTensors.has(name)) copied.set(name, node);
  }
  const isOutput = new Set(graph.outputs.map(({ name }) => name));
  pullGlue(plan, uses, ours);
  const steps = stepsOf(uses, ours, plan, isOutput).map((one): Step => {
    if ("is" in one) return one;
    if (isOperator(one)) return callStep(planned, one, plan);
    return isGlue(one, opsets, scope)
      ? { is: "glue", node: one }
      : bodyStep(planned, one, plan, calls);
  });
  return Object.assign(plan, { steps, drops: dropsOf(plan, steps, isOutput) });
}

/**
 * Adds to `ours` each gather whose results only nodes of `ours` use. The runtime then transfers the gather's data
 * instead of its result. In a graph network the result is larger than the data, because the network gathers one row per
 * edge. A gather from weights stays in the runtime, because its data would otherwise be in memory twice.
 */
function absorbGathers(
  { graph, opsets, scope, constants }: GraphPlan,
  uses: GraphUses,
  ours: Set<ModelNode>,
): void {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of uses.nodes.toReversed()) {
    const [data = ""] = node.inputs;
    const [output = ""] = node.outputs;
    const users = uses.usersOf(output);
    const isFeeder =
      users.length > 0 &&
      !outputs.has(output) &&
      users.every((user) => ours.has(user) && isOperator(user));
    if (!isFeeder || ours.has(node) || !isGather(node, opsets)) continue;
    if (scope.constantOf(data) !== null || constants.has(data)) continue;
    const [before, after] = [sizeOf(scope, data), sizeOf(scope, output)];
    if (before === null || after === null || before <= after) ours.add(node);
  }
}

function isGather(node: ModelNode, opsets: Opsets): boolean {
  const { domain, op } = node;
  const opset = findOpset(opsets, node);
  return opset !== null && op.startsWith("Gather") && findVersion({ domain, op, opset }) !== null;
}

function sizeOf(scope: Scope, name: string): number | null {
  const shape = scope.get(name).certain.type?.shape ?? null;
  return shape !== null && isKnown(shape) ? product(shape) : null;
}

/**
 * Adds to `ours` the small operators whose computation here saves a session. A small operator saves a session if it
 * uses a result of a node that runs here, or if it would be the session's only work.
 */
function pullGlue(plan: GraphPlan, uses: GraphUses, ours: Set<ModelNode>): void {
  const isCopy = copyTest(plan);
  // A copied node's values exist only inside the runtime's sessions.
  const isThere = (name: string): boolean => !plan.copied.has(name) || plan.constants.has(name);
  const glue = new Set(
    uses.nodes.filter(
      (node) => !isCopy(node) && isSmall(plan, node) && uses.needsOf(node).every(isThere),
    ),
  );
  for (const node of uses.nodes) {
    const makers = uses.needsOf(node).map((name) => uses.makers.get(name));
    if (glue.has(node) && makers.some((maker) => maker !== undefined && ours.has(maker)))
      ours.add(node);
  }
  for (let isChanged = true; isChanged;) {
    const levels = levelsOf(uses, (_, maker, user) => ours.has(maker) && !ours.has(user));
    const left = uses.nodes.filter((node) => !ours.has(node) && !isCopy(node));
    const needed = new Set(left.filter((node) => !glue.has(node)).map((node) => levels.get(node)));
    const alone = left.filter((node) => !needed.has(levels.get(node)));
    for (const node of alone) ours.add(node);
    isChanged = alone.length > 0;
  }
}

/** Returns true for a small operator, and for an If whose branches contain only small operators. */
function isSmall(plan: GraphPlan, node: ModelNode): boolean {
  const { opsets, scope, noTensors } = plan;
  if ([...node.inputs, ...node.outputs].some((name) => noTensors.has(name))) return false;
  if (node.op !== "If" || node.domain !== "ai.onnx") return isGlue(node, opsets, scope);
  return bodiesIn(node).every((graph) => isGlueGraph(graph, opsets, new Scope(graph, scope)));
}

/**
 * Returns true if every session that needs the node's values contains a copy of the node. The runtime computes nodes
 * with constant inputs when it loads the session, just as in the whole model. Passing the values between sessions would
 * change results: an LSTM with weights as inputs rounds differently from an LSTM with constant weights.
 */
function isCopied(
  planned: Planned,
  plan: GraphPlan,
  uses: GraphUses,
  ours: ReadonlySet<ModelNode>,
  node: ModelNode,
): boolean {
  if (node.outputs.every((name) => plan.constants.has(name))) return true;
  const isUsedHere = node.outputs.some((name) => uses.usersOf(name).some((one) => ours.has(one)));
  if (isUsedHere || !mayFold(planned.model, node)) return false;
  const needs = uses.needsOf(node);
  return needs.length > 0 && needs.every((name) => isConstantHere(plan, name));
}

/** Returns true for a constant or a copied tensor in the graph or an enclosing graph. */
function isConstantHere(plan: GraphPlan, name: string): boolean {
  const { constants, copied, noTensors } = ownerOf(plan, name);
  return constants.has(name) || (copied.has(name) && !noTensors.has(name));
}

/**
 * The maximum number of graphs in a plan. In a hostile model, functions that call another function twice double the
 * number of graphs at each level.
 */
const MAX_GRAPHS = 10_000;

/** Throws `unsupported-model` for a node that cannot be replaced, with the reason. */
function callStep(
  { replaced }: Planned,
  node: ModelNode,
  { opsets, noTensors }: GraphPlan,
): CallStep {
  const refused = (why: string, cause?: unknown): TensorError =>
    refusal(replaced.get(node) ?? nodeTitle(node), `: ${why}`, cause);
  const odd = node.inputs.find((name) => noTensors.has(name));
  if (odd !== undefined) throw refused(`the input ${quote(odd)} is a sequence or an optional`);
  const call = recovering(
    () => readCall(meantSpec(opsets, node)),
    (error) => {
      throw refused(sentenceOf(error), error);
    },
  );
  return { is: "call", node, call };
}

/** The attributes that contain bodies, for operators whose bodies this package can run. */
const BODIES: ReadonlyMap<string, readonly string[]> = new Map([
  ["If", ["then_branch", "else_branch"]],
  ["Loop", ["body"]],
  ["Scan", ["body"]],
]);

/** Plans a node's bodies. Throws `unsupported-model` for an operator whose bodies this package cannot run. */
function bodyStep(
  planned: Planned,
  node: ModelNode,
  plan: GraphPlan,
  calls: readonly string[],
): BodyStep {
  const title = nodeTitle(node);
  const refused = (reason: string): TensorError =>
    refusal(replacedIn(planned, node) ?? "a node", `, because it is in ${title}: ${reason}`);
  const called = functionOf(planned.model, node);
  if (called !== null) {
    const name = `${called.domain}.${called.name}`;
    if (calls.includes(name)) throw refused(`the function ${name} calls itself`);
    return { is: "body", node, bodies: [planCall(planned, called, node, plan, [...calls, name])] };
  }
  const names = BODIES.get(node.op);
  if (names === undefined || node.domain !== "ai.onnx")
    throw refused(`exact sessions do not run bodies of ${node.op}`);
  if (node.op === "Scan" && opsetOf(plan, node) < SCAN_WITHOUT_BATCHES)
    throw refused("a Scan before opset 9 is not supported by exact sessions");
  const odd = [...node.inputs, ...node.outputs].find((name) => plan.noTensors.has(name));
  if (odd !== undefined) throw refused(`the value ${quote(odd)} is a sequence or an optional`);
  const bodies = names.map((key) => {
    const attribute = node.attributes[key];
    const graph = attribute?.type === "other" ? attribute.graphs?.[0] : undefined;
    if (graph !== undefined) return planGraph(planned, graph, plan.opsets, plan, calls);
    throw malformed(`${title} must have the attribute ${key}, a graph`, { node: title, key });
  });
  return { is: "body", node, bodies };
}

/** Plans one call of a function. A runtime inlines the function, so the call's constants are constants in it. */
function planCall(
  planned: Planned,
  called: ModelFunction,
  node: ModelNode,
  plan: GraphPlan,
  calls: readonly string[],
): GraphPlan {
  const typeOf = (name: string): TensorType | null => plan.scope.get(name).certain.type;
  const own = calledGraph(called, node, typeOf, (one, bound) => {
    const path = planned.replaced.get(one);
    if (path !== undefined) planned.replaced.set(bound, path);
  });
  const constants = own.inputs.flatMap(({ name }, at): [string, Constant][] => {
    const { [at]: given = "" } = node.inputs;
    const constant = given === "" ? undefined : ownerOf(plan, given).constants.get(given);
    return constant === undefined ? [] : [[name, renamed(constant, name)]];
  });
  planned.folded.set(own, new Map(constants));
  const opsets = { ...planned.model.opsets, ...called.opsets };
  return planGraph(planned, own, opsets, null, calls);
}

const refusal = (title: string, why: string, cause?: unknown): TensorError =>
  new TensorError(
    "unsupported-model",
    `${title} cannot be replaced${why}`,
    { node: title },
    { cause },
  );
