/**
 * Sorts positions by target with a stable radix sort. Each pass is a counting sort by some bits of the targets, from
 * the lowest bits to the highest. A tile is a group of entries that one workgroup counts and places.
 */

import { GPU } from "../../core/limits.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { sortAllTargets, sortByTarget } from "../../core/plan/targets.ts";
import type { SortedTargets } from "./combine.ts";
import { WORKGROUP, type Kernel, type Span } from "./kernel.ts";
import type { Recording } from "./recording.ts";
import { flatTargets, positionsOf, runOnTargets, type Targets } from "./targets.ts";

/**
 * The maximum number of values of a digit. Each value takes three words of workgroup memory, of which every device has
 * 16 kB.
 */
const MOST_DIGITS = 1024;

/** The numbers of a pass: `run` is the number of entries per invocation, and `base` the first total of the pass. */
type Pass = Readonly<Record<"entries" | "shift" | "digits" | "run" | "tiles" | "base", number>>;

const TILE = `
fn digitOf(key: u32) -> u32 { return (key >> params.shift) & (params.digits - 1u); }`;

/** WGSL for the number of a tile, its first entry, and the number of entries per invocation. */
const TILE_BEGIN = `  let tile = params.first / ${WORKGROUP}u + workgroup.x;
  let begin = tile * params.run * ${WORKGROUP}u;
  let rounds = min(params.run, (params.entries - begin + ${WORKGROUP - 1}u) / ${WORKGROUP}u);`;

/**
 * Counts the entries of each digit, by tile in `sums[digit * tiles + tile]`, and in total in `totals[base + digit]`.
 * The order of counting is irrelevant, so neighboring invocations load neighboring entries, and count with atomic
 * operations.
 */
const countKernel = (pass: Pass, sums: Span, totals: Span): Kernel => ({
  ...{ name: "sort: count", isWhole: true, params: pass },
  buffers: { write: { sums }, atomic: { totals } },
  declarations: () => `${TILE}
var<workgroup> counts: array<atomic<u32>, ${MOST_DIGITS}>;`,
  body: () => `${TILE_BEGIN}
  for (var d = local; d < params.digits; d += ${WORKGROUP}u) { atomicStore(&counts[d], 0u); }
  workgroupBarrier();
  for (var round = 0u; round < rounds; round++) {
    let at = begin + round * ${WORKGROUP}u + local;
    if (at < params.entries) { atomicAdd(&counts[digitOf(targetOf(at))], 1u); }
  }
  workgroupBarrier();
  for (var d = local; d < params.digits; d += ${WORKGROUP}u) {
    let count = atomicLoad(&counts[d]);
    sums[d * params.tiles + tile] = count;
    if (count != 0u) { atomicAdd(&totals[params.base + d], count); }
  }`,
});

/** The number of digits per workgroup when counts are summed, and the number of invocations per digit. */
const ROWS = 8;
const LANES = WORKGROUP / ROWS;

/**
 * Converts the counts of each digit to prefix sums over lower digits and earlier tiles. Each invocation sums the counts
 * of one digit in consecutive tiles. One workgroup for all digits would be the bottleneck of a large sort, while one
 * workgroup per digit is slow on software drivers.
 */
const sumKernel = (pass: Pass, sums: Span, totals: Span): Kernel => ({
  ...{ name: "sort: sum up", isWhole: true, params: pass },
  buffers: { write: { sums }, read: { totals } },
  declarations: () => `var<workgroup> parts: array<u32, ${WORKGROUP}>;
var<workgroup> below: atomic<u32>;`,
  body: () => `  let first = (params.first / ${WORKGROUP}u + workgroup.x) * ${ROWS}u;
  let digit = first + local / ${LANES}u;
  let lane = local % ${LANES}u;
  var part = 0u;
  for (var lower = local; lower < first; lower += ${WORKGROUP}u) {
    part += totals[params.base + lower];
  }
  if (part != 0u) { atomicAdd(&below, part); }
  // A workgroup may have more rows than there are digits.
  let tiles = select(0u, params.tiles, digit < params.digits);
  let run = (tiles + ${LANES - 1}u) / ${LANES}u;
  let begin = digit * params.tiles + min(lane * run, tiles);
  let end = digit * params.tiles + min((lane + 1u) * run, tiles);
  var own = 0u;
  for (var at = begin; at < end; at++) { own += sums[at]; }
  parts[local] = own;
  workgroupBarrier();
  var sum = atomicLoad(&below);
  for (var lower = first; lower < digit; lower++) { sum += totals[params.base + lower]; }
  for (var before = local - lane; before < local; before++) { sum += parts[before]; }
  for (var at = begin; at < end; at++) {
    let count = sums[at];
    sums[at] = sum;
    sum += count;
  }`,
});

/** The number of invocations in half a workgroup, each of which has one bit in two words. */
const HALF = WORKGROUP / 2;

/**
 * Places the entries in the order of digit, tile and position. In each round, an invocation places one entry. All
 * invocations of half a workgroup set bits in the words of their digits, so that each can count earlier invocations
 * with the same digit. Then the first invocation of each digit advances the digit's position for the next round.
 */
