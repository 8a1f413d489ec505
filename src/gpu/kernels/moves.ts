/**
 * Kernels that move slices: gathers, scatters without a reduction, copies. Bits move as they are, so NaNs keep theirs. Where
 * slices are whole words an invocation moves a word, or four; otherwise one element, or in a gather the elements of one word.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { laneSource, perWordOf } from "./elements.ts";
import { kernelOf, type BufferKind } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";
import { lookupOf, lookupParams, positionsOf, type Targets } from "./targets.ts";

/** Slices of whole words: in units of one word, or of four, which an invocation moves at once. */
interface Units {
  readonly name: "words" | "fours";
  /** Of a slice. */
  readonly units: number;
  readonly read: BufferKind;
  readonly write: BufferKind;
  readonly zero: string;
}

/**
 * The units of slices; null where slices are no whole words.
 * @param from what slices are read from: four words are more than the least binding, which a tensor without elements has
 */
function unitsOf(dtype: DType, slice: number, from: Span): Units | null {
  const words = (slice * DTYPES[dtype].bytes) / 4;
  if (!Number.isInteger(words)) return null;
  return words % 4 === 0 && from.bytes > 0
    ? { name: "fours", units: words / 4, read: "read four", write: "write four", zero: "vec4(0u)" }
    : { name: "words", units: words, read: "read", write: "write", zero: "0u" };
}

/** `out[p] = data[target p]`; 0 where there is no target. */
export function gatherOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  data: Span,
  out: Span,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const positions = positionsOf(targets);
  const buffers = { status, targets: targets.targets, data, out };
  const whole = unitsOf(dtype, targets.slice, data);
  if (whole !== null) {
    const { name, units, read, write, zero } = whole;
    const kernel = kernelOf(`gather ${name} ${lookup.name}`, () => ({
      isGuarded: true,
      params: ["units", ...lookup.params],
      buffers: { targets: "read", data: read, out: write },
      declarations: lookup.declarations,
      body: `  let t = targetOf(i / params.units);
  var value = ${zero};
  if (t != NOWHERE) { value = data[t * params.units + i % params.units]; }
  out[i] = value;`,
    }));
    recording.run(kernel, positions * units, { ...lookupParams(targets), units, slot }, buffers);
    return;
  }
  const perWord = perWordOf(dtype) as 2 | 4;
  const elements = positions * targets.slice;
  const kernel = kernelOf(`gather ${perWord} in a word ${lookup.name}`, () => ({
    isGuarded: true,
    params: ["slice", "elements", ...lookup.params],
    buffers: { targets: "read", data: "read", out: "write" },
    declarations: laneSource(perWord) + lookup.declarations,
    // The last word may hold elements of something else behind the tensor.
    body: `  let begin = i * ${perWord}u;
  var word = 0u;
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = begin + lane;
    if (element >= params.elements) {
      word |= out[i] & (MASK << shiftOf(element));
      continue;
    }
    let t = targetOf(element / params.slice);
    if (t == NOWHERE) { continue; }
    let place = t * params.slice + element % params.slice;
    word |= ((data[wordOf(place)] >> shiftOf(place)) & MASK) << shiftOf(element);
  }
  out[i] = word;`,
  }));
  const params = { ...lookupParams(targets), slice: targets.slice, elements, slot };
  recording.run(kernel, Math.ceil(elements / perWord), params, buffers);
}

/** `out[target p] = updates[p]`, where no two positions have one target. */
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
    recording.run(kernel, positions * units, { ...lookupParams(targets), units, slot }, buffers);
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
  recording.run(kernel, positions * targets.slice, params, buffers);
}

/** Copies all elements of a tensor, unless the call has failed, and nothing behind them. */
export function copyOnGpu(
  recording: Recording,
  dtype: DType,
  size: number,
  from: Span,
  to: Span,
  guard: Guard,
): void {
  const zero = recording.zeros(4);
  const whole = { count: 1, batches: 1, repeat: 1, span: 1, slices: 1 };
  gatherOnGpu(recording, { ...whole, slice: size, targets: zero }, dtype, from, to, guard);
}
