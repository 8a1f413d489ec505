/**
 * The values of a model that runs in the user's runtime, in its graph, bodies and functions. Each graph runs as a
 * separate model, so that any of its values can be an output.
 */

import { printCount } from "../../core/foreign.ts";
import type { Graph, ModelNode } from "../model/model.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { freeNames } from "../model/uses.ts";
import { VERIFY } from "../../core/limits.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { cutModel, neededNodes } from "../split/part.ts";
import {
  constantsOf,
  frameOf,
  NotRun,
  ownerOf,
  type Around,
  type Found,
  type Frame,
  type Outcome,
  type TracedRun,
  type Values,
} from "./frames.ts";
import { openModel, type OpenSession } from "./carried.ts";
import { failureOr, RuntimeFailure } from "./session.ts";

export class PlaceValues implements Around {
  readonly run: TracedRun;
  readonly #frames = new Map<Place, Frame | RuntimeFailure>();
  readonly #known = new Map<Place, Map<string, Outcome>>();
  /**
   * Names that will be requested. They are collected in advance, so that one session can compute all requested values
   * of a graph.
   */
  readonly #wanted: ReadonlyMap<Place, ReadonlySet<string>>;
  /** The number of sessions that searched for failing nodes, and the start of the first. */
  #searches = 0;
  #searchedSince = 0;
  /** The last session, which is reused in the next loop iteration, because the body is the same model. */
  #last: { readonly graph: Graph; readonly names: string; readonly session: OpenSession } | null =
    null;

  constructor(run: TracedRun) {
    this.run = run;
    this.#wanted = namesOf(run.wanted);
  }

  async frame(place: Place): Promise<Frame> {
    let known = this.#frames.get(place);
    if (known === undefined) {
      // A graph that is requested again while its frame is computed belongs to a recursive function.
      this.#frames.set(place, new NotRun("the node is in a recursive function"));
      known = await failureOr(() => frameOf(place, this));
      this.#frames.set(place, known);
    }
    if (known instanceof RuntimeFailure) throw known;
    return known;
  }

  /**
   * Returns values of a graph, if possible from a single session. If the runtime fails, the failing node is located,
   * and all values that do not depend on this node are computed. Constants are not read. Throws NotRun for a graph that
   * does not run with these inputs, or that cannot be traced.
   */
  async valuesOf(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Found>> {
    const frame = await this.frame(place);
    const { graph, given } = frame;
    const before = this.#known.get(place);
    const known = before ?? new Map<string, Outcome>();
    this.#known.set(place, known);
    const constants = constantsOf(graph);
    for (const name of names) {
      const value = given.get(name);
      if (value !== undefined) known.set(name, value);
    }
    const isOpen = (name: string): boolean =>
      name !== "" && !known.has(name) && !constants.has(name);
    const made = graph.nodes.flatMap(({ outputs }) => outputs);
    const expected = before === undefined ? this.#wanted.get(place) : undefined;
    const open = new Set([...names, ...made.filter((name) => expected?.has(name))].filter(isOpen));
    for (const [name, failure] of given) {
      if (!(failure instanceof RuntimeFailure)) continue;
      for (const one of open) {
        if (one !== name && !neededNodes(graph, [one], given).names.has(name)) continue;
        known.set(one, failure);
        open.delete(one);
      }
    }
    // Names are in execution order. Names that no node computes come last, and each has its own error.
    await this.#make(frame, [...made.filter((name) => open.delete(name)), ...open], known);
    return new Map<string, Found>([...constants, ...known]);
  }

  /**
   * Computes values. If the runtime fails, the failing node is located, and all values that do not depend on this node
   * are computed.
   */
  async #make(frame: Frame, names: readonly string[], known: Map<string, Outcome>): Promise<void> {
    let said = "";
    let culprit: ModelNode | null = null;
    for (let open = names; open.length > 0;) {
      const made = await failureOr(() => this.runGraph(frame, open));
      if (!(made instanceof RuntimeFailure)) {
        for (const [name, value] of made) known.set(name, value);
        return;
      }
      if (this.#isSearchOver) {
        const sentence = `${made.message} (the search for the node ended after ${printCount(this.#searches, "session")})`;
        const ended = new RuntimeFailure(sentence, made.isLoad, { cause: made });
        const found = await this.#tryBefore(frame, open, culprit);
        for (const name of open) known.set(name, found.get(name) ?? ended);
        return;
      }
      const { lost, failure } = await this.#lostBy(frame, open, made);
      // If two nodes fail to load with the same message, neither node is the cause.
      const isAll = failure.isLoad && failure.message === said;
      said = failure.message;
      culprit = failure.at ?? culprit;
      for (const name of lost) known.set(name, failure);
      if (isAll) {
        const ofNone = new RuntimeFailure(said, true, { cause: failure });
        const sameFailure = [...known].filter(
          ([, value]) => value instanceof RuntimeFailure && value.message === said,
        );
        for (const name of [...open, ...sameFailure.map(([one]) => one)]) known.set(name, ofNone);
      }
      open = open.filter((name) => !known.has(name));
    }
  }

