/** Stores the arrays and numbers that a program has defined so far, and evaluates expressions. */

import { isTensorError, TensorError } from "ndscatter";
import { checkShape } from "../../values/limits.ts";
import { sizeOf } from "../../values/shape.ts";
import { asText } from "../paste.ts";
import { Reader } from "../paste-reader.ts";
import { blockOf } from "../paste-value.ts";
import {
  filledWith,
  inferredType,
  numbers,
  reshapedTo,
  transposed,
  unstacked,
  type Arr,
} from "./arrays.ts";
import { pathOf, type Node } from "./syntax.ts";

/** An error for a part of the text that was not understood. */
export class Misread extends Error {
  readonly start: number;
  readonly end: number;
  constructor(sentence: string, { start, end }: { readonly start: number; readonly end: number }) {
    super(sentence);
    this.start = start;
    this.end = end;
  }
}

/** Libraries, by the names under which programs import them. */
const LIBRARIES: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  np: "numpy",
  numpy: "numpy",
  cp: "numpy",
  cupy: "numpy",
  mx: "numpy",
  ml_dtypes: "numpy",
  jnp: "jax",
  jax: "jax",
  lax: "jax",
  torch: "torch",
  F: "torch",
  tf: "tf",
  tensorflow: "tf",
  K: "tf",
  onnx: "onnx",
  helper: "onnx",
});

/** Returns the library of a path such as `np.add.at`; null if the path does not start with a library. */
export const libraryOf = (path: string): string | null => LIBRARIES[path.split(".")[0]] ?? null;

/** Matches calls that give a shape but no values. */
const UNKNOWN =
  /(?:^|\.)(?:rand|randn|random|random_sample|ranf|normal|standard_normal|uniform|empty|randint|integers|randperm|permutation)$/;
const WHOLE = /(?:randint|integers|randperm|permutation)$/;

/** The maximum total number of values in all arrays. */
const MOST_VALUES = 400_000;

export class Scope {
  readonly text: string;
  readonly names = new Map<string, Arr>();
  /** Expressions that are neither arrays nor calls, such as an object literal. */
  readonly others = new Map<string, Node>();
  readonly remarks: string[] = [];
  values = 0;

  constructor(text: string) {
    this.text = text;
  }

  set(name: string, array: Arr): void {
    this.values += array.values.length;
    if (this.values > MOST_VALUES) {
      throw new TensorError(
        "too-large",
        "the arrays have more elements in total than the page can read",
      );
    }
    this.names.set(name, array);
  }

  at = (node: Node): string => this.text.slice(node.start, Math.min(node.end, node.start + 40));

  /** Checks whether an expression is a name that the text does not define. */
  isElsewhere(node: Node): boolean {
    const path = pathOf(node);
    if (path === null || libraryOf(path) !== null) return false;
    const [first] = path.split(".");
    return (
      !this.names.has(first) &&
      !/^(?:True|False|None|true|false|null|undefined|nan|inf|NaN|Infinity)$/.test(path)
    );
  }

  /** Returns the array that an expression evaluates to. */
  array(node: Node): Arr {
    try {
      return this.special(node) ?? this.read(node);
    } catch (error) {
      if (error instanceof Misread) throw error;
      if (isTensorError(error)) throw new Misread(error.message, node);
      throw error;
    }
  }

  read(node: Node): Arr {
    const { text, back } = this.withNumbers(node);
    const reader = new Reader(text, "float32", { start: node.start, names: this.names });
    try {
      const block = blockOf(reader.value(0), reader.wrongAt);
      if (reader.peek() !== "") throw reader.wrong("this operation is not supported here");
      const known = node.kind === "name" ? this.names.get(node.name) : undefined;
      if (known !== undefined) return known;
      const library = this.libraryIn(node);
      const isFloat = FLOATS.test(text.slice(node.start, node.start + 80));
      const words = isFloat ? NO_WORDS : block.words;
      const dtype = reader.dtype ?? inferredType(words, library);
      return { ...asText(block, dtype, reader), isSaid: reader.dtype !== undefined };
    } catch (error) {
      if (!isTensorError(error)) throw error;
      const sentence = error.message.replace(/^line \d+, column \d+: /, "");
      const isPlaced = sentence !== error.message;
      const start = isPlaced ? Math.max(node.start, back(reader.failedAt)) : node.start;
      throw new Misread(sentence, { start, end: isPlaced ? this.wordEnd(start) : node.end });
    }
  }

  /**
   * Returns the text of an expression in which `len(x)`, `x.shape[0]`, `2 * n` and named numbers are replaced by
   * numbers. The returned function maps positions in the new text to positions in the program.
   */
  withNumbers(node: Node): { readonly text: string; back(place: number): number } {
    const parts: string[] = [];
    const moved: { readonly place: number; readonly by: number }[] = [];
    let from = 0;
    let length = 0;
    for (const one of this.numbersIn(node, node)) {
      const value = String(this.number(one));
      parts.push(this.text.slice(from, one.start), value);
      length += one.start - from + value.length;
      from = one.end;
      moved.push({ place: length, by: one.end - length });
    }
    const text = parts.join("") + this.text.slice(from, node.end);
    return {
      text,
      back: (place) => place + (moved.findLast((one) => one.place <= place)?.by ?? 0),
    };
  }

