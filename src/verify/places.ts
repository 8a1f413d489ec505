/**
 * The values of a model while it runs in the user's runtime, in its own graph and in the bodies of If and Loop. A body is
 * run as a model of its own, with the values that it sees as inputs, so that any value in it can be an output.
 */

import { TensorError } from "../errors.ts";
import { nodeTitle, type Graph, type Model, type ModelNode } from "../model/model.ts";
import type { Place } from "../model/places.ts";
import { tensor, type Tensor } from "../tensor/tensor.ts";
import { writeModel } from "../onnx/write-model.ts";
import { usesOf } from "../model/uses.ts";
import { cutModel } from "./cut.ts";
import { RuntimeFailure, runOnce, type CreateSession } from "./session.ts";

/** A value, or what the runtime said instead. */
export type Outcome = Tensor | RuntimeFailure;

/** Why the nodes of a graph do not run, in a word for people. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

export interface RunOptions {
  readonly createSession: CreateSession;
  /** Which iteration of loops counts. */
  readonly iteration: number;
}

export class PlaceValues {
  readonly #model: Model;
  readonly #feeds: ReadonlyMap<string, Tensor>;
  readonly #options: RunOptions;
  /** What each graph is given: its inputs, and for a body the values around it that it uses. */
  readonly #given = new Map<Place, Promise<ReadonlyMap<string, Tensor>>>();
  readonly #known = new Map<Place, Map<string, Outcome>>();

  constructor(model: Model, feeds: ReadonlyMap<string, Tensor>, options: RunOptions) {
    this.#model = model;
    this.#feeds = feeds;
    this.#options = options;
  }

  /**
   * Values of a graph, in as few sessions as there can be: one, unless the runtime fails, and then one for each value, so
   * that what does not depend on the failure is known all the same.
   * @throws NotRun for a graph that does not run with these inputs, or not here
   */
  async of(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    const { graph } = place;
    const given = await this.#givenTo(place);
    const known = this.#known.get(place) ?? new Map<string, Outcome>();
    this.#known.set(place, known);
    const constants = new Map(graph.constants.map((one) => [one.name, one]));
    for (const name of names) {
      const value = given.get(name) ?? (known.has(name) ? null : constants.get(name)?.read());
      if (value) known.set(name, value);
    }
    const open = [...new Set(names)].filter((name) => name !== "" && !known.has(name));
    if (open.length > 0) await this.#run(graph, open, given, known);
    return known;
  }

