/**
 * Changes between consecutive versions that many operators share, in both directions. Nodes that do not use a new
 * feature stay unchanged. The conversion refuses a node if it cannot decide whether a change matters, for example
 * because a data type is unknown. Otherwise some models would silently change their results.
 */

import { isUnsigned } from "../../../core/tensor/dtype.ts";
import { quote } from "../../model/graph.ts";
import type { Step } from "./step.ts";

type Rewrite = (step: Step, ...settings: readonly string[]) => void;

/** A change of one version. A missing direction needs no rewriting. */
export interface Fact {
  readonly up?: Rewrite;
  readonly down?: Rewrite;
}

export type Facts = Readonly<Record<string, Fact>>;

/** A change that matters only to a node that becomes newer. */
export const up = (rewrite: Rewrite): Fact => ({ up: rewrite });
/** A change that matters only to a node that becomes older. */
export const down = (rewrite: Rewrite): Fact => ({ down: rewrite });
/** A change with the same consequence in both directions. */
export const both = (rewrite: Rewrite): Fact => ({ up: rewrite, down: rewrite });

const WIDE = ["uint32", "uint64", "int32", "int64"];
const NARROW = ["uint8", "uint16", "int8", "int16"];
export const INTEGERS: readonly string[] = [...WIDE, ...NARROW];
const OTHERS = ["bool", ...INTEGERS, "complex64", "complex128", "string"];
const FLOATS = ["float16", "float32", "float64"];
const FLOAT8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"];
const FLOAT6 = ["float6e2m3", "float6e3m2"];

/** Data types in the table's rows, by the name of their group. */
export const TYPES: Readonly<Record<string, readonly string[]>> = {
  wide: WIDE,
  narrow: NARROW,
  signed: ["int8", "int16", "int32", "int64"],
  bytes: ["uint8", "int8"],
  integers: INTEGERS,
  others: OTHERS,
  floats: FLOATS,
  all: [...FLOATS, ...OTHERS],
  float8: FLOAT8,
  float6: FLOAT6,
  /** Data types that ONNX added after the original set `all`. */
  later: [
    "bfloat16",
    ...FLOAT8,
    ...["uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2"],
    ...FLOAT6,
  ],
  /**
   * Sequences and optionals, for which this package has no data types. Conversion treats them as values of unknown
   * type.
   */
  sequences: [],
};

/** Returns the data types of a list in a row. */
export const typesOf = (list: string): readonly string[] =>
  list.split(",").flatMap((one) => TYPES[one] ?? [one]);

function checkTypes(step: Step, list: string, where = "0,>0"): void {
  const { inputs, outputs } = step.node;
  const types = typesOf(list);
  const named = where
    .split(",")
    .flatMap((place) => {
      const values = place.startsWith(">") ? outputs : inputs;
      return place.endsWith("*") ? values : [values[Number(place.replace(">", ""))] ?? ""];
    })
    .filter((name) => name !== "");
  for (const names of where.includes("*") ? named.map((name) => [name]) : [named]) {
    const dtype = names.map((name) => step.dtypeOf(name)).find((one) => one !== null);
    if (dtype !== undefined) step.require(!types.includes(dtype), `does not accept ${dtype}`);
    else if (names.length > 0)
      throw step.refusal(
        `accepts fewer data types, and the data type of ${quote(names[0])} is unknown`,
      );
  }
}

const print = (value: unknown): string =>
  typeof value === "string" ? quote(value) : `${value}`.replaceAll(",", ", ");

function refuseWords(step: Step, name: string, ...words: readonly string[]): void {
  const value = step.value(name);
  if (typeof value === "string" && words.includes(value))
    throw step.refusal(`has no ${name} ${quote(value)}`);
}

/** Renames a value of a text attribute. `words` lists each old value before its new value. */
function reword(step: Step, name: string, words: readonly string[]): void {
  const at = words.indexOf(String(step.value(name)));
  if (at % 2 === 0) step.set(name, words[at + 1]);
}

function refuseMeaning(step: Step, why: string): never {
  throw step.refusal(`has a different meaning: ${why}`);
}

