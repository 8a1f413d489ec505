/**
 * Kernels that combine slices: scatters with a reduction. Where the order of updates cannot change the bits, all updates are
 * applied at once, by atomic operations. Else they are sorted by target, and one invocation applies those of a target one
 * after the other.
 */

import { GPU } from "../../core/limits.ts";
import { DTYPES, isUnsigned, type DType, type Step } from "../../core/tensor/dtype.ts";
import { combineSource } from "./arithmetic.ts";
import { laneSource, perWordOf } from "./elements.ts";
import { kernelOf, type Kernel } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";
import { lookupOf, lookupParams, positionsOf, type Lookup, type Targets } from "./targets.ts";

/** A step that is no move. */
export type CombineStep = Exclude<Step, "none">;

/**
 * Whether updates give the same bits in any order: all steps of integers and booleans, and the greatest and the least of
 * floats. Of integers of 64 bits only sums are put together from words; there is no atomic operation on two.
 */
export function isOrderFree(dtype: DType, step: CombineStep): boolean {
  switch (DTYPES[dtype].family) {
    case "int64":
      return step === "add" || step === "sub";
    case "float":
    case "half":
      return step === "max" || step === "min";
    default:
      return true;
  }
}

/** Applies all updates at once: one invocation for each element of updates. */
export function combineInAnyOrder(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  step: CombineStep,
  updates: Span,
  out: Span,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const params = { ...lookupParams(targets), slice: targets.slice, slot };
  const buffers = { status, targets: targets.targets, updates, out };
  const kernel = atomicKernel(dtype, step, lookup);
  recording.run(kernel, positionsOf(targets) * targets.slice, params, buffers, GPU.atomics);
}

function atomicKernel(dtype: DType, step: CombineStep, lookup: Lookup): Kernel {
  const isSigned = isNative(dtype, step) && !isUnsigned(dtype);
  return kernelOf(`${dtype} ${step} at once ${lookup.name}`, () => ({
    isGuarded: true,
    params: ["slice", ...lookup.params],
    buffers: { targets: "read", updates: "read", out: isSigned ? "atomic signed" : "atomic" },
    declarations: `${elementSource(dtype, step)}${lookup.declarations}`,
    body: `  let t = targetOf(i / params.slice);
  if (t == NOWHERE) { return; }
  let to = t * params.slice + i % params.slice;
${atomicStatements(dtype, step)}`,
  }));
}

/** Whether WGSL has the atomic operation: add and sub, which wrap, and max and min of whole words. */
const isNative = (dtype: DType, step: CombineStep): boolean =>
  dtype === "int32" || dtype === "uint32" ? step !== "mul" : false;

const NATIVE: Readonly<Record<string, string>> = {
  add: "atomicAdd",
  sub: "atomicSub",
  max: "atomicMax",
  min: "atomicMin",
};

/** What an atomic kernel needs beside the lookup. */
function elementSource(dtype: DType, step: CombineStep): string {
  const perWord = perWordOf(dtype);
  const lanes = perWord === 1 ? "" : laneSource(perWord);
  const isOwn = isNative(dtype, step) || DTYPES[dtype].family === "int64";
  return lanes + (isOwn ? "" : combineSource(dtype, step));
}

function atomicStatements(dtype: DType, step: CombineStep): string {
  if (isNative(dtype, step)) {
    const update = isUnsigned(dtype) ? "updates[i]" : "bitcast<i32>(updates[i])";
    return `  ${NATIVE[step]}(&out[to], ${update});`;
  }
  if (DTYPES[dtype].family === "int64") return ADD_PAIRS[step === "sub" ? "sub" : "add"];
  const perWord = perWordOf(dtype);
  const [word, update, old, next] =
    perWord === 1
      ? ["to", "updates[i]", "word", "combine(word, update)"]
      : [
          "wordOf(to)",
          "(updates[wordOf(i)] >> shiftOf(i)) & MASK",
          "(word >> shiftOf(to)) & MASK",
          "(word & ~(MASK << shiftOf(to))) | (combine(old, update) << shiftOf(to))",
        ];
  // What does not change the word counts as done when the word was read.
  return `  let update = ${update};
  var word = atomicLoad(&out[${word}]);
  loop {
    let old = ${old};
    let next = ${next};
    if (next == word) { break; }
    let result = atomicCompareExchangeWeak(&out[${word}], word, next);
    if (result.exchanged) { break; }
    word = result.old_value;
  }`;
}

