/**
 * Provides input tensors for a model in the user's runtime. Tensors come from files, from values on the command line,
 * or from a generator.
 */

import type { Command } from "commander";
import type { Dim, Tensor } from "../../entries/index.ts";
import {
  comparedValues,
  indexedSizes,
  neededFor,
  NodeIndex,
  type Model,
  type ValueInfo,
} from "../../entries/onnx.ts";
import { asUsage, printFile, withPath, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { printName, quote, didYouMean } from "../text/layout.ts";
import { bindFiles, givenOption, nameIn, repeatable, wholeOption } from "./arguments.ts";
import {
  boundDims,
  dimSizes,
  givenShapes,
  inShell,
  listInputs,
  sizedShape,
  sizeOptions,
  indexSpans,
  rangeSpan,
  valueTensor,
  madeUp,
  randomFrom,
} from "./made-up.ts";
import { filesOf, readTensorFiles } from "./read-files.ts";

export interface FeedOptions {
  readonly feed?: readonly string[];
  readonly random?: boolean;
  readonly dim?: readonly string[];
  readonly shape?: readonly string[];
  readonly value?: readonly string[];
  readonly range?: readonly string[];
  readonly seed?: number;
  /** The node whose inputs are needed instead of all inputs. */
  readonly node?: string;
  /** Expected outputs, as NAME=FILE. */
  readonly expected?: readonly string[];
}

/** Returns the `expected` option for verification functions, or an empty object if the command has no such option. */
export function expectedOf(
  io: Io,
  file: string,
  { graph }: Model,
  given: readonly string[] | undefined,
): { readonly expected?: Readonly<Record<string, Tensor>> } {
  if (given === undefined) return {};
  const names = graph.outputs.map(({ name }) => name);
  const tensors = readTensorFiles(io, bindFiles(given, names, "output", file));
  return { expected: Object.fromEntries(tensors) };
}

/** Returns the files that a command reads: those of the options, and those of the model. */
export const allFiles = (
  file: string,
  model: Model,
  { feed = [], expected = [] }: FeedOptions,
): readonly string[] => {
  const { graph } = model;
  const [inputs, outputs] = [graph.inputs, graph.outputs].map((all) => all.map(({ name }) => name));
  return [
    ...filesOf(file, model),
    ...bindFiles(feed, inputs, "input", file).values(),
    ...bindFiles(expected, outputs, "output", file).values(),
  ];
};

export const RANDOM_HELP = `
--random generates the inputs that have no --feed. Floats are between -1 and 1.
Indices of scatters and gathers are within the bounds of their axes, if the model
declares the sizes of the axes, so bad indices are not found: give real inputs
with --feed to check them. A single integer that the model compares with a
constant has the value of the constant; other integers are 0. --dim sets the size
of a dimension, and --shape sets all sizes of one input. --value and --range set
the values of an input, also without --random; a range includes both ends. The
same --seed gives the same numbers in every run.`;

export const addFeedOptions = (command: Command): Command =>
  command
    .optionsGroup("Inputs of the model:")
    .addOption(repeatable("--feed <name=file>", "a file with the tensor for one input; repeatable"))
    .option("--random", "generate the inputs that have no --feed")
    .addOption(
      repeatable(
        "--dim <name=size>",
        "the size of a named dimension; use ? for unnamed dimensions",
      ),
    )
    .addOption(
      repeatable("--shape <name=sizes>", "the shape of a generated input, such as x=2,3,64"),
    )
    .addOption(
      repeatable(
        "--value <name=value>",
        "the value of all elements of an input, or a list of values: sr=16000",
      ),
    )
    .addOption(
      repeatable(
        "--range <name=low..high>",
        "the range of random numbers for an input: ids=0..999",
      ),
    )
    .addOption(
      wholeOption("--seed <number>", "the seed of the random numbers (default: 0)", 0, 2 ** 32 - 1),
    );

/**
 * Returns the input tensors. Tensors without a file are generated: with --value or --range for single inputs, or with
 * --random for all others. `file` is the model file, for error messages. Throws a `Failure` for options that do not
 * match the model, and a single `Failure` that lists all inputs with too little information.
 */
export function feedsOf(
  io: Io,
  file: string,
  model: Model,
  options: FeedOptions,
): Record<string, Tensor> {
  const { inputs } = model.graph;
  const said = saidOf(file, inputs, options);
  const { made, missing } = chooseInputs(file, model, said, options);
  const unused = givenOption(options, ["dim", "shape", "seed"]);
  if (unused !== undefined && options.random !== true && made.length === 0)
    throw wrongUsage(`${unused} is only used for generated inputs; give --random too`);
  const feeds = readTensorFiles(io, said.feed);
  const shapes = new Map([...feeds].map(([name, { shape }]) => [name, shape]));
  for (const [name, shape] of givenShapes(said.shape, inputs)) shapes.set(name, shape);
  const sizes = new Map([...boundDims(inputs, shapes), ...dimSizes(options.dim ?? [], inputs)]);
  const unsized: ValueInfo[] = [];
  for (const one of made) {
    const shape = shapes.get(one.name) ?? sizedShape(one.type?.shape ?? null, sizes);
    if (shape !== null && isSized(shape)) shapes.set(one.name, shape);
    else unsized.push(one);
  }
  const open = [...missing, ...unsized.filter((one) => !missing.includes(one))];
  const compared = withPath(file, () => chosenValues(model));
  const advice = [sizeOptions(open, sizes), ...valueOptions(missing, compared)]
    .filter(Boolean)
    .join(" ");
  const isRandom = options.random === true;
  if (open.length > 0)
    throw wrongUsage(
      missing.length > 0
        ? `${printFile(file)}: ${withoutTensors(missing, isRandom, advice)}`
        : `${printFile(file)}: the sizes of ${listInputs(unsized)} are unknown; give them, as in ${advice}`,
    );
  const random = randomFrom(options.seed ?? 0);
  const indexed = withPath(file, () => indexedSizes(model, Object.fromEntries(shapes)));
  for (const { name, type } of made) {
    const shape = shapes.get(name);
    if (type === null || shape === undefined) continue;
    const sized = { dtype: type.dtype, shape };
    const range = said.range.get(name);
    const value = said.value.get(name) ?? (range === undefined ? compared.get(name) : undefined);
    const spans =
      range === undefined
        ? indexSpans(indexed.get(name), type.dtype)
        : [rangeSpan(name, range, type.dtype)];
    feeds.set(
      name,
      value === undefined ? madeUp(name, sized, spans, random) : valueTensor(name, value, sized),
    );
  }
  return Object.fromEntries(feeds);
}

const isSized = (shape: readonly Dim[]): shape is readonly number[] =>
  shape.every((dim) => typeof dim === "number");

type Said = Readonly<Record<"feed" | "shape" | "value" | "range", ReadonlyMap<string, string>>>;

/** Options that exclude each other for one input. */
const EXCLUSIVE = [
  ["feed", "shape"],
  ["feed", "value"],
  ["feed", "range"],
  ["value", "range"],
] as const;

function saidOf(file: string, inputs: readonly ValueInfo[], options: FeedOptions): Said {
  const names = inputs.map(({ name }) => name);
  const said = {
    feed: bindFiles(options.feed ?? [], names, "input", file),
    shape: byInput(options.shape ?? [], "shape", names, file),
    value: byInput(options.value ?? [], "value", names, file),
    range: byInput(options.range ?? [], "range", names, file),
  };
  for (const [one, other] of EXCLUSIVE) {
    const both = [...said[one].keys()].find((name) => said[other].has(name));
    if (both === undefined) continue;
    throw wrongUsage(
      `the input ${printName(both)} has --${one} and --${other}; leave one of them out`,
    );
  }
  return said;
}

/** Returns the text that follows `NAME=` in an input option. */
function byInput(
  texts: readonly string[],
  option: string,
  names: readonly string[],
  file: string,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    const name = nameIn(text, names);
    if (name === undefined) {
      const given = text.slice(0, Math.max(0, text.indexOf("=")));
      if (given === "") throw wrongUsage(`--${option} takes NAME=..., got ${quote(text)}`);
      const known = `its inputs are ${names.map(printName).join(", ") || "none"}`;
      const hint = didYouMean(given, names, known);
      const sentence = `${printFile(file)} has no input ${quote(given)} for --${option}; ${hint}`;
      throw wrongUsage(sentence);
    }
    if (found.has(name))
      throw wrongUsage(`--${option} is given twice for ${printName(name)}; leave one of them out`);
    found.set(name, text.slice(name.length + 1));
  }
  return found;
}

