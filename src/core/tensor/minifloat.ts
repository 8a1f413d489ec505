/**
 * Converts floats of at most 8 bits between bits and numbers. Numbers are rounded to nearest, ties to even; in a format
 * without fraction bits, where evenness is undefined, ties round up. A format has at most 256 values, so it is stored
 * as a list of values.
 */

/** Special values of a format: infinity and NaN as in IEEE 754, only NaN (which replaces -0 in `fnuz`), or none. */
type Ends = "ieee" | "fn" | "fnuz" | "finite";

interface BitLayout {
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly ends: Ends;
}

// ONNX's "Float stored in 8 bits", "6 bits" and "4 bits", and the OCP Microscaling formats (MX) 1.0, section 5.3.
// prettier-ignore
const LAYOUTS = {
  float8e4m3fn:   { exponentBits: 4, fractionBits: 3, ends: "fn"     },
  float8e4m3fnuz: { exponentBits: 4, fractionBits: 3, ends: "fnuz"   },
  float8e5m2:     { exponentBits: 5, fractionBits: 2, ends: "ieee"   },
  float8e5m2fnuz: { exponentBits: 5, fractionBits: 2, ends: "fnuz"   },
  float8e8m0:     { exponentBits: 8, fractionBits: 0, ends: "fn"     },
  float6e2m3:     { exponentBits: 2, fractionBits: 3, ends: "finite" },
  float6e3m2:     { exponentBits: 3, fractionBits: 2, ends: "finite" },
  float4e2m1:     { exponentBits: 2, fractionBits: 1, ends: "finite" },
} as const satisfies Record<string, BitLayout>;

export type MinifloatName = keyof typeof LAYOUTS;

export interface Minifloat {
  /** Number that each bit pattern represents. */
  readonly values: Float64Array;
  /**
   * Returns the bit pattern nearest to a number; null for NaN in a format without it, and for 0 and negative numbers in
   * float8e8m0.
   */
  encode(value: number): number | null;
}

// A format never changes after it is created, so formats are cached.
const made = new Map<MinifloatName, Minifloat>();

/** Returns a format. Its list of values is created on first use, so that importing this file costs nothing. */
export function minifloat(name: MinifloatName): Minifloat {
  let format = made.get(name);
  if (format === undefined) made.set(name, (format = formatOf(LAYOUTS[name])));
  return format;
}

function formatOf(layout: BitLayout): Minifloat {
  const { exponentBits, fractionBits, ends } = layout;
  const signBit = 1 << (exponentBits + fractionBits);
  // The format without fraction bits has no sign, no zero and no subnormals.
  const isScale = fractionBits === 0;
  const values = Float64Array.from({ length: isScale ? signBit : 2 * signBit }, (_, code) => {
    if (ends === "fnuz" && code === signBit) return NaN;
    const magnitude = magnitudeOf(code & (signBit - 1), layout);
    return code >= signBit ? -magnitude : magnitude;
  });
  // Finite magnitudes increase with their bit patterns, so the last finite bit pattern has the largest magnitude.
  const finite = values.subarray(0, signBit).findLastIndex(Number.isFinite);
  const nan = values.findIndex(Number.isNaN);
  const beyond = ends === "ieee" ? finite + 1 : ends === "finite" ? finite : nan;
  // IEEE 754 formats have several NaNs; the canonical NaN is quiet, so its first fraction bit is set.
  const canonicalNaN = ends === "ieee" ? beyond + (1 << (fractionBits - 1)) : nan;

  return {
    values,
    encode(value) {
      if (value !== value) return nan === -1 ? null : canonicalNaN;
      if (isScale && value <= 0) return null;
      const magnitude = Math.abs(value);
      const isNegative = value < 0 || Object.is(value, -0);
      const code = nearest(values, finite, magnitude, beyond, isScale);
      if (ends === "fnuz" && code === 0) return code;
      return isNegative ? code | signBit : code;
    },
  };
}

function magnitudeOf(code: number, { exponentBits, fractionBits, ends }: BitLayout): number {
  const bias = 2 ** (exponentBits - 1) - (ends === "fnuz" ? 0 : 1);
  const exponent = code >> fractionBits;
  const fraction = code & ((1 << fractionBits) - 1);
  const isLast = exponent === (1 << exponentBits) - 1;
  if (ends === "ieee" && isLast) return fraction === 0 ? Infinity : NaN;
  if (ends === "fn" && isLast && fraction === (1 << fractionBits) - 1) return NaN;
  if (exponent === 0 && fractionBits > 0) return fraction * 2 ** (1 - bias - fractionBits);
  return (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/**
 * Returns the code, from 0 to `finite`, of the value nearest to `magnitude`; `beyond` if rounding goes past the last
 * value.
 */
function nearest(
  values: Float64Array,
  finite: number,
  magnitude: number,
  beyond: number,
  tiesGoUp: boolean,
): number {
  let low = 0;
  let high = finite;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= magnitude) low = middle;
    else high = middle - 1;
  }
  // Magnitudes above the last value are rounded as if the next value existed.
  const next = low < finite ? values[low + 1] : 2 * values[finite] - values[finite - 1];
  const half = values[low] + (next - values[low]) / 2;
  const roundsUp = magnitude > half || (magnitude === half && (tiesGoUp || low % 2 === 1));
  if (!roundsUp) return low;
  return low < finite ? low + 1 : beyond;
}