  /** Returns the subexpressions that must be replaced by numbers, from left to right. */
  numbersIn(node: Node, whole: Node): Node[] {
    const isName = node.kind === "name" && this.names.get(node.name)?.shape.length === 0;
    const isComputed = /^(?:operation|call|index|attribute)$/.test(node.kind) && !isSigned(node);
    if (node !== whole && (isName || isComputed) && this.number(node) !== null) return [node];
    return partsOf(node).flatMap((one) => this.numbersIn(one, whole));
  }

  /** Returns the end position of a word or list. */
  wordEnd(start: number): number {
    const rest = this.text.slice(start, start + 60);
    const length = /^(?:[\w.$]+|[[(][^\n\])]*[\])]?)/.exec(rest)?.[0].length ?? 1;
    return start + length;
  }

  /** Returns the library of the first path in an expression, which determines the data type of untyped elements. */
  libraryIn(node: Node): string {
    const found = /(?:^|[^\w.])(np|numpy|cp|jnp|jax|torch|tf|tensorflow)\./.exec(
      this.text.slice(node.start, Math.min(node.end, node.start + 400)),
    )?.[1];
    return (found === undefined ? null : libraryOf(`${found}.`)) ?? "";
  }

  /**
   * Evaluates expressions that the single-tensor reader does not support: new axes, unknown values, and functions such
   * as `zeros_like`.
   */
  special(node: Node): Arr | null {
    if (node.kind === "index") return this.withNewAxes(node);
    if (node.kind === "attribute" && node.name === "T") return transposed(this.array(node.of));
    if (node.kind !== "call") return null;
    const path = pathOf(node.callee) ?? "";
    const [first] = node.arguments;
    const like = /\.(zeros|ones|empty|full|rand|randn)_like$/.exec(path)?.[1];
    if (like !== undefined && first !== undefined) {
      const array = this.array(first.value);
      if (like === "zeros" || like === "ones") {
        return filledWith(array, array.shape, like === "zeros" ? "0" : "1");
      }
      const filling = node.arguments[1]?.value;
      if (like === "full" && filling !== undefined) {
        return filledWith(array, array.shape, this.array(filling).values[0] ?? "0");
      }
      return this.standIn(node, array.shape);
    }
    if (UNKNOWN.test(path)) return this.unknown(node, path);
    const inner = node.callee.kind === "attribute" ? node.callee : null;
    if (inner?.name === "unsqueeze" && first !== undefined) {
      const array = this.array(inner.of);
      const axis = this.number(first.value);
      if (axis === null) return null;
      return reshapedTo(
        array,
        array.shape.toSpliced(axis < 0 ? axis + array.shape.length + 1 : axis, 0, 1),
      );
    }
    return null;
  }

  /** Evaluates `x[:, None]` and `x[..., np.newaxis]`. */
  withNewAxes(node: Node & { kind: "index" }): Arr | null {
    const { items } = node;
    if (!items.some(isNew) || !items.every((one) => isNew(one) || one.kind === "slice"))
      return null;
    const array = this.array(node.of);
    const kept = items.filter((one) => !isNew(one));
    const slices = kept.filter((one) => one.kind === "slice" && one.isAll).length;
    const hasDots = slices < kept.length;
    if (hasDots && kept.some((one) => this.at(one) !== "..." && one.kind === "slice" && !one.isAll))
      return null;
    const rest = array.shape.length - slices;
    const shape: number[] = [];
    let from = 0;
    for (const one of items) {
      if (isNew(one)) shape.push(1);
      else if (one.kind === "slice" && one.isAll) shape.push(array.shape[from++] ?? 1);
      else for (let d = 0; d < rest; d++) shape.push(array.shape[from++] ?? 1);
    }
    return reshapedTo(array, [...shape, ...array.shape.slice(from)]);
  }

  /** Returns an array whose shape is known but whose values are not. The placeholder values count up from 0. */
  unknown(node: Node & { kind: "call" }, path: string): Arr {
    const listed = node.arguments.find(
      ({ name, value }) =>
        name === "size" || name === "shape" || (name === null && value.kind === "list"),
    );
    const isCounted = /(?:randperm|permutation)$/.test(path);
    const given = node.arguments
      .filter(({ name }) => name === null)
      .map(({ value }) => this.number(value));
    const sizes =
      listed === undefined
        ? given
        : listed.value.kind === "list"
          ? listed.value.items.map((one) => this.number(one))
          : [this.number(listed.value)];
    const shape = isCounted ? given.slice(0, 1) : sizes;
    if (shape.length === 0 || shape.some((size) => size === null || size < 0)) {
      throw new Misread("the shape of this array is not in the text", node);
    }
    const [low, high] = given.length > 1 ? given : [0, given[0] ?? null];
    const range = WHOLE.test(path) && !isCounted ? ([low ?? 0, high ?? 1] as const) : null;
    return this.standIn(node, shape.map(Number), range, WHOLE.test(path));
  }

  standIn(
    node: Node,
    shape: readonly number[],
    range: readonly [number, number] | null = null,
    isWhole = false,
  ): Arr {
    checkShape(shape, "the array");
    this.remarks.push(
      `The values of ${this.at(node)} are not in the text, so the page fills in numbers from ${range?.[0] ?? 0} up.`,
    );
    const [low, high] = range ?? [0, Infinity];
    const values = Array.from(
      { length: sizeOf(shape) },
      (_, n) => low + (n % Math.max(1, high - low)),
    );
    return {
      ...numbers(values, shape),
      dtype: isWhole ? "int64" : this.libraryIn(node) === "numpy" ? "float64" : "float32",
    };
  }

  /** Returns an expression's numeric value, or null. */
  number(node: Node): number | null {
    if (node.kind === "number") return Number(node.text.replaceAll("_", "").replace(/n$/, ""));
    if (node.kind === "name") {
      const array = this.names.get(node.name);
      return array?.values.length === 1 ? Number(array.values[0]) : null;
    }
    if (node.kind === "operation") {
      const [left, right] = node.parts.map((one) => this.number(one));
      if (left === null) return null;
      if (right === undefined) return node.sign === "-" ? -left : left;
      return right === null ? null : (OPERATIONS[node.sign]?.(left, right) ?? null);
    }
    if (node.kind === "attribute" && node.name === "ndim")
      return this.shapeOf(node.of)?.length ?? null;
    if (node.kind === "index" && node.of.kind === "attribute" && node.of.name === "shape") {
      const at = node.items.length === 1 ? this.number(node.items[0]) : null;
      return at === null ? null : (this.shapeOf(node.of.of)?.at(at) ?? null);
    }
    if (node.kind === "call") {
      const path = pathOf(node.callee);
      const [first] = node.arguments;
      if (path === "len" && first !== undefined) return this.shapeOf(first.value)?.[0] ?? null;
      if (node.callee.kind === "attribute" && node.callee.name === "size" && first !== undefined) {
        const at = this.number(first.value);
        return at === null ? null : (this.shapeOf(node.callee.of)?.at(at) ?? null);
      }
    }
    return null;
  }

  shapeOf = (node: Node): readonly number[] | null =>
    node.kind === "name" ? (this.names.get(node.name)?.shape ?? null) : null;

  /** Returns the index arrays of an index with one part per axis, such as `i, j` or `tuple(idx.T)`. */
  components(items: readonly Node[]): Arr[] {
    const [only] = items;
    if (items.length === 1 && only.kind === "list" && only.bracket === "(")
      return this.components(only.items);
    const isTuple = items.length === 1 && only.kind === "call" && pathOf(only.callee) === "tuple";
    const inner = isTuple ? only.arguments[0]?.value : undefined;
    if (inner === undefined) return items.map((one) => this.array(one));
    if (
      inner.kind === "call" &&
      pathOf(inner.callee)?.endsWith(".moveaxis") === true &&
      inner.arguments.length === 3
    ) {
      const array = this.array(inner.arguments[0].value);
      const ends = inner.arguments.slice(1).map(({ value }) => this.number(value));
      if (ends[0] === -1 && ends[1] === 0) return lastAxisParts(array);
    }
    return unstacked(this.array(inner));
  }
}

