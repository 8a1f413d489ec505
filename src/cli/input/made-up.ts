/** Makes input tensors from --value and --range, and from reproducible random numbers. */

import * as os from "node:os";
import { asUsage, wrongUsage } from "../failure.ts";
import { parseInteger } from "./numbers.ts";
import { printName, quote } from "../text/layout.ts";
import {
  type DType,
  full,
  isTensorError,
  tensor,
  type Tensor,
  zeros,
} from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";

/** Range of random numbers, including both bounds. */
interface Span {
  readonly low: number;
  readonly high: number;
  /** True for integers. */
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

/** Range of random floats for inputs without options. */
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

/** Tensor type with a known shape. */
interface SizedType {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** Creates a tensor from --value. Throws a `Failure` if the input does not accept the values. */
export function valueTensor(name: string, text: string, { dtype, shape }: SizedType): Tensor {
  const option = `--value ${printName(name)}`;
  const values = text.split(",").map((one) => parseValue(one.trim(), dtype, option));
  const count = shape.reduce((size, dim) => size * dim, 1);
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
  const isWhole = !dtype.includes("float");
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

/** Returns the largest integer in a data type, or Infinity for floats. */
function mostOf(dtype: DType): number {
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(dtype) ?? [];
  if (bits !== undefined) return 2 ** (Number(bits) - (unsigned === "" ? 1 : 0)) - 1;
  return dtype === "bool" ? 1 : Infinity;
}

const WORDS: Readonly<Record<string, number | boolean>> = {
  true: true,
  false: false,
  nan: NaN,
  inf: Infinity,
  "-inf": -Infinity,
};

/** Parses an element. Creating the tensor later rejects values outside the data type. */
function parseValue(
  text: string,
  dtype: DType,
  option: string,
): string | number | bigint | boolean {
  if (dtype === "string") return text;
  const { [text.toLowerCase()]: word } = Object.hasOwn(WORDS, text.toLowerCase()) ? WORDS : {};
  if (word !== undefined) return word;
  if (/^[+-]?\d+$/.test(text)) return dtype === "bool" ? Number(text) : BigInt(text);
  const number = text === "" ? NaN : Number(text);
  if (!Number.isNaN(number)) return number;
  throw wrongUsage(`${option} takes ${dtype}, got ${quote(text)}`);
}
