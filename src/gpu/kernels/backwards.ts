/**
 * Defines the kernels that only gradients need, besides the moves, sums and divisions in other files. The results are
 * bit-identical to those of `core/kernels/backwards.ts`. All elements are floats of 4 or 2 bytes.
 *
 * For `max` and `min`, a table has one word per element of data. The table contains the number of operands that equal
 * the result, or the key of the operand that receives the gradient. For products, a single invocation processes all
 * updates of a target in order.
 */

import type { Ties } from "../../core/kernels/backwards.ts";
import { GPU } from "../../core/limits.ts";
import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { combineSource, divideSource, equalSource, negatedSource } from "./arithmetic.ts";
import {
  accessOf,
  ORDERED_PARAMS,
  runInOrder,
  type OrderedPart,
  type SortedTargets,
} from "./combine.ts";
import { laneSource, perWordOf } from "./elements.ts";
import { kernelOf, type Kernel } from "./kernel.ts";
import { copyOnGpu, UNLESS_BAD } from "./moves.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";
import { lookupOf, lookupParams, mostHit, positionsOf, type Targets } from "./targets.ts";

/**
 * Fills a result with zeros. A new result is filled even after a failed call, while any other result is left unchanged.
 */
export function clearOnGpu(recording: Recording, out: Span, isNew: boolean, guard: Guard): void {
  if (isNew) recording.clear(out);
  else copyOnGpu(recording, recording.zeros(out.bytes), out, guard);
}

/** WGSL for accessing elements that may share a word. */
interface Lanes {
  readonly declarations: string;
  /** Returns an expression for the bits of an element in a buffer that no other invocation changes. */
  readonly load: (buffer: string, at: string) => string;
  /**
   * Returns statements that replace all elements in word `i` of `out`. `statements` must change the variable `value`,
   * which contains the bits of `element`. The bytes after the last element are not changed.
   */
  readonly replace: (statements: string) => string;
}

function lanesOf(dtype: DType): Lanes {
  const perWord = perWordOf(dtype);
  if (perWord === 1) {
    return {
      declarations: "",
      load: (buffer, at) => `${buffer}[${at}]`,
      replace: (statements) => `  let element = i;
  if (element >= params.elements) { return; }
  var value = out[i];
${statements}
  out[i] = value;`,
    };
  }
  return {
    declarations: laneSource(perWord),
    load: (buffer, at) => `((${buffer}[wordOf(${at})] >> shiftOf(${at})) & MASK)`,
    replace: (statements) => `  var word = out[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    if (element >= params.elements) { break; }
    let old = (word >> shiftOf(element)) & MASK;
    var value = old;
${statements}
    word ^= (old ^ value) << shiftOf(element);
  }
  out[i] = word;`,
  };
}

const wordsOf = (dtype: DType, elements: number): number => Math.ceil(elements / perWordOf(dtype));

/** Negates all slices of the sequential side that have a target, and replaces NaNs by the canonical NaN. */
export function negateOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  out: Span,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const { slice } = targets;
  const elements = positionsOf(targets) * slice;
  const lanes = lanesOf(dtype);
  const kernel = kernelOf(`${dtype} negate ${lookup.name}`, () => ({
    isGuarded: true,
    params: ["slice", "elements", ...lookup.params],
    buffers: { targets: "read", out: "write" },
    declarations: lookup.declarations + lanes.declarations + negatedSource(dtype),
    body: lanes.replace(
      "  if (targetOf(element / params.slice) != NOWHERE) { value = negated(value); }",
    ),
  }));
  const params = { ...lookupParams(targets), slice, elements, slot };
  const bytes = targets.targets.bytes + 2 * out.bytes;
  const buffers = { status, targets: targets.targets, out };
  recording.run(kernel, wordsOf(dtype, elements), bytes, params, buffers);
}

/**
 * The values that operands equal to the result write into the table: `own` for data, and `key` for the update at
 * position `p`.
 */
