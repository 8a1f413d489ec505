/** Parses the gradient options of `ndscatter explain`, and computes the requested gradients. */

import type { Command } from "commander";
import {
  DTYPES,
  explainGradient,
  full,
  isTensorError,
  type GradientCell,
  type GatherStory,
  type GradientExplanation,
  type ScatterStory,
  type Tensor,
  type Ties,
} from "../../entries/index.ts";
import type { NodeCall } from "../../entries/onnx.ts";
import { printFile, wrongData, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { coordinatesOf } from "../text/cells.ts";
import { quote } from "../text/layout.ts";
import { printType } from "../text/type-text.ts";
import { parseInteger, repeatable } from "./numbers.ts";
import { readTensorFile } from "./read-files.ts";

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

/** A parsed --cell value, which identifies an input element. */
interface NamedCell {
  readonly text: string;
  readonly input: string;
  readonly coordinates: readonly number[];
}

/** Parsed gradient options. */
export interface GradientRequest {
  /** File that contains the output gradient; undefined for a gradient of ones. */
  readonly file: string | undefined;
  readonly ties: Ties;
  /** Elements to explain; null if the command selects the elements. */
  readonly cells: readonly NamedCell[] | null;
}

/** The gradients of a call and the elements to explain. */
export interface ExplainedGradient extends Pick<GradientRequest, "file" | "ties"> {
  readonly explained: GradientExplanation;
  readonly outputGradient: Tensor;
  /** Elements from --cell; null if the command selects the elements. */
  readonly cells: readonly GradientCell[] | null;
}

/**
 * Parses the options, and returns null without --gradient.
 * @throws Failure for a wrong value, and for other gradient options without --gradient
 */
export function gradientRequest(options: GradientOptions): GradientRequest | null {
  const { gradient, outputGradient: file, cell, ties = "even" } = options;
  if (gradient !== true) {
    const others = { "output-gradient": file, cell, ties: options.ties };
    const [alone] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (alone === undefined) return null;
    throw wrongUsage(`--${alone} needs --gradient; give --gradient too`);
  }
  // The library validates this word.
  return { file, ties: ties as Ties, cells: cell?.map(parseCell) ?? null };
}

/** Parses an element such as `updates[2, 0]`. The name of a scalar needs no coordinates. */
function parseCell(text: string): NamedCell {
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
  { file, ties, cells }: GradientRequest,
  { node, inputs }: NodeCall,
  output: Tensor,
  title: string,
): ExplainedGradient {
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
  const chosen = cells?.map((one) => cellOf(explained, one)) ?? null;
  return { explained, file, outputGradient, ties, cells: chosen };
}

/** An input's gradient, and the elements that the command explains without --cell. */
export interface InputGradient {
  readonly name: string;
  readonly gradient: Tensor;
  /** Number of elements that `elements` yields. */
  readonly count: number;
  /** Yields the coordinates of every element of updates, or of every data element that indices address. */
  elements(): Iterable<readonly number[]>;
}

export function gradientsOf({
  explained: { call, gradients },
}: ExplainedGradient): InputGradient[] {
  const { inputs, story } = call;
  return inputs.flatMap(({ name, role }, position) => {
    const gradient = gradients[position];
    if (gradient === null || story === null) return [];
    const { shape, size } = gradient;
    const isData = role === "data";
    const slice = shape.slice(story.addressed).reduce((all, dim) => all * dim, 1);
    const count = isData ? story.targets.length * slice : size;
    const elements = isData
      ? () => targetElements(story, shape, slice)
      : () => allElements(shape, size);
    return [{ name, gradient, count, elements }];
  });
}

/** Yields all element coordinates in row-major order. */
function* allElements(shape: readonly number[], size: number): Iterable<readonly number[]> {
  for (let element = 0; element < size; element++) yield coordinatesOf(element, shape);
}

/** Yields the coordinates of data elements that indices address, in row-major order. */
function* targetElements(
  { targets, addressed }: ScatterStory | GatherStory,
  shape: readonly number[],
  slice: number,
): Iterable<readonly number[]> {
  const rest = shape.slice(addressed);
  for (const { coordinates } of targets) {
    for (const within of allElements(rest, slice)) yield [...coordinates, ...within];
  }
}

/** Returns a tensor of ones with the shape of `output`. Returns `output` itself if its data type has no gradients. */
function onesLike(output: Tensor): Tensor {
  const { dtype, shape } = output;
  if (dtype === "string" || dtype === "bool") return output;
  return full(dtype, shape, DTYPES[dtype].lanes === 2 ? [1, 0] : 1) as Tensor;
}

/** Throws a `Failure` for an input without a gradient, and for coordinates outside the input. */
function cellOf({ cell }: GradientExplanation, { text, input, coordinates }: NamedCell) {
  try {
    return cell(input, coordinates);
  } catch (error) {
    throw isTensorError(error) ? wrongUsage(`--cell ${text}: ${error.message}`, error) : error;
  }
}
