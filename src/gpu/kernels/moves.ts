/**
 * Defines the kernels that move slices, in gathers, scatters without a reduction, and copies. The kernels move bits
 * unchanged, so NaN payloads are preserved. If slices consist of whole words, an invocation moves one or four words;
 * otherwise it moves one element or, into a whole result, the elements of one word.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import type { Span } from "./kernel.ts";
import { accessOf, laneSource, perWordOf } from "./arithmetic.ts";
import type { Recording } from "./recording.ts";
import {
  lookupOf,
  mostHit,
  positionsOf,
  runOnTargets,
  tableOf,
  TO_ELEMENT,
  type Lookup,
  type Targets,
} from "./targets.ts";

/** The tensor that receives a result. */
export interface Made {
  readonly dtype: DType;
  readonly out: Span;
  /** The origin of `out`, which is the first input itself, a new tensor, or another tensor of the caller. */
  readonly result: "in place" | "new" | "given";
}

/** The operands of a scatter, except for the targets. */
export interface Operands extends Made {
  readonly data: Span;
  readonly updates: Span;
}

/**
 * Divides slices of whole words into units of one or four words that an invocation moves together. Returns the number
 * of units per slice, or null for slices with parts of words. `from` is the source of slices. If `from` is empty, no
 * vectors of four words are used, because a vector exceeds the smallest binding.
 */
function unitsOf(
  dtype: DType,
  slice: number,
  from: Span,
): { readonly units: number; readonly four: "" | " four" } | null {
  const words = (slice * DTYPES[dtype].bytes) / 4;
  if (!Number.isInteger(words)) return null;
  const isFour = words % 4 === 0 && from.bytes > 0;
  return isFour ? { units: words / 4, four: " four" } : { units: words, four: "" };
}

/** The sources of a whole result. */
interface Filling {
  readonly name: string;
  /** Finds the number of the slice of `source` for a slice of the result. */
  readonly lookup: Lookup;
  /** The words that `lookup` reads. */
  readonly targets: Span;
  readonly source: Span;
  /** The result of slices without a target: the slices of `data` in the same place, or zeros without `data`. */
  readonly data?: Span;
  readonly slice: number;
  /** The number of slices of the result. */
  readonly slices: number;
  readonly bytes: number;
}

/**
 * Fills all slices of `out` from `source`, or from `data` without a target. If the call has failed, a new `out` has no
 * targets, and any other `out` is left unchanged.
 */
function fillOnGpu(
  recording: Recording,
  { name, lookup, targets, source, data, slice, slices, bytes }: Filling,
  { dtype, out, result }: Made,
): void {
  const begin = `  let isBad = status[params.slot] != FINE;
  if (isBad && params.isNew == 0u) { return; }`;
  const own = { isNew: result === "new" ? 1 : 0, ...lookup.params };
  const words = { targets };
  const moved = { source, ...(data && { data }) };
  const whole = unitsOf(dtype, slice, data ?? source);
  if (whole !== null) {
    const { units, four } = whole;
    const zero = four === "" ? "0u" : "vec4(0u)";
    recording.run({
      ...{ name: `${name} words${four} ${lookup.name}`, guard: "reads", bytes },
      ...{ threads: slices * units, params: { units, ...own } },
      buffers: {
        read: words,
        [`read${four}`]: { ...(four === "" && words), ...moved },
        [`write${four}`]: { out },
      },
      declarations: () => lookup.declarations,
      body: () => `${begin}
  let t = select(targetOf(i / params.units), NOWHERE, isBad);
  if (t == NOWHERE) { out[i] = ${data ? "data[i]" : zero}; return; }
  out[i] = source[t * params.units + i % params.units];`,
    });
    return;
  }
  const perWord = perWordOf(dtype) as 2 | 4;
  const elements = slices * slice;
  recording.run({
    ...{ name: `${name} ${perWord} in a word ${lookup.name}`, guard: "reads", bytes },
    ...{ threads: Math.ceil(elements / perWord), params: { slice, elements, ...own } },
    buffers: { read: { ...words, ...moved }, write: { out } },
    declarations: () => laneSource(perWord) + lookup.declarations,
    body: () => `${begin}
  var word = ${data ? "data[i]" : "0u"};
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    let shift = shiftOf(element);
    if (element >= params.elements) {
      // The bytes after the end of the tensor must not change.
      word = (word & ~(MASK << shift)) | (out[i] & (MASK << shift));
      continue;
    }
    let t = select(targetOf(element / params.slice), NOWHERE, isBad);
    if (t == NOWHERE) { continue; }
    let place = t * params.slice + element % params.slice;
    let next = (source[wordOf(place)] >> shiftOf(place)) & MASK;
    word = (word & ~(MASK << shift)) | (next << shift);
  }
  out[i] = word;`,
  });
}

