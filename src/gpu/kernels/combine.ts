/**
 * Defines the kernels that combine slices, for scatters with a reduction. If the order of updates does not affect the
 * bits, all updates are applied at the same time with atomic operations. Otherwise, updates are sorted by target, and
 * one invocation applies all updates of a target in order.
 */

import { GPU } from "../../core/limits.ts";
import { DTYPES, isUnsigned, type DType, type Step } from "../../core/tensor/dtype.ts";
import { combineSource } from "./arithmetic.ts";
import type { Span } from "./kernel.ts";
import type { Operands } from "./moves.ts";
import { laneSource, perWordOf } from "./packed.ts";
import type { Dispatch, Recording } from "./recording.ts";
import { mostHit, positionsOf, runOnTargets, TO_ELEMENT, type Targets } from "./targets.ts";

/** A step that combines values instead of moving them. */
export type CombineStep = Exclude<Step, "none">;

/**
 * Returns true if the order of updates does not affect the bits: in all steps for integers and booleans, and in max and
 * min for floats. For 64-bit integers, only sums qualify, because sums can be composed of words, which atomic
 * operations require.
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

/** Applies all updates at the same time, with one invocation per element of updates. */
export function combineInAnyOrder(
  recording: Recording,
  targets: Targets,
  step: CombineStep,
  { dtype, updates, out }: Operands,
): void {
  const { slice } = targets;
  const positions = positionsOf(targets);
  const isSigned = isNative(dtype, step) && !isUnsigned(dtype);
  runOnTargets(recording, targets, {
    name: `${dtype} ${step}, atomic,`,
    ...{ threads: positions * slice, most: GPU.atomics, guard: "stops", params: { slice } },
    bytes: (positions + 2 * mostHit(targets)) * slice * DTYPES[dtype].bytes,
    buffers: { read: { updates }, [isSigned ? "atomic signed" : "atomic"]: { out } },
    declarations: () => elementSource(dtype, step),
    body: () => `${TO_ELEMENT}\n${atomicStatements(dtype, step)}`,
  });
}

/** Returns true if WGSL has an atomic operation for the step, as for add, sub, max and min of whole words. */
const isNative = (dtype: DType, step: CombineStep): boolean =>
  dtype === "int32" || dtype === "uint32" ? step !== "mul" : false;

const NATIVE: Readonly<Record<string, string>> = {
  add: "atomicAdd",
  sub: "atomicSub",
  max: "atomicMax",
  min: "atomicMin",
};

/** Returns the text of an atomic kernel without the lookup of targets. */
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
  // If the update does not change the word, nothing needs to be written.
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

/**
 * Returns WGSL that adds a pair of words atomically. Every addition to the low word computes its own carry, so the sum
 * is correct in any order.
 */
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

/** All positions, grouped by target. Positions with the same target keep their order. */
export interface SortedTargets {
  /** The targets of `positions`. */
  readonly keys: Span;
  readonly positions: Span;
  readonly count: number;
  readonly slice: number;
  readonly slices: number;
}

/**
 * Applies the updates of each target in order. The first dispatch processes each target up to the end of its second
 * block, so that only targets with more than a block of updates remain. The rest is processed in separate command
 * buffers of `GPU.blocks` blocks, because drivers kill a command buffer that takes seconds.
 */