  async #run(
    graph: Graph,
    names: readonly string[],
    given: ReadonlyMap<string, Tensor>,
    known: Map<string, Outcome>,
  ): Promise<void> {
    try {
      for (const [name, value] of await this.#session(graph, names, given)) known.set(name, value);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      if (names.length === 1) {
        known.set(names[0], error);
        return;
      }
      for (const name of names) {
        // One after the other: each session may take as much memory as the whole model.
        // oxlint-disable-next-line no-await-in-loop
        await this.#run(graph, [name], given, known);
      }
    }
  }

  #session(
    graph: Graph,
    names: readonly string[],
    given: ReadonlyMap<string, Tensor>,
  ): Promise<ReadonlyMap<string, Tensor>> {
    const cut = cutModel(this.#model, graph, names, given);
    const feeds = cut.inputs.map((name) => [name, given.get(name) as Tensor] as const);
    return runOnce(this.#options.createSession, writeModel(cut.model), Object.fromEntries(feeds));
  }

  #givenTo(place: Place): Promise<ReadonlyMap<string, Tensor>> {
    const before = this.#given.get(place);
    if (before !== undefined) return before;
    const given = this.#findGiven(place);
    this.#given.set(place, given);
    return given;
  }

  async #findGiven(place: Place): Promise<ReadonlyMap<string, Tensor>> {
    const { outer, graph, kind } = place;
    if (kind.is === "function")
      throw new NotRun("it is in a function, whose calls are not followed");
    if (outer === null) return this.#feeds;
    const owner = ownerOf(outer.graph, graph);
    const around = await this.#around(outer, owner, graph);
    if (owner.op === "If")
      return this.#branch(owner, kind.is === "body" ? kind.attribute : "", around);
    if (owner.op === "Loop") return this.#iteration(owner, graph, around);
    throw new NotRun(
      `it is in the body of ${nodeTitle(owner)}, and bodies of ${owner.op} are not followed`,
    );
  }

  /** What a node with a body takes, and what its body takes from the graphs around it. */
  async #around(outer: Place, owner: ModelNode, body: Graph): Promise<Map<string, Tensor>> {
    const own = new Set(
      [...body.inputs, ...body.constants]
        .map(({ name }) => name)
        .concat(body.nodes.flatMap((one) => one.outputs)),
    );
    const around = new Map<string, Tensor>();
    const uses = new Set([...owner.inputs, ...[...usesOf(body)].filter((name) => !own.has(name))]);
    for (let place: Place | null = outer; place !== null; place = place.outer) {
      const { graph } = place;
      const made = new Set([
        ...[...graph.inputs, ...graph.constants].map(({ name }) => name),
        ...graph.nodes.flatMap((one) => one.outputs),
      ]);
      const here = [...uses].filter((name) => made.has(name));
      // oxlint-disable-next-line no-await-in-loop
      const values = await this.of(place, here);
      for (const name of here) {
        uses.delete(name);
        const value = values.get(name);
        if (value instanceof RuntimeFailure) throw value;
        if (value !== undefined) around.set(name, value);
      }
    }
    return around;
  }

  #branch(owner: ModelNode, attribute: string, around: Map<string, Tensor>): Map<string, Tensor> {
    const condition = scalarOf(around.get(owner.inputs[0]));
    const taken = condition ? "then_branch" : "else_branch";
    if (taken === attribute) return around;
    throw new NotRun(
      `it is in the ${attribute} of ${nodeTitle(owner)}, and the ${taken} was taken`,
    );
  }

  /** What the body of a loop is given in the iteration that counts. */
  async #iteration(
    owner: ModelNode,
    body: Graph,
    around: Map<string, Tensor>,
  ): Promise<ReadonlyMap<string, Tensor>> {
    const { iteration } = this.#options;
    const [most = "", condition = "", ...carried] = owner.inputs;
    const [number, going, ...states] = body.inputs.map(({ name }) => name);
    const limit = most === "" ? Infinity : Number(scalarOf(around.get(most)));
    let isGoing = condition === "" || Boolean(scalarOf(around.get(condition)));
    let values = carried.map((name) => around.get(name) as Tensor);
    const givenAt = (at: number): Map<string, Tensor> =>
      new Map([
        ...around,
        [number, tensor("int64", [], BigInt(at))],
        [going, tensor("bool", [], isGoing)],
        ...states.map((name, position) => [name, values[position]] as const),
      ]);
    const outputs = body.outputs.slice(0, states.length + 1).map(({ name }) => name);
    for (let at = 0; at < iteration && isGoing && at < limit; at++) {
      const given = givenAt(at);
      // oxlint-disable-next-line no-await-in-loop
      const made = await this.#session(body, outputs, given);
      const [next, ...after] = outputs.map((name) => made.get(name) ?? given.get(name));
      isGoing = Boolean(scalarOf(next));
      values = after as Tensor[];
    }
    if (isGoing && iteration < limit) return givenAt(iteration);
    throw new NotRun(`it is in ${nodeTitle(owner)}, which has no iteration ${iteration}`);
  }
}

const scalarOf = (value: Tensor | undefined): number | bigint | boolean =>
  value === undefined ? 0 : (value.data[0] as number | bigint | boolean);

function ownerOf({ nodes }: Graph, body: Graph): ModelNode {
  const owner = nodes.find(({ attributes }) =>
    Object.values(attributes).some(
      (attribute) => attribute.type === "other" && (attribute.graphs ?? []).includes(body),
    ),
  );
  if (owner !== undefined) return owner;
  throw new TensorError("malformed-file", "a body is in no node of the graph around it");
}
