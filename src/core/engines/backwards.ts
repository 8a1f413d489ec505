/**
 * Computes the parts of a scatter's gradient that are neither a gather nor a scatter. Large parts use the kernels of
 * `assembly/backwards.ts`, and small parts use the loops of `kernels/backwards.ts`, with the same bits.
 */

import { GRADIENTS, WASM } from "../limits.ts";
import { extremeGradients, take, type Extremes } from "../kernels/backwards.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { absoluteOffsets, coarsen, type Plan } from "../plan/plan.ts";
import { sortAllTargets, sortByTarget, type SortedPlan } from "../plan/targets.ts";
import { DTYPES, viewOf, type DType, type NumericStorage } from "../tensor/dtype.ts";
import { copy } from "../tensor/storage.ts";
import type { Extension, SyncSession } from "./executor.ts";
import { KERNELS, MEMORY_FLAGS_AT } from "./wasm/backwards-bytes.ts";
import type { KernelSource } from "./wasm/kernels.ts";
import { attempt } from "./wasm/kernel-memory.ts";
import { windowsPay } from "./wasm/windows.ts";

const SOURCE: KernelSource = { text: KERNELS, flagsAt: MEMORY_FLAGS_AT };

/** Smallest count that float32, the divisor's type in the kernels, may not represent exactly. */
const MOST = 2 ** 24;

const elementsOf = ({ batches, count, slice }: Plan): number => batches * count * slice;

/** Returns the kernels of the memory that holds all given arrays, or null if no memory does. */
function residentKernels(session: SyncSession, arrays: NumericStorage[]): Extension | null {
  const extension = session.extend(SOURCE, 0, ...arrays) ?? null;
  return arrays.every((array) => extension?.arena.memory.has(array)) ? extension : null;
}

/** Copies `data` into `out`, which may be the same memory. */
export function copyInto(data: NumericStorage, out: NumericStorage): void {
  // Reading the buffer of a small new array takes longer than a small copy.
  const isSame =
    data.byteLength >= GRADIENTS.kernels &&
    data.buffer === out.buffer &&
    data.byteOffset === out.byteOffset;
  if (!isSame) copy(data, out);
}

/**
 * Copies `gradient` into `ofData`, then walks backwards over a Plan and moves each slice of `ofData` to `ofUpdates`,
 * leaving 0. The last position of a target receives the slice, and earlier positions receive 0.
 */
export function takeSlices(
  session: SyncSession,
  plan: Plan,
  dtype: DType,
  gradient: NumericStorage,
  ofData: NumericStorage,
  ofUpdates: NumericStorage,
): void {
  // A run moves as a whole, because its slices are disjoint.
  const runs = coarsen(plan);
  const isFew = elementsOf(plan) < GRADIENTS.kernels || runs.source !== undefined;
  if (!isFew && attempt(() => takeByKernel(session, runs, dtype, gradient, ofData, ofUpdates)))
    return;
  copyInto(gradient, ofData);
  take(runs, ofData, ofUpdates);
}

/**
 * Runs `takeSlices` on resident tensors in place, and on heap tensors through windows of one or more batches. Returns
 * false if nothing was done.
 */
function takeByKernel(
  session: SyncSession,
  runs: Plan,
  dtype: DType,
  gradient: NumericStorage,
  ofData: NumericStorage,
  ofUpdates: NumericStorage,
): boolean {
  const { offsets, slice, count, batches, span, size } = runs;
  const { bytes } = DTYPES[dtype];
  const length = slice * bytes;
  const [random, sequential] = [span * bytes, count * length];
  const resident = residentKernels(session, [ofData, ofUpdates]);
  const fitting = Math.floor(GRADIENTS.group / Math.max(random, sequential));
  const group = resident ? batches : Math.min(Math.max(fitting, 1), batches);
  const scratch = group * (random + sequential) + offsets.byteLength;
  const pays =
    scratch <= GRADIENTS.scratch &&
    batches * span === size &&
    windowsPay(runs, dtype, "none", 1, WASM);
  if (!resident && !pays) return false;
  const extension = resident ?? session.extend(SOURCE, scratch);
  if (!extension) return false;
  const { arena, kernels } = extension;
  const at = arena.addressOf(offsets);
  const stride = offsets.length === count ? 0 : 4 * count;
  const [from, to] = resident
    ? [ofData.byteOffset, ofUpdates.byteOffset]
    : [arena.allocate(group * random), arena.allocate(group * sequential)];
  if (resident) copyInto(gradient, ofData);
  for (let first = 0; first < batches; first += group) {
    const some = Math.min(group, batches - first);
    if (!resident) arena.copyIn(gradient, first * random, some * random, from);
    for (let b = 0; b < some; b++) {
      const list = at + (first + b) * stride;
      kernels["take"](from + b * random, to + b * sequential, list, count, length, bytes);
    }
    if (resident) continue;
    arena.copyOut(from, some * random, ofData, first * random);
    arena.copyOut(to, some * sequential, ofUpdates, first * sequential);
  }
  return true;
}

