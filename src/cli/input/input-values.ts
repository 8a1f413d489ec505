/** Parses input elements from --value and --range. */

import { full, isTensorError, tensor, type DType, type Tensor } from "../../entries/index.ts";
import { wrongUsage } from "../failure.ts";
import { printName, quote } from "../text/layout.ts";
import { parseInteger } from "./numbers.ts";
import type { Span } from "./made-up.ts";

/** Tensor type with a known shape. */
export interface SizedType {
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
  return asOption(option, () =>
    values.length === 1
      ? full(dtype, shape, values[0] as never)
      : tensor(dtype, shape, values as never),
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
  asOption(option, () => tensor(dtype, [2], [low, high] as never));
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

/** Calls `action` and returns its result. Converts a thrown `TensorError` to an error about a command-line option. */
function asOption<T>(option: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    throw wrongUsage(`${option}: ${error.message}`, error);
  }
}
