/**
 * Provides the words for cell descriptions: names, one step as a sentence, and arrows. The descriptions themselves are
 * composed in `describe-scatter.ts` and `describe-gather.ts`.
 */

import type {
  Explanation,
  GatherStory,
  Reduction,
  Scalar,
  ScatterStory,
  StoryStep,
  Tensor,
} from "ndscatter";
import { printScalar, printShape } from "ndscatter/operators";
import type { Arrow, Description, Line } from "../cells/session.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import type { Links, Tuple } from "../cells/links.ts";
import { printElement } from "../values/scalar-text.ts";
import { firstOf } from "../values/shape.ts";
import { positionsOf } from "./target-names.ts";

/** The maximum number of lines and arrows; further lines are only counted. */
const MOST_LINES = 40;
export const MOST_ARROWS = 12;

export const arrow = (
  from: Spot,
  to: Spot,
  tuple: number | null,
  isHint = tuple === null,
): Arrow => ({ from, to, tuple, isHint });

/** Returns a description that consists of a title. */
export const told = (title: string): Description => ({ title, lines: [], arrows: [], orders: [] });

/** A call without errors. */
export interface Told {
  readonly explanation: Explanation;
  readonly story: ScatterStory | GatherStory;
  readonly output: Tensor;
  readonly links: Links;
}

/** One step of the player: an update or a read. */
interface Step {
  readonly text: string;
  readonly arrows: readonly Arrow[];
}

export class Vocabulary implements Told {
  readonly explanation: Explanation;
  readonly story: ScatterStory | GatherStory;
  readonly output: Tensor;
  readonly links: Links;

  constructor({ explanation, story, output, links }: Told) {
    this.explanation = explanation;
    this.story = story;
    this.output = output;
    this.links = links;
  }

  nameOf(tensor: TensorId): string {
    const { version, inputs } = this.explanation;
    if (tensor === "output") return version?.outputs[0].name ?? "output";
    return inputs[tensor].name;
  }

  positionOf(role: string): number {
    return this.explanation.inputs.findIndex((input) => input.role === role);
  }

  /** Returns a tensor's shape; an omitted input counts as a scalar. */
  shapeOf(tensor: TensorId): readonly number[] {
    const { inputs } = this.explanation;
    return (tensor === "output" ? this.output : inputs[tensor]?.tensor)?.shape ?? [];
  }

  /** Returns the first element of a slice, or an element by all of its coordinates. */
  spotAt(tensor: TensorId, at: readonly number[]): Spot {
    return { tensor, element: firstOf(at, this.shapeOf(tensor)) };
  }

  /** Prints a slice by its leading coordinates, such as `data[1, :, :]`. */
  partAt(tensor: TensorId, at: readonly number[]): string {
    const { length: rank } = this.shapeOf(tensor);
    const rest = Array.from({ length: rank - at.length }, () => ":");
    return `${this.nameOf(tensor)}${rank === 0 ? "" : `[${[...at, ...rest].join(", ")}]`}`;
  }

  /** Prints an element by its coordinates, such as `data[1, 2]`. */
  elementAt(tensor: TensorId, at: readonly number[]): string {
    return `${this.nameOf(tensor)}${printShape(at)}`;
  }

  print(value: Scalar): string {
    // The text is the same as in cells, except that strings are quoted.
    const { dtype } = this.output;
    return typeof value === "string" ? printScalar(dtype, value) : printElement(dtype, value);
  }

  /** Returns an update or read as a sentence. Its arrows connect the first elements of slices. */
  stepOf(order: number): Step {
    const { story } = this;
    const tuple = this.links.tupleOf[order];
    const isGather = story.kind === "gather";
    const carrier = isGather ? "output" : this.positionOf("updates");
    const other = isGather ? this.positionOf("data") : "output";
    const { at = [], target = null } = (isGather ? story.reads : story.updates).at(order) ?? {};
    const [here, part] = [this.spotAt(carrier, at), this.partAt(carrier, at)];
    if (target === null) {
      const text = `${part} is 0, because the index is out of range`;
      return { text, arrows: [this.indexArrow(tuple, here)] };
    }
    const there = this.spotAt(other, target);
    const goal = this.partAt(other, target);
    const text = isGather ? `${part} is ${goal}` : DEEDS[story.reduction](part, goal);
    const main = isGather ? arrow(there, here, tuple) : arrow(here, there, tuple);
    return { text, arrows: [main, this.indexArrow(tuple, there)] };
  }

