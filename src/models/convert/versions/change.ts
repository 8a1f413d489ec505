/**
 * The changes between consecutive versions of ONNX operators, in both directions. Most changes require no rewriting:
 * the version accepts more data types, or adds an attribute whose default keeps the old meaning. Nodes that do not use
 * a new feature stay unchanged. The conversion refuses a node if it cannot decide whether a change matters, for example
 * because a data type is unknown. Otherwise some models would silently change their results.
 */

import type { ModelNode } from "../../model/model.ts";
import { quote } from "../../model/graph.ts";
import { isUnsigned } from "../../../core/tensor/dtype.ts";
import { refusal } from "../meaning.ts";
import { attributeValue, int, intOf, withAttribute, withoutAttributes } from "./node-edits.ts";
import type { Step } from "./step.ts";

type Rewrite = (node: ModelNode, step: Step) => ModelNode;

/** Part of a version change. A missing direction needs no rewriting. */
export interface Part {
  readonly up?: Rewrite;
  readonly down?: Rewrite;
}

export interface Change {
  /** The version that introduced the change, which equals its first opset. */
  readonly since: number;
  readonly up: Rewrite;
  readonly down: Rewrite;
}

/** Creates the change of one version. A part that replaces the node by several nodes must come last. */
export function at(since: number, ...parts: readonly Part[]): Change {
  const all =
    (direction: keyof Part): Rewrite =>
    (node, step) =>
      parts.reduce((one, part) => part[direction]?.(one, step) ?? one, node);
  return { since, up: all("up"), down: all("down") };
}

const check =
  (test: (node: ModelNode, step: Step) => void): Rewrite =>
  (node, step) => {
    test(node, step);
    return node;
  };

/** The default positions of a type change: in most operators the first input and the first output share a data type. */
const FIRST = "0 >0";

/**
 * The newer version accepts more data types. In `where`, `0` is the first input, `>0` the first output, `*` every
 * input, and `>*` every output; listed positions share a data type, and `*` positions may differ.
 */
export const takes = (types: readonly string[], where = FIRST): Part => ({
  down: check((node, step) => checkTypes(node, step, types, where)),
});

/** The newer version accepts fewer data types. */
export const loses = (types: readonly string[]): Part => ({
  up: check((node, step) => checkTypes(node, step, types, FIRST)),
});

function checkTypes(node: ModelNode, step: Step, types: readonly string[], where: string): void {
  const groups = where.split(" ").flatMap((place) => {
    const values = place.startsWith(">") ? node.outputs : node.inputs;
    if (place.endsWith("*")) return values.map((name) => [name]);
    return [[values[Number(place.replace(">", ""))] ?? ""]];
  });
  const named = groups.flat().filter((name) => name !== "");
  for (const names of where.includes("*") ? named.map((name) => [name]) : [named]) {
    const dtype = names.map((name) => step.dtypeOf(name)).find((one) => one !== null);
    if (dtype !== undefined && types.includes(dtype))
      throw refusal(`${step.title} does not accept ${dtype}`);
    if (dtype === undefined && names.length > 0) {
      throw refusal(
        `${step.title} accepts fewer data types, and the data type of ${quote(names[0])} is unknown`,
      );
    }
  }
}

type Plain = number | string;

/** Values that had to share a data type may differ in the newer version. */
export const oneType = (...positions: readonly number[]): Part => ({
  down: check(({ inputs }, step) => {
    const names = positions.map((position) => inputs[position] ?? "").filter((one) => one !== "");
    const types = new Set(names.map((name) => step.dtypeOf(name)));
    if (types.size === 1 && !types.has(null)) return;
    throw refusal(`${step.title} needs the same data type for ${names.map(quote).join(", ")}`);
  }),
});

export const ONES = "ones";

/**
 * A new attribute whose default keeps the old meaning. If `standard` is null, only omitting the attribute keeps the old
 * meaning.
 */
export const option = (name: string, standard: Plain | null): Part => ({
  down: (node, { title }) => {
    const value = attributeValue(node, name);
    if (value === undefined) return node;
    const isStandard =
      standard === ONES
        ? Array.isArray(value) && value.every((one) => Number(one) === 1)
        : value === standard;
    if (isStandard) return withoutAttributes(node, name);
    throw refusal(`${title} has no ${name}, which is ${print(value)}`);
  },
});

/** A new attribute that has no effect on the older data types. */
export const meaningless = (name: string): Part => ({
  down: (node) => withoutAttributes(node, name),
});

/** An attribute whose default value changed or was added. */
export const standardWas = (name: string, before: Plain): Part => ({
  up: (node) => {
    if (attributeValue(node, name) !== undefined) return node;
    return withAttribute(
      node,
      name,
      typeof before === "number" ? int(before) : { type: "string", value: before },
    );
  },
});

/** A new attribute whose default changes the meaning; its value `before` keeps the old meaning. */
export const newMeaning = (name: string, before: string): Part => ({
  up: (node) => withAttribute(node, name, { type: "string", value: before }),
  down: (node, step) => {
    if (attributeValue(node, name) === before) return withoutAttributes(node, name);
    throw refusal(`${step.title} always means ${name} ${quote(before)}`);
  },
});

