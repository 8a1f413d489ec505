/**
 * Pairs of examples: two calls that differ in one detail, or one call under the rules of two systems. The page shows
 * one side of the pair, with a toggle for the other side.
 */

import type { DialectId } from "ndscatter";
import { CONFUSIONS } from "./confusions.ts";
import { presetOf } from "./preset.ts";
import { CONFUSIONS_GROUP } from "./presets.ts";

/** One side of a pair: a preset under its version's rule or another system's rule. */
export interface Side {
  readonly label: string;
  readonly preset: string;
  /** The system whose rule applies; absent for the rule of the preset's version. */
  readonly dialect?: DialectId;
}

export interface Pair {
  /** The difference between the two sides. */
  readonly by: string;
  readonly sides: readonly [Side, Side];
}

/** The sides of calls that differ in one detail; the two sides of a pair follow each other. */
const SIDES = CONFUSIONS.flatMap((row) => {
  const [by, label] = row[4] ?? [];
  return label === undefined ? [] : [{ by, label, preset: presetOf(CONFUSIONS_GROUP, row).id }];
});

/** A call that two systems run in different ways. */
const OPEN = "classic-confusions-duplicates-what-onnx-leaves-open";

export const PAIRS: readonly Pair[] = [
  ...SIDES.flatMap(({ by = "", ...one }, at): Pair[] => {
    const { by: _, ...other } = SIDES[at + 1] ?? one;
    return at % 2 === 1 ? [] : [{ by, sides: [one, other] }];
  }),
  {
    by: "system",
    sides: [
      { label: "ONNX", preset: OPEN, dialect: "onnx" },
      { label: "TensorFlow", preset: OPEN, dialect: "tensorflow-cpu" },
    ],
  },
];

/** Returns the pair that contains a preset, or null. A preset belongs to at most one pair. */
export const pairOf = (presetId: string): Pair | null =>
  PAIRS.find(({ sides }) => sides.some(({ preset }) => preset === presetId)) ?? null;
