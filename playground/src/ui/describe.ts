/** What happens to one cell, in words and arrows: the library's story of it, put into sentences. */

import {
  printScalar,
  printShape,
  type CellStory,
  type DType,
  type ExplainedInput,
  type Explanation,
  type GatherStory,
  type Scalar,
  type ScatterStory,
  type StoryStep,
} from "ndscatter";
import { reaching, type Links, type Tuple } from "../model/links.ts";
import { coordinatesOf, firstOf, positionOf } from "../model/shape.ts";

/** A tensor of the page: an input by its position, or the output. */
export type TensorId = number | "output";

/** A cell of the page. */
export interface Spot {
  readonly tensor: TensorId;
  readonly element: number;
}

export interface Arrow {
  readonly from: Spot;
  readonly to: Spot;
  /** Whose colour it has. */
  readonly tuple: number | null;
  /** Whether it only shows the way: nothing is moved along it. */
  readonly isHint: boolean;
}

/** One event; the number of its tuple goes before it. */
export interface Line {
  readonly tuple: number | null;
  readonly text: string;
  /** What comes of it: `5 + 3 = 8`. */
  readonly result?: string;
}

export interface Description {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly arrows: readonly Arrow[];
}

/** More lines than anybody reads are counted instead. */
const MOST_LINES = 40;
const MOST_ARROWS = 12;

/** A call that was told, with what the page made of it. */
export interface Told {
  readonly explanation: Explanation;
  readonly links: Links;
}

/** Null for a cell that is no longer there. */
export function describeCell(told: Told, { tensor, element }: Spot): Description | null {
  const { explanation } = told;
  const { story, inputs, output } = explanation;
  if (story === null || output === null) return null;
  const subject = tensor === "output" ? output : inputs[tensor]?.tensor;
  if (subject === null || subject === undefined || element >= subject.size) return null;
  const role = tensor === "output" ? "output" : inputs[tensor].role;
  const describer = new Describer(told, inputs, output.dtype);
  if (role === "indices") return describer.ofIndex(element, subject.shape);
  if (role === "axis")
    return { title: `${describer.nameOf(tensor)} is an axis`, lines: [], arrows: [] };
  if (story.kind === "gather") {
    return role === "output"
      ? describer.ofReadCell(story, coordinatesOf(element, subject.shape), element)
      : describer.ofSource(story, coordinatesOf(element, subject.shape), element);
  }
  return role === "updates"
    ? describer.ofUpdate(story, element)
    : describer.ofCell(story, coordinatesOf(element, subject.shape), element, tensor);
}

/** The tale of one step of a player: an update, or a read. */
export function describeStep(told: Told, order: number): Description | null {
  const { explanation, links } = told;
  const { story, inputs, output } = explanation;
  if (story === null || output === null || order < 0 || order >= links.count) return null;
  return new Describer(told, inputs, output.dtype).ofStep(story, order);
}

class Describer {
  private readonly told: Told;
  private readonly inputs: readonly ExplainedInput[];
  private readonly dtype: DType;

  constructor(told: Told, inputs: readonly ExplainedInput[], dtype: DType) {
    this.told = told;
    this.inputs = inputs;
    this.dtype = dtype;
  }

  /** A cell of the output of a scatter, or of its data: the two have the same places. */
  ofCell(
    story: ScatterStory,
    coordinates: readonly number[],
    element: number,
    tensor: TensorId,
  ): Description {
    const cell = story.cell(coordinates);
    const place = printShape(coordinates);
    const here = { tensor: "output", element } as const;
    const data = { tensor: this.positionOf("data"), element };
    if (cell.count === 0) {
      const title = `${this.nameOf("output")}${place} is ${this.print(cell.value)}`;
      const text = `no update reaches it, so it stays what ${this.nameOf(data.tensor)}${place} is`;
      return { title, lines: [{ tuple: null, text }], arrows: [arrow(data, here, null)] };
    }
    const steps = [...cell.steps()];
    const [{ before }] = steps;
    const times = cell.count === 1 ? "one update" : `${cell.count} updates, in this order`;
    const title =
      tensor === "output"
        ? `${this.nameOf("output")}${place} is ${this.print(cell.value)}: ${times}`
        : `${this.nameOf(tensor)}${place} is ${this.print(before)}, and becomes ${this.print(cell.value)}: ${times}`;
    const lines = capped(steps, (step): Line => this.lineOf(step));
    const arrows: Arrow[] = [];
    for (const step of steps.slice(0, MOST_ARROWS)) {
      if (step.kind === "division") continue;
      const tuple = this.told.links.tupleOf[step.order];
      arrows.push(arrow(this.updateSpot(step.at), here, tuple), this.indexArrow(tuple, here));
    }
    if (story.reduction !== "none" && story.includeSelf) arrows.push(arrow(data, here, null));
    return { title, lines, arrows };
  }

