/**
 * Prints tensors for people, in the format of NumPy 2.2 with default print options, except that `tensor(` replaces
 * `array(` and the data type is always shown. Elements that are not printed are not read. `npy/` writes tensors for
 * programs.
 */

import { factOf, printValue, readForeign } from "../foreign.ts";
import { TensorError } from "../errors.ts";
import { DTYPE_NAMES, DTYPES, isDType, type DType, type Scalar, type Storage } from "./dtype.ts";
import { decodeHalf, encodeHalf, floatFormat, pairOf, reader, type FloatFormat } from "./scalar.ts";
import { product } from "./shape.ts";

/** Parts of a tensor that printing needs. */
export interface Printable {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
  readonly data: Storage;
}

// Default print options of NumPy, with NumPy's names.
const PRECISION = 8;
const THRESHOLD = 1000;
const EDGE_ITEMS = 3;
const LINE_WIDTH = 75;

/**
 * Maximum number of elements, or characters of text, to print. NumPy abbreviates each axis separately, so it would
 * print a million elements of a tensor with 20 axes of size 2: 47 MB of text, which took 18 s and 0.9 GB here. Above
 * this limit, the brackets contain only dots.
 */
const MOST_ELEMENTS = 1e5;
const MOST_CHARACTERS = 1e6;

const PREFIX = "tensor(";

/**
 * Returns the text that `toString` and Node's `console.log` show: all elements of tensors up to size 1000, and the
 * corners of larger tensors.
 */
export function printTensor({ dtype, shape, size, data }: Printable): string {
  const isAbbreviated = size > THRESHOLD;
  const elements = printElements(dtype, shape, data, isAbbreviated);
  // The shape is printed only if the brackets do not show it.
  const isNamed = elements === null || isAbbreviated || (size === 0 && shape.length > 1);
  const dots = shape.length === 0 ? "..." : "[...]";
  return printFacts(elements ?? dots, dtype, isNamed ? shape : null);
}

/** Prints a tensor whose memory is gone. */
export const printDisposed = ({ dtype, shape }: Omit<Printable, "size" | "data">): string =>
  printFacts("<disposed>", dtype, shape);

/** Joins the printed parts of a tensor, on one line if they fit; a null shape is omitted. */
function printFacts(elements: string, dtype: DType, shape: readonly number[] | null): string {
  const facts = `${shape === null ? "" : `shape=${printTuple(shape)}, `}dtype=${dtype})`;
  const text = `${PREFIX}${elements},`;
  const column = lengthOf(text.slice(text.lastIndexOf("\n") + 1));
  const fits = column + 1 + facts.length <= LINE_WIDTH;
  return text + (fits ? " " : `\n${" ".repeat(PREFIX.length)}`) + facts;
}

/**
 * Prints an element as error messages do: with the shortest digits that identify the element in its own type, in
 * JavaScript syntax (`2.5`, `NaN`, `true`, `"a"`). Complex numbers print as pairs `[re, im]`, and 64-bit integers
 * without the `n`.
 *
 * @param dtype the name of a data type
 * @param value an element of this data type, as `toArray` returns it
 * @throws TensorError `dtype` for an unknown data type, or a value that cannot be an element of any type
 *
 * @example
 * ```ts
 * printScalar("float32", Math.fround(0.1)); // "0.1"
 * ```
 */