interface Marks {
  readonly atomic: "atomicAdd" | "atomicMax";
  readonly own: string;
  readonly key: string;
}

/**
 * The values for each rule about ties. With `first`, the first operand has the greatest key, and with `last`, the last
 * operand; data precedes all updates.
 */
const MARKS: Readonly<Record<Exclude<Ties, "all">, Marks>> = {
  even: { atomic: "atomicAdd", own: "1u", key: "1u" },
  first: { atomic: "atomicMax", own: "0xffffffffu", key: "0xfffffffeu - p" },
  last: { atomic: "atomicMax", own: "1u", key: "p + 2u" },
};

/** The operands of `max` or `min`, and the result. */
export interface Extremes {
  readonly dtype: DType;
  readonly ties: Ties;
  readonly data: Span;
  readonly updates: Span;
  /** The result of the scatter. */
  readonly best: Span;
  readonly size: number;
  /** False if the first update of a target replaces data. */
  readonly includeSelf: boolean;
}

/** Fills the table of a scatter with `max` or `min`. */
export function markEqual(
  recording: Recording,
  targets: Targets,
  ties: Exclude<Ties, "all">,
  { dtype, data, updates, best, size, includeSelf }: Omit<Extremes, "ties">,
  table: Span,
  { status, slot }: Guard,
): void {
  const { declarations, load } = lanesOf(dtype);
  const { atomic, own, key } = MARKS[ties];
  if (!includeSelf) recording.clear(table);
  else {
    const kernel = kernelOf(`${dtype} mark data, ${ties}`, () => ({
      buffers: { data: "read", best: "read", table: "write" },
      declarations: declarations + equalSource(dtype),
      body: `  table[i] = select(0u, ${own}, isEqual(${load("data", "i")}, ${load("best", "i")}));`,
    }));
    recording.run(kernel, size, data.bytes + best.bytes + 4 * size, {}, { data, best, table });
  }
  const lookup = lookupOf(targets);
  const { slice } = targets;
  const kernel = kernelOf(`${dtype} mark updates, ${ties} ${lookup.name}`, () => ({
    isGuarded: true,
    params: ["slice", ...lookup.params],
    buffers: { targets: "read", updates: "read", best: "read", table: "atomic" },
    declarations: lookup.declarations + declarations + equalSource(dtype),
    body: `  let p = i / params.slice;
  let t = targetOf(p);
  if (t == NOWHERE) { return; }
  let to = t * params.slice + i % params.slice;
  if (isEqual(${load("updates", "i")}, ${load("best", "to")})) { ${atomic}(&table[to], ${key}); }`,
  }));
  const elements = positionsOf(targets) * slice;
  const width = DTYPES[dtype].bytes;
  const bytes = targets.targets.bytes + elements * width + mostHit(targets) * slice * (width + 8);
  const buffers = { status, targets: targets.targets, updates, best, table };
  const params = { ...lookupParams(targets), slice, slot };
  recording.run(kernel, elements, bytes, params, buffers, GPU.atomics);
}

/**
 * Returns WGSL for an operand's share in `whole`, the gradient of element `to`, if the operand equals the element.
 * `key` is the table's value if only this operand receives the gradient.
 */
const shareOf = (ties: Ties, key: string, whole: string): string => {
  if (ties === "all") return `value = ${whole};`;
  if (ties !== "even") return `if (table[to] == ${key}) { value = ${whole}; }`;
  // If a single operand receives the gradient, it is only moved, so a NaN keeps its bits.
  return `value = ${whole};
    if (table[to] > 1u) { value = divide(value, table[to]); }`;
};

const shareSource = (dtype: DType, ties: Ties): string =>
  equalSource(dtype) + (ties === "even" ? divideSource(dtype) : "");

/**
 * Computes the gradient of updates, which is each update's share in the gradient of the result, or 0 for updates that
 * differ from the result.
 */
