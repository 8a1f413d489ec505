/**
 * Defines the kernels that move slices, in gathers, scatters without a reduction, and copies. The kernels move bits
 * unchanged, so NaN payloads are preserved. If slices consist of whole words, an invocation moves one or four words;
 * otherwise it moves one element or, in a gather, the elements of one word.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { laneSource, perWordOf } from "./packed.ts";
import { kernelOf, type BufferKind } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";
import { lastKeys, lookupOf, lookupParams, mostHit, positionsOf, type Targets } from "./targets.ts";

/** Slices of whole words, divided into units of one or four words that an invocation moves together. */
interface Units {
  readonly name: "words" | "fours";
  /** The number of units per slice. */
  readonly units: number;
  readonly read: BufferKind;
  readonly write: BufferKind;
  readonly zero: string;
}

/**
 * Returns the units of slices, or null for slices with parts of words. `from` is the source of slices. Vectors of four
 * words require a source that is not empty, because they exceed the smallest binding.
 */
function unitsOf(dtype: DType, slice: number, from: Span): Units | null {
  const words = (slice * DTYPES[dtype].bytes) / 4;
  if (!Number.isInteger(words)) return null;
  return words % 4 === 0 && from.bytes > 0
    ? { name: "fours", units: words / 4, read: "read four", write: "write four", zero: "vec4(0u)" }
    : { name: "words", units: words, read: "read", write: "write", zero: "0u" };
}

/**
 * WGSL for the beginning of a kernel. After a failure, a new `out` is filled in another way, and any other `out` is
 * left unchanged.
 */
const UNLESS_BAD = `  let isBad = status[params.slot] != FINE;
  if (isBad && params.isNew == 0u) { return; }`;

/**
 * Gathers slices: computes `out[p] = data[target p]`, or 0 without a target. If the call has failed, a new `out` is
 * filled with zeros, and any other `out` is left unchanged.
 */
export function gatherOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  data: Span,
  out: Span,
  isNew: boolean,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const positions = positionsOf(targets);
  const buffers = { status, targets: targets.targets, data, out };
  const moved = (mostHit(targets) + positions) * targets.slice * DTYPES[dtype].bytes;
  const bytes = targets.targets.bytes + moved;
  const whole = unitsOf(dtype, targets.slice, data);
  if (whole !== null) {
    const { name, units, read, write, zero } = whole;
    const kernel = kernelOf(`gather ${name} ${lookup.name}`, () => ({
      params: ["slot", "isNew", "units", ...lookup.params],
      buffers: { status: "read", targets: "read", data: read, out: write },
      declarations: lookup.declarations,
      body: `${UNLESS_BAD}
  let t = select(targetOf(i / params.units), NOWHERE, isBad);
  var value = ${zero};
  if (t != NOWHERE) { value = data[t * params.units + i % params.units]; }
  out[i] = value;`,
    }));
    const params = { ...lookupParams(targets), units, slot, isNew: isNew ? 1 : 0 };
    recording.run(kernel, positions * units, bytes, params, buffers);
    return;
  }
  const perWord = perWordOf(dtype) as 2 | 4;
  const elements = positions * targets.slice;
  const kernel = kernelOf(`gather ${perWord} in a word ${lookup.name}`, () => ({
    params: ["slot", "isNew", "slice", "elements", ...lookup.params],
    buffers: { status: "read", targets: "read", data: "read", out: "write" },
    declarations: laneSource(perWord) + lookup.declarations,
    // The last word may contain unrelated bytes after the end of the tensor, which must be preserved.
    body: `${UNLESS_BAD}
  let begin = i * ${perWord}u;
  var word = 0u;
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = begin + lane;
    if (element >= params.elements) {
      word |= out[i] & (MASK << shiftOf(element));
      continue;
    }
    let t = select(targetOf(element / params.slice), NOWHERE, isBad);
    if (t == NOWHERE) { continue; }
    let place = t * params.slice + element % params.slice;
    word |= ((data[wordOf(place)] >> shiftOf(place)) & MASK) << shiftOf(element);
  }
  out[i] = word;`,
  }));
  const own = { slice: targets.slice, elements, slot, isNew: isNew ? 1 : 0 };
  const params = { ...lookupParams(targets), ...own };
  recording.run(kernel, Math.ceil(elements / perWord), bytes, params, buffers);
}

