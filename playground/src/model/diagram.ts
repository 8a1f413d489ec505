/**
 * A call as a diagram to be saved: grids of cells, the index tuples that reach them, and arrows. Everything in it comes
 * from the library's explanation. `svg.ts` draws it.
 */

import { roleOf, printShape, type Explanation, type IndexStory, type Tensor } from "ndscatter";
import { linksOf, marksOf, type Links } from "./links.ts";
import { readState } from "./read-state.ts";
import { printElement } from "./scalar-text.ts";
import type { State, TensorText } from "./state.ts";
import { elementsOf } from "./tensor-text.ts";
import { defaultText } from "./schema.ts";
import { coordinatesOf, firstOf, gridsOf, sizeOf } from "./shape.ts";

export interface Diagram {
  /** `ScatterND-18, reduction = add` */
  readonly title: string;
  /** The shapes term by term, and what is wrong. */
  readonly sentences: readonly string[];
  /** The inputs that are given, with data last for a gather, and the output if there is one. */
  readonly grids: readonly DiagramGrid[];
  /** In the order of the first update, or slice of the output, of each. */
  readonly tuples: readonly DiagramTuple[];
  readonly arrows: readonly DiagramArrow[];
}

/** A tensor. Its last two axes are rows and columns, and there is one slice for each place on the others. */
export interface DiagramGrid {
  readonly name: string;
  /** `float32 [2, 3, 4]` */
  readonly type: string;
  readonly slices: readonly DiagramSlice[];
  readonly rows: number;
  readonly columns: number;
}

export interface DiagramSlice {
  /** `[1, 0, :, :]`; empty where there is only one slice. */
  readonly label: string;
  /** In row-major order. */
  readonly cells: readonly DiagramCell[];
}

export interface DiagramCell {
  readonly at: readonly number[];
  readonly text: string;
  /** The numbers of its tuples, in the order in which they reach the cell. */
  readonly tuples: readonly number[];
}

/** An index tuple, or a single index, in the legend. */
export interface DiagramTuple {
  /** A for the first. */
  readonly letter: string;
  /** The number of its colour. */
  readonly colour: number;
  /** `indices[2] = -1, which is 3` */
  readonly sentence: string;
}

/** From an update to its target in the output; in a gather from data to the output. */
export interface DiagramArrow {
  readonly tuple: number;
  readonly from: DiagramSpot;
  readonly to: DiagramSpot;
}

export interface DiagramSpot {
  readonly grid: number;
  /** The first cell of a slice, in row-major order. */
  readonly cell: number;
}

/** More arrows would hide the cells. */
const MOST_ARROWS = 64;

/** The diagram of a state and its explanation, if there is one. */
export function diagramOf(state: State, explanation: Explanation | null): Diagram {
  const { version, node } = readState(state);
  const schemas = version?.inputs ?? [];
  const there = state.inputs.flatMap((text, position): Named[] => {
    if (text === null) return [];
    const schema = schemas[position];
    return schema === undefined
      ? [{ name: `input ${position}`, role: "", text }]
      : [{ name: schema.name, role: roleOf(schema), text }];
  });
  const output = explanation?.output ?? null;
  const tensors = [
    ...(schemas.some((one) => roleOf(one) === "updates") ? there : dataLast(there)),
    ...(output === null || version === null
      ? []
      : [{ name: version.outputs[0].name, role: "output", text: outputText(output) }]),
  ];
  const links = explanation === null ? null : linksOf(explanation);
  const indices = tensors.find(({ role }) => role === "indices")?.name ?? "";
  const attributes = Object.entries(node.attributes ?? {})
    .filter(([name, value]) => version === null || String(value) !== defaultText(version, name))
    .map(([name, value]) => `, ${name} = ${String(value)}`);
  return {
    title: `${state.op}-${state.opset}${attributes.join("")}`,
    sentences: [
      ...(explanation?.shapes ?? []).map(({ sentence }) => sentence),
      ...(explanation?.error ? [explanation.error.message] : []),
    ],
    grids: tensors.map((tensor) => gridOf(tensor, reachingOf(links, tensor))),
    tuples: (links?.tuples ?? []).map((tuple) => ({
      letter: tuple.letter,
      colour: tuple.colour,
      sentence: sentenceOf(tuple, indices),
    })),
    arrows: arrowsOf(links, explanation?.story ?? null, tensors),
  };
}