export function sharesOfUpdates(
  recording: Recording,
  targets: Targets,
  { dtype, ties, updates, best }: Extremes,
  table: Span | null,
  gradient: Span,
  out: Span,
  isNew: boolean,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const { slice } = targets;
  const { declarations, load, replace } = lanesOf(dtype);
  const key = ties === "all" ? "" : MARKS[ties].key;
  const kernel = kernelOf(`${dtype} shares of updates, ${ties} ${lookup.name}`, () => ({
    params: ["slot", "isNew", "slice", "elements", ...lookup.params],
    buffers: {
      ...{ status: "read", targets: "read", updates: "read", best: "read", gradient: "read" },
      ...(table !== null && { table: "read" }),
      out: "write",
    },
    declarations: lookup.declarations + declarations + shareSource(dtype, ties),
    body: `${UNLESS_BAD}
${replace(`  value = 0u;
  let p = element / params.slice;
  let t = select(targetOf(p), NOWHERE, isBad);
  if (t != NOWHERE) {
    let to = t * params.slice + element % params.slice;
    if (isEqual(${load("updates", "element")}, ${load("best", "to")})) {
    ${shareOf(ties, key, load("gradient", "to"))}
    }
  }`)}`,
  }));
  const elements = positionsOf(targets) * slice;
  const params = { ...lookupParams(targets), slice, elements, slot, isNew: isNew ? 1 : 0 };
  const hit = mostHit(targets) * slice * (2 * DTYPES[dtype].bytes + (table === null ? 0 : 4));
  const bytes = targets.targets.bytes + 2 * elements * DTYPES[dtype].bytes + hit;
  const buffers = { status, targets: targets.targets, updates, best, gradient, out };
  const all = table === null ? buffers : { ...buffers, table };
  recording.run(kernel, wordsOf(dtype, elements), bytes, params, all);
}

/**
 * Computes the gradient of data, which is data's share in the gradient of the result and overwrites this gradient. An
 * element without updates equals the result and has a table entry, so it keeps its gradient.
 */
export function sharesOfData(
  recording: Recording,
  { dtype, ties, data, best, size }: Omit<Extremes, "updates">,
  table: Span | null,
  out: Span,
  { status, slot }: Guard,
): void {
  const { declarations, load, replace } = lanesOf(dtype);
  const own = ties === "all" ? "" : MARKS[ties].own;
  const kernel = kernelOf(`${dtype} shares of data, ${ties}`, () => ({
    isGuarded: true,
    params: ["elements"],
    buffers: {
      ...{ data: "read", best: "read", out: "write" },
      ...(table !== null && { table: "read" }),
    },
    declarations: declarations + shareSource(dtype, ties),
    body: replace(`  let to = element;
  let whole = value;
  value = 0u;
  if (isEqual(${load("data", "to")}, ${load("best", "to")})) {
    ${shareOf(ties, own, "whole")}
  }`),
  }));
  const bytes = data.bytes + best.bytes + 2 * out.bytes + (table?.bytes ?? 0);
  const buffers = { status, data, best, out };
  const all = table === null ? buffers : { ...buffers, table };
  recording.run(kernel, wordsOf(dtype, size), bytes, { elements: size, slot }, all);
}

/** Reverses sorted targets, so that the updates of a target are processed from the last to the first. */
export function reversed(recording: Recording, sorted: SortedTargets): SortedTargets {
  const { keys, positions, count } = sorted;
  const [nextKeys, nextPositions] = [recording.scratch(4 * count), recording.scratch(4 * count)];
  const kernel = kernelOf("reverse", () => ({
    params: ["count"],
    buffers: { keys: "read", positions: "read", nextKeys: "write", nextPositions: "write" },
    body: `  nextKeys[i] = keys[params.count - 1u - i];
  nextPositions[i] = positions[params.count - 1u - i];`,
  }));
  const buffers = { keys, positions, nextKeys, nextPositions };
  recording.run(kernel, count, 16 * count, { count }, buffers);
  return { ...sorted, keys: nextKeys, positions: nextPositions };
}

