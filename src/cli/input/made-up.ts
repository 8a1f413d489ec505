/** Makes input tensors: their shapes, and their values from options or from reproducible random numbers. */

import * as os from "node:os";
import { asUsage, wrongUsage } from "../failure.ts";
import { parseInteger, parseWhole } from "./arguments.ts";
import { printType } from "../text/cells.ts";
import { didYouMean, printName, quote } from "../text/layout.ts";
import {
  type Dim,
  type DType,
  full,
  isTensorError,
  type PartialShape,
  tensor,
  type Tensor,
  type TensorType,
  zeros,
} from "../../entries/index.ts";
import type { ValueInfo } from "../../entries/onnx.ts";
import { printShape } from "../../entries/operators.ts";
import { integerRange } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";

/** Range of random numbers, including both bounds. */
interface Span {
  readonly low: number;
  readonly high: number;
  readonly isWhole: boolean;
}

/** Returns a random number in [0, 1). */
type Random = () => number;

/**
 * Returns a random number generator, which mixes the bits of a counter with golden-ratio steps. Two random integers
 * provide the 53 bits of a double.
 */
export function randomFrom(seed: number): Random {
  let counter = seed >>> 0;
  const bits = (): number => {
    counter = (counter + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(counter ^ (counter >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  return () => ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
}

const isFloat = (dtype: DType): boolean => dtype.includes("float");

const USUAL: Span = { low: -1, high: 1, isWhole: false };

/**
 * Number of elements generated at once. Larger float tensors repeat these elements, because generating is slower than
 * copying.
 */
const BLOCK = 2 ** 14;

/** Number of steps in a float range. Floats between -1 and 1 have three decimals. */
const STEPS = 2000;

/**
 * `spans` contains one range for all elements, or one range per component along the last axis. If `spans` is empty,
 * floats are between -1 and 1, and other elements are 0. Throws a `Failure` if the tensor does not fit in memory, and a
 * `TensorError` for numbers outside the data type.
 */
export function madeUp(
  name: string,
  { dtype, shape }: { readonly dtype: DType; readonly shape: readonly number[] },
  spans: readonly Span[],
  random: Random,
): Tensor {
  const made = zerosOf(name, dtype, shape);
  const used = spans.length === 0 && isFloat(dtype) ? [USUAL] : spans;
  if (used.length === 0) return made;
  const data = made.data as Float64Array;
  const count = Math.min(made.size, used.length * BLOCK);
  const repeats = used.every(({ isWhole }) => !isWhole);
  for (let done = 0; done < made.size; done += count) {
    const length = Math.min(count, made.size - done);
    if (repeats && done > 0) {
      data.copyWithin(done, 0, length);
      continue;
    }
    const values = Array.from({ length }, (_, at) => draw(used[at % used.length], random));
    data.set(tensor(dtype, [length], values as never).data as never, done);
  }
  return made;
}

const draw = ({ low, high, isWhole }: Span, random: Random): number =>
  isWhole
    ? low + Math.floor(random() * (high - low + 1))
    : low + ((high - low) * Math.floor(random() * (STEPS + 1))) / STEPS;

/**
 * Number of tensors of this size that must fit in memory, because the results and their comparison may need as much
 * memory as the input.
 */
const COPIES = 4;

/**
 * Returns zeros for an input. A tensor that exceeds the machine's memory is refused here, because Linux grants more
 * memory than the machine has.
 */
function zerosOf(name: string, dtype: DType, shape: readonly number[]): Tensor {
  const title = `the input ${quote(name)}`;
  const advice = "use --dim to give smaller sizes, or --feed to give the tensor";
  try {
    const made = zeros(dtype, shape);
    const bytes = ArrayBuffer.isView(made.data) ? made.data.byteLength : 0;
    if (COPIES * bytes <= os.totalmem()) return made;
  } catch (error) {
    if (!isTensorError(error, "too-large")) throw error;
    throw wrongUsage(`${title}: ${error.message}; ${advice}`, error);
  }
  const sentence = `${title} of shape ${printShape(shape)} does not fit in memory; ${advice}`;
  throw wrongUsage(sentence);
}

interface SizedType {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** Creates a tensor from --value. Throws a `Failure` if the input does not accept the values. */
export function valueTensor(name: string, text: string, { dtype, shape }: SizedType): Tensor {
  const option = `--value ${printName(name)}`;
  const values = text.split(",").map((one) => parseValue(one.trim(), dtype, option));
  const count = product(shape);
  if (values.length !== 1 && values.length !== count) {
    const all = count === 1 ? "" : ` or ${count} values (one per element)`;
    throw wrongUsage(`${option} must have 1 value${all}, got ${values.length}`);
  }
  return asUsage(
    () =>
      values.length === 1
        ? full(dtype, shape, values[0] as never)
        : tensor(dtype, shape, values as never),
    `${option}: `,
  );
}

/** Parses the bounds in --range. Throws a `Failure` if the input does not accept the bounds. */
export function rangeSpan(name: string, text: string, dtype: DType): Span {
  const option = `--range ${printName(name)}`;
  const [, ...ends] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
  const [low, high] = ends.map((end) => (end.trim() === "" ? NaN : Number(end)));
  if (!(low <= high) || !Number.isFinite(high - low))
    throw wrongUsage(`${option} must be a range LOW..HIGH, such as 0..999, got ${quote(text)}`);
  const isWhole = !isFloat(dtype);
  if (isWhole && !ends.every((end) => parseInteger(end) !== null))
    throw wrongUsage(
      `${option} must have integer bounds, because the input is ${dtype}, got ${quote(text)}`,
    );
  const span = { low, high, isWhole };
  asUsage(() => tensor(dtype, [2], [low, high] as never), `${option}: `);
  return span;
}

/**
 * Returns the range of valid indices for axes with these sizes, limited by the input's data type. Returns an empty list
 * for a string input, because strings cannot be indices.
 */
export const indexSpans = (sizes: readonly number[] | undefined, dtype: DType): Span[] =>
  dtype === "string"
    ? []
    : (sizes ?? []).map((size) => ({
        low: 0,
        high: Math.min(size - 1, mostOf(dtype)),
        isWhole: true,
      }));

const mostOf = (dtype: DType): number =>
  Number(integerRange(dtype)?.[1] ?? (dtype === "bool" ? 1 : Infinity));

const WORDS: ReadonlyMap<string, number | boolean> = new Map<string, number | boolean>([
  ["true", true],
  ["false", false],
  ["nan", NaN],
  ["inf", Infinity],
  ["-inf", -Infinity],
]);

/** Parses an element. Creating the tensor later rejects values outside the data type. */
function parseValue(
  text: string,
  dtype: DType,
  option: string,
): string | number | bigint | boolean {
  if (dtype === "string") return text;
  const word = WORDS.get(text.toLowerCase());
  if (word !== undefined) return word;
  if (/^[+-]?\d+$/.test(text)) return dtype === "bool" ? Number(text) : BigInt(text);
  const number = text === "" ? NaN : Number(text);
  if (!Number.isNaN(number)) return number;
  throw wrongUsage(`${option} takes ${dtype}, got ${quote(text)}`);
}

/** Placeholder name for unnamed dimensions in --dim. */
const NAMELESS = "?";

/** Parses the sizes in --dim by dimension name. Throws a `Failure` if no input has the dimension. */
export function dimSizes(
  texts: readonly string[],
  inputs: readonly ValueInfo[],
): Map<string, number> {
  const sizes = new Map(
    texts.map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw wrongUsage(`--dim takes NAME=SIZE, got ${quote(text)}`);
      const name = text.slice(0, at);
      return [name, parseWhole(text.slice(at + 1), `--dim ${name}`, 0)] as const;
    }),
  );
  const dims = new Set(
    inputs.flatMap(({ type }) => (type?.shape ?? []).map((dim) => dim ?? NAMELESS)),
  );
  const odd = [...sizes.keys()].find((name) => !dims.has(name));
  if (odd === undefined) return sizes;
  const known = [...dims].filter((dim) => typeof dim === "string");
  const all = known.length === 0 ? "all sizes are known" : `its dimensions are ${known.join(", ")}`;
  const hint = didYouMean(odd, known, all);
  throw wrongUsage(`the model has no dimension ${quote(odd)}; ${hint}`);
}

/** Parses the shapes in --shape by input name. Throws a `Failure` if an input cannot have the shape. */
export function givenShapes(
  texts: ReadonlyMap<string, string>,
  inputs: readonly ValueInfo[],
): Map<string, readonly number[]> {
  return new Map(
    [...texts].map(([name, text]) => {
      const option = `--shape ${printName(name)}`;
      const shape = text === "" ? [] : text.split(",").map((one) => parseWhole(one, option, 0));
      const type = inputs.find((one) => one.name === name)?.type;
      const declared = type?.shape ?? shape;
      const fits = declared.every((dim, axis) => typeof dim !== "number" || dim === shape[axis]);
      if (fits && declared.length === shape.length) return [name, shape] as const;
      const is = type ? printType(type) : "";
      throw wrongUsage(`${option} must fit the input, ${is}, got ${text}`);
    }),
  );
}

export function boundDims(
  inputs: readonly ValueInfo[],
  shapes: ReadonlyMap<string, readonly number[]>,
): Map<string, number> {
  const bound = new Map<string, number>();
  for (const { name, type } of inputs) {
    for (const [axis, size] of shapes.get(name)?.entries() ?? []) {
      const dim = type?.shape?.[axis];
      if (typeof dim === "string" && !bound.has(dim)) bound.set(dim, size);
    }
  }
  return bound;
}

/** Replaces dimensions in a declared shape with known sizes. */
export const sizedShape = (
  declared: PartialShape,
  sizes: ReadonlyMap<string, number>,
): PartialShape =>
  declared?.map((dim) => (typeof dim === "number" ? dim : (sizes.get(dim ?? NAMELESS) ?? dim))) ??
  null;

/** Formats inputs as a list for messages, such as `x float32[N, 4], i int64[M]`. */
export const listInputs = (inputs: readonly ValueInfo[]): string =>
  inputs
    .map(({ name, type }) => `${printName(name)}${type === null ? "" : ` ${printType(type)}`}`)
    .join(", ");

/**
 * Returns command-line options that set all unknown dimensions, ready to copy; empty if all dimensions are known.
 * Inputs with unnamed dimensions use --shape, because --dim cannot distinguish unnamed dimensions.
 */
export function sizeOptions(
  inputs: readonly ValueInfo[],
  sizes: ReadonlyMap<string, number>,
): string {
  const chosen = new Map<string, number>();
  const shapes: string[] = [];
  const shaped = new Set<string>();
  for (const { name, type } of inputs) {
    if (type === null) continue;
    const shape = sizedShape(type.shape, sizes) ?? [null, null];
    const likely = shape.map((dim, axis) => {
      if (typeof dim === "number") return dim;
      const size =
        (dim === null ? undefined : chosen.get(dim)) ?? likelySize({ ...type, shape }, axis);
      if (dim !== null) chosen.set(dim, size);
      return size;
    });
    if (!shape.includes(null)) continue;
    for (const dim of shape) if (typeof dim === "string") shaped.add(dim);
    shapes.push(`--shape ${inShell(`${name}=${likely.join(",")}`)}`);
  }
  const dims = [...chosen].flatMap(([dim, size]) =>
    shaped.has(dim) ? [] : [`--dim ${inShell(`${dim}=${size}`)}`],
  );
  return [...dims, ...shapes].join(" ");
}

export const inShell = (text: string): string =>
  /^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Typical sizes by dimension name. */
const USUAL_SIZES: readonly (readonly [RegExp, number])[] = [
  [/batch/i, 1],
  [/seq|len|time|token/i, 16],
  [/height|width|^[hw]$/i, 224],
];

/**
 * Returns a size that many models accept. Tensors of rank 4 are usually images, and float tensors of rank 2 are usually
 * audio chunks.
 */
function likelySize(
  { dtype, shape }: TensorType & { readonly shape: readonly Dim[] },
  axis: number,
): number {
  const { [axis]: dim, length: rank } = shape;
  const usual = USUAL_SIZES.find(([name]) => typeof dim === "string" && name.test(dim));
  if (usual !== undefined) {
    const isSound = rank === 2 && dtype.includes("float") && usual[1] === 16;
    return isSound ? 512 : usual[1];
  }
  if (typeof dim === "string" && rank < 4) return 4;
  if (axis === 0) return 1;
  if (rank >= 4) return axis === 1 ? 3 : 224;
  if (rank === 2) return dtype.includes("float") ? 512 : 16;
  // In a state tensor, the first axis is the layer axis, and the second is the batch axis.
  return axis === 1 && typeof shape[0] === "number" ? 1 : 16;
}
