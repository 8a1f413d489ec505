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
import type { Arrow, Line } from "../cells/session.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import type { Links, Tuple } from "../cells/links.ts";
import { printElement } from "../values/scalar-text.ts";
import { firstOf, positionOf } from "../values/shape.ts";

/** The maximum number of lines and arrows; further lines are only counted. */
const MOST_LINES = 40;
export const MOST_ARROWS = 12;

export const arrow = (
  from: Spot,
  to: Spot,
  tuple: number | null,
  isHint = tuple === null,
): Arrow => ({ from, to, tuple, isHint });

export class Vocabulary {
  readonly links: Links;
  readonly output: Tensor;
  private readonly explanation: Explanation;
  private readonly story: ScatterStory | GatherStory;

  constructor(
    explanation: Explanation,
    story: ScatterStory | GatherStory,
    output: Tensor,
    links: Links,
  ) {
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

  /** Returns an input's shape; an omitted input counts as a scalar. */
  shapeOf(position: number): readonly number[] {
    return this.explanation.inputs[position]?.tensor?.shape ?? [];
  }

  print(value: Scalar): string {
    // The text is the same as in cells, except that strings are quoted.
    const { dtype } = this.output;
    return typeof value === "string" ? printScalar(dtype, value) : printElement(dtype, value);
  }

  /** Returns an update or read as a sentence. Its arrows connect the first elements of slices. */
  stepOf(order: number): { readonly text: string; readonly arrows: readonly Arrow[] } {
    const { story } = this;
    return story.kind === "gather" ? this.readStep(story, order) : this.updateStep(story, order);
  }

  private readStep(
    story: GatherStory,
    order: number,
  ): { readonly text: string; readonly arrows: readonly Arrow[] } {
    const { shape: output } = this.output;
    const tuple = this.links.tupleOf[order];
    const data = this.positionOf("data");
    const shape = this.shapeOf(data);
    const { at = [], target = null } = story.reads.at(order) ?? {};
    const to = { tensor: "output", element: firstOf(at, output) } as const;
    const name = `${this.nameOf("output")}${partOf(at, output.length)}`;
    if (target === null) {
      const text = `${name} is 0, because the index is out of range`;
      return { text, arrows: [this.indexArrow(tuple, to)] };
    }
    const from = { tensor: data, element: firstOf(target, shape) };
    const text = `${name} is ${this.nameOf(data)}${partOf(target, shape.length)}`;
    return { text, arrows: [arrow(from, to, tuple), this.indexArrow(tuple, from)] };
  }

  private updateStep(
    story: ScatterStory,
    order: number,
  ): { readonly text: string; readonly arrows: readonly Arrow[] } {
    const { shape: output } = this.output;
    const tuple = this.links.tupleOf[order];
    const position = this.positionOf("updates");
    const updates = this.shapeOf(position);
    const { at = [], target = [] } = story.updates.at(order) ?? {};
    const to = { tensor: "output", element: firstOf(target, output) } as const;
    const from = { tensor: position, element: firstOf(at, updates) };
    const update = `${this.nameOf(position)}${partOf(at, updates.length)}`;
    const cell = `${this.nameOf("output")}${partOf(target, output.length)}`;
    const text = DEEDS[story.reduction](update, cell);
    return { text, arrows: [arrow(from, to, tuple), this.indexArrow(tuple, to)] };
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
    const name = `${this.nameOf(this.positionOf("updates"))}${printShape(step.at)}`;
    return { text: `${name} is ${update}, ${this.through(tuples[tuple])}`, result };
  }

  /** Returns the first lines, followed by a line with the number of further items. */
  firstLines<T>(list: readonly T[], lineOf: (item: T, number: number) => Line): Line[] {
    const lines = list.slice(0, MOST_LINES).map(lineOf);
    const more = list.length - lines.length;
    return more === 0 ? lines : [...lines, { text: `and ${more} more` }];
  }

  updateSpot(at: readonly number[]): Spot {
    const tensor = this.positionOf("updates");
    return { tensor, element: positionOf(at, this.shapeOf(tensor)) };
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
    if (places === null) return "nothing, because it is out of range";
    return places.map((place, j) => `position ${place} on axis ${axes[j]}`).join(", ");
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

/** Prints a slice by its leading coordinates, such as `[1, :, :]`. */
export function partOf(at: readonly number[], rank: number): string {
  const rest = Array.from({ length: rank - at.length }, () => ":");
  return rank === 0 ? "" : `[${[...at, ...rest].join(", ")}]`;
}
