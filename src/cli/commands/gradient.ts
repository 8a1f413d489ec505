/** The gradients of `ndscatter explain`: their options, and their results as text and as JSON data. */

import type { Command } from "commander";
import { asUsage, printFile, wrongData, wrongUsage } from "../failure.ts";
import { givenOption, parseInteger, repeatable } from "../input/arguments.ts";
import { readTensorFile } from "../input/read-files.ts";
import type { Io } from "../io.ts";
import { type Canvas, drawTensor, isSmall, printCell, printType, valuesOf } from "../text/cells.ts";
import { cellName, first, indexText, type Names, namesOf } from "../text/explanation-text.ts";
import { printTable, quote } from "../text/layout.ts";
import {
  DTYPES,
  explainGradient,
  type Explanation,
  full,
  type GradientCell,
  type GradientExplanation,
  type GradientTerm,
  type Scalar,
  type Tensor,
  type Ties,
} from "../../entries/index.ts";
import type { NodeCall } from "../../entries/onnx.ts";
import { coordinatesOf, product } from "../../core/tensor/shape.ts";

export interface GradientOptions {
  readonly gradient?: boolean;
  readonly outputGradient?: string;
  readonly cell?: readonly string[];
  readonly ties?: string;
}

export const addGradientOptions = (command: Command): Command =>
  command
    .optionsGroup("Gradients:")
    .option("--gradient", "explain the gradients of data and updates too")
    .option("--output-gradient <file>", "the gradient of the output (default: ones)")
    .addOption(
      repeatable(
        "--cell <name[at]>",
        "explain this element of a gradient, such as 'updates[2,0]'; repeatable",
      ),
    )
    .option(
      "--ties <word>",
      "how equal values share the gradient of a max or min: even (an equal share each, the default), " +
        "first, last, or all (the whole gradient each)",
    );

/**
 * Parses the options, and returns null without --gradient.
 * @throws Failure for a wrong value, and for other gradient options without --gradient
 */
export function gradientRequest(options: GradientOptions) {
  const { gradient, outputGradient: file, cell, ties = "even" } = options;
  if (gradient !== true) {
    const alone = givenOption(options, ["outputGradient", "cell", "ties"]);
    if (alone === undefined) return null;
    throw wrongUsage(`${alone} needs --gradient; give --gradient too`);
  }
  return {
    /** The file of the output's gradient; undefined for a gradient of ones. */
    file,
    /** The library validates this word. */
    ties: ties as Ties,
    /** Elements to explain; null if the command selects the elements. */
    cells: cell?.map(parseCell) ?? null,
  };
}

/** Parses an element such as `updates[2, 0]`. The name of a scalar needs no coordinates. */
function parseCell(text: string) {
  const [, input = "", list] = /^([^[\]]+)(?:\[([^[\]]*)\])?$/.exec(text.trim()) ?? [];
  const words = list === undefined || list.trim() === "" ? [] : list.split(",");
  const coordinates = words.map((word) => parseInteger(word.trim()));
  if (input === "" || coordinates.includes(null)) {
    throw wrongUsage(`--cell takes NAME[COORDINATES], such as 'updates[2,0]', got ${quote(text)}`);
  }
  return { text, input, coordinates: coordinates as number[] };
}

/**
 * Explains the gradients of a successful call. `title` is a prefix for error messages, such as a file name. Throws a
 * `Failure` for a data type without gradients, an invalid output gradient, and unknown elements.
 */
export function gradientOf(
  io: Io,
  { file, ties, cells }: NonNullable<ReturnType<typeof gradientRequest>>,
  { node, inputs }: NodeCall,
  output: Tensor,
  title: string,
) {
  const outputGradient = file === undefined ? onesLike(output) : readTensorFile(io, file);
  const explained = explainGradient(node, inputs, outputGradient, { ties });
  const { error, call } = explained;
  if (error?.input === "outputGradient" && file !== undefined) {
    const name = call.version?.outputs[0].name ?? "output";
    const got = `${printFile(file)} is ${printType(outputGradient)}`;
    const sentence = `${got}, but the gradient of ${name} must be ${printType(output)}`;
    throw wrongData(sentence, error);
  }
  if (error?.code === "attribute") throw wrongUsage(`--ties: ${error.message}`);
  if (error !== null) throw wrongData(`${title}${error.message}`, error);
  // An input without a gradient, or coordinates outside the input, are usage errors.
  const chosen =
    cells?.map(({ text, input, coordinates }) =>
      asUsage(() => explained.cell(input, coordinates), `--cell ${text}: `),
    ) ?? null;
  return { explained, file, outputGradient, ties, cells: chosen };
}

type ExplainedGradient = ReturnType<typeof gradientOf>;

/** Returns the gradient of each input, and the elements that the command explains without --cell. */
function gradientsOf({ explained: { call, gradients } }: ExplainedGradient) {
  const { inputs, story } = call;
  return inputs.flatMap(({ name, role }, position) => {
    const gradient = gradients[position];
    if (gradient === null || story === null) return [];
    const isData = role === "data";
    const targets = isData ? story.targets : WHOLE;
    const rest = gradient.shape.slice(isData ? story.addressed : 0);
    const slice = product(rest);
    // Every element of updates, or every element of data that indices address.
    const elements = (): Iterable<readonly number[]> => elementsOf(targets, rest, slice);
    return [{ name, gradient, count: targets.length * slice, elements }];
  });
}

