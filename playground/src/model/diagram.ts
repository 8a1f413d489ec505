/**
 * A call as a picture, without saying how it is drawn: grids of cells, the index tuples that reach them, and arrows.
 * What is in it is read off the library's explanation.
 */

import { printShape, type Explanation, type IndexStory, type Tensor } from "ndscatter";
import { colourOf, letterOf } from "./letters.ts";
import { readState, roleOf } from "./read-state.ts";
import { printElement } from "./scalar-text.ts";
import type { State, TensorText } from "./state.ts";
import { coordinatesOf, elementsOf, positionOf } from "./tensor-text.ts";
import { defaultText } from "./with-operator.ts";

export interface Diagram {
  /** `ScatterND-18, reduction = add` */
  readonly title: string;
  /** The shapes term by term, and what is wrong. */
  readonly sentences: readonly string[];
  /** The inputs that are there, of a gather data last, and the output if there is one. */
  readonly grids: readonly DiagramGrid[];
  /** In the order in which updates, or slices of the output, meet them first. */
  readonly tuples: readonly DiagramTuple[];
  readonly arrows: readonly DiagramArrow[];
}

/** A tensor: the last two axes as rows and columns, a slice for each place of the others. */
export interface DiagramGrid {
  readonly name: string;
  /** `float32 [2, 3, 4]` */
  readonly type: string;
  readonly slices: readonly DiagramSlice[];
  readonly rows: number;
  readonly columns: number;
}

export interface DiagramSlice {
  /** `[1, 0, :, :]`; empty where there is one slice alone. */
  readonly label: string;
  /** In row-major order. */
  readonly cells: readonly DiagramCell[];
}

export interface DiagramCell {
  readonly at: readonly number[];
  readonly text: string;
  /** By their numbers, in the order in which they reach the cell. */
  readonly tuples: readonly number[];
}

/** An index, or a tuple of them: what has a colour and a letter. */
export interface DiagramTuple {
  /** A for the first. */
  readonly letter: string;
  /** One of eight. */
  readonly colour: number;
  /** `indices[2] = -1, which is 3` */
  readonly sentence: string;
}

/** From an update to the cell of the output that it hits; of a gather from data to the output. */
export interface DiagramArrow {
  readonly tuple: number;
  readonly from: DiagramSpot;
  readonly to: DiagramSpot;
}

export interface DiagramSpot {
  readonly grid: number;
  /** Of the first cell of what is meant, in row-major order. */
  readonly cell: number;
}

/** More arrows than these hide what they point at. */
const MOST_ARROWS = 64;

/** The picture of a state and its explanation, which is null where there is none. */
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
  const links = reachOf(explanation, tensors);
  const attributes = Object.entries(node.attributes ?? {})
    .filter(([name, value]) => version === null || String(value) !== defaultText(version, name))
    .map(([name, value]) => `, ${name} = ${String(value)}`);
  return {
    title: `${state.op}-${state.opset}${attributes.join("")}`,
    sentences: [
      ...(explanation?.shapes ?? []).map(({ sentence }) => sentence),
      ...(explanation?.error ? [explanation.error.message] : []),
    ],
    grids: tensors.map(({ name, text }, grid) =>
      gridOf(name, text, (cell) => links.reaching(grid, cell)),
    ),
    tuples: links.tuples,
    arrows: links.arrows,
  };
}

/** An output may have more axes than an input. */
const outputText = (output: Tensor): TensorText => ({
  dtype: output.dtype,
  shape: output.shape,
  values: elementsOf(output).map((value) => printElement(output.dtype, value)),
});

/** What is read stands beside what is made of it. */
const dataLast = (tensors: readonly Named[]): Named[] => [
  ...tensors.filter(({ role }) => role !== "data"),
  ...tensors.filter(({ role }) => role === "data"),
];

function gridOf(
  name: string,
  text: TensorText,
  reaching: (cell: number) => readonly number[],
): DiagramGrid {
  const { dtype, shape, values } = text;
  const rank = shape.length;
  const rows = rank < 2 ? 1 : shape[rank - 2];
  const columns = rank === 0 ? 1 : shape[rank - 1];
  const outer = shape.slice(0, Math.max(rank - 2, 0));
  const size = rows * columns;
  const count = outer.reduce((product, dim) => product * dim, 1);
  const slices = Array.from({ length: count }, (_, slice): DiagramSlice => {
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

/** Which tuples reach which cells. */
interface Reach {
  readonly tuples: readonly DiagramTuple[];
  readonly arrows: readonly DiagramArrow[];
  reaching(grid: number, cell: number): readonly number[];
}

const NONE: readonly number[] = [];

/** A tensor of a picture, by what it is for. */
interface Named {
  readonly role: string;
  readonly name: string;
  readonly text: TensorText;
}

function reachOf(explanation: Explanation | null, tensors: readonly Named[]): Reach {
  const story = explanation?.story ?? null;
  if (story === null) return { tuples: [], arrows: [], reaching: () => NONE };
  const gridOfRole = (role: string): number => tensors.findIndex((one) => one.role === role);
  const [data, indices, output] = ["data", "indices", "output"].map(gridOfRole);
  const isScatter = story.kind === "scatter";
  // What an update hits is in data and output, and it stands in updates; what is read is in data, and stands in output.
  const carrier = isScatter ? gridOfRole("updates") : output;
  const targets = isScatter ? [data, output] : [data];
  const reached = tensors.map(() => new Map<number, number[]>());
  const reach = (grid: number, at: readonly number[], tuple: number): void => {
    const map = reached[grid];
    const { shape } = tensors[grid].text;
    const size = shape.slice(at.length).reduce((product, dim) => product * dim, 1);
    const first = positionOf(at, shape) * size;
    for (let cell = first; cell < first + size; cell++) {
      const list = map.get(cell);
      if (list === undefined) map.set(cell, [tuple]);
      else if (list[list.length - 1] !== tuple) list.push(tuple);
    }
  };
  const spotOf = (grid: number, at: readonly number[]): DiagramSpot => {
    const { shape } = tensors[grid].text;
    return { grid, cell: positionOf([...at, ...shape.slice(at.length).fill(0)], shape) };
  };
  const numbers = new Map<string, number>();
  const tuples: DiagramTuple[] = [];
  const arrows: DiagramArrow[] = [];
  const entries = isScatter ? story.updates : story.reads;
  for (const { at, index, target } of entries) {
    const key = index.at.join();
    const known = numbers.get(key);
    const tuple = known ?? tuples.length;
    if (known === undefined) {
      numbers.set(key, tuple);
      const name = indices === -1 ? "" : tensors[indices].name;
      tuples.push({
        letter: letterOf(tuple),
        colour: colourOf(tuple),
        sentence: sentenceOf(index, name),
      });
      if (indices !== -1) reach(indices, index.at, tuple);
    }
    reach(carrier, at, tuple);
    if (target === null) continue;
    for (const grid of targets) reach(grid, target, tuple);
    if (entries.length > MOST_ARROWS) continue;
    arrows.push(
      isScatter
        ? { tuple, from: spotOf(carrier, at), to: spotOf(output, target) }
        : { tuple, from: spotOf(data, target), to: spotOf(carrier, at) },
    );
  }
  return { tuples, arrows, reaching: (grid, cell) => reached[grid].get(cell) ?? NONE };
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

/** `-1`, and `(0, 2)` of more than one. */
const bare = (list: readonly (number | bigint)[]): string =>
  list.length === 1 ? String(list[0]) : `(${list.join(", ")})`;