  /** An element of updates: where it goes, and whether it stays. */
  ofUpdate(story: ScatterStory, element: number): Description {
    const { links } = this.told;
    const order = links.carried[element];
    const position = this.positionOf("updates");
    const updates = this.inputs[position].tensor;
    const update = story.updates.at(order);
    const output = this.told.explanation.output;
    if (update === undefined || updates === null || output === null) {
      return { title: `no index leads ${this.nameOf(position)} anywhere`, lines: [], arrows: [] };
    }
    const at = coordinatesOf(element, updates.shape);
    const target = [...update.target, ...at.slice(update.at.length)];
    const cell = story.cell(target);
    const steps = [...cell.steps()];
    const place = steps.findIndex((step) => step.kind === "update" && step.order === order);
    const tuple = links.tupleOf[order];
    const lines = steps.slice(place, place + 1).map((step): Line => this.lineOf(step));
    const later = steps.slice(place + 1).filter((step) => step.kind === "update");
    if (later.length > 0) {
      const letters = later.map((step) => links.tuples[links.tupleOf[step.order]].letter);
      const text =
        story.reduction === "none"
          ? "a later update of the same cell replaces it"
          : "later updates meet the same cell";
      lines.push({
        tuple: null,
        text: `${text}: ${letters.slice(0, MOST_LINES).join(", ")}; in the end it is ${this.print(cell.value)}`,
      });
    }
    const here = { tensor: position, element };
    const to = { tensor: "output", element: positionOf(target, output.shape) } as const;
    const title = `${this.nameOf(position)}${printShape(at)} goes to ${this.nameOf("output")}${printShape(target)}`;
    return { title, lines, arrows: [arrow(here, to, tuple), this.indexArrow(tuple, to)] };
  }

  /** An element of the output of a gather. */
  ofReadCell(story: GatherStory, coordinates: readonly number[], element: number): Description {
    const { index, source, value } = story.cell(coordinates);
    const data = this.positionOf("data");
    const shape = this.inputs[data].tensor?.shape ?? [];
    const here = { tensor: "output", element } as const;
    const tuple = this.told.links.tupleOf[this.told.links.carried[element]];
    const title = `${this.nameOf("output")}${printShape(coordinates)} is ${this.print(value)}`;
    const through = this.through(this.told.links.tuples[tuple]);
    if (source === null) {
      const text = `${through}: it is out of range, which gives 0`;
      return { title, lines: [{ tuple, text }], arrows: [this.indexArrow(tuple, here)] };
    }
    const from = { tensor: data, element: positionOf(source, shape) };
    const text = `it is ${this.nameOf(data)}${printShape(source)}, ${through}`;
    const arrows = [arrow(from, here, tuple), this.indexArrow(tuple, from)];
    return {
      title,
      lines: [{ tuple, text }],
      arrows: index.at.length === 0 ? [arrows[0]] : arrows,
    };
  }

  /** An element of the data of a gather: who reads it. */
  ofSource(story: GatherStory, coordinates: readonly number[], element: number): Description {
    const { links, explanation } = this.told;
    const data = this.positionOf("data");
    const orders = reaching(links, element);
    const name = `${this.nameOf(data)}${printShape(coordinates)}`;
    if (orders.length === 0) return { title: `nothing reads ${name}`, lines: [], arrows: [] };
    const within = coordinates.slice(story.addressed);
    const output = explanation.output?.shape ?? [];
    const here = { tensor: data, element };
    const arrows: Arrow[] = [];
    const lines = capped(orders, (order, number): Line => {
      const read = story.reads.at(order);
      const tuple = links.tupleOf[order];
      const at = [...(read?.at ?? []), ...within];
      const to = { tensor: "output", element: positionOf(at, output) } as const;
      if (number < MOST_ARROWS) arrows.push(arrow(here, to, tuple));
      const text = `${this.nameOf("output")}${printShape(at)}, ${this.through(links.tuples[tuple])}`;
      return { tuple, text };
    });
    const times = orders.length === 1 ? "once" : `${orders.length} times`;
    return { title: `${name} is read ${times}`, lines, arrows };
  }