const placeKernel = (
  positions: Span | null,
  pass: Pass,
  sums: Span,
  next: Readonly<Record<"nextKeys" | "nextPositions", Span>>,
): Kernel => ({
  ...{ name: positions ? "sort: place" : "sort: place first", isWhole: true, params: pass },
  buffers: { read: { ...(positions && { positions }), sums }, write: next },
  declarations: () => `${TILE}
var<workgroup> places: array<u32, ${MOST_DIGITS}>;
var<workgroup> masks: array<atomic<u32>, ${2 * MOST_DIGITS}>;`,
  body: () => `${TILE_BEGIN}
  for (var d = local; d < params.digits; d += ${WORKGROUP}u) {
    places[d] = sums[d * params.tiles + tile];
    atomicStore(&masks[2u * d], 0u);
    atomicStore(&masks[2u * d + 1u], 0u);
  }
  let half = local / ${HALF}u;
  let isHigh = (local & 32u) != 0u;
  let bit = 1u << (local & 31u);
  for (var round = 0u; round < rounds; round++) {
    let at = begin + round * ${WORKGROUP}u + local;
    let isThere = at < params.entries;
    var key = 0u;
    var position = 0u;
    if (isThere) {
      key = targetOf(at);
      position = ${positions ? "positions[at]" : "at"};
    }
    let digit = digitOf(key);
    for (var turn = 0u; turn < 2u; turn++) {
      let isTurn = isThere && half == turn;
      workgroupBarrier();
      if (isTurn) { atomicOr(&masks[2u * digit + select(0u, 1u, isHigh)], bit); }
      workgroupBarrier();
      var before = 0u;
      var all = 0u;
      var to = 0u;
      if (isTurn) {
        let low = atomicLoad(&masks[2u * digit]);
        let high = atomicLoad(&masks[2u * digit + 1u]);
        let lows = countOneBits(low);
        all = lows + countOneBits(high);
        before = select(countOneBits(low & (bit - 1u)), lows + countOneBits(high & (bit - 1u)), isHigh);
        to = places[digit] + before;
      }
      workgroupBarrier();
      if (isTurn) {
        nextKeys[to] = key;
        nextPositions[to] = position;
        if (before == 0u) {
          places[digit] = to + all;
          atomicStore(&masks[2u * digit], 0u);
          atomicStore(&masks[2u * digit + 1u], 0u);
        }
      }
    }
  }`,
});

/** Returns the number of bits of `greatest`. */
const bitsOf = (greatest: number): number => 32 - Math.clz32(greatest);

/** Sorts positions by target. The positions without a target come last. */
export function sortTargets(recording: Recording, targets: Targets): SortedTargets {
  const count = positionsOf(targets);
  const { slices, isPartial } = targets;
  const scratch = (words: number): Span => recording.scratch(4 * words);
  // The sort allows for one value beyond the greatest target, so that NOWHERE, whose bits are all set, comes last.
  const bits = bitsOf(isPartial ? slices : slices - 1);
  if (bits === 0) {
    const [keys, positions] = [scratch(count), scratch(count)];
    runOnTargets(recording, targets, {
      ...{ name: "sort: begin", bytes: 8 * count, buffers: { write: { keys, positions } } },
      body: () => "  keys[i] = targetOf(i);\n  positions[i] = i;",
    });
    return { keys: flatTargets(targets, keys, false), positions };
  }
  const passes = Math.ceil(bits / GPU.bits);
  const width = Math.ceil(bits / passes);
  const digits = 2 ** width;
  const { run } = GPU;
  const tiles = Math.ceil(count / (run * WORKGROUP));
  // Two passes at a time have different results.
  const results = Array.from({ length: Math.min(passes, 2) }, () => ({
    nextKeys: scratch(count),
    nextPositions: scratch(count),
  }));
  const sums = scratch(digits * tiles);
  const totals = recording.zeros(4 * digits * passes);
  const threads = tiles * WORKGROUP;
  const counted = sums.bytes + 4 * digits;
  let keys = targets;
  let positions: Span | null = null;
  for (let pass = 0; pass < passes; pass++) {
    const tile = { entries: count, shift: pass * width, digits, run, tiles, base: pass * digits };
    const next = results[pass % 2];
    runOnTargets(recording, keys, { ...countKernel(tile, sums, totals), threads, bytes: counted });
    const rows = Math.ceil(digits / ROWS) * WORKGROUP;
    const summed = { threads: rows, bytes: sums.bytes + counted };
    recording.run({ ...sumKernel(tile, sums, totals), ...summed });
    const placed = (positions?.bytes ?? 0) + sums.bytes + 8 * count;
    const place = placeKernel(positions, tile, sums, next);
    runOnTargets(recording, keys, { ...place, threads, bytes: placed });
    keys = flatTargets(targets, next.nextKeys, false);
    positions = next.nextPositions;
  }
  return { keys, positions: positions as Span };
}

/**
 * Groups the positions of a Plan by target on the host, in order within each group. Returns the target of each
 * position, and the positions. Skipped positions are omitted.
 */
export function sortOnHost(plan: Plan): [keys: Uint32Array, positions: Uint32Array] {
  const { slice, size, offsets } = plan;
  const isDense = size <= GPU.sparse * slice * offsets.length;
  const { targets, ends, positions } = isDense ? sortAllTargets(plan) : sortByTarget(plan);
  const keys = new Uint32Array(positions.length);
  let begin = 0;
  for (const [t, offset] of targets.entries()) {
    keys.fill(offset / slice, begin, ends[t]);
    begin = ends[t];
  }
  return [keys, positions];
}
