/** Prints an explanation as text: shapes, errors, drawings of small tensors, and the history of each cell. */

import { printCount } from "../../core/foreign.ts";
import type {
  BadIndex,
  Explanation,
  GatherStory,
  IndexStory,
  Role,
  Scalar,
  ScatterStory,
  StoryStep,
  Summary,
  Tensor,
} from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import {
  drawTensor,
  isSmall,
  paint,
  positionOf,
  printCell,
  scalarsOf,
  type Canvas,
  type Mark,
} from "./cells.ts";
import { printName, printTable } from "./layout.ts";
import { versionTitle } from "../input/operator-call.ts";
import { product } from "../../core/tensor/shape.ts";

// The text lists at most this many items; --json lists all items.
const MOST_TARGETS = 50;
const MOST_STEPS = 20;
const MOST_BAD = 20;

export function explanationText(explanation: Explanation, canvas: Canvas): string {
  const { version, error, output, story } = explanation;
  const names = namesOf(explanation);
  const sections = [
    version === null ? "" : versionTitle(version),
    shapesText(explanation, canvas),
    ...(error === null ? [] : [badText(explanation)]),
    picturesText(explanation, names, canvas),
  ];
  if (story !== null && output !== null) {
    sections.push(summaryText(story, names));
    const isShort = isSmall(output) && (story.kind === "gather" || story.summary.targets > 0);
    if (isShort && story.kind === "scatter") sections.push(scatterText(story, names));
    if (isShort && story.kind === "gather") sections.push(gatherText(story, names, output));
  }
  return sections
    .filter((section) => section !== "")
    .map((section) => `${section}\n`)
    .join("\n");
}

export interface Names {
  readonly data: string;
  readonly indices: string;
  readonly updates: string;
  readonly output: string;
}

export const namesOf = ({ version, inputs }: Explanation): Names => {
  const nameOf = (one: string): string => inputs.find(({ role }) => role === one)?.name ?? one;
  return {
    data: nameOf("data"),
    indices: nameOf("indices"),
    updates: nameOf("updates"),
    output: version?.outputs[0].name ?? "output",
  };
};

/** Returns a sentence for each derived shape, marked if the actual shape is wrong. */
const shapesText = ({ shapes }: Explanation, canvas: Canvas): string =>
  shapes.map(({ sentence, fits }) => paint(sentence, fits ? null : "bad", canvas)).join("\n");

function badText({ badIndices, badCount }: Explanation): string {
  if (badCount === 0) return "";
  const lines = badIndices.slice(0, MOST_BAD).map((bad) => `  ${badLine(bad)}`);
  const head =
    badCount === 1 ? "1 index is out of range:" : `${badCount} indices are out of range:`;
  return [head, ...lines, ...andMore(badCount - lines.length)].join("\n");
}

const badLine = ({ input, at, axis, got, expected: [low, high] }: BadIndex): string => {
  const range = high < low ? "no index" : `${low} to ${high}`;
  return `${input}${printShape(at)} is ${got}, but axis ${axis} takes ${range}`;
};

const andMore = (left: number): string[] => (left > 0 ? [`  and ${left} more`] : []);

function picturesText(explanation: Explanation, { output: name }: Names, canvas: Canvas): string {
  const { inputs, output, story } = explanation;
  const all: Marks[] = [];
  const draw = (name: string, tensor: Tensor, marks: Marks): string => {
    all.push(marks);
    return drawTensor(printName(name), tensor, (element) => marks.get(element) ?? null, canvas);
  };
  const pictures = inputs.flatMap(({ name, role, tensor }) =>
    tensor === null ? [] : [draw(name, tensor, inputMarks(explanation, role, tensor))],
  );
  if (output !== null && story !== null)
    pictures.push(draw(name, output, outputMarks(story, output)));
  const used = new Set(all.flatMap((marks) => [...marks.values()]));
  const legend = Object.entries(LEGEND)
    .filter(([mark]) => used.has(mark as Mark))
    .map(([mark, text]) =>
      canvas.isColoured
        ? paint(text, mark as Mark, canvas)
        : `${paint("", mark as Mark, canvas)} ${text}`,
    );
  return [...pictures, ...(legend.length === 0 ? [] : [legend.join(", ")])].join("\n\n");
}

