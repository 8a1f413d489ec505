/**
 * A stable sort of positions by their targets: by 4 bits at a time from the lowest on, each time by counting. A tile is what
 * one workgroup sorts; an invocation has a run of its own in it, so that equal targets keep their order without atomics.
 */

import { GPU } from "../../core/limits.ts";
import type { SortedTargets } from "./combine.ts";
import { kernelOf, WORKGROUP } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import { lookupOf, lookupParams, positionsOf, type Targets } from "./targets.ts";

const BITS = 4;
const DIGITS = 2 ** BITS;

/** The targets of all positions, and their positions in order. */
const BEGIN = "keys[i] = targetOf(i);\n  positions[i] = i;";

/** Counts the digits of an invocation's run into its column of `counts`. */
const COUNT = `
var<workgroup> counts: array<u32, ${DIGITS * WORKGROUP}>;
fn digitOf(key: u32) -> u32 { return (key >> params.shift) & ${DIGITS - 1}u; }
fn countRun(local: u32, begin: u32) {
  for (var digit = 0u; digit < ${DIGITS}u; digit++) { counts[digit * ${WORKGROUP}u + local] = 0u; }
  for (var at = begin; at < min(begin + params.run, params.count); at++) {
    counts[digitOf(keys[at]) * ${WORKGROUP}u + local]++;
  }
}
// Each of the first invocations adds up the counts of one digit, and leaves sums of those before in their place.
fn sumDigit(digit: u32) -> u32 {
  var sum = 0u;
  for (var column = 0u; column < ${WORKGROUP}u; column++) {
    let at = digit * ${WORKGROUP}u + column;
    let count = counts[at];
    counts[at] = sum;
    sum += count;
  }
  return sum;
}`;

const TILE_BEGIN = `  let tile = params.first / ${WORKGROUP}u + workgroup.x;
  let begin = (tile * ${WORKGROUP}u + local) * params.run;
  countRun(local, begin);
  workgroupBarrier();`;

/** How many entries of each digit each tile has: `sums[digit * tiles + tile]`. */
const COUNT_TILES = kernelOf("sort: count", () => ({
  isWhole: true,
  params: ["count", "shift", "run", "tiles"],
  buffers: { keys: "read", sums: "write" },
  declarations: COUNT,
  body: `${TILE_BEGIN}
  if (local < ${DIGITS}u) { sums[local * params.tiles + tile] = sumDigit(local); }`,
}));

/** Turns counts into the sums of those before, by one workgroup, each invocation a run of the list. */
const SUM_UP = kernelOf("sort: sum up", () => ({
  isWhole: true,
  params: ["length"],
  buffers: { sums: "write" },
  declarations: `var<workgroup> parts: array<u32, ${WORKGROUP}>;`,
  body: `  let run = (params.length + ${WORKGROUP - 1}u) / ${WORKGROUP}u;
  let begin = min(i * run, params.length);
  let end = min(begin + run, params.length);
  var part = 0u;
  for (var at = begin; at < end; at++) { part += sums[at]; }
  parts[local] = part;
  workgroupBarrier();
  var sum = 0u;
  for (var before = 0u; before < local; before++) { sum += parts[before]; }
  for (var at = begin; at < end; at++) {
    let count = sums[at];
    sums[at] = sum;
    sum += count;
  }`,
}));

/** Puts each entry where the entries before it by digit, tile and place end. */
const PLACE = kernelOf("sort: place", () => ({
  isWhole: true,
  params: ["count", "shift", "run", "tiles"],
  buffers: {
    keys: "read",
    positions: "read",
    sums: "read",
    nextKeys: "write",
    nextPositions: "write",
  },
  declarations: COUNT,
  body: `${TILE_BEGIN}
  if (local < ${DIGITS}u) { _ = sumDigit(local); }
  workgroupBarrier();
  for (var at = begin; at < min(begin + params.run, params.count); at++) {
    let digit = digitOf(keys[at]);
    let column = digit * ${WORKGROUP}u + local;
    let to = sums[digit * params.tiles + tile] + counts[column];
    counts[column]++;
    nextKeys[to] = keys[at];
    nextPositions[to] = positions[at];
  }`,
}));

/**
 * The number of bits that must be sorted. It leaves room for one value above the greatest target, so that NOWHERE, whose
 * bits are all set, sorts last.
 */
const bitsOf = (slices: number): number => 32 - Math.clz32(slices);

/** Sorts the positions of all targets. Those without a target come last. */
export function sortTargets(recording: Recording, targets: Targets): SortedTargets {
  const count = positionsOf(targets);
  const pair = (): [keys: Span, positions: Span] => [
    recording.scratch(4 * count),
    recording.scratch(4 * count),
  ];
  let [keys, positions] = pair();
  let [nextKeys, nextPositions] = pair();
  const lookup = lookupOf(targets);
  const begin = kernelOf(`sort: begin ${lookup.name}`, () => ({
    params: lookup.params,
    buffers: { targets: "read", keys: "write", positions: "write" },
    declarations: lookup.declarations,
    body: `  ${BEGIN}`,
  }));
  const buffers = { targets: targets.targets, keys, positions };
  recording.run(begin, count, lookupParams(targets), buffers);
  const { run } = GPU;
  const tiles = Math.ceil(count / (run * WORKGROUP));
  const sums = recording.scratch(4 * DIGITS * tiles);
  for (let shift = 0; shift < bitsOf(targets.slices); shift += BITS) {
    const params = { count, shift, run, tiles };
    recording.run(COUNT_TILES, tiles * WORKGROUP, params, { keys, sums });
    recording.run(SUM_UP, WORKGROUP, { length: DIGITS * tiles }, { sums });
    const all = { keys, positions, sums, nextKeys, nextPositions };
    recording.run(PLACE, tiles * WORKGROUP, params, all);
    [keys, positions, nextKeys, nextPositions] = [nextKeys, nextPositions, keys, positions];
  }
  return { keys, positions, count, slice: targets.slice };
}

/** Sorts on the host as {@link sortTargets} does on the device. `targets` are flat, and none is NOWHERE. */
export function sortOnHost(targets: Uint32Array, slices: number): [Uint32Array, Uint32Array] {
  const { few, digit } = GPU;
  const count = targets.length;
  let keys = targets;
  let positions = Uint32Array.from({ length: count }, (_, p) => p);
  if (count <= few) {
    positions.sort((p, q) => targets[p] - targets[q] || p - q);
    return [positions.map((p) => targets[p]), positions];
  }
  const mask = 2 ** digit - 1;
  for (let shift = 0; shift < bitsOf(slices); shift += digit) {
    const starts = new Uint32Array(mask + 2);
    for (let at = 0; at < count; at++) starts[((keys[at] >>> shift) & mask) + 1]++;
    for (let value = 0; value < mask; value++) starts[value + 1] += starts[value];
    const nextKeys = new Uint32Array(count);
    const nextPositions = new Uint32Array(count);
    for (let at = 0; at < count; at++) {
      const to = starts[(keys[at] >>> shift) & mask]++;
      nextKeys[to] = keys[at];
      nextPositions[to] = positions[at];
    }
    keys = nextKeys;
    positions = nextPositions;
  }
  return [keys, positions];
}
