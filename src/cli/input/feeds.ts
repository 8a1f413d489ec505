/**
 * Provides input tensors for a model in the user's runtime. Tensors come from files, from values on the command line,
 * or from a generator.
 */

import type { Command } from "commander";
import { isTensorError, type Dim, type Tensor } from "../../entries/index.ts";
import {
  comparedValues,
  indexedSizes,
  neededFor,
  NodeIndex,
  type Model,
  type ValueInfo,
} from "../../entries/onnx.ts";
import { printFile, withPath, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { printName, quote } from "../text/layout.ts";
import { didYouMean } from "../text/names.ts";
import { bindFiles } from "./bindings.ts";
import {
  boundDims,
  dimSizes,
  givenShapes,
  inShell,
  listInputs,
  sizedShape,
  sizeOptions,
} from "./input-shapes.ts";
import { indexSpans, rangeSpan, valueTensor } from "./input-values.ts";
import { madeUp, randomFrom } from "./made-up.ts";
import { repeatable, wholeOption } from "./numbers.ts";
import { filesOf, readTensorFiles } from "./read-files.ts";

/** The options of `addFeedOptions`, and optionally the node whose inputs are needed instead of all inputs. */
export interface FeedOptions {
  readonly feed?: readonly string[];
  readonly random?: boolean;
  readonly dim?: readonly string[];
  readonly shape?: readonly string[];
  readonly value?: readonly string[];
  readonly range?: readonly string[];
  readonly seed?: number;
  readonly node?: string;
}

/** Adds the option for expected output files. */
export const addExpectedOption = (command: Command): Command =>
  command.addOption(
    repeatable(
      "--expected <name=file>",
      "the output that you expect, such as PyTorch's; repeatable",
    ),
  );

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
  { feed = [], expected = [] }: FeedOptions & { readonly expected?: readonly string[] },
): readonly string[] => {
  const { graph } = model;
  const [inputs, outputs] = [graph.inputs, graph.outputs].map((all) => all.map(({ name }) => name));
  return [
    ...filesOf(file, model),
    ...bindFiles(feed, inputs, "input", file).values(),
    ...bindFiles(expected, outputs, "output", file).values(),
  ];
};

/** Help paragraph for commands with these options. */
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
  const unused = (["dim", "shape", "seed"] as const).find((name) => options[name] !== undefined);
  if (unused !== undefined && options.random !== true && made.length === 0)
    throw wrongUsage(`--${unused} is only used for generated inputs; give --random too`);
  const feeds = readTensorFiles(io, said.files);
  const shapes = new Map([...feeds].map(([name, { shape }]) => [name, shape]));
  for (const [name, shape] of givenShapes(said.shapes, inputs)) shapes.set(name, shape);
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
  const odd = missing.find(({ type }) => type === null);
  if (odd !== undefined) throw noTensor(file, odd);
  if (missing.length > 0) throw noTensors(file, missing, options.random === true, advice);
  if (unsized.length > 0) {
    const sentence = `the sizes of ${listInputs(unsized)} are unknown; give them, as in ${advice}`;
    throw wrongUsage(`${printFile(file)}: ${sentence}`);
  }
  for (const [name, tensor] of makeAll(file, model, { made, shapes, said, compared, options }))
    feeds.set(name, tensor);
  return Object.fromEntries(feeds);
}

const isSized = (shape: readonly Dim[]): shape is readonly number[] =>
  shape.every((dim) => typeof dim === "number");

/** Parsed option values by input name. */
interface Said {
  readonly files: ReadonlyMap<string, string>;
  readonly shapes: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ranges: ReadonlyMap<string, string>;
}