export function combineInOrder(
  recording: Recording,
  { keys, positions, count, slice, slices }: SortedTargets,
  step: CombineStep,
  { dtype, updates, out }: Operands,
): void {
  const { block, blocks } = GPU;
  const { update, old, store, isAtomic, declarations } = accessOf(dtype);
  const run = (
    name: string,
    begin: string,
    size: Pick<Dispatch, "threads" | "bytes">,
    own: Record<string, number>,
  ): void =>
    recording.run({
      ...{ name: `${dtype} ${step} in order, ${name}`, guard: "stops", ...size },
      params: { block, count, slice, ...own },
      buffers: { read: { keys, positions, updates }, [isAtomic ? "atomic" : "write"]: { out } },
      declarations: () => `${declarations}${combineSource(dtype, step)}
fn updateAt(at: u32, column: u32) -> Element {
  let u = positions[at] * params.slice + column;
  return ${update};
}`,
      // Updates are loaded in pairs, so that the second load need not wait for a sum: see `GPU.block`. Larger groups
      // would be slower if few updates share a target, because software drivers compute both sides of a branch.
      body: () => `  let column = i % params.slice;
${begin}
  let to = t * params.slice + column;
  let before = ${old};
  var value = before;
  while (at < end) {
    if (keys[at] != t) { break; }
    let next = min(at + 1u, end - 1u);
    let isPair = next != at && keys[next] == t;
    let first = updateAt(at, column);
    let second = updateAt(next, column);
    value = combine(value, first);
    if (!isPair) { break; }
    value = combine(value, second);
    at += 2u;
  }
  ${store}`,
    });
  const moved = (count + 2 * Math.min(count, slices)) * slice * DTYPES[dtype].bytes;
  run("begin", BEGIN, { threads: count * slice, bytes: 8 * count + moved }, {});
  const all = Math.ceil(count / block);
  for (let begin = 2; begin < all; begin += blocks) {
    const end = Math.min(begin + blocks, all);
    if (begin > 2) recording.submit();
    const threads = (end - begin) * slice;
    run("rest", REST, { threads, bytes: 8 * threads }, { begin, end });
  }
}

/**
 * WGSL for the start of an invocation in the first dispatch, which is the first update of a target. The text finds the
 * target `t`, its first update `at`, and `end`.
 */
const BEGIN = `  var at = i / params.slice;
  let t = keys[at];
  if (t == NOWHERE) { return; }
  if (at != 0u) { if (keys[at - 1u] == t) { return; } }
  let end = min(params.count, (at / params.block + 2u) * params.block);`;

/**
 * WGSL for the start of an invocation in later dispatches, which is a block whose target began before the preceding
 * block.
 */
const REST = `  let number = params.begin + i / params.slice;
  var at = number * params.block;
  let t = keys[at];
  if (t == NOWHERE || keys[at - params.block - 1u] != t) { return; }
  // The invocation for the first block of a target in this dispatch applies the updates of all its blocks.
  if (number > params.begin && keys[at - 2u * params.block - 1u] == t) { return; }
  let end = min(params.count, params.end * params.block);`;

/** WGSL for reading an element, and for writing an element that no other invocation writes. */
interface Access {
  /** The element `u` of `updates`. */
  readonly update: string;
  /** The element `to` of `out`. */
  readonly old: string;
  /** Replaces `before` with `value` at `to`. */
  readonly store: string;
  readonly isAtomic: boolean;
  readonly declarations: string;
}

function accessOf(dtype: DType): Access {
  const perWord = perWordOf(dtype);
  if (perWord !== 1) {
    return {
      update: "(updates[wordOf(u)] >> shiftOf(u)) & MASK",
      // Other invocations may change the rest of the word.
      old: "(atomicLoad(&out[wordOf(to)]) >> shiftOf(to)) & MASK",
      store: "atomicXor(&out[wordOf(to)], (before ^ value) << shiftOf(to));",
      isAtomic: true,
      declarations: laneSource(perWord),
    };
  }
  const plain = { isAtomic: false, declarations: "" };
  if (DTYPES[dtype].bytes === 4) {
    return { ...plain, update: "updates[u]", old: "out[to]", store: "out[to] = value;" };
  }
  return {
    ...plain,
    update: "vec2(updates[2u * u], updates[2u * u + 1u])",
    old: "vec2(out[2u * to], out[2u * to + 1u])",
    store: "out[2u * to] = value.x; out[2u * to + 1u] = value.y;",
  };
}