  /** Returns the values that nodes before the last failing node compute; empty if the runtime cannot compute them. */
  async #tryBefore(
    frame: Frame,
    names: readonly string[],
    last: ModelNode | null,
  ): Promise<Values> {
    const { nodes } = frame.graph;
    const before = nodes.slice(0, last === null ? 0 : nodes.indexOf(last));
    const early = new Set(before.flatMap(({ outputs }) => outputs));
    const own = names.filter((name) => early.has(name));
    const made = await failureOr(() => this.runGraph(frame, own));
    return made instanceof RuntimeFailure ? new Map() : made;
  }

  /** Returns the values that depend on the first failing node; if no node fails, the first value. */
  async #lostBy(
    frame: Frame,
    names: readonly string[],
    said: RuntimeFailure,
  ): Promise<{ readonly lost: readonly string[]; readonly failure: RuntimeFailure }> {
    const needs = (name: string) => neededNodes(frame.graph, [name], frame.given).nodes;
    const { nodes } = neededNodes(frame.graph, names, frame.given);
    const inOrder = frame.graph.nodes.filter((node) => nodes.has(node) && makesTensors(node));
    const failure = await this.#firstFailure(frame, inOrder);
    const culprit = failure?.at ?? null;
    const lost = culprit === null ? [] : names.filter((name) => needs(name).has(culprit));
    if (failure !== null && lost.length > 0) return { lost, failure };
    if (names.length === 1 || this.#isSearchOver) return { lost: names, failure: said };
    // The outputs are tried one by one, because some may not be tensors.
    const alone = await this.#failureOf(frame, names.slice(0, 1));
    if (alone !== null) return { lost: names.slice(0, 1), failure: alone };
    return this.#lostBy(frame, names.slice(1), said);
  }

  /** Returns the failure of the first failing node, found by bisection; null if no node fails. */
  async #firstFailure(frame: Frame, inOrder: readonly ModelNode[]): Promise<RuntimeFailure | null> {
    let first: RuntimeFailure | null = null;
    let [low, high] = [0, inOrder.length];
    while (low < high && !this.#isSearchOver) {
      const middle = Math.floor((low + high) / 2);
      const values = inOrder.slice(0, middle + 1).flatMap(({ outputs }) => outputs.slice(0, 1));
      const failure = await this.#failureOf(
        frame,
        values.filter((name) => name !== ""),
      );
      if (failure === null) low = middle + 1;
      else [high, first] = [middle, failure];
    }
    if (first === null || low < high) return null;
    return new RuntimeFailure(first.message, first.isLoad, { cause: first }, inOrder[low]);
  }

  /**
   * True if the search for a failing node must end. A model that the runtime cannot load may fail for each of its
   * values. For a text encoder with 1,000 nodes, an unlimited search created 1,659 sessions of 90 ms.
   */
  get #isSearchOver(): boolean {
    const time = this.#searches === 0 ? 0 : performance.now() - this.#searchedSince;
    return this.#searches >= VERIFY.searches || time > VERIFY.searchTime;
  }

  /** Returns the runtime's failure while it computes some values; null if it succeeds. */
  async #failureOf(frame: Frame, names: readonly string[]): Promise<RuntimeFailure | null> {
    if (this.#searches++ === 0) this.#searchedSince = performance.now();
    this.run.onSearch(this.#searches);
    const made = await failureOr(() => this.runGraph(frame, names));
    return made instanceof RuntimeFailure ? made : null;
  }

  async runGraph({ graph, opsets, given }: Frame, names: readonly string[]): Promise<Values> {
    const key = JSON.stringify(names);
    const tensors = new Map(
      [...given].filter((one): one is [string, Tensor] => !(one[1] instanceof RuntimeFailure)),
    );
    if (this.#last?.graph !== graph || this.#last.names !== key) {
      await this.release();
      const { model, createSession } = this.run;
      const around = { ...model, opsets: { ...model.opsets, ...opsets } };
      const session = await openModel(createSession, cutModel(around, graph, names, tensors));
      this.#last = { graph, names: key, session };
    }
    return this.#last.session.run(tensors, names);
  }

  async release(): Promise<void> {
    const last = this.#last;
    this.#last = null;
    await last?.session.release();
  }
}

/** Returns true if a node's values may be outputs. Sequences, and operators with sequences, are excluded. */
const makesTensors = ({ op }: ModelNode): boolean => !/Sequence|Optional|^(If|Loop|Scan)$/.test(op);

/** Returns, for each graph, the inputs and outputs of nodes and the values that enclosing bodies use. */
function namesOf(wanted: readonly PlacedNode[]): ReadonlyMap<Place, ReadonlySet<string>> {
  const names = new Map<Place, Set<string>>();
  const add = (place: Place, more: Iterable<string>): void => {
    const known = names.get(place) ?? new Set();
    names.set(place, known);
    for (const name of more) known.add(name);
  };
  const seen = new Set<Place>();
  for (const { node, place } of wanted) {
    add(place, [...node.inputs, ...node.outputs]);
    for (let body = place; body.outer !== null && !seen.has(body); body = body.outer) {
      seen.add(body);
      const [owner] = ownerOf(body.outer.graph, body.graph);
      const taken = [...owner.inputs, ...freeNames(body.graph)];
      for (let at: Place | null = body.outer; at !== null; at = at.outer) add(at, taken);
    }
  }
  return names;
}
