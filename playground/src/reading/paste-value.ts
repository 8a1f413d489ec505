/** The parts of pasted text: elements as written, lists of elements, and arrays created by calls. */

import { isDType, TensorError, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";
import { parseScalar } from "../values/scalar-text.ts";
import { sizeOf } from "../values/shape.ts";

/** An element as written in the text. */
export interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly start: number;
}

export interface List {
  readonly items: readonly Value[];
  readonly start: number;
}

/** The result of a call or method: elements in row-major order. */
export interface Block {
  readonly shape: readonly number[];
  readonly words: readonly Word[];
  readonly start: number;
}

export type Value = Word | List | Block;

/** Creates an error with the line and column of a position in the text. */
export type Wrong = (sentence: string, start: number) => TensorError;

/** Converts a value to a block. Throws if lists at the same level have different shapes. */
export function blockOf(value: Value, wrong: Wrong): Block {
  if ("words" in value) return value;
  if ("text" in value) return { shape: [], words: [value], start: value.start };
  const { items, start } = value;
  const blocks = items.map((item) => blockOf(item, wrong));
  const first = blocks[0]?.shape ?? [];
  const other = blocks.find(({ shape }) => String(shape) !== String(first));
  if (other === undefined) {
    const words = blocks.flatMap((block) => block.words);
    return { shape: [items.length, ...first], words, start };
  }
  const [got, wanted] = [other.shape, first].map((shape) =>
    shape.length === 0 ? "an element" : `a list of shape ${printShape(shape)}`,
  );
  throw wrong(`expected ${wanted}, like the first element, got ${got}`, other.start);
}

/** Returns an element's text without language-specific syntax. */
export function bareText({ text, isQuoted }: Word, dtype: DType): string {
  if (dtype === "string" || isQuoted) return text;
  return (
    text
      // Prefixed names are accepted, such as np.nan, np.True_ and -math.inf.
      .replace(/^([+-]?)[a-z]\w*\.(?=[a-z])/i, "$1")
      .replace(/^(true|false)_$/i, "$1")
      // A JavaScript bigint ends with n.
      .replace(/^([+-]?\d+)n$/, "$1")
  );
}

/** Returns an element's text; throws if the data type cannot represent the value. */
export function elementText(word: Word, dtype: DType, wrong: Wrong): string {
  const bare = bareText(word, dtype);
  if (dtype === "string" || word.isQuoted) return bare;
  if (typeof parseScalar(dtype, bare) !== "string") return bare;
  throw wrong(`${JSON.stringify(bare.slice(0, 40))} is not a value of ${dtype}`, word.start);
}

/**
 * Returns the data type that a text names in any supported language, such as `np.float32`, `torch.long` or `<class
 * 'numpy.int8'>`.
 */
export function dtypeNamed(text: string): DType | null {
  const name = /(\w+)\W*$/.exec(text.slice(-LONGEST_NAME))?.[1].replace(/_$/, "") ?? "";
  // This type has 64 bits in NumPy and Python, but 32 bits in torch.
  const isLong = name === "float" && !text.includes("torch");
  const known = isLong ? "float64" : (OTHER_NAMES[name] ?? name);
  return isDType(known) ? known : null;
}

const LONGEST_NAME = 40;

/** Data type names that differ from ndscatter's names. */
const OTHER_NAMES: Readonly<Record<string, DType | undefined>> = Object.assign(
  Object.create(null),
  {
    bool8: "bool",
    str: "string",
    object: "string",
    half: "float16",
    float: "float32",
    double: "float64",
    short: "int16",
    long: "int64",
    int: "int64",
    complex: "complex128",
    cfloat: "complex64",
    // These names are from ml_dtypes and JAX.
    float8_e4m3fn: "float8e4m3fn",
    float8_e4m3fnuz: "float8e4m3fnuz",
    float8_e5m2: "float8e5m2",
    float8_e5m2fnuz: "float8e5m2fnuz",
    float8_e8m0fnu: "float8e8m0",
    float4_e2m1fn: "float4e2m1",
    float6_e2m3fn: "float6e2m3",
    float6_e3m2fn: "float6e3m2",
  },
);

/** Returns a value as a number, or null. */
export function numberIn(value: Value): number | null {
  if (!("text" in value) || value.isQuoted) return null;
  const number = parseScalar("float64", bareText(value, "float64"));
  return typeof number === "number" ? number : null;
}

/** Returns the sizes given as arguments, such as `4, 3`, `(4, 3)` or `[4, 3]`. With `isOpen`, one size may be -1. */
export function sizesIn(
  values: readonly Value[],
  start: number,
  wrong: Wrong,
  isOpen = false,
): number[] {
  const [only] = values;
  const isList = values.length === 1 && !("text" in only);
  const words = isList ? blockOf(only, wrong) : null;
  if (words !== null && words.shape.length !== 1) throw wrong("expected a list of sizes", start);
  const sizes = (words?.words ?? values).map((value) => {
    const size = numberIn(value);
    const isSize = size !== null && Number.isInteger(size) && size >= (isOpen ? -1 : 0);
    if (!isSize) throw wrong("expected a size", value.start);
    return size;
  });
  if (sizes.length > MOST_AXES) throw tooMany(`tensors of up to ${MOST_AXES} axes`);
  if (sizes.reduce((size, dim) => size * Math.max(1, dim), 1) > MOST_ELEMENTS) {
    throw tooMany(`up to ${MOST_ELEMENTS.toLocaleString("en")} elements`);
  }
  return sizes;
}

/** Replaces a size of -1 by the size that follows from the number of elements. */
export function closedSizes(
  sizes: readonly number[],
  count: number,
  start: number,
  wrong: Wrong,
): number[] {
  const rest = sizeOf(sizes.filter((size) => size !== -1));
  const open = sizes.filter((size) => size === -1).length;
  const missing = rest === 0 ? 0 : count / rest;
  const closed = sizes.map((size) => (size === -1 ? missing : size));
  const isRight = open < 2 && (open === 0 || (rest > 0 && Number.isInteger(missing)));
  if (isRight && sizeOf(closed) === count) return closed;
  throw wrong(`${count} elements do not have the shape ${printShape(sizes)}`, start);
}

export const tooMany = (what: string): TensorError =>
  new TensorError("too-large", `the page shows ${what}, but the text has more`);