export function printScalar<D extends DType>(dtype: D, value: Scalar<D>): string;
export function printScalar(dtype: DType, value: unknown): string {
  if (!isDType(dtype)) {
    throw new TensorError("dtype", `the data type is unknown: ${printValue(dtype)}`, {
      key: "dtype",
      got: factOf(dtype),
      allowed: DTYPE_NAMES,
    });
  }
  if (typeof value === "string") {
    const quote = (): string => JSON.stringify(value);
    return readForeign(quote, "too-large", "the text does not fit in a string", "value");
  }
  if (typeof value === "number") return printNumber(dtype, value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  const cannot = `the value must be an element of a tensor, got ${printValue(value)}`;
  const pair = readForeign(() => pairOf(value), "dtype", cannot, "value");
  if (pair === null) {
    throw new TensorError("dtype", cannot, { key: "value", got: factOf(value) });
  }
  return `[${pair.map((part) => printNumber(dtype, Number(part))).join(", ")}]`;
}

function printNumber(dtype: DType, given: number): string {
  const format = floatFormat(dtype);
  const value = roundTo(given, format);
  if (Object.is(value, -0)) return "-0";
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return String(value);
  const { digits, exponent } = toDecimal(Math.abs(value), format, () => [1, Infinity]);
  return String(Math.sign(value) * Number(`${digits[0]}.${digits.slice(1)}e${exponent}`));
}

/** Prints the elements in nested brackets; returns null if the tensor has too many elements. */
function printElements(
  dtype: DType,
  shape: readonly number[],
  data: Storage,
  isAbbreviated: boolean,
): string | null {
  if (shape.includes(0)) return "[]";
  const isCut = (dim: number): boolean => isAbbreviated && dim > 2 * EDGE_ITEMS;
  const count = product(shape.map((dim) => (isCut(dim) ? 2 * EDGE_ITEMS : dim)));
  if (count > MOST_ELEMENTS) return null;
  const shown = (dim: number): number[] =>
    isCut(dim) ? [...range(0, EDGE_ITEMS), ...range(dim - EDGE_ITEMS, dim)] : range(0, dim);
  const positions = shape.reduce(
    (outer, dim) => outer.flatMap((position) => shown(dim).map((i) => position * dim + i)),
    [0],
  );
  const texts = dtype === "string" ? positions.map((position) => String(data[position])) : [];
  if (texts.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS) return null;
  const words =
    dtype === "string"
      ? texts.map(printText)
      : printNumbers(dtype, data, positions, shape.length === 0);
  let next = 0;
  const printBlock = (axis: number): string => {
    if (axis === shape.length) return words[next++];
    const items = shown(shape[axis]).map(() => printBlock(axis + 1));
    if (isCut(shape[axis])) items.splice(EDGE_ITEMS, 0, "...");
    const indent = " ".repeat(PREFIX.length + 1 + axis);
    const axesBelow = shape.length - 1 - axis;
    if (axesBelow > 0) return `[${items.join(`,${"\n".repeat(axesBelow)}${indent}`)}]`;
    // Each line reserves columns for closing brackets and a comma.
    return `[${fill(items, indent, LINE_WIDTH - 2 - axis)}]`;
  };
  return printBlock(0);
}

/** Joins words with commas, on lines of at most `width` characters unless a single word is longer. */
function fill(words: readonly string[], indent: string, width: number): string {
  let text = "";
  let column = indent.length;
  for (const [i, word] of words.entries()) {
    const length = lengthOf(word);
    if (i > 0) {
      const wraps = column + 2 + length > width;
      text += wraps ? `,\n${indent}` : ", ";
      column = wraps ? indent.length : column + 2;
    }
    text += word;
    column += length;
  }
  return text;
}

/** Counts the code points in `text`, as NumPy does; code points outside the basic plane take two string units. */
const lengthOf = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** Prints the elements at `positions`, of any type except string, each padded to the width of its column. */
function printNumbers(
  dtype: DType,
  data: Storage,
  positions: readonly number[],
  isAlone: boolean,
): string[] {
  switch (DTYPES[dtype].family) {
    case "bool":
      return positions.map((position) =>
        data[position] === 0 ? "False" : isAlone ? "True" : " True",
      );
    case "int":
    case "int64":
    case "string":
      return alignRight(positions.map((position) => String(data[position])));
    case "float":
    case "half":
    case "minifloat": {
      const read = reader(dtype, data);
      const values = positions.map((position) => Number(read(position)));
      return printFloats(values, floatFormat(dtype));
    }
    case "complex": {
      const real = positions.map((position) => Number(data[2 * position]));
      const imaginary = positions.map((position) => Number(data[2 * position + 1]));
      const right = printFloats(imaginary, floatFormat(dtype), "+");
      // NumPy puts the imaginary unit before the padding.
      return printFloats(real, floatFormat(dtype)).map(
        (left, i) => left + right[i].replace(/ *$/, "j$&"),
      );
    }
  }
}

/** Prints a column of floats with aligned decimal points; `plus` precedes numbers without a minus sign. */
function printFloats(
  values: readonly number[],
  format: FloatFormat,
  plus: "" | "+" = "",
): string[] {
  const magnitudes = values.map((value) => Math.abs(value));
  const finite = magnitudes.filter((magnitude) => Number.isFinite(magnitude));
  const words = (needsExponent(finite, format) ? printScientific : printPositional)(finite, format);
  let next = 0;
  const signed = magnitudes.map((magnitude, i) => {
    const sign = values[i] < 0 || Object.is(values[i], -0) ? "-" : plus;
    if (Number.isNaN(magnitude)) return `${plus}nan`;
    return sign + (magnitude === Infinity ? "inf" : words[next++]);
  });
  return alignRight(signed);
}

/**
 * Returns true if a column is printed with exponents, according to NumPy's three conditions on the nonzero values,
 * computed in their own type. (NumPy 2.3 changed the first condition: float32 values have exponents from 10^6, and
 * float16 values from 10^3.)
 */
function needsExponent(magnitudes: readonly number[], format: FloatFormat): boolean {
  const nonzero = magnitudes.filter((magnitude) => magnitude > 0);
  if (nonzero.length === 0) return false;
  const max = nonzero.reduce((a, b) => Math.max(a, b));
  const min = nonzero.reduce((a, b) => Math.min(a, b));
  return max >= 1e8 || min < roundTo(1e-4, format) || roundTo(max / min, format) > 1000;
}

function roundTo(value: number, format: FloatFormat): number {
  if (format.fractionBits === 52) return value;
  return format.fractionBits === 23
    ? Math.fround(value)
    : decodeHalf(encodeHalf(value, format), format);
}

function printPositional(magnitudes: readonly number[], format: FloatFormat): string[] {
  const parts = magnitudes.map((magnitude) => {
    // All digits before the decimal point are printed, even if fewer would identify the value.
    const { digits, exponent } = toDecimal(magnitude, format, (e) => [e + 1, e + 1 + PRECISION]);
    if (exponent < 0) return { whole: "0", fraction: "0".repeat(-1 - exponent) + digits };
    const point = exponent + 1;
    return { whole: digits.slice(0, point).padEnd(point, "0"), fraction: digits.slice(point) };
  });
  const width = longest(parts.map(({ fraction }) => fraction));
  return parts.map(({ whole, fraction }) => `${whole}.${fraction.padEnd(width)}`);
}

function printScientific(magnitudes: readonly number[], format: FloatFormat): string[] {
  const shortest = magnitudes.map((one) => toDecimal(one, format, () => [1, 1 + PRECISION]));
  // Every value shows as many digits as the longest value needs: its own digits, not zeros.
  const count = longest(shortest.map(({ digits }) => digits));
  const decimals = magnitudes.map((one) => toDecimal(one, format, () => [count, count]));
  const powers = decimals.map(({ exponent }) => String(Math.abs(exponent)).padStart(2, "0"));
  const width = longest(powers);
  return decimals.map(({ digits, exponent }, i) => {
    const power = (exponent < 0 ? "-" : "+") + powers[i].padStart(width, "0");
    return `${digits[0]}.${digits.slice(1).padEnd(count - 1, "0")}e${power}`;
  });
}

/**
 * Returns the shortest decimal that reads back as `value` (finite, not negative) in its format: the float32 nearest to
 * 0.1 prints as 0.1, although this float32 is not the double 0.1. `limits` gives the minimum and maximum number of
 * digits for an exponent; the last digit is rounded to nearest, ties to even. The first digit has the place value
 * 10^exponent, and trailing zeros are dropped. The algorithm is Steele & White's digit generation in exact integers,
 * because JavaScript prints the digits of a double, and its `toFixed` rounds ties up.
 */
function toDecimal(
  value: number,
  { fractionBits, minExponent }: FloatFormat,
  limits: (exponent: number) => readonly [least: number, most: number],
): { readonly digits: string; readonly exponent: number } {
  if (value === 0) return { digits: "0", exponent: 0 };
  let binade = Math.floor(Math.log2(value));
  // The logarithm is corrected, because it is rounded up for a number just below a power of two.
  if (2 ** binade > value) binade--;
  const last = Math.max(binade, minExponent) - fractionBits;
  const significand = BigInt(Math.round(value / 2 ** last));
  // Ties round to the even significand, so the rounding interval of an even significand includes its endpoints.
  const isEven = significand % 2n === 0n;
  // Numbers just below a power of two are half as far apart as numbers above it.
  const isDenseBelow = 2 ** binade === value && binade > minExponent;
  // If the digits of the double were rounded up to a power of ten, the exponent is 1 too large, and the first digit is
  // 0.
  const exponent = Number(value.toExponential().split("e")[1]);
  // value = significand * 2^last = rest / one * 10^exponent; `below` and `above` are half the distances to the
  // neighbouring numbers.
  const one = power(2n, 2 - last) * power(10n, exponent);
  const unit = power(2n, last - 2) * power(10n, -exponent);
  let rest = 4n * significand * unit;
  let below = isDenseBelow ? unit : 2n * unit;
  let above = 2n * unit;
  const [least, most] = limits(exponent);
  let digits = 0n;
  for (let count = 1; ; count++) {
    const digit = rest / one;
    digits = 10n * digits + digit;
    rest %= one;
    const low = isEven ? rest <= below : rest < below;
    const high = isEven ? rest + above >= one : rest + above > one;
    if (((low || high) && count >= least) || count === most) {
      const isTie = 2n * rest === one;
      const isUp = low !== high ? high : isTie ? digit % 2n === 1n : 2n * rest > one;
      const text = String(isUp ? digits + 1n : digits);
      return { digits: text.replace(/0+$/, ""), exponent: exponent + text.length - count };
    }
    [rest, below, above] = [10n * rest, 10n * below, 10n * above];
  }
}

/**
 * Returns `base` to the power `exponent`; returns 1 for a negative exponent, whose power is on the other side of the
 * fraction.
 */
const power = (base: bigint, exponent: number): bigint => base ** BigInt(Math.max(exponent, 0));

/** Prints text in quotes, as Python does, with invisible characters escaped. */
function printText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escape = (character: string): string => {
    if (character === " " || (character === "'" && quote === '"')) return character;
    if ("\\'".includes(character)) return `\\${character}`;
    if ("\n\r\t".includes(character)) return JSON.stringify(character).slice(1, -1);
    const code = Number(character.codePointAt(0));
    const hex = code.toString(16);
    if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  };
  return quote + text.replace(/[\\'\p{C}\p{Z}]/gu, escape) + quote;
}

/** Prints a shape as a Python tuple: `(2, 3)`, or `(2,)` for a single axis. */
const printTuple = (shape: readonly number[]): string =>
  shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);

const longest = (words: readonly string[]): number =>
  words.reduce((length, word) => Math.max(length, word.length), 0);

function alignRight(words: readonly string[]): string[] {
  const width = longest(words);
  return words.map((word) => word.padStart(width));
}
