/**
 * Pairs of examples: two calls that differ in one detail, or one call under the rules of two systems. The page shows
 * one side of the pair, with a toggle for the other side.
 */

import type { DialectId } from "ndscatter";
import { CONFUSIONS, type Confusion } from "./confusions.ts";
import { CONFUSIONS_GROUP, presetOf } from "./presets.ts";

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

const idOf = (confusion: Confusion): string => presetOf(CONFUSIONS_GROUP, confusion).id;

/** Examples that differ in one detail follow each other in the list. */
const ofExamples = CONFUSIONS.filter(({ pair }) => pair !== undefined);

const sideOf = (one: Confusion): Side => ({ label: one.pair?.[1] ?? "", preset: idOf(one) });

/** Calls that two systems run in different ways. */
const ofSystems = CONFUSIONS.filter(({ title }) => title.endsWith("what ONNX leaves open"));

export const PAIRS: readonly Pair[] = [
  ...ofExamples.flatMap((one, at): Pair[] =>
    at % 2 === 1
      ? []
      : [{ by: one.pair?.[0] ?? "", sides: [sideOf(one), sideOf(ofExamples[at + 1])] }],
  ),
  ...ofSystems.map((one): Pair => {
    const preset = idOf(one);
    return {
      by: "system",
      sides: [
        { label: "ONNX", preset, dialect: "onnx" },
        { label: "TensorFlow", preset, dialect: "tensorflow-cpu" },
      ],
    };
  }),
];

/** Returns the pair that contains a preset, or null. A preset belongs to at most one pair. */
export const pairOf = (presetId: string): Pair | null =>
  PAIRS.find(({ sides }) => sides.some(({ preset }) => preset === presetId)) ?? null;