function chooseInputs(
  file: string,
  model: Model,
  { feed, value, range }: Said,
  { random = false, node }: FeedOptions,
): { readonly made: readonly ValueInfo[]; readonly missing: readonly ValueInfo[] } {
  const needed = neededInputs(file, model, node);
  const open = model.graph.inputs.filter(({ name }) => !feed.has(name));
  const isSaid = ({ name }: ValueInfo): boolean => value.has(name) || range.has(name);
  const made = open.filter((one) => isSaid(one) || (random && needed.names.has(one.name)));
  const isMissing = (one: ValueInfo): boolean =>
    needed.isExact && !random && needed.names.has(one.name) && !isSaid(one);
  // Sequences are not tensors, and some tensor types are unknown to this package.
  const missing = open.filter((one) => isMissing(one) || (made.includes(one) && one.type === null));
  return { made: made.filter(({ type }) => type !== null), missing };
}

/**
 * Returns the inputs without default values that a node, or the whole model, needs. For a node in a subgraph or a
 * function, the model run determines its inputs.
 */
function neededInputs(
  file: string,
  model: Model,
  node: string | undefined,
): { readonly names: ReadonlySet<string>; readonly isExact: boolean } {
  const { constants } = model.graph;
  const defaults = new Set(constants.map(({ name }) => name));
  const namesOf = ({ graph }: Model): ReadonlySet<string> =>
    new Set(graph.inputs.map(({ name }) => name).filter((name) => !defaults.has(name)));
  if (node === undefined) return { names: namesOf(model), isExact: true };
  const { node: found, place } = asUsage(
    () => new NodeIndex(model).find(node),
    `${printFile(file)}: `,
  );
  if (place.kind.is !== "model") return { names: namesOf(model), isExact: false };
  const values = [...found.inputs, ...found.outputs].filter((name) => name !== "");
  return { names: namesOf(withPath(file, () => neededFor(model, values))), isExact: true };
}