  /** An element of indices: the tuple that it belongs to. */
  ofIndex(element: number, shape: readonly number[]): Description {
    const { links, explanation } = this.told;
    const { story } = explanation;
    const number = links.indexed[element];
    const tuple = links.tuples[number];
    const position = this.positionOf("indices");
    if (tuple === undefined || story === null) {
      const at = printShape(coordinatesOf(element, shape));
      return { title: `${this.nameOf(position)}${at} leads nowhere`, lines: [], arrows: [] };
    }
    const orders: number[] = [];
    links.tupleOf.forEach((one, order) => {
      if (one === number) orders.push(order);
    });
    const arrows: Arrow[] = [];
    const lines = capped(orders, (order, count): Line => {
      const step = this.stepOf(story, order);
      if (count < MOST_ARROWS) arrows.push(...step.arrows);
      return { tuple: number, text: step.text };
    });
    const wrapped = wrapsOf(tuple);
    const title = `${this.indexName(tuple)} leads to ${tuple.places === null ? "nowhere: it is out of range" : placeOf(tuple)}${wrapped}`;
    return { title, lines, arrows: arrows.slice(0, MOST_ARROWS) };
  }

  ofStep(story: ScatterStory | GatherStory, order: number): Description {
    const { links } = this.told;
    const tuple = links.tupleOf[order];
    const { text, arrows } = this.stepOf(story, order);
    const noun = story.kind === "gather" ? "read" : "update";
    return {
      title: `${noun} ${order + 1} of ${links.count}`,
      lines: [{ tuple, text: `${text}, ${this.through(links.tuples[tuple])}` }],
      arrows,
    };
  }

  /** An update, or a read, as a sentence; its arrows go from first element to first element. */
  private stepOf(
    story: ScatterStory | GatherStory,
    order: number,
  ): { readonly text: string; readonly arrows: readonly Arrow[] } {
    const { links, explanation } = this.told;
    const output = explanation.output?.shape ?? [];
    const tuple = links.tupleOf[order];
    const data = this.positionOf("data");
    const shape = this.inputs[data].tensor?.shape ?? [];
    if (story.kind === "gather") {
      const read = story.reads.at(order);
      const at = read?.at ?? [];
      const to = { tensor: "output", element: firstOf(at, output) } as const;
      const name = `${this.nameOf("output")}${partOf(at, output.length)}`;
      if (read === undefined || read.target === null) {
        return {
          text: `${name} is 0: the index is out of range`,
          arrows: [this.indexArrow(tuple, to)],
        };
      }
      const from = { tensor: data, element: firstOf(read.target, shape) };
      const text = `${name} is ${this.nameOf(data)}${partOf(read.target, shape.length)}`;
      return { text, arrows: [arrow(from, to, tuple), this.indexArrow(tuple, from)] };
    }
    const update = story.updates.at(order);
    const position = this.positionOf("updates");
    const updates = this.inputs[position].tensor?.shape ?? [];
    const at = update?.at ?? [];
    const target = update?.target ?? [];
    const to = { tensor: "output", element: firstOf(target, output) } as const;
    const from = { tensor: position, element: firstOf(at, updates) };
    const text = `${this.nameOf(position)}${partOf(at, updates.length)} ${VERBS[story.reduction]} ${this.nameOf("output")}${partOf(target, output.length)}`;
    return { text, arrows: [arrow(from, to, tuple), this.indexArrow(tuple, to)] };
  }

