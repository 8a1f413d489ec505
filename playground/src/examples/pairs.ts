/**
 * Pairs of examples: two calls that differ in one detail, or one call under the rules of two systems. The page shows
 * one side of the pair, with a toggle for the other side.
 */

import type { DialectId } from "ndscatter";
import { CONFUSIONS_GROUP, PRESETS } from "./presets.ts";

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

/** A side, identified by the title of a common confusion. */
type Written = readonly [label: string, title: string, dialect?: DialectId];

// prettier-ignore
const WRITTEN: readonly (readonly [by: string, one: Written, other: Written])[] = [
  [
    "reduction",
    ["none", "Duplicates: without a reduction, the last one wins"],
    ["add", "Duplicates: with add, all updates count"],
  ],
  [
    "system",
    ["ONNX", "Duplicates: what ONNX leaves open", "onnx"],
    ["TensorFlow", "Duplicates: what ONNX leaves open", "tensorflow-cpu"],
  ],
  [
    "axis",
    ["axis 0", "Axis 0: an index is a row"],
    ["axis 1", "Axis 1: an index is a column"],
  ],
  [
    "operator",
    ["ScatterND", "ScatterND: a row of indices is one address"],
    ["ScatterElements", "torch.scatter is ScatterElements"],
  ],
  [
    "operator",
    ["GatherElements", "GatherElements: an index picks one element"],
    ["Gather", "Gather: an index picks a whole slice"],
  ],
  [
    "batch_dims",
    ["batch_dims 0", "batch_dims 0: tuples address all of data"],
    ["batch_dims 1", "batch_dims 1: each batch has its own tuple"],
  ],
  [
    "domain",
    ["ONNX: an error", "Out of range in Gather-13 is an error"],
    ["OpenVINO: 0", "Out of range in Gather-8 gives 0"],
  ],
  [
    "shape of indices",
    ["[3, 1]", "A list of scalars needs one more axis"],
    ["[3]", "… and without it is refused"],
  ],
  [
    "mode",
    ["circular", "TensorScatter, circular: the cache is a ring"],
    ["linear", "TensorScatter, linear: the same does not fit"],
  ],
];

export const PAIRS: readonly Pair[] = WRITTEN.map(([by, one, other]) => ({
  by,
  sides: [sideOf(one), sideOf(other)],
}));

function sideOf([label, title, dialect]: Written): Side {
  const found = PRESETS.find((one) => one.group === CONFUSIONS_GROUP && one.title === title);
  // Unknown titles get unknown ids, which a test detects.
  return { label, preset: found?.id ?? "", ...(dialect && { dialect }) };
}

/** Returns the pair that contains a preset, or null. A preset belongs to at most one pair. */
export const pairOf = (presetId: string): Pair | null =>
  PAIRS.find(({ sides }) => sides.some(({ preset }) => preset === presetId)) ?? null;