function saidOf(file: string, inputs: readonly ValueInfo[], options: FeedOptions): Said {
  const names = inputs.map(({ name }) => name);
  const files = bindFiles(options.feed ?? [], names, "input", file);
  const [shapes, values, ranges] = (["shape", "value", "range"] as const).map((option) =>
    byInput(options[option] ?? [], option, names, file),
  );
  checkOnce([...files.keys()], { shape: shapes, value: values, range: ranges });
  const both = [...values.keys()].find((name) => ranges.has(name));
  if (both !== undefined)
    throw wrongUsage(`the input ${printName(both)} has --value and --range; leave one of them out`);
  return { files, shapes, values, ranges };
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
    // A name in a model may contain `=`, so the text before the first `=` need not be the name.
    const name = names.find((one) => text.startsWith(`${one}=`));
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

function checkOnce(
  fed: readonly string[],
  others: Readonly<Record<string, ReadonlyMap<string, string>>>,
): void {
  for (const [option, texts] of Object.entries(others)) {
    const both = fed.find((name) => texts.has(name));
    if (both !== undefined)
      throw wrongUsage(
        `the input ${printName(both)} has --feed and --${option}; leave one of them out`,
      );
  }
}

/** Separates inputs that will be generated from inputs that need a file. */
function chooseInputs(
  file: string,
  model: Model,
  { files, values, ranges }: Said,
  { random = false, node }: FeedOptions,
): { readonly made: readonly ValueInfo[]; readonly missing: readonly ValueInfo[] } {
  const needed = neededInputs(file, model, node);
  const open = model.graph.inputs.filter(({ name }) => !files.has(name));
  const isSaid = ({ name }: ValueInfo): boolean => values.has(name) || ranges.has(name);
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
  const { node: found, place } = inUsage(file, () => new NodeIndex(model).find(node));
  if (place.kind.is !== "model") return { names: namesOf(model), isExact: false };
  const values = [...found.inputs, ...found.outputs].filter((name) => name !== "");
  return { names: namesOf(withPath(file, () => neededFor(model, values))), isExact: true };
}

/** Calls `action` and returns its result. Converts a thrown `TensorError` to a usage error. */
function inUsage<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    throw wrongUsage(`${printFile(file)}: ${error.message}`, error);
  }
}

/** Returns the failure for an input that is not a tensor, because such an input cannot be read or generated. */
const noTensor = (file: string, { name }: ValueInfo): Error =>
  wrongUsage(
    `${printFile(file)}: the input ${printName(name)} is a sequence or another value that is not a tensor, and only tensors can be given; check a node that does not need it with --node, or export the model with tensors as inputs`,
  );

function noTensors(
  file: string,
  missing: readonly ValueInfo[],
  random: boolean,
  advice: string,
): Error {
  const files = missing.map(
    ({ name }) => `--feed ${inShell(`${name}=${name.replaceAll(/[^\w.-]+/g, "_")}.npy`)}`,
  );
  const sizes = advice === "" ? "" : `, and sizes for others: ${advice}`;
  const other = random ? sizes : `, or generate them: ${`--random ${advice}`.trim()}`;
  const sentence = `no tensor is given for ${listInputs(missing)}; give files: ${files.join(" ")}${other}`;
  return wrongUsage(`${printFile(file)}: ${sentence}`);
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

interface Making {
  readonly made: readonly ValueInfo[];
  /** Shapes of all available inputs. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  readonly said: Said;
  /** Values of inputs without options. */
  readonly compared: ReadonlyMap<string, string>;
  readonly options: FeedOptions;
}

function makeAll(
  file: string,
  model: Model,
  { made, shapes, said, compared, options }: Making,
): Map<string, Tensor> {
  const random = randomFrom(options.seed ?? 0);
  const indexed = withPath(file, () => indexedSizes(model, Object.fromEntries(shapes)));
  const tensors = new Map<string, Tensor>();
  for (const { name, type } of made) {
    const shape = shapes.get(name);
    if (type === null || shape === undefined) continue;
    const { dtype } = type;
    const range = said.ranges.get(name);
    const value = said.values.get(name) ?? (range === undefined ? compared.get(name) : undefined);
    const spans =
      range === undefined ? indexSpans(indexed.get(name), dtype) : [rangeSpan(name, range, dtype)];
    const sized = { dtype, shape };
    const tensor =
      value === undefined ? madeUp(name, sized, spans, random) : valueTensor(name, value, sized);
    tensors.set(name, tensor);
  }
  return tensors;
}