/** Scatters slices to distinct targets, so that `out[target p] = updates[p]`. */
export function scatterOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  updates: Span,
  out: Span,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const positions = positionsOf(targets);
  const buffers = { status, targets: targets.targets, updates, out };
  const moved = 2 * mostHit(targets) * targets.slice * DTYPES[dtype].bytes;
  const bytes = targets.targets.bytes + moved;
  const whole = unitsOf(dtype, targets.slice, updates);
  if (whole !== null) {
    const { name, units, read, write } = whole;
    const kernel = kernelOf(`scatter ${name} ${lookup.name}`, () => ({
      isGuarded: true,
      params: ["units", ...lookup.params],
      buffers: { targets: "read", updates: read, out: write },
      declarations: lookup.declarations,
      body: `  let t = targetOf(i / params.units);
  if (t != NOWHERE) { out[t * params.units + i % params.units] = updates[i]; }`,
    }));
    const params = { ...lookupParams(targets), units, slot };
    recording.run(kernel, positions * units, bytes, params, buffers);
    return;
  }
  const perWord = perWordOf(dtype) as 2 | 4;
  const kernel = kernelOf(`scatter ${perWord} in a word ${lookup.name}`, () => ({
    isGuarded: true,
    params: ["slice", ...lookup.params],
    buffers: { targets: "read", updates: "read", out: "atomic" },
    declarations: laneSource(perWord) + lookup.declarations,
    body: `  let t = targetOf(i / params.slice);
  if (t == NOWHERE) { return; }
  let to = t * params.slice + i % params.slice;
  let next = updates[wordOf(i)] >> shiftOf(i);
  let old = atomicLoad(&out[wordOf(to)]) >> shiftOf(to);
  atomicXor(&out[wordOf(to)], ((old ^ next) & MASK) << shiftOf(to));`,
  }));
  const params = { ...lookupParams(targets), slice: targets.slice, slot };
  recording.run(kernel, positions * targets.slice, bytes, params, buffers);
}

/**
 * Returns true if `pullOnGpu` moves fewer bytes than copying data and scattering the last update of each target. The
 * function `pullOnGpu` clears and reads one table word per slice, while the scatter reads and writes four words per
 * position and targeted slice.
 */
export const isPullShorter = (targets: Targets, dtype: DType): boolean =>
  8 * targets.slices <= positionsOf(targets) * (16 + 2 * targets.slice * DTYPES[dtype].bytes);

/**
 * Fills each slice of `out` with its last update or, without updates, with data. If the call has failed, a new `out` is
 * filled with data, and any other `out` is left unchanged.
 */
export function pullOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  data: Span,
  updates: Span,
  out: Span,
  isNew: boolean,
  { status, slot }: Guard,
): void {
  const { slice, slices } = targets;
  const table = lastKeys(recording, targets);
  const buffers = { status, table, data, updates, out };
  const bytes = table.bytes + 2 * data.bytes;
  const params = { slot, isNew: isNew ? 1 : 0 };
  const whole = unitsOf(dtype, slice, data);
  if (whole !== null) {
    const { name, units, read, write } = whole;
    const kernel = kernelOf(`pull ${name}`, () => ({
      params: ["slot", "isNew", "units"],
      buffers: { status: "read", table: "read", data: read, updates: read, out: write },
      body: `${UNLESS_BAD}
  let key = select(table[i / params.units], 0u, isBad);
  if (key == 0u) { out[i] = data[i]; return; }
  out[i] = updates[(key - 1u) * params.units + i % params.units];`,
    }));
    recording.run(kernel, slices * units, bytes, { ...params, units }, buffers);
    return;
  }
  const perWord = perWordOf(dtype) as 2 | 4;
  const elements = slices * slice;
  const kernel = kernelOf(`pull ${perWord} in a word`, () => ({
    params: ["slot", "isNew", "slice", "elements"],
    buffers: { status: "read", table: "read", data: "read", updates: "read", out: "write" },
    declarations: laneSource(perWord),
    body: `${UNLESS_BAD}
  var word = data[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    let shift = shiftOf(element);
    if (element >= params.elements) {
      // The bytes after the end of the tensor must not change.
      word = (word & ~(MASK << shift)) | (out[i] & (MASK << shift));
      continue;
    }
    let key = select(table[element / params.slice], 0u, isBad);
    if (key == 0u) { continue; }
    let place = (key - 1u) * params.slice + element % params.slice;
    let update = (updates[wordOf(place)] >> shiftOf(place)) & MASK;
    word = (word & ~(MASK << shift)) | (update << shift);
  }
  out[i] = word;`,
  }));
  const all = { ...params, slice, elements };
  recording.run(kernel, Math.ceil(elements / perWord), bytes, all, buffers);
}

/** Unless the call has failed, copies all bytes of `source`, without changing later bytes. */
export function copyOnGpu(
  recording: Recording,
  source: Span,
  copied: Span,
  { status, slot }: Guard,
): void {
  const { bytes } = source;
  const buffers = { status, source, copied };
  if (bytes % 16 === 0) {
    const kernel = kernelOf("copy fours", () => ({
      isGuarded: true,
      buffers: { source: "read four", copied: "write four" },
      body: "  copied[i] = source[i];",
    }));
    recording.run(kernel, bytes / 16, 2 * bytes, { slot }, buffers);
    return;
  }
  const kernel = kernelOf("copy words", () => ({
    isGuarded: true,
    params: ["whole", "tail"],
    buffers: { source: "read", copied: "write" },
    body: `  let mask = select(params.tail, 0xffffffffu, i < params.whole);
  copied[i] = (copied[i] & ~mask) | (source[i] & mask);`,
  }));
  const params = { slot, whole: Math.floor(bytes / 4), tail: 2 ** (8 * (bytes % 4)) - 1 };
  recording.run(kernel, Math.ceil(bytes / 4), 2 * bytes, params, buffers);
}

/**
 * Fills a result with zeros. A new result is filled even after a failed call, while any other result is left unchanged.
 */
export function clearOnGpu(recording: Recording, out: Span, isNew: boolean, guard: Guard): void {
  if (isNew) recording.clear(out);
  else copyOnGpu(recording, recording.zeros(out.bytes), out, guard);
}