export const SHARED: Facts = {
  /** The newer version accepts more data types. */
  takes: down(checkTypes),
  /** The newer version accepts fewer data types. */
  loses: up(checkTypes),
  /** Values that had to share a data type may differ in the newer version. */
  oneType: down((step, ...positions) => {
    const names = positions.map((at) => step.input(Number(at))).filter((one) => one !== "");
    const types = new Set(names.map((name) => step.dtypeOf(name)));
    const isOne = types.size === 1 && !types.has(null);
    step.require(isOne, `needs the same data type for ${names.map(quote).join(", ")}`);
  }),
  /**
   * A new attribute whose default keeps the old meaning. Without a default, only omitting the attribute keeps the old
   * meaning. The default `ones` is a list of ones.
   */
  option: down((step, name, standard) => {
    const value = step.value(name);
    if (value === undefined) return;
    const plain = /^-?\d+$/u.test(standard) ? Number(standard) : standard;
    const isStandard =
      standard === "ones"
        ? Array.isArray(value) && value.every((one) => Number(one) === 1)
        : value === plain;
    if (!isStandard) throw step.refusal(`has no ${name}, which is ${print(value)}`);
    step.drop(name);
  }),
  /** A new attribute that has no effect on the older data types. */
  meaningless: down((step, name) => step.drop(name)),
  /** An integer attribute whose default value changed or was added. */
  defaultWas: up((step, name, before) => {
    if (step.value(name) === undefined) step.set(name, Number(before));
  }),
  /** A new attribute whose default changes the meaning; its value `before` keeps the old meaning. */
  newMeaning: {
    up: (step, name, before) => step.set(name, before),
    down(step, name, before) {
      step.require(step.value(name) === before, `always means ${name} ${quote(before)}`);
      step.drop(name);
    },
  },
  /**
   * An attribute that the newer version removed. Only the meaning of the value `standard` remains; `before` was the
   * default.
   */
  gone: up((step, name, standard, before = standard) => {
    const value = step.int(name, Number(before));
    step.require(value === Number(standard), `has no ${name}, which is ${value}`);
    step.drop(name);
  }),
  /** An attribute that never affected the result. */
  useless: up((step, name) => step.drop(name)),
  /** An obsolete attribute with which an output could reuse an input's memory. */
  consumed: up((step) => step.drop("consumed_inputs")),
  newWords: down(refuseWords),
  /** Values that the newer version removed from a text attribute. */
  lostWords: up(refuseWords),
  /** Renamed values of a text attribute. The first pair contains the old and the new default. */
  otherWords: {
    up: (step, name, ...words) => reword(step, name, words),
    down: (step, name, ...words) => reword(step, name, words.toReversed()),
  },
  newInput: down((step, at, name) =>
    step.require(step.input(Number(at)) === "", `has no input ${name}`),
  ),
  optionalInput: down((step, at, name) =>
    step.require(step.input(Number(at)) !== "", `needs the input ${name}`),
  ),
  /** The newer version accepts a first input of other ranks. */
  ofRank: down((step, rank) =>
    step.require(step.rank(0) === Number(rank), `accepts only inputs of rank ${rank}`),
  ),
  /** The newer version gives negative integers in the first input another meaning. */
  negativesDiffer: both((step, why) => {
    const dtype = step.dtype(0);
    if (dtype !== null && isUnsigned(dtype)) return;
    if (step.integers(0)?.every((one) => one >= 0n) !== true) refuseMeaning(step, why);
  }),
  /** The newer version accepts negative axes in a list. */
  axesFromBack: down((step, name) => {
    const value = step.value(name);
    if (Array.isArray(value) && value.some((axis) => axis < 0))
      throw step.refusal(`needs nonnegative ${name}, got ${print(value)}`);
  }),
  /**
   * The newer version broadcasts inputs as NumPy does. Older versions enabled broadcasting by an attribute, which could
   * also align other axes.
   */
  broadcasting: {
    up(step) {
      const hasAxis = step.value("axis") !== undefined;
      step.require(!hasAxis, "has no attribute axis for its second input");
      step.drop("broadcast");
    },
    down(step) {
      const [a, b] = step.node.inputs.map((_, at) => step.shape(at));
      const isSame = a != null && b != null && a.length === b.length;
      step.require(
        isSame && a.every((dim, axis) => dim !== null && dim === b[axis]),
        "does not broadcast its inputs, and their shapes may differ",
      );
    },
  },
  /** The newer version added or changed the outputs after the first output. */
  onlyFirstOutput: both((step) =>
    step.require(
      step.node.outputs.slice(1).every((name) => name === ""),
      "has different outputs after the first output",
    ),
  ),
  /** A change of meaning that the other version cannot express. */
  otherMeaning: both(refuseMeaning),
  /** A feature that the older version cannot express. */
  newer: down(refuseMeaning),
};
