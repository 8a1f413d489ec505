/**
 * One element as somebody types it, and as the page writes it.
 *
 * | data type | taken, beside what is written |
 * |---|---|
 * | integers | `-12`, `+3`, `0xff`, `1_000`, and `2.0` or `1e3` where they are whole; 64 bits exactly |
 * | floats | `1.`, `.5`, `1e-3`, `-0`, `inf`, `-Infinity`, `nan`, and all that integers are |
 * | bool | `true`, `false`, `True`, `False`, `0`, `1` |
 * | complex | `1+2j`, `-j`, `3`, `(1-infj)`, `1+2i`, `[1, 2]` |
 * | string | any text, as it is |
 *
 * What a data type can hold is the library's to say: text that is no number goes there as text, and is refused.
 */

import { DTYPES, printScalar, type DType, type Scalar } from "ndscatter";

/** What {@link tensor} is given for an element: a value, or the text itself where it stands for none. */
export type Candidate = boolean | number | bigint | string | readonly [Part, Part];

type Part = number | bigint;

/** Longer text stands for no number, and is shortened where it is told of. */
const LONGEST = 400;
const QUOTED = 40;

export function parseScalar(dtype: DType, text: string): Candidate {
  const { family } = DTYPES[dtype];
  if (family === "string") return text;
  const short = text.trim().replaceAll("\u2212", "-");
  const value = short.length > LONGEST ? null : (parseAs(family, short) ?? null);
  if (value !== null) return value;
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text;
}

function parseAs(family: (typeof DTYPES)[DType]["family"], text: string): Candidate | null {
  switch (family) {
    case "bool":
      if (/^true$/i.test(text)) return true;
      if (/^false$/i.test(text)) return false;
      return parseNumber(text);
    case "complex":
      return parseComplex(text);
    case "int":
    case "int64":
      return parseInteger(text) ?? parseNumber(text);
    default:
      return parseNumber(text);
  }
}

/** A whole number to its last digit; a bigint where a number does not hold it. */
export function parseInteger(text: string): number | bigint | null {
  const [, sign, digits] = /^([+-]?)(0x[0-9a-f]+|\d+(?:_\d+)*)$/i.exec(text) ?? [];
  if (digits === undefined) return null;
  const magnitude = BigInt(digits.replaceAll("_", ""));
  const value = sign === "-" ? -magnitude : magnitude;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

// Each digit can belong to one part alone: a long text that is no number is found out in one go.
const DECIMAL = String.raw`(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?`;
const SPECIAL = String.raw`inf(?:inity)?|nan`;
const NUMBER = new RegExp(`^([+-]?)(?:(${DECIMAL})|(${SPECIAL}))$`, "i");

function parseNumber(text: string): number | bigint | null {
  const [, sign = "", decimal, special] = NUMBER.exec(text) ?? [];
  if (decimal !== undefined) {
    // An integer is rounded once, by the data type.
    const whole = parseInteger(text);
    if (typeof whole === "bigint") return whole;
    const magnitude = Number(decimal.replaceAll("_", ""));
    return sign === "-" ? -magnitude : magnitude;
  }
  if (special !== undefined) {
    const magnitude = /^nan$/i.test(special) ? NaN : Infinity;
    return sign === "-" ? -magnitude : magnitude;
  }
  return parseInteger(text);
}

function parseComplex(text: string): readonly [Part, Part] | null {
  const pair = /^\[([^,]*),([^,]*)\]$/.exec(text);
  if (pair !== null) {
    const [re, im] = [pair[1], pair[2]].map((part) => parseNumber(part.trim()));
    return re === null || im === null ? null : [re, im];
  }
  const bare = /^\((.*)\)$/.exec(text)?.[1] ?? text;
  const real = parseNumber(bare.trim());
  if (real !== null) return [real, 0];
  // Blanks may stand around the sign alone.
  return parseSum(bare.trim().replaceAll(/\s*([+-])\s*/g, "$1"));
}

/** `1+2j`, `-2.5j`, `j`; which sign parts the two is told by what stands before it. */
function parseSum(text: string): readonly [Part, Part] | null {
  if (!/[ij]$/i.test(text)) return null;
  const sum = text.slice(0, -1);
  // A sign behind an e belongs to the exponent, and one at the start parts nothing.
  const signs = [...sum.matchAll(/(?<!^|\de)[+-]/gi)];
  const at = signs[signs.length - 1]?.index ?? 0;
  const [left, right] = [sum.slice(0, at), sum.slice(at)];
  const re = left === "" ? 0 : parseNumber(left);
  const im = parseNumber(/^[+-]?$/.test(right) ? `${right}1` : right);
  return re === null || im === null ? null : [re, im];
}

/** An element as the page writes it, from which {@link parseScalar} makes the same element. */
export function printElement(dtype: DType, value: Scalar): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return shortened(printScalar(dtype, value));
  const [re, im] = value.map((part) => shortened(printScalar(dtype, part as Scalar)));
  return `${re}${/^[-+]/.test(im) ? "" : "+"}${im}j`;
}

const shortened = (text: string): string =>
  text === "NaN" ? "nan" : text.replace("Infinity", "inf");