/** Computes the value of each target before each of its updates, in `values`, which changes from data to the result. */
export function productsBefore(
  recording: Recording,
  sorted: SortedTargets,
  dtype: DType,
  includeSelf: boolean,
  updates: Span,
  values: Span,
  made: Span,
  guard: Guard,
): void {
  const next = includeSelf
    ? "value = combine(value, update);"
    : `let isFirst = at == 0u || keys[max(at, 1u) - 1u] != t;
    value = select(combine(value, update), update, isFirst);`;
  const name = `${dtype} products before${includeSelf ? "" : ", first replaces"}`;
  const statements = `    ${storeMade(dtype, "value")}
    ${next}`;
  runProducts(recording, sorted, dtype, name, statements, { updates, out: values, made }, guard);
}

/**
 * Computes the gradient of each update, which is the gradient of the result times all later updates and the value
 * before the update. `backwards` contains the targets from `reversed`. `before` contains the values from
 * `productsBefore`. `share` is the gradient of the result, which is overwritten.
 */
export function productsAfter(
  recording: Recording,
  backwards: SortedTargets,
  dtype: DType,
  includeSelf: boolean,
  updates: Span,
  before: Span,
  share: Span,
  made: Span,
  guard: Guard,
): void {
  const { load } = accessOf(dtype);
  const product = `combine(value, ${load("products", "u")})`;
  const isFirst = `let isFirst = at + 1u == params.count || keys[min(at + 1u, params.count - 1u)] != t;
    `;
  const own = includeSelf ? product : `select(${product}, value, isFirst)`;
  const name = `${dtype} products after${includeSelf ? "" : ", first replaces"}`;
  const statements = `    ${includeSelf ? "" : isFirst}let product = ${own};
    ${storeMade(dtype, "product")}
    value = combine(value, update);`;
  const buffers = { updates, products: before, out: share, made };
  runProducts(recording, backwards, dtype, name, statements, buffers, guard);
}

/** Returns a statement that writes bits to element `u` of `made`, which no other invocation writes. */
const storeMade = (dtype: DType, value: string): string =>
  perWordOf(dtype) === 1
    ? `made[u] = ${value};`
    : `{
      let old = (atomicLoad(&made[wordOf(u)]) >> shiftOf(u)) & MASK;
      atomicXor(&made[wordOf(u)], (old ^ ${value}) << shiftOf(u));
    }`;

/** `statements` processes one update: `u` is its element, `update` its value, and `value` the target's value. */
function runProducts(
  recording: Recording,
  sorted: SortedTargets,
  dtype: DType,
  name: string,
  statements: string,
  buffers: Readonly<Record<"updates" | "out" | "made", Span> & { products?: Span }>,
  guard: Guard,
): void {
  const { load, store, isAtomic, declarations } = accessOf(dtype);
  const written = isAtomic ? "atomic" : "write";
  const kernelOfPart = (part: OrderedPart): Kernel =>
    kernelOf(`${name}, ${part.name}`, () => ({
      isGuarded: true,
      params: [...ORDERED_PARAMS, ...part.params],
      buffers: {
        ...{ keys: "read", positions: "read", updates: "read" },
        ...(buffers.products !== undefined && { products: "read" }),
        ...{ out: written, made: written },
      },
      declarations: declarations + combineSource(dtype, "mul"),
      body: `  let column = i % params.slice;
${part.begin}
  let to = t * params.slice + column;
  let before = ${load("out", "to")};
  var value = before;
  while (at < end) {
    if (keys[at] != t) { break; }
    let u = positions[at] * params.slice + column;
    let update = ${load("updates", "u")};
${statements}
    at += 1u;
  }
  ${store}`,
    }));
  const { count, slice, slices } = sorted;
  const each = (buffers.products === undefined ? 2 : 3) * count + 2 * Math.min(count, slices);
  const moved = each * slice * DTYPES[dtype].bytes;
  runInOrder(recording, sorted, kernelOfPart, moved, buffers, guard);
}
