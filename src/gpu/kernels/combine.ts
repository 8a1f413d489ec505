/**
 * Defines the kernels that combine slices, for scatters with a reduction. If the order of updates does not affect the
 * bits, all updates are applied at the same time with atomic operations. Otherwise, updates are sorted by target, and
 * one invocation applies all updates of a target in order. Other kernels replace elements one by one: the quotients of
 * a mean, and negated gradients.
 */

import { GPU } from "../../core/limits.ts";
import { DTYPES, type DType, type Step } from "../../core/tensor/dtype.ts";
import {
  accessOf,
  combineSource,
  divideSource,
  laneSource,
  negatedSource,
  perWordOf,
} from "./arithmetic.ts";
import type { Span } from "./kernel.ts";
import type { Operands } from "./moves.ts";
import type { Dispatch, Recording } from "./recording.ts";
import { mostHit, positionsOf, runOnTargets, TO_ELEMENT, type Targets } from "./targets.ts";

/** A step that combines values instead of moving them. */
type CombineStep = Exclude<Step, "none">;

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
  const { kind, declarations, statements } = atomicOf(dtype, step);
  runOnTargets(recording, targets, {
    name: `${dtype} ${step}, atomic,`,
    ...{ threads: positions * slice, most: GPU.atomics, guard: "stops", params: { slice } },
    bytes: (positions + 2 * mostHit(targets)) * slice * DTYPES[dtype].bytes,
    buffers: { read: { updates }, [kind]: { out } },
    declarations: () => declarations?.() ?? "",
    body: () => `${TO_ELEMENT}\n${statements}`,
  });
}

/** The atomic operations of WGSL on whole words. */
const NATIVE: Readonly<Record<string, string>> = {
  add: "atomicAdd",
  sub: "atomicSub",
  max: "atomicMax",
  min: "atomicMin",
};

/** WGSL that combines the element `i` of updates with the element `to` of `out` atomically. */
interface Atomic {
  readonly kind: "atomic" | "atomic signed";
  readonly declarations?: () => string;
  readonly statements: string;
}

function atomicOf(dtype: DType, step: CombineStep): Atomic {
  if ((dtype === "int32" || dtype === "uint32") && step in NATIVE) {
    const isSigned = dtype === "int32";
    const update = isSigned ? "bitcast<i32>(updates[i])" : "updates[i]";
    const statements = `  ${NATIVE[step]}(&out[to], ${update});`;
    return { kind: isSigned ? "atomic signed" : "atomic", statements };
  }
  if (DTYPES[dtype].family === "int64") {
    return { kind: "atomic", statements: ADD_PAIRS[step === "sub" ? "sub" : "add"] };
  }
  return {
    kind: "atomic",
    declarations: () => laneSource(perWordOf(dtype)) + combineSource(dtype, step),
    // If the update does not change the word, nothing needs to be written.
    statements: `  let shift = shiftOf(to);
  let update = (updates[wordOf(i)] >> shiftOf(i)) & MASK;
  var word = atomicLoad(&out[wordOf(to)]);
  loop {
    let old = (word >> shift) & MASK;
    let next = word ^ ((old ^ combine(old, update)) << shift);
    if (next == word) { break; }
    let result = atomicCompareExchangeWeak(&out[wordOf(to)], word, next);
    if (result.exchanged) { break; }
    word = result.old_value;
  }`,
  };
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
  /** The targets of `positions`, in a single batch. */
  readonly keys: Targets;
  readonly positions: Span;
}

/**
 * Applies the updates of each target in order. The first dispatch processes each target up to the end of its second
 * block, so that only targets with more than a block of updates remain. The rest is processed in separate command
 * buffers of `GPU.blocks` blocks, because drivers kill a command buffer that takes seconds.
 */
export function combineInOrder(
  recording: Recording,
  { keys, positions }: SortedTargets,
  step: CombineStep,
  { dtype, updates, out }: Operands,
): void {
  const { block, blocks } = GPU;
  const { targets, count, slice } = keys;
  const { read, old, store, kind, declarations } = accessOf(dtype);
  const run = (
    name: string,
    begin: string,
    size: Pick<Dispatch, "threads" | "bytes">,
    own: Record<string, number>,
  ): void =>
    recording.run({
      ...{ name: `${dtype} ${step} in order, ${name}`, guard: "stops", ...size },
      params: { block, count, slice, ...own },
      buffers: { read: { keys: targets, positions, updates }, [kind]: { out } },
      declarations: () => `${declarations}${combineSource(dtype, step)}
fn updateAt(at: u32, column: u32) -> Element {
  let u = positions[at] * params.slice + column;
  return ${read("updates", "u")};
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
  const moved = (count + 2 * mostHit(keys)) * slice * DTYPES[dtype].bytes;
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

/**
 * Returns the threads, the declarations and the body of a guarded kernel that replaces the elements of `out` by `next`,
 * WGSL that is computed from `value`. The statements `begin` may skip `element`, where they say `SKIP`. An invocation
 * replaces one element of 8 bytes, or all elements of a word except those beyond `params.elements`, because a word
 * written once takes less time than an atomic operation for each of its elements.
 */
function replacing(
  dtype: DType,
  elements: number,
  source: (dtype: DType) => string,
  begin: string,
  next: string,
): Pick<Dispatch, "declarations" | "body" | "threads"> {
  if (DTYPES[dtype].bytes === 8) {
    const { old, store } = accessOf(dtype);
    return {
      threads: elements,
      declarations: () => source(dtype),
      body: () => `  let to = i;
  let element = i;
  ${begin.replace("SKIP", "return")}
  var value = ${old};
  value = ${next};
  ${store}`,
    };
  }
  const perWord = perWordOf(dtype);
  return {
    threads: Math.ceil(elements / perWord),
    declarations: () => laneSource(perWord) + source(dtype),
    body: () => `  var word = out[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    if (element >= params.elements) { break; }
    ${begin.replace("SKIP", "continue")}
    let value = (word >> shiftOf(element)) & MASK;
    word ^= (value ^ ${next}) << shiftOf(element);
  }
  out[i] = word;`,
  };
}

/**
 * Divides each slice of `out` that has updates by the number of its values. `counts` is the number of updates per
 * slice. `extra` is 1 if the value of data also counts, and otherwise 0.
 */
export function divideOnGpu(
  recording: Recording,
  dtype: DType,
  counts: Span,
  { slice, slices }: Targets,
  extra: 0 | 1,
  out: Span,
): void {
  const elements = slice * slices;
  const begin = `let count = counts[element / params.slice];
    if (count == 0u) { SKIP; }`;
  recording.run({
    name: `${dtype} divide`,
    bytes: counts.bytes + 2 * elements * DTYPES[dtype].bytes,
    ...{ guard: "stops", params: { slice, extra, elements } },
    buffers: { read: { counts }, write: { out } },
    ...replacing(dtype, elements, divideSource, begin, "divide(value, count + params.extra)"),
  });
}

/** Negates all slices of the sequential side that have a target, and replaces NaNs by the canonical NaN. */
export function negateOnGpu(recording: Recording, targets: Targets, dtype: DType, out: Span): void {
  const { slice } = targets;
  const elements = positionsOf(targets) * slice;
  const begin = "if (targetOf(element / params.slice) == NOWHERE) { SKIP; }";
  runOnTargets(recording, targets, {
    name: `${dtype} negate`,
    ...{ bytes: 2 * out.bytes, guard: "stops", params: { slice, elements } },
    buffers: { write: { out } },
    ...replacing(dtype, elements, negatedSource, begin, "negated(value)"),
  });
}