/**
 * An attribute that the newer version removed. Only the meaning of the value `standard` remains; `before` was the
 * default.
 */
export const gone = (name: string, standard: number, before = standard): Part => ({
  up: (node, { title }) => {
    const value = intOf(node, name, before);
    if (value === standard) return withoutAttributes(node, name);
    throw refusal(`${title} has no ${name}, which is ${value}`);
  },
});

/** An attribute that never affected the result. */
export const useless = (...names: readonly string[]): Part => ({
  up: (node) => withoutAttributes(node, ...names),
});

export const newWords = (name: string, ...words: readonly string[]): Part => ({
  down: check((node, { title }) => refuseWords(node, name, words, title)),
});

/** Values that the newer version removed from a string attribute. */
export const lostWords = (name: string, ...words: readonly string[]): Part => ({
  up: check((node, { title }) => refuseWords(node, name, words, title)),
});

function refuseWords(node: ModelNode, name: string, words: readonly string[], title: string): void {
  const value = attributeValue(node, name);
  if (typeof value === "string" && words.includes(value))
    throw refusal(`${title} has no ${name} ${quote(value)}`);
}

/** Renamed values of a string attribute. The first pair contains the old and the new default. */
export function otherWords(name: string, pairs: Readonly<Record<string, string>>): Part {
  const reverse = Object.fromEntries(Object.entries(pairs).map(([a, b]) => [b, a]));
  const reworded =
    (words: Readonly<Record<string, string>>): Rewrite =>
    (node) => {
      const value = attributeValue(node, name);
      if (typeof value !== "string" || !Object.hasOwn(words, value)) return node;
      return withAttribute(node, name, { type: "string", value: words[value] });
    };
  return { up: reworded(pairs), down: reworded(reverse) };
}

const isGiven = (names: readonly string[], position: number): boolean =>
  (names[position] ?? "") !== "";

export const newInput = (position: number, name: string): Part => ({
  down: check(({ inputs }, { title }) => {
    if (isGiven(inputs, position)) throw refusal(`${title} has no input ${name}`);
  }),
});

export const optionalInput = (position: number, name: string): Part => ({
  down: check(({ inputs }, { title }) => {
    if (!isGiven(inputs, position)) throw refusal(`${title} needs the input ${name}`);
  }),
});

/** The newer version accepts a first input of other ranks. */
export const ofRank = (rank: number): Part => ({
  down: check(({ inputs }, step) => {
    if (step.rankOf(inputs[0] ?? "") !== rank)
      throw refusal(`${step.title} accepts only inputs of rank ${rank}`);
  }),
});

/** The newer version gives negative integers in the first input another meaning. */
export function negativesDiffer(why: string): Part {
  const test = check(({ inputs }, step) => {
    const [name = ""] = inputs;
    const dtype = step.dtypeOf(name);
    if (dtype !== null && isUnsigned(dtype)) return;
    if (step.integersOf(name)?.every((one) => one >= 0n) !== true)
      throw refusal(`${step.title} has a different meaning: ${why}`);
  });
  return { up: test, down: test };
}

/** The newer version accepts negative axes in a list. */
export const axesFromBack = (name: string): Part => ({
  down: check((node, { title }) => {
    const value = attributeValue(node, name);
    if (Array.isArray(value) && value.some((axis) => axis < 0))
      throw refusal(`${title} needs nonnegative ${name}, got ${print(value)}`);
  }),
});

/**
 * The newer version broadcasts inputs as NumPy does. Older versions enabled broadcasting by an attribute, which could
 * also align other axes.
 */
export const broadcasting: Part = {
  up: (node, { title }) => {
    if (attributeValue(node, "axis") === undefined) return withoutAttributes(node, "broadcast");
    throw refusal(`${title} has no attribute axis for its second input`);
  },
  down: check(({ inputs }, step) => {
    const [a, b] = inputs.map((name) => step.shapeOf(name));
    const isSame = a != null && b != null && a.length === b.length;
    if (!isSame || a.some((dim, axis) => dim === null || dim !== b[axis]))
      throw refusal(`${step.title} does not broadcast its inputs, and their shapes may differ`);
  }),
};

/** The newer version added or changed the outputs after the first output. */
export function onlyFirstOutput(): Part {
  const test = check(({ outputs }, { title }) => {
    if (outputs.slice(1).some((name) => name !== ""))
      throw refusal(`${title} has different outputs after the first output`);
  });
  return { up: test, down: test };
}

/** A change of meaning that the other version cannot express. */
export const otherMeaning = (why: string): Part => ({ ...newer(why), up: refuse(why) });

/** A feature that the older version cannot express. */
export const newer = (why: string): Part => ({ down: refuse(why) });

const refuse = (why: string): Rewrite =>
  check((_, { title }) => {
    throw refusal(`${title} has a different meaning: ${why}`);
  });

const print = (value: unknown): string =>
  typeof value === "string" ? quote(value) : `${value}`.replaceAll(",", ", ");