/** Each addition to the low word knows its own carry, so that the carries of all of them are right in any order. */
const addPair = (low: string, high: string): string => `  let low = ${low};
  let old = atomicAdd(&out[2u * to], low);
  let high = ${high} + select(0u, 1u, old + low < old);
  if (high != 0u) { atomicAdd(&out[2u * to + 1u], high); }`;

const ADD_PAIRS = {
  add: addPair("updates[2u * i]", "updates[2u * i + 1u]"),
  sub: addPair(
    "~updates[2u * i] + 1u",
    "~updates[2u * i + 1u] + select(0u, 1u, updates[2u * i] == 0u)",
  ),
} as const;

/** Positions in the order of their targets, those of one target in their own order. */
export interface SortedTargets {
  /** The target of each, then the position. */
  readonly keys: Span;
  readonly positions: Span;
  readonly count: number;
  readonly slice: number;
}

/**
 * Applies the updates of each target one after the other. First those of all targets, each as far as the block in which they
 * begin; then block by block what goes on in the next one, which is one target at most.
 */
export function combineInOrder(
  recording: Recording,
  { keys, positions, count, slice }: SortedTargets,
  dtype: DType,
  step: CombineStep,
  updates: Span,
  out: Span,
  { status, slot }: Guard,
): void {
  const kernel = orderedKernel(dtype, step);
  const buffers = { status, keys, positions, updates, out };
  const { block } = GPU;
  const params = { count, slice, slot, block };
  recording.run(kernel, count * slice, { ...params, begin: 0, goesOn: 0 }, buffers);
  for (let begin = block; begin < count; begin += block) {
    recording.run(kernel, slice, { ...params, begin, goesOn: 1 }, buffers);
  }
}

function orderedKernel(dtype: DType, step: CombineStep): Kernel {
  const { load, store, isAtomic, declarations } = accessOf(dtype);
  return kernelOf(`${dtype} ${step} in order`, () => ({
    isGuarded: true,
    params: ["begin", "block", "count", "slice", "goesOn"],
    buffers: {
      keys: "read",
      positions: "read",
      updates: "read",
      out: isAtomic ? "atomic" : "write",
    },
    declarations: declarations + combineSource(dtype, step),
    body: `  var at = params.begin + i / params.slice;
  let column = i % params.slice;
  let t = keys[at];
  if (t == NOWHERE) { return; }
  // The first update of a target, or of what is left of it in this block, applies all of them.
  var goesOn = 0u;
  if (at != 0u) { goesOn = select(0u, 1u, keys[at - 1u] == t); }
  if (goesOn != params.goesOn) { return; }
  let end = min(params.count, (at / params.block + 1u) * params.block);
  let to = t * params.slice + column;
  let before = ${load("out", "to")};
  var value = before;
  while (at < end) {
    if (keys[at] != t) { break; }
    let u = positions[at] * params.slice + column;
    value = combine(value, ${load("updates", "u")});
    at++;
  }
  ${store}`,
  }));
}

/** The word in which an element is; other invocations may be changing that of an output. */
const wordAt = (buffer: string, at: string): string =>
  buffer === "out" ? `atomicLoad(&out[wordOf(${at})])` : `${buffer}[wordOf(${at})]`;

/** How an invocation reads an element, and writes the one that it owns. */
function accessOf(dtype: DType): {
  readonly load: (buffer: string, at: string) => string;
  /** Writes `value`, which was `before`, at `to`. */
  readonly store: string;
  readonly isAtomic: boolean;
  readonly declarations: string;
} {
  const perWord = perWordOf(dtype);
  if (perWord !== 1) {
    return {
      load: (buffer, at) => `((${wordAt(buffer, at)} >> shiftOf(${at})) & MASK)`,
      store: "atomicXor(&out[wordOf(to)], (before ^ value) << shiftOf(to));",
      isAtomic: true,
      declarations: laneSource(perWord),
    };
  }
  const isPair = DTYPES[dtype].bytes === 8;
  return {
    load: (buffer, at) =>
      isPair ? `vec2(${buffer}[2u * ${at}], ${buffer}[2u * ${at} + 1u])` : `${buffer}[${at}]`,
    store: isPair ? "out[2u * to] = value.x; out[2u * to + 1u] = value.y;" : "out[to] = value;",
    isAtomic: false,
    declarations: "",
  };
}