const LEGEND: Readonly<Record<Mark, string>> = {
  once: "addressed once",
  repeated: "addressed more than once",
  filled: "0 for an index out of range",
  bad: "out of range",
};

function inputMarks(explanation: Explanation, role: Role, tensor: Tensor): Marks {
  const { story } = explanation;
  if (role === "indices") return badMarks(explanation, tensor);
  const isRead = role === "data" && story?.kind === "gather" && isSmall(tensor);
  return isRead ? targetMarks(story, tensor) : new Map();
}

type Marks = ReadonlyMap<number, Mark>;

const badMarks = ({ badIndices }: Explanation, { shape }: Tensor): Marks =>
  new Map(badIndices.map(({ at }) => [positionOf(at, shape), "bad"] as const));

function outputMarks(story: ScatterStory | GatherStory, output: Tensor): Marks {
  if (!isSmall(output)) return new Map();
  if (story.kind === "scatter") return targetMarks(story, output);
  const filled = [...story.reads].filter(({ target }) => target === null);
  return new Map(filled.flatMap(({ at }) => sliceMarks(at, output, "filled")));
}

const targetMarks = ({ targets }: ScatterStory | GatherStory, tensor: Tensor): Marks =>
  new Map(
    [...targets].flatMap(({ coordinates, count }) =>
      sliceMarks(coordinates, tensor, count > 1 ? "repeated" : "once"),
    ),
  );

function sliceMarks(
  coordinates: readonly number[],
  { shape }: Tensor,
  mark: Mark,
): (readonly [number, Mark])[] {
  const slice = product(shape, coordinates.length);
  const first = positionOf(coordinates, shape) * slice;
  return Array.from({ length: slice }, (_, element) => [first + element, mark] as const);
}

function summaryText({ kind, summary }: ScatterStory | GatherStory, names: Names): string {
  const { count, targets, repeats, most, untouched, filled } = summary;
  const isScatter = kind === "scatter";
  const target = isScatter ? names.output : names.data;
  const events = printCount(count, isScatter ? "update" : "read");
  const verb = (isScatter ? "hit" : "take") + (count === 1 ? "s" : "");
  const rest = isScatter ? `from ${names.data}` : "not read";
  const lines = [
    `${events} ${verb} ${printCount(targets, "target")} of ${target}, ${repeats} of them more than once`,
    `${printCount(untouched, "element")} of ${target} ${isOrAre(untouched)} ${rest}`,
  ];
  if (filled > 0) {
    const elements = `${printCount(filled, "element")} of ${names.output}`;
    lines.push(`${elements} ${isOrAre(filled)} 0, because an index is out of range`);
  }
  if (most.length > 0) {
    const list = most.map(
      ({ coordinates, count }) => `${cellName(target, coordinates)} ${count} times`,
    );
    lines.push(`most often: ${list.join(", ")}`);
  }
  if (targets > 0) lines.push(`rows of ${target}: ${rowsText(summary)}`);
  return lines.join("\n");
}

const isOrAre = (count: number): string => (count === 1 ? "is" : "are");

const MOST_RANGES = 10;

function rowsText({ rows, rowRanges }: Summary): string {
  const ranges = rows
    .slice(0, MOST_RANGES)
    .map(([from, to]) => (from === to ? `${from}` : `${from}..${to}`));
  const left = rowRanges - ranges.length;
  return ranges.join(", ") + (left > 0 ? ` and ${left} more ranges` : "");
}

/** Formats a slice name such as `output[1]`, or `output` for the whole tensor. */
export const cellName = (name: string, coordinates: readonly number[]): string =>
  coordinates.length === 0 ? name : name + printShape(coordinates);

function scatterText(story: ScatterStory, names: Names): string {
  const { targets } = story;
  const blocks = [...first(targets, MOST_TARGETS)].map(({ coordinates, count, steps }) =>
    [
      cellName(names.output, coordinates),
      ...stepLines(first(steps(), MOST_STEPS), count, story, names, printPiece),
    ].join("\n"),
  );
  const left = targets.length - blocks.length;
  return [...blocks, ...(left > 0 ? [`and ${left} more targets`] : []), ...rule(story)].join("\n");
}