  /** Describes one step of a cell, with its values. */
  lineOf(step: StoryStep<Scalar>): Line {
    const before = this.print(step.before);
    const after = this.print(step.after);
    if (step.kind === "division") {
      const text = `the mean of ${step.divisor} values`;
      return { text, result: `${before} / ${step.divisor} = ${after}` };
    }
    const { tupleOf, tuples } = this.links;
    const tuple = tupleOf[step.order];
    const update = this.print(step.update);
    const result = RESULTS[step.by](before, update, after);
    const name = this.elementAt(this.positionOf("updates"), step.at);
    return { text: `${name} is ${update}, ${this.through(tuples[tuple])}`, result };
  }

  /** Returns the first lines, followed by a line with the number of further items. */
  firstLines<T>(list: readonly T[], lineOf: (item: T, number: number) => Line): Line[] {
    const lines = list.slice(0, MOST_LINES).map(lineOf);
    const more = list.length - lines.length;
    return more === 0 ? lines : [...lines, { text: `and ${more} more` }];
  }

  /** Returns an arrow that starts at a tuple's first element. */
  indexArrow(tuple: number, to: Spot): Arrow {
    const tensor = this.positionOf("indices");
    const element = this.links.indexed.indexOf(tuple);
    return arrow(element === -1 ? to : { tensor, element }, to, tuple, true);
  }

  /** Prints a tuple with its coordinates, such as `indices[2] = [-1]`. */
  indexName(tuple: Tuple): string {
    const position = this.positionOf("indices");
    const indices = this.explanation.inputs[position]?.tensor;
    if (indices === null || indices === undefined) return `no ${this.nameOf(position)}`;
    const given = tuple.given.join(", ");
    const isTuple = tuple.at.length < indices.shape.length;
    // If `indices` is a scalar or a single tuple, no coordinates are printed.
    const at = tuple.at.length === 0 ? "" : printShape(tuple.at);
    return `${this.nameOf(position)}${at} = ${isTuple ? `[${given}]` : given}`;
  }

  through(tuple: Tuple): string {
    return `through ${this.indexName(tuple)}${this.wrapsOf(tuple)}`;
  }

  /** Prints a tuple's target, such as `position 2 on axis 0, position 1 on axis 1`. */
  placeOf({ axes, places }: Tuple): string {
    return places === null ? "nothing, because it is out of range" : positionsOf(axes, places);
  }

  /** Explains a tuple's negative indices, for example as ` (-1 is 3)`. */
  wrapsOf({ given, places }: Tuple): string {
    const wrapped = given.flatMap((index, j) =>
      places !== null && Number(index) < 0 && Number(index) !== places[j]
        ? [`${index} is ${places[j]}`]
        : [],
    );
    return wrapped.length === 0 ? "" : ` (${wrapped.join(", ")})`;
  }
}

/** Sentences about an update and its target, by reduction. */
const DEEDS: Readonly<Record<Reduction, (update: string, cell: string) => string>> = {
  none: (update, cell) => `${update} replaces ${cell}`,
  add: (update, cell) => `${update} is added to ${cell}`,
  sub: (update, cell) => `${update} is subtracted from ${cell}`,
  mul: (update, cell) => `${cell} is multiplied by ${update}`,
  max: (update, cell) => `${cell} keeps its value or that of ${update}, whichever is greater`,
  min: (update, cell) => `${cell} keeps its value or that of ${update}, whichever is less`,
  mean: (update, cell) => `${update} counts toward the mean of ${cell}`,
};

type Result = (before: string, update: string, after: string) => string;

/** A step's result, with its numbers. */
const RESULTS: Readonly<Record<"none" | "add" | "sub" | "mul" | "max" | "min", Result>> = {
  none: (before, _, after) => `${before} → ${after}`,
  add: (before, update, after) => `${before} + ${update} = ${after}`,
  sub: (before, update, after) => `${before} − ${update} = ${after}`,
  mul: (before, update, after) => `${before} × ${update} = ${after}`,
  max: (before, update, after) => `max(${before}, ${update}) = ${after}`,
  min: (before, update, after) => `min(${before}, ${update}) = ${after}`,
};