/**
 * Writes the gradients of a `max` or `min`. Elements of data that no update targets receive the gradient of the result.
 */
export function extremeSlices(session: SyncSession, plan: Plan, call: Extremes): void {
  const { gradient, ofData, includesSelf } = call;
  const updates = elementsOf(plan);
  if (updates === 0) {
    if (ofData !== null) copyInto(gradient, ofData);
    return;
  }
  const isDense = includesSelf && plan.size <= GRADIENTS.dense * updates;
  const isFast =
    DTYPES[call.dtype].family === "float" &&
    (call.step === "max" || call.step === "min") &&
    (call.ties === "even" || call.ties === "all") &&
    updates >= GRADIENTS.kernels &&
    plan.batches * plan.count < MOST;
  if (isFast && isDense && plan.slice === 1 && attempt(() => singles(session, plan, call))) return;
  const sorted = isDense ? sortAllTargets(plan) : sortByTarget(plan);
  if (!sorted.isWhole && ofData !== null) copyInto(gradient, ofData);
  if (isFast && attempt(() => slices(session, call, sorted))) return;
  if (isFast && attempt(() => groups(session, call, sorted))) return;
  extremeGradients(call, sorted);
}

/** A call's tensors in the memory of the kernels. */
interface Placed {
  readonly extension: Extension;
  /**
   * Addresses of data, the gradient of the result, the gradient of data, updates and their gradient, or of copies. A
   * gradient may replace the copy of an input; unwanted gradients go to scratch memory.
   */
  readonly tensors: readonly [number, number, number, number, number];
  /** Copies gradients from scratch memory to their tensors. */
  finish(): void;
}

/**
 * Finds the tensors of a call in the memory of the kernels, or copies the tensors there. Returns null if the copies
 * would take too much memory.
 * @param spare bytes that the kernel writes for an unwanted gradient
 * @param more bytes of scratch memory that the caller needs as well; Infinity if nothing may be copied
 */
function place(session: SyncSession, call: Extremes, spare: number, more: number): Placed | null {
  const { data, updates, gradient, ofData, ofUpdates } = call;
  const tensors = [data, updates, gradient, ofData, ofUpdates].filter((one) => one !== null);
  const bytes = 2 * (data.byteLength + updates.byteLength + spare) + more;
  const extension =
    residentKernels(session, tensors) ??
    (bytes <= GRADIENTS.scratch ? session.extend(SOURCE, bytes, ...tensors) : null);
  if (!extension) return null;
  const { arena } = extension;
  const [own, given, operands] = [data, gradient, updates].map((input) => arena.addressOf(input));
  const placeOf = (out: NumericStorage | null, input: NumericStorage, address: number): number => {
    if (out === null) return arena.allocate(spare);
    if (arena.memory.has(out)) return out.byteOffset;
    return arena.memory.has(input) ? arena.allocate(input.byteLength) : address;
  };
  const toData = placeOf(ofData, gradient, given);
  const toUpdates = placeOf(ofUpdates, updates, operands);
  const finish = (): void => {
    for (const [out, at] of [[ofData, toData] as const, [ofUpdates, toUpdates] as const]) {
      if (out !== null && !arena.memory.has(out)) arena.copyOut(at, out.byteLength, out, 0);
    }
  };
  return { extension, tensors: [own, given, toData, operands, toUpdates], finish };
}

/**
 * Computes gradients of single updates in the order of the Plan, because sorting the updates would take as long.
 * Returns false if nothing was done.
 */
function singles(session: SyncSession, plan: Plan, call: Extremes): boolean {
  const { dtype, ties } = call;
  if (plan.source !== undefined) return false;
  const { size } = plan;
  const offsets = absoluteOffsets(plan);
  const count = offsets.length;
  const pairBytes = 2 * DTYPES[dtype].bytes * size;
  const at = place(session, call, call.data.byteLength, pairBytes + offsets.byteLength);
  if (at === null) return false;
  const { arena, kernels } = at.extension;
  const pairs = arena.allocate(pairBytes);
  const list = arena.addressOf(offsets);
  const flip = Number(call.step === "min");
  const [data, gradient, ofData, updates, ofUpdates] = at.tensors;
  const run = (name: string, ...args: number[]) => kernels[`${name}_${dtype}`](...args);
  run("begin", data, pairs, size, flip);
  run("tally", pairs, updates, list, count, flip);
  run("settle", data, gradient, pairs, ofData, size, flip, Number(ties === "even"));
  if (call.ofUpdates !== null) run("spread", pairs, updates, ofUpdates, list, count, flip);
  at.finish();
  return true;
}

/**
 * Runs the kernel `extremes`.
 * @param tensors addresses as in `Placed`
 * @param lists addresses of targets, ends and positions, and the number of targets
 * @param steps bytes from an element of data's gradient to the next, and from a slice of the updates' gradient to the
 *   next; 0 for an unwanted gradient
 */
