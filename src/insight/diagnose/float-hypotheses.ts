/** Lists hypotheses about float arithmetic. */

import { DTYPES } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { arithmeticOf, leastNormal, rounderOf, type Parts } from "./arithmetic.ts";
import {
  always,
  hypothesis,
  isComparison,
  isReduced,
  type Hypothesis,
  type VariantName,
} from "./hypothesis.ts";
import { isFloating, type Rule } from "./rule.ts";

const hasOwnComparison = (rule: Rule): boolean =>
  isComparison(rule) && rule.call.settings.stays !== undefined;

const floats = (
  id: Hypothesis["id"],
  applies: (rule: Rule) => boolean,
  parts: (data: Tensor) => readonly (readonly [sentence: string, parts: Parts, VariantName?])[],
): Hypothesis =>
  hypothesis(
    id,
    "arithmetic",
    (rule) => isFloating(rule.data) && applies(rule),
    ({ data }) =>
      parts(data).map(([sentence, given, name]) => [
        sentence,
        { arithmetic: arithmeticOf(data.dtype, given) },
        name,
      ]),
  );

/** Possible results of a max or min that performs a single comparison, which is false for NaN. */
const COMPARISONS = {
  first: {
    max: (a: number, b: number) => (a < b ? b : a),
    min: (a: number, b: number) => (b < a ? b : a),
  },
  second: {
    max: (a: number, b: number) => (a > b ? a : b),
    min: (a: number, b: number) => (a < b ? a : b),
  },
} as const;

type Compare = (a: number, b: number) => number;

const ignoringNaN =
  (compare: Compare): Compare =>
  (a, b) =>
    a !== a ? b : b !== b ? a : compare(a, b);

/** Uses `compare` only for NaN, or only for other operands. IEEE 754 applies to the rest. */
const forNaN =
  (compare: Compare, exact: Compare): Compare =>
  (a, b) =>
    a !== a || b !== b ? compare(a, b) : exact(a, b);

const forOthers =
  (compare: Compare, exact: Compare): Compare =>
  (a, b) =>
    a !== a || b !== b ? NaN : a === b ? compare(a, b) : exact(a, b);

const each = (
  change: (compare: Compare, exact: Compare) => Compare,
  { max, min }: Record<"max" | "min", Compare>,
) => ({
  max: change(max, Math.max),
  min: change(min, Math.min),
});

const EXACT = { max: Math.max, min: Math.min };

/** The comparison rule of versions without a special rule, as a hypothesis about versions that have one. */
const IEEE = [
  [
    "max and min compared as IEEE 754 does: NaN if an operand was NaN, and -0 below 0",
    EXACT,
    "ieee",
  ],
] as const;

/** Returns 0 or -0, with the sign of a value. */
const zeroOf = (value: number): number => (value < 0 || Object.is(value, -0) ? -0 : 0);

/** Converts -0 to 0, because 0 + -0 is 0. */
const withoutSign = (value: number): number => value + 0;

/** Rounds to bfloat16 like OpenVINO 2026.4.1, which adds half of the last place only if the last bit is 1. */
function roundedIfOdd(value: number): number {
  const words = new Uint32Array(Float32Array.of(value).buffer);
  words[0] = (words[0] + ((words[0] & 0x10000) >>> 1)) & 0xffff0000;
  return value === value ? new Float32Array(words.buffer)[0] : value;
}

export const FLOATS: readonly Hypothesis[] = [
  floats("wide-accumulation", isReduced, ({ dtype }) => {
    const wide = DTYPES[dtype].family === "half" ? "float32" : "float64";
    if (wide === dtype) return [];
    return [[`sums were kept in ${wide} and rounded to ${dtype} once`, { round: rounderOf(wide) }]];
  }),
  floats(
    "wrong-rounding",
    (rule) => isReduced(rule) && rule.data.dtype === "bfloat16",
    () => [["results were rounded up only if their last kept bit was 1", { round: roundedIfOdd }]],
  ),
  floats("signed-zero", isComparison, () => [
    [
      "when 0 was compared with -0, the value of data was kept",
      each(forOthers, COMPARISONS.first),
      "data-stays",
    ],
    [
      "when 0 was compared with -0, the update was kept",
      each(forOthers, COMPARISONS.second),
      "update-stays",
    ],
  ]),
  floats("signed-zero", isReduced, ({ dtype }) => {
    const round = rounderOf(dtype);
    return [["results of -0 became 0", { round: (value) => withoutSign(round(value)) }]];
  }),
  floats("signed-zero", always, () => [
    ["-0 became 0 in the whole output", { finish: withoutSign }, "whole-output"],
  ]),
  floats("nan-one-operand", hasOwnComparison, () => IEEE),
  floats("nan-one-operand", isComparison, () => [
    ["NaNs were ignored: the other operand was kept", each(ignoringNaN, EXACT)],
    [
      "when a NaN was compared with a number, the value of data was kept",
      each(forNaN, COMPARISONS.first),
    ],
    [
      "when a NaN was compared with a number, the update was kept",
      each(forNaN, COMPARISONS.second),
    ],
    [
      "when an operand was NaN, or 0 was compared with -0, the value of data was kept",
      COMPARISONS.first,
      "data-stays",
    ],
    [
      "when an operand was NaN, or 0 was compared with -0, the update was kept",
      COMPARISONS.second,
      "update-stays",
    ],
  ]),
  floats("subnormals-flushed", always, ({ dtype }) => {
    const least = leastNormal(dtype);
    const flush = (value: number): number => (Math.abs(value) < least ? zeroOf(value) : value);
    const toNearest = rounderOf(dtype);
    const round = (value: number): number => flush(toNearest(value));
    return [
      [
        "operands and results smaller than the smallest normal float were flushed to 0",
        { read: flush, round },
      ],
      ["results smaller than the smallest normal float were flushed to 0", { round }],
      ["operands smaller than the smallest normal float were flushed to 0", { read: flush }],
      [
        "all elements smaller than the smallest normal float were flushed to 0",
        { read: flush, round, finish: flush },
      ],
    ];
  }),
];