/** Describes the comparison rule for max and min, unless the rule is that of IEEE 754. */
function rule({ stays, reduction }: ScatterStory): string[] {
  if (stays === null) return [];
  const [kept, other] = stays === "data" ? ["value before", "update"] : ["update", "value before"];
  const beyond = reduction === "max" ? "greater" : "less";
  return [
    `${reduction} keeps the ${kept} unless the ${other} is ${beyond}; a comparison with NaN is false`,
  ];
}

/** Prints the history of one output cell. `most` is the maximum number of updates to print. */
export function cellText(explanation: Explanation, at: readonly number[], most: number): string[] {
  const { output, story } = explanation;
  if (output === null || story === null) return [];
  const names = namesOf(explanation);
  const name = cellName(names.output, at);
  const print = (value: Scalar): string => printCell(output, value);
  if (story.kind === "gather") {
    const { source, index } = story.cell(at);
    const from = source === null ? printZero(output) : cellName(names.data, source);
    return [`${name} = ${from}, ${indexText(index, names)}`];
  }
  const { count, value, steps } = story.cell(at);
  if (count === 0) return [`${name} is ${print(value)} from ${names.data}, no update hits it`];
  return [name, ...stepLines(first(steps(), most), count, story, names, print), ...rule(story)];
}

function stepLines<V>(
  steps: Iterable<StoryStep<V>>,
  count: number,
  { reduction }: ScatterStory,
  names: Names,
  print: (value: V) => string,
): string[] {
  const shown = Array.from(steps, (step) => stepLine(step, names, print));
  // The division in a mean is a separate step, which is not counted as an update.
  const left = count + (reduction === "mean" ? 1 : 0) - shown.length;
  return [...alignedLines(shown.map(([change, why]) => [`  ${change}`, why])), ...andMore(left)];
}

const alignedLines = (rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : printTable(rows).split("\n");

function stepLine<V>(
  step: StoryStep<V>,
  names: Names,
  print: (value: V) => string,
): [change: string, why: string] {
  const change = `${print(step.before)} -> ${print(step.after)}`;
  if (step.kind === "division") return [change, `divided by ${step.divisor}`];
  const does = step.by === "none" ? "" : `${step.by} `;
  return [change, `${does}${cellName(names.updates, step.at)}, ${indexText(step.index, names)}`];
}

const printIndex = (list: readonly (number | bigint)[]): string =>
  list.length === 1 ? String(list[0]) : `[${list.join(", ")}]`;

/** Formats an index such as `indices[2] = -1, that is 3`. */
export function indexText({ at, given, places }: IndexStory, { indices }: Names): string {
  const text = `${cellName(indices, at)} = ${printIndex(given)}`;
  if (places === null) return `${text}, out of range`;
  const isSame = given.every((value, j) => value === places[j]);
  return isSame ? text : `${text}, that is ${printIndex(places)}`;
}

function gatherText({ reads }: GatherStory, names: Names, output: Tensor): string {
  const pairs = [...first(reads, MOST_TARGETS)].map(({ at, index, target }) => {
    const from = target === null ? printZero(output) : cellName(names.data, target);
    return [`${cellName(names.output, at)} = ${from}`, indexText(index, names)];
  });
  const lines = alignedLines(pairs);
  const left = reads.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n");
}

/** Returns the value that a gather produces for an out-of-range index. */
const printZero = ({ dtype }: Tensor): string =>
  dtype === "string" ? '""' : dtype === "bool" ? "false" : "0";

const MOST_PIECES = 6;

/** Prints a slice on one line, shortened to its first elements. */
function printPiece(tensor: Tensor): string {
  if (tensor.shape.length === 0) return printCell(tensor, tensor.toArray() as Scalar);
  if (tensor.size === 0) return "[]";
  const words = scalarsOf(tensor)
    .slice(0, MOST_PIECES)
    .map((value) => printCell(tensor, value));
  return `[${words.join(", ")}${tensor.size > MOST_PIECES ? ", ..." : ""}]`;
}

/** Returns the first members of a list. The remaining members are not computed. */
export function* first<T>(list: Iterable<T>, most: number): Iterable<T> {
  let left = most;
  if (left <= 0) return;
  for (const member of list) {
    yield member;
    if (--left === 0) return;
  }
}