  private lineOf(step: StoryStep<Scalar>): Line {
    const before = this.print(step.before);
    const after = this.print(step.after);
    if (step.kind === "division") {
      const text = `the mean of ${step.divisor} values`;
      return { tuple: null, text, result: `${before} / ${step.divisor} = ${after}` };
    }
    const { tupleOf, tuples } = this.told.links;
    const tuple = tupleOf[step.order];
    const update = this.print(step.update);
    const result = RESULTS[step.by](before, update, after);
    const name = `${this.nameOf(this.positionOf("updates"))}${printShape(step.at)}`;
    return { tuple, text: `${name} is ${update}, ${this.through(tuples[tuple])}`, result };
  }

  private print(value: CellStory["value"]): string {
    return printScalar(this.dtype, value);
  }

  nameOf(tensor: TensorId): string {
    const { version } = this.told.explanation;
    if (tensor === "output") return version?.outputs[0].name ?? "output";
    return this.inputs[tensor].name;
  }

  private positionOf(role: string): number {
    return this.inputs.findIndex((input) => input.role === role);
  }

  private updateSpot(at: readonly number[]): Spot {
    const tensor = this.positionOf("updates");
    return { tensor, element: positionOf(at, this.inputs[tensor].tensor?.shape ?? []) };
  }

  /** From the first element of a tuple. */
  private indexArrow(tuple: number, to: Spot): Arrow {
    const tensor = this.positionOf("indices");
    const element = this.told.links.indexed.indexOf(tuple);
    return arrow(element === -1 ? to : { tensor, element }, to, tuple, true);
  }

  private indexName(tuple: Tuple): string {
    const position = this.positionOf("indices");
    const indices = this.inputs[position]?.tensor;
    if (indices === null || indices === undefined) return `no ${this.nameOf(position)}`;
    const given = tuple.given.join(", ");
    const isTuple = tuple.at.length < indices.shape.length;
    return `${this.nameOf(position)}${printShape(tuple.at)} = ${isTuple ? `[${given}]` : given}`;
  }

  private through(tuple: Tuple): string {
    return `through ${this.indexName(tuple)}${wrapsOf(tuple)}`;
  }
}

const VERBS = {
  none: "replaces",
  add: "is added to",
  sub: "is subtracted from",
  mul: "multiplies",
  max: "competes, as the greater, with",
  min: "competes, as the lesser, with",
  mean: "is averaged into",
} as const;

/** What a step does, with the numbers. */
const RESULTS: Readonly<
  Record<
    "none" | "add" | "sub" | "mul" | "max" | "min",
    (a: string, b: string, c: string) => string
  >
> = {
  none: (before, _, after) => `${before} → ${after}`,
  add: (before, update, after) => `${before} + ${update} = ${after}`,
  sub: (before, update, after) => `${before} − ${update} = ${after}`,
  mul: (before, update, after) => `${before} × ${update} = ${after}`,
  max: (before, update, after) => `max(${before}, ${update}) = ${after}`,
  min: (before, update, after) => `min(${before}, ${update}) = ${after}`,
};

const arrow = (from: Spot, to: Spot, tuple: number | null, isHint = tuple === null): Arrow => ({
  from,
  to,
  tuple,
  isHint,
});

/** `[1, :, :]`: a slice by its leading coordinates. */
function partOf(at: readonly number[], rank: number): string {
  const rest = Array.from({ length: rank - at.length }, () => ":");
  return `[${[...at, ...rest].join(", ")}]`;
}

/** The coordinates along the axes that a tuple stands for. */
const placeOf = ({ axes, places }: Tuple): string =>
  (places ?? []).map((place, j) => `${place} on axis ${axes[j]}`).join(", ");

/** Says of each negative index what it is counted from the front. */
function wrapsOf({ given, places }: Tuple): string {
  const wrapped = given.flatMap((index, j) =>
    places !== null && Number(index) < 0 && Number(index) !== places[j]
      ? [`${index} is ${places[j]}`]
      : [],
  );
  return wrapped.length === 0 ? "" : ` (${wrapped.join(", ")})`;
}

/** The first lines, and how many more there are. */
function capped<T>(list: readonly T[], lineOf: (item: T, number: number) => Line): Line[] {
  const lines = list.slice(0, MOST_LINES).map(lineOf);
  const more = list.length - lines.length;
  return more === 0 ? lines : [...lines, { tuple: null, text: `and ${more} more` }];
}