/**
 * Gathers slices: computes `out[p] = data[target p]`, or 0 without a target. If the call has failed, a new `out` is
 * filled with zeros, and any other `out` is left unchanged.
 */
export function gatherOnGpu(
  recording: Recording,
  targets: Targets,
  operands: Omit<Operands, "updates">,
): void {
  const { slice } = targets;
  const { dtype, data } = operands;
  const positions = positionsOf(targets);
  const moved = (mostHit(targets) + positions) * slice * DTYPES[dtype].bytes;
  const filling = {
    ...{ name: "gather", lookup: lookupOf(targets), targets: targets.targets, slice },
    ...{ source: data, slices: positions },
    bytes: targets.targets.bytes + moved,
  };
  fillOnGpu(recording, filling, operands);
}

/**
 * Returns true if `pullOnGpu` moves fewer bytes than copying data and scattering the last update of each target. The
 * function `pullOnGpu` clears and reads one table word per slice, while the scatter reads and writes four words per
 * position and targeted slice.
 */
export const isPullShorter = (targets: Targets, dtype: DType): boolean =>
  8 * targets.slices <= positionsOf(targets) * (16 + 2 * targets.slice * DTYPES[dtype].bytes);

/** Finds the last update of a slice. A key of 0, for a slice without updates, becomes `NOWHERE`. */
const LAST_UPDATE: Lookup = {
  name: "last",
  declarations: "fn targetOf(p: u32) -> u32 { return targets[p] - 1u; }",
  params: {},
};

/**
 * Fills each slice of `out` with its last update or, without updates, with data. If the call has failed, a new `out` is
 * filled with data, and any other `out` is left unchanged.
 */
export function pullOnGpu(recording: Recording, targets: Targets, operands: Operands): void {
  const { slice, slices } = targets;
  const { data, updates } = operands;
  const table = tableOf(recording, targets, "last", true);
  const filling = {
    ...{ name: "pull", lookup: LAST_UPDATE, targets: table, slice },
    ...{ source: updates, data, slices, bytes: table.bytes + 2 * data.bytes },
  };
  fillOnGpu(recording, filling, operands);
}

/** Scatters slices to distinct targets, so that `out[target p] = updates[p]`. */
export function scatterOnGpu(
  recording: Recording,
  targets: Targets,
  { dtype, updates, out }: Operands,
): void {
  const { slice } = targets;
  const positions = positionsOf(targets);
  const bytes = 2 * mostHit(targets) * slice * DTYPES[dtype].bytes;
  const whole = unitsOf(dtype, slice, updates);
  if (whole !== null) {
    const { units, four } = whole;
    runOnTargets(recording, targets, {
      name: `scatter words${four}`,
      ...{ threads: positions * units, bytes, guard: "stops", params: { units } },
      buffers: { [`read${four}`]: { updates }, [`write${four}`]: { out } },
      body: () => `  let t = targetOf(i / params.units);
  if (t != NOWHERE) { out[t * params.units + i % params.units] = updates[i]; }`,
    });
    return;
  }
  const { read, old, store, kind, declarations } = accessOf(dtype);
  runOnTargets(recording, targets, {
    name: `scatter ${perWordOf(dtype)} in a word`,
    ...{ threads: positions * slice, bytes, guard: "stops", params: { slice } },
    buffers: { read: { updates }, [kind]: { out } },
    declarations: () => declarations,
    body: () => `${TO_ELEMENT}
  let before = ${old};
  let value = ${read("updates", "i")};
  ${store}`,
  });
}

/** Unless the call has failed, copies all bytes of `source`, without changing later bytes. */
export function copyOnGpu(recording: Recording, source: Span, copied: Span): void {
  const { bytes } = source;
  const isFour = bytes % 16 === 0;
  const four = isFour ? " four" : "";
  recording.run({
    ...{ name: `copy words${four}`, guard: "stops", bytes: 2 * bytes },
    threads: Math.ceil(bytes / (isFour ? 16 : 4)),
    params: isFour ? {} : { whole: Math.floor(bytes / 4), tail: 2 ** (8 * (bytes % 4)) - 1 },
    buffers: { [`read${four}`]: { source }, [`write${four}`]: { copied } },
    body: () =>
      isFour
        ? "  copied[i] = source[i];"
        : `  let mask = select(params.tail, 0xffffffffu, i < params.whole);
  copied[i] = (copied[i] & ~mask) | (source[i] & mask);`,
  });
}

/**
 * Fills a result with zeros. A new result is filled even after a failed call, while any other result is left unchanged.
 */
export function clearOnGpu(recording: Recording, { out, result }: Made): void {
  if (result === "new") recording.clear(out);
  else copyOnGpu(recording, recording.zeros(out.bytes), out);
}