function runExtremes(
  { kernels }: Extension,
  { dtype, step, ties, includesSelf, slice }: Extremes,
  tensors: readonly number[],
  lists: readonly number[],
  steps: readonly number[],
): void {
  const flags = [step === "min", ties === "even", includesSelf].map(Number);
  kernels[`extremes_${dtype}`](...tensors, ...lists, slice, ...steps, ...flags);
}

/** Computes gradients of slices, target by target. Returns false if nothing was done. */
function slices(session: SyncSession, call: Extremes, sorted: SortedPlan): boolean {
  const { data, updates, ofData, ofUpdates } = call;
  const { targets, ends, positions, isWhole } = sorted;
  const length = call.slice * data.BYTES_PER_ELEMENT;
  // Whole gradients are copied to the heap, so the kernel must write every element.
  const isComplete = isWhole && positions.length * call.slice === updates.length;
  const lists = isComplete ? 4 * (2 * targets.length + positions.length) : Infinity;
  const at = place(session, call, length, lists);
  if (at === null) return false;
  const { arena } = at.extension;
  runExtremes(
    at.extension,
    call,
    at.tensors,
    [...[targets, ends, positions].map((list) => arena.addressOf(list)), targets.length],
    [ofData === null ? 0 : data.BYTES_PER_ELEMENT, ofUpdates === null ? 0 : length],
  );
  at.finish();
  return true;
}

/** Computes gradients of slices on the heap, one group of targets at a time. Returns false if nothing was done. */
function groups(session: SyncSession, call: Extremes, sorted: SortedPlan): boolean {
  const { dtype, slice, data, updates, gradient, ofData, ofUpdates } = call;
  const { targets, ends, positions } = sorted;
  const length = slice * data.BYTES_PER_ELEMENT;
  const most = Math.max(Math.floor(GRADIENTS.group / length), 1);
  const { bounds, widest } = groupBounds(sorted, most);
  const bytes = (2 * most + widest) * length + 4 * (2 * most + widest);
  if (bytes > GRADIENTS.scratch) return false;
  const extension = session.extend(SOURCE, bytes);
  if (!extension) return false;
  const { arena } = extension;
  const { memory } = arena;
  const viewAt = (at: number, count: number): NumericStorage =>
    viewOf(dtype, memory.buffer, at, count * slice) as NumericStorage;
  const [own, given, operands] = [most, most, widest].map((some) => arena.allocate(some * length));
  const lists = [most, most, widest].map((some) => arena.allocate(4 * some));
  const [ownTargets, ownEnds, ownPositions] = lists;
  const steps = [data.BYTES_PER_ELEMENT, length];
  memory.wordsAt(ownTargets, most).forEach((_, t, list) => (list[t] = t * slice));
  memory.wordsAt(ownPositions, widest).forEach((_, p, list) => (list[p] = p));
  const rowsOf = (offsets: Uint32Array, { length: size }: NumericStorage): Plan =>
    coarsen({ offsets, slice, count: offsets.length, size, batches: 1, span: size });
  for (let g = 1, begin = 0; g < bounds.length; g++) {
    const [first, last] = [bounds[g - 1], bounds[g]];
    const end = ends[last - 1];
    const rows = rowsOf(targets.subarray(first, last), data);
    const chosen = positions.subarray(begin, end).map((p) => p * slice);
    const updated = rowsOf(chosen, updates);
    const count = last - first;
    gatherMove(rows, data, viewAt(own, count));
    gatherMove(rows, gradient, viewAt(given, count));
    gatherMove(updated, updates, viewAt(operands, end - begin));
    const relative = memory.wordsAt(ownEnds, count);
    for (let t = 0; t < count; t++) relative[t] = ends[first + t] - begin;
    // The gradients replace the copies, even those that are unwanted.
    const tensors = [own, given, given, operands, operands];
    runExtremes(extension, call, tensors, [...lists, count], steps);
    if (ofData !== null) scatterMove(rows, viewAt(given, count), ofData);
    if (ofUpdates !== null) scatterMove(updated, viewAt(operands, end - begin), ofUpdates);
    begin = end;
  }
  return true;
}

/**
 * Divides consecutive targets into groups of at most `most` targets and `most` updates, or of one target.
 * @returns `bounds`, the first target of each group and the number of targets; `widest`, the most updates of a group
 */
function groupBounds(
  { targets, ends }: SortedPlan,
  most: number,
): { readonly bounds: readonly number[]; readonly widest: number } {
  const bounds = [0];
  let widest = 0;
  for (let last = 0, begin = 0; last < targets.length;) {
    const first = last++;
    while (last < targets.length && last - first < most && ends[last] - begin <= most) last++;
    bounds.push(last);
    widest = Math.max(widest, ends[last - 1] - begin);
    begin = ends[last - 1];
  }
  return { bounds, widest };
}
