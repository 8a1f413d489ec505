/**
 * Computes replaced nodes that depend only on constants. A runtime computes such nodes when it loads the whole model,
 * and then chooses kernels for constants. These kernels use packed weights, other memory layouts or fused operators,
 * and round differently. Replaced nodes with constant inputs therefore run once, before the model is cut, and their
 * results become constants of the parts.
 */

import { runNode as run } from "../../core/functions.ts";
import { functionOf } from "../model/bound-graph.ts";
import {
  constant,
  readConstant,
  type Constant,
  type Graph,
  type ModelNode,
} from "../model/model.ts";
import { meantSpec, namingNode } from "../model/run-model.ts";
import type { Scope } from "../model/values.ts";
import { bodiesIn, GraphUses } from "../model/uses.ts";
import { neededNodes, neededPart } from "../split/part.ts";
import { withModel } from "../verify/carried.ts";
import { orRuntimeError, type CreateSession } from "../verify/session.ts";
import { partTitle } from "./open.ts";
import type { CreatePart } from "./runtime.ts";
import { factsOf, isOurs, mayFold, type GraphFacts, type Planned } from "./facts.ts";

/** Returns a constant from the graph or an enclosing graph; null for other values. */
type ConstantOf = (name: string) => Constant | null;

interface Outer {
  readonly constantOf: ConstantOf;
  readonly scope: Scope;
}

/**
 * Computes the foldable nodes, and records the results in `planned.folded`. If `createSession` is null, only nodes that
 * need no runtime are computed. Throws the errors of `run` for an invalid call of a replaced node.
 */
export async function foldConstants(
  planned: Planned,
  createSession: CreatePart | null,
  graph: Graph = planned.model.graph,
  outer: Outer | null = null,
): Promise<void> {
  const folding = new Folding(planned, createSession, graph, outer);
  const { nodes } = neededNodes(
    graph,
    graph.outputs.map(({ name }) => name),
    folding.given,
  );
  // Nodes run one after another, because a node may use earlier results.
  for (const node of graph.nodes) if (nodes.has(node)) await folding.add(node);
}

class Folding {
  readonly #planned: Planned;
  readonly #createSession: CreatePart | null;
  readonly #graph: Graph;
  readonly #outer: Outer | null;
  readonly #facts: GraphFacts;
  readonly #uses: GraphUses;
  readonly #folded = new Map<string, Constant>();
  readonly #foldable = new Set<string>();

  constructor(
    planned: Planned,
    createSession: CreatePart | null,
    graph: Graph,
    outer: Outer | null,
  ) {
    const { model, folded } = planned;
    this.#planned = planned;
    this.#createSession = createSession;
    this.#graph = graph;
    this.#outer = outer;
    this.#uses = new GraphUses(graph.nodes);
    this.#facts = factsOf(planned, graph, model.opsets, outer, (name) =>
      Boolean(outer?.constantOf(name)),
    );
    folded.set(graph, this.#folded);
  }

  /** Names of values that no node of the graph has to compute. */
  readonly given = {
    has: (name: string): boolean => !this.#uses.makers.has(name) || this.#facts.constants.has(name),
  };

  readonly #constantOf: ConstantOf = (name) =>
    this.#folded.get(name) ??
    this.#facts.constants.get(name) ??
    (this.#facts.own.has(name) ? null : (this.#outer?.constantOf(name) ?? null));

  async add(node: ModelNode): Promise<void> {
    const { model, replaced } = this.#planned;
    const needs = this.#uses.needsOf(node);
    const isFixed = (name: string): boolean =>
      this.#foldable.has(name) || this.#constantOf(name) !== null;
    if (mayFold(model, node) && needs.length > 0 && needs.every(isFixed)) {
      if (replaced.has(node)) await this.#run(node);
      else for (const name of node.outputs) this.#foldable.add(name);
      return;
    }
    if (!isOurs(this.#planned, node)) return;
    const isCall = replaced.has(node);
    const isShared = (name: string): boolean =>
      this.#uses.usersOf(name).some((user) => !isOurs(this.#planned, user));
    await this.#compute(
      needs.filter((name) => this.#foldable.has(name) && (!isCall || isShared(name))),
    );
    const around = { constantOf: this.#constantOf, scope: this.#facts.scope };
    for (const body of functionOf(model, node) === null ? bodiesIn(node) : [])
      await foldConstants(this.#planned, this.#createSession, body, around);
  }

  /** Runs a replaced node with constant inputs, unless an input requires the runtime and no runtime is available. */
  async #run(node: ModelNode): Promise<void> {
    await this.#compute(node.inputs.filter((name) => this.#foldable.has(name)));
    const known = node.inputs.map((name) => (name === "" ? undefined : this.#constantOf(name)));
    if (known.includes(null)) return;
    const inputs = known.map((one) => (one ? readConstant(one) : undefined));
    const [result] = namingNode(node, () =>
      run(meantSpec(this.#planned.model.opsets, node), inputs),
    );
    this.#folded.set(node.outputs[0], constant(node.outputs[0], result));
  }

  /** Computes values that the runtime would compute at load time. */
  async #compute(names: readonly string[]): Promise<void> {
    if (names.length === 0 || this.#createSession === null) return;
    const given = { has: (name: string) => this.#constantOf(name) !== null };
    const part = neededPart(this.#planned.model, this.#graph, names, given, (needed) => ({
      inputs: [],
      constants: [...needed].map(this.#constantOf).filter((one) => one !== null),
    }));
    const { nodes } = part.graph;
    const createSession = this.#createSession as CreateSession;
    const outputs = await orRuntimeError("run", partTitle(nodes), nodes, () =>
      withModel(createSession, part, (session) => session.run(new Map(), names)),
    );
    for (const [name, value] of outputs) {
      this.#folded.set(name, constant(name, value));
      this.#foldable.delete(name);
    }
  }
}