type InputGradient = ReturnType<typeof gradientsOf>[number];

/** The whole of a tensor, as a target without coordinates. */
const WHOLE: readonly { readonly coordinates: readonly number[] }[] = [{ coordinates: [] }];

function* elementsOf(
  targets: Iterable<{ readonly coordinates: readonly number[] }>,
  rest: readonly number[],
  slice: number,
): Iterable<readonly number[]> {
  for (const { coordinates } of targets)
    for (let element = 0; element < slice; element++)
      yield [...coordinates, ...coordinatesOf(element, rest)];
}

/** Returns a tensor of ones with the shape of `output`. Returns `output` itself if its data type has no gradients. */
function onesLike(output: Tensor): Tensor {
  const { dtype, shape } = output;
  if (dtype === "string" || dtype === "bool") return output;
  return full(dtype, shape, DTYPES[dtype].lanes === 2 ? [1, 0] : 1) as Tensor;
}

// The text lists at most this many items; --json lists all items.
const MOST_CELLS = 50;
const MOST_TERMS = 20;

export function gradientText(asked: ExplainedGradient, canvas: Canvas): string {
  const { explained, file, outputGradient, cells } = asked;
  const { output } = namesOf(explained.call);
  const gradients = gradientsOf(asked);
  const draw = (name: string, tensor: Tensor): string =>
    drawTensor(`gradient of ${name}`, tensor, () => null, canvas);
  const listed =
    cells === null ? gradients.map((one) => elementsText(asked, one)) : [cellsText(asked, cells)];
  const sections = [
    file === undefined
      ? `gradient of ${output}: 1 for each element; --output-gradient gives another`
      : draw(`${output}, ${printFile(file)}`, outputGradient),
    ...gradients.map(({ name, gradient }) => draw(name, gradient)),
    ...listed,
  ];
  return sections
    .filter((section) => section !== "")
    .map((section) => `\n${section}\n`)
    .join("");
}

function elementsText(asked: ExplainedGradient, input: InputGradient): string {
  const { name, gradient, count } = input;
  if (count === 0) return "";
  if (!isSmall(gradient)) {
    const zeros = gradient.shape.map(() => 0);
    return `--cell '${cellName(name, zeros)}' explains that element of the gradient of ${name}`;
  }
  const { cell } = asked.explained;
  const shown = Array.from(first(input.elements(), MOST_CELLS), (at) => cell(name, at));
  const left = count - shown.length;
  const more = left > 0 ? [`and ${left} more of ${name}; --cell explains any of them`] : [];
  return [cellsText(asked, shown), ...more].join("\n");
}

const HEAD = ["element", "gradient", "factor * gradient of output"] as const;

function cellsText(asked: ExplainedGradient, cells: readonly GradientCell[]): string {
  const { explained, outputGradient } = asked;
  const { call } = explained;
  const names = namesOf(call);
  const print = (value: Scalar): string => printCell(outputGradient, value);
  const termText = (term: GradientTerm): string => {
    const factors = `${print(term.factor)} * ${print(term.outputGradient)}`;
    return `${factors} from ${cellName(names.output, term.output)}${whyText(call, term, names)}`;
  };
  const rows = cells.flatMap(({ input, coordinates, value, terms }) => {
    const shown = Array.from(first(terms, MOST_TERMS), termText);
    const left = terms.length - shown.length;
    if (shown.length === 0) shown.push("no term, because no index gathers the element");
    if (left > 0) shown.push(`and ${left} more`);
    const title = [cellName(input, coordinates), print(value)];
    return shown.map((text, nth) => [...(nth === 0 ? title : ["", ""]), text]);
  });
  return rows.length === 0 ? "" : printTable([HEAD, ...rows]);
}

/** Prints the reason for a factor. For a gather, the reason is the index. */
function whyText({ story }: Explanation, { output, reason }: GradientTerm, names: Names): string {
  if (story?.kind !== "gather") return ` (${reason})`;
  return `, ${indexText(story.cell(output).index, names)}`;
}

/** Returns JSON data about gradients, with the elements whose terms are listed. */
export function gradientJson(asked: ExplainedGradient) {
  const { explained, outputGradient, ties, cells } = asked;
  const gradients = gradientsOf(asked);
  const inputs = gradients.map(({ name, gradient }) => ({ name, ...factsOf(gradient) }));
  return {
    facts: { ties, outputGradient: factsOf(outputGradient), inputs },
    cells: cells ?? cellsOf(explained, gradients),
  };
}

const factsOf = (tensor: Tensor): object => {
  const { dtype, shape } = tensor;
  return { dtype, shape, values: valuesOf(tensor) };
};

function* cellsOf(
  { cell }: GradientExplanation,
  gradients: readonly InputGradient[],
): Iterable<GradientCell> {
  for (const { name, elements } of gradients) {
    for (const at of elements()) yield cell(name, at);
  }
}