/** Without the limits of `textOf`, because an output may have more axes than an input. */
const outputText = (output: Tensor): TensorText => ({
  dtype: output.dtype,
  shape: output.shape,
  values: elementsOf(output).map((value) => printElement(output.dtype, value)),
});

/** Data stands beside the output, because a gather goes from one to the other. */
const dataLast = (tensors: readonly Named[]): Named[] => [
  ...tensors.filter(({ role }) => role !== "data"),
  ...tensors.filter(({ role }) => role === "data"),
];

function gridOf(
  { name, text: { dtype, shape, values } }: Named,
  reaching: (cell: number) => readonly number[],
): DiagramGrid {
  const { rows, columns, grids } = gridsOf(shape);
  const outer = shape.slice(0, -2);
  const size = rows * columns;
  const slices = Array.from({ length: grids }, (_, slice): DiagramSlice => {
    const lead = coordinatesOf(slice, outer);
    return {
      label: outer.length === 0 ? "" : `[${lead.join(", ")}, :, :]`,
      cells: Array.from({ length: size }, (__, i): DiagramCell => {
        const cell = slice * size + i;
        return { at: coordinatesOf(cell, shape), text: values[cell], tuples: reaching(cell) };
      }),
    };
  });
  return { name, type: `${dtype} ${printShape(shape)}`, slices, rows, columns };
}

/** A tensor of a diagram. */
interface Named {
  readonly role: string;
  readonly name: string;
  readonly text: TensorText;
}

const NONE: readonly number[] = [];

/** The tuples that reach a tensor's element, in order; a tuple that reaches it twice in a row is there once. */
function reachingOf(
  links: Links | null,
  { role, text }: Named,
): (cell: number) => readonly number[] {
  if (links === null) return () => NONE;
  const marks = marksOf(links, role, sizeOf(text.shape));
  return (cell) => marks[cell].filter((tuple, place, all) => tuple !== all[place - 1]);
}

/** From updates to the output, or from data to the output of a gather. */
function arrowsOf(
  links: Links | null,
  story: Explanation["story"],
  tensors: readonly Named[],
): DiagramArrow[] {
  if (links === null || story === null || links.count > MOST_ARROWS) return [];
  const spotOf = (role: string, at: readonly number[]): DiagramSpot => {
    const grid = tensors.findIndex((one) => one.role === role);
    return { grid, cell: firstOf(at, tensors[grid].text.shape) };
  };
  const entries = story.kind === "scatter" ? story.updates : story.reads;
  return [...entries].flatMap(({ at, target }, order): DiagramArrow[] => {
    if (target === null) return [];
    const tuple = links.tupleOf[order];
    return story.kind === "scatter"
      ? [{ tuple, from: spotOf("updates", at), to: spotOf("output", target) }]
      : [{ tuple, from: spotOf("data", target), to: spotOf("output", at) }];
  });
}

function sentenceOf({ at, given, places }: IndexStory, name: string): string {
  const where =
    name === ""
      ? "without indices"
      : `${name}${at.length === 0 ? "" : printShape(at)} = ${bare(given)}`;
  if (places === null) return `${where}, which is out of range and gives 0`;
  const isWrapped = places.some((place, i) => BigInt(place) !== BigInt(given[i] ?? place));
  return isWrapped ? `${where}, which is ${bare(places)}` : where;
}

/** `-1`, or `(0, 2)` for several. */
const bare = (list: readonly (number | bigint)[]): string =>
  list.length === 1 ? String(list[0]) : `(${list.join(", ")})`;