const isNew = (node: Node): boolean =>
  /^(?:None|np\.newaxis|jnp\.newaxis|tf\.newaxis)$/.test(pathOf(node) ?? "");

/** Matches calls that create floats by default. */
const FLOATS = /^(?:\w+\.){1,2}(?:zeros|ones|eye|identity|linspace)\(/;
const NO_WORDS: readonly never[] = [];

/** Checks whether an expression is a signed number, which the array reader handles. */
const isSigned = (node: Node): boolean =>
  node.kind === "operation" && node.parts.length === 1 && node.parts[0].kind === "number";

function partsOf(node: Node): readonly Node[] {
  if (node.kind === "list") return node.items;
  if (node.kind === "operation") return node.parts;
  if (node.kind === "attribute") return [node.of];
  if (node.kind === "index") return [node.of, ...node.items];
  if (node.kind !== "call") return [];
  return [node.callee, ...node.arguments.map(({ value }) => value)];
}

function lastAxisParts(array: Arr): Arr[] {
  const count = array.shape.at(-1) ?? 0;
  const shape = array.shape.slice(0, -1);
  return Array.from({ length: count }, (_, part) => ({
    ...array,
    shape,
    values: array.values.filter((_one, position) => position % count === part),
  }));
}

const OPERATIONS: Readonly<Record<string, ((a: number, b: number) => number) | undefined>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "//": (a, b) => Math.floor(a / b),
  "%": (a, b) => a - b * Math.floor(a / b),
};