/** Returns the sentence about inputs without a tensor. `advice` contains options that set sizes and values. */
function withoutTensors(missing: readonly ValueInfo[], random: boolean, advice: string): string {
  // An input that is not a tensor cannot be read or generated.
  const odd = missing.find(({ type }) => type === null);
  if (odd !== undefined)
    return `the input ${printName(odd.name)} is a sequence or another value that is not a tensor, and only tensors can be given; check a node that does not need it with --node, or export the model with tensors as inputs`;
  const files = missing.map(
    ({ name }) => `--feed ${inShell(`${name}=${name.replaceAll(/[^\w.-]+/g, "_")}.npy`)}`,
  );
  const sizes = advice === "" ? "" : `, and sizes for others: ${advice}`;
  const other = random ? sizes : `, or generate them: ${`--random ${advice}`.trim()}`;
  return `no tensor is given for ${listInputs(missing)}; give files: ${files.join(" ")}${other}`;
}

/**
 * Returns the first constant with which the model compares each single-integer input, because some models use this
 * input to select a branch.
 */
function chosenValues(model: Model): ReadonlyMap<string, string> {
  const compared = comparedValues(model);
  const indices = indexedSizes(model);
  return new Map(
    model.graph.inputs.flatMap(({ name, type }) => {
      const [value] = compared.get(name) ?? [];
      const isOne = type?.shape?.every((dim) => dim === 1) === true && !indices.has(name);
      return value === undefined || !isOne ? [] : [[name, String(value)] as const];
    }),
  );
}

/** Returns command-line options that assign the listed values to their inputs. */
const valueOptions = (
  inputs: readonly ValueInfo[],
  values: ReadonlyMap<string, string>,
): string[] =>
  inputs.flatMap(({ name }) => {
    const value = values.get(name);
    return value === undefined ? [] : [`--value ${inShell(`${name}=${value}`)}`];
  });
