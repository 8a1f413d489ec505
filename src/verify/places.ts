/**
 * The values of a model while it runs in the user's runtime, in its own graph, in bodies and in functions, each of which is
 * run as a model of its own, so that any value in it can be an output.
 */

import type { Model } from "../model/model.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import { writeModel } from "../onnx/write-model.ts";
import { cutModel, neededFor } from "./cut.ts";
import { frameOf, NotRun, type Around, type Frame, type Outcome, type Values } from "./frames.ts";
import { RuntimeFailure, runOnce, type CreateSession } from "./session.ts";

export interface RunOptions {
  readonly createSession: CreateSession;
  /** Which iteration of loops counts. */
  readonly iteration: number;
}

export class PlaceValues implements Around {
  readonly nodes: readonly PlacedNode[];
  readonly iteration: number;
  readonly #model: Model;
  readonly #feeds: Values;
  readonly #createSession: CreateSession;
  readonly #frames = new Map<Place, Frame | NotRun | RuntimeFailure>();
  /** Places whose frames are being found, so that a function that calls itself is noticed. */
  readonly #open = new Set<Place>();
  readonly #known = new Map<Place, Map<string, Outcome>>();

  /** @param nodes all nodes of the model, in order */
  constructor(model: Model, nodes: readonly PlacedNode[], feeds: Values, options: RunOptions) {
    this.nodes = nodes;
    this.iteration = options.iteration;
    this.#model = model;
    this.#feeds = feeds;
    this.#createSession = options.createSession;
  }

  get functions(): NonNullable<Model["functions"]> {
    return this.#model.functions ?? [];
  }

  async frame(place: Place): Promise<Frame> {
    const known = this.#frames.get(place) ?? (await this.#findFrame(place));
    this.#frames.set(place, known);
    if (known instanceof Error) throw known;
    return known;
  }

  async #findFrame(place: Place): Promise<Frame | NotRun | RuntimeFailure> {
    if (this.#open.has(place)) return new NotRun("it is in a function that calls itself");
    this.#open.add(place);
    try {
      return await frameOf(place, this.#feeds, this);
    } catch (error) {
      if (error instanceof NotRun || error instanceof RuntimeFailure) return error;
      throw error;
    } finally {
      this.#open.delete(place);
    }
  }

  /**
   * Values of a graph, in as few sessions as there can be: one, unless the runtime fails. Then the values are halved until
   * those that cannot be made are found, so that what does not depend on a failure is known all the same.
   * @throws NotRun for a graph that does not run with these inputs, or is not followed
   */
  async valuesOf(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    const frame = await this.frame(place);
    const { graph, given } = frame;
    const known = this.#known.get(place) ?? new Map<string, Outcome>();
    this.#known.set(place, known);
    const constants = new Map(graph.constants.map((one) => [one.name, one]));
    for (const name of names) {
      const value = given.get(name) ?? (known.has(name) ? null : constants.get(name)?.read());
      if (value) known.set(name, value);
    }
    const open = new Set(names.filter((name) => name !== "" && !known.has(name)));
    if (frame.failed.size > 0) {
      const there = { has: (name: string) => given.has(name) || frame.failed.has(name) };
      for (const name of open) {
        const needed = [...neededFor(graph, [name], there).names];
        const failure = needed.map((one) => frame.failed.get(one)).find(Boolean);
        if (failure !== undefined && open.delete(name)) known.set(name, failure);
      }
    }
    // In the order in which they are made, so that what fails is found before what depends on it.
    const inOrder = graph.nodes.flatMap(({ outputs }) =>
      outputs.filter((name) => open.delete(name)),
    );
    await this.#make(frame, [...inOrder, ...open], known);
    return known;
  }

  async #make(frame: Frame, names: readonly string[], known: Map<string, Outcome>): Promise<void> {
    const open = names.filter((name) => !known.has(name));
    if (open.length === 0) return;
    try {
      for (const [name, value] of await this.runGraph(frame, open)) known.set(name, value);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      if (open.length === 1) {
        known.set(open[0], error);
        return;
      }
      const half = Math.ceil(open.length / 2);
      await this.#make(frame, open.slice(0, half), known);
      const rest = open.slice(half);
      for (const name of rest) {
        // What needs a value that cannot be made cannot be made either.
        const needed = neededFor(frame.graph, [name], frame.given).names;
        const failed = open.find(
          (one) => known.get(one) instanceof RuntimeFailure && needed.has(one),
        );
        if (failed !== undefined) known.set(name, known.get(failed) as Outcome);
      }
      await this.#make(frame, rest, known);
    }
  }

  runGraph({ graph, opsets, given }: Frame, names: readonly string[]): Promise<Values> {
    const model = { ...this.#model, opsets: { ...this.#model.opsets, ...opsets } };
    const cut = cutModel(model, graph, names, given);
    const feeds = cut.inputs.flatMap((name) => {
      const value = given.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return runOnce(this.#createSession, writeModel(cut.model), Object.fromEntries(feeds), names);
  }
}
