/** Lists hypotheses about float arithmetic. */

import { combineNumbers } from "../../core/kernels/combine.ts";
import { DTYPES, type Stays } from "../../core/tensor/dtype.ts";
import { leastNormal, rounderOf, type Arithmetic, type Compare } from "./cells.ts";
import {
  always,
  hypothesis,
  isComparison,
  isReduced,
  type Change,
  type Changes,
  type Hypothesis,
} from "./hypothesis.ts";
import { isFloating, type Rule } from "./rule.ts";

/** Returns a hypothesis that replaces parts of the arithmetic of floats. */
const floats = (
  id: Hypothesis["id"],
  applies: (rule: Rule) => boolean,
  changes: Changes,
): Hypothesis =>
  hypothesis(id, "arithmetic", (rule) => isFloating(rule.data) && applies(rule), changes);

/** Compares like IEEE 754: the result is NaN if an operand is NaN, and -0 is less than 0. */
const ieee: Compare = combineNumbers;

/** Performs a single comparison, which is false for NaN, and 0 and -0. One operand stays if it is false. */
const keeping =
  (stays: Stays): Compare =>
  (which, a, b) =>
    combineNumbers(`${which}_${stays}`, a, b);

const hasNaN = (a: number, b: number): boolean => a !== a || b !== b;

/** Returns variants in which the value of data or the update stays, each with a comparison. */
const forBoth = (
  when: string,
  compareOf: (keep: Compare) => Compare,
  isNamed: boolean,
): readonly Change[] =>
  [["data", "the value of data"] as const, ["update", "the update"] as const].map(
    ([stays, title]) => [
      `when ${when}, ${title} was kept`,
      { arithmetic: { compare: compareOf(keeping(stays)) } },
      isNamed ? `${stays}-stays` : undefined,
    ],
  );

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

const flushed = (which: string, arithmetic: Arithmetic): Change => [
  `${which} smaller than the smallest normal float were flushed to 0`,
  { arithmetic },
];

export const FLOATS: readonly Hypothesis[] = [
  floats("wide-accumulation", isReduced, ({ data: { dtype } }) => {
    const wide = DTYPES[dtype].family === "half" ? "float32" : "float64";
    const sentence = `sums were kept in ${wide} and rounded to ${dtype} once`;
    return wide === dtype ? [] : [[sentence, { arithmetic: { round: rounderOf(wide) } }]];
  }),
  floats("wrong-rounding", (rule) => isReduced(rule) && rule.data.dtype === "bfloat16", [
    [
      "results were rounded up only if their last kept bit was 1",
      { arithmetic: { round: roundedIfOdd } },
    ],
  ]),
  floats(
    "signed-zero",
    isComparison,
    forBoth(
      "0 was compared with -0",
      (keep) => (which, a, b) => (hasNaN(a, b) ? NaN : (a === b ? keep : ieee)(which, a, b)),
      true,
    ),
  ),
  floats("signed-zero", isReduced, ({ data: { dtype } }) => {
    const round = rounderOf(dtype);
    return [
      ["results of -0 became 0", { arithmetic: { round: (value) => withoutSign(round(value)) } }],
    ];
  }),
  floats("signed-zero", always, [
    ["-0 became 0 in the whole output", { arithmetic: { finish: withoutSign } }, "whole-output"],
  ]),
  // Versions with their own comparison differ from IEEE 754.
  floats(
    "nan-one-operand",
    (rule) => isComparison(rule) && rule.call.settings.stays !== undefined,
    [
      [
        "max and min compared as IEEE 754 does: NaN if an operand was NaN, and -0 below 0",
        { arithmetic: { compare: ieee } },
        "ieee",
      ],
    ],
  ),
  floats("nan-one-operand", isComparison, [
    [
      "NaNs were ignored: the other operand was kept",
      { arithmetic: { compare: (which, a, b) => (a !== a ? b : b !== b ? a : ieee(which, a, b)) } },
    ],
    ...forBoth(
      "a NaN was compared with a number",
      (keep) => (which, a, b) => (hasNaN(a, b) ? keep : ieee)(which, a, b),
      false,
    ),
    ...forBoth("an operand was NaN, or 0 was compared with -0", (keep) => keep, true),
  ]),
  floats("subnormals-flushed", always, ({ data: { dtype } }) => {
    const least = leastNormal(dtype);
    const read = (value: number): number => (Math.abs(value) < least ? zeroOf(value) : value);
    const toNearest = rounderOf(dtype);
    const round = (value: number): number => read(toNearest(value));
    return [
      flushed("operands and results", { read, round }),
      flushed("results", { round }),
      flushed("operands", { read }),
      flushed("all elements", { read, round, finish: read }),
    ];
  }),
];
