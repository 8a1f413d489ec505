/** Random calls with a fault of each kind, computed by the loops of `other-rules.ts`. */

import type { Random } from "./random.ts";
import {
  at,
  combine,
  exactly,
  everyPlace,
  isInteger,
  isScatter,
  LEAST,
  linksOf,
  outputShape,
  ownReading,
  round,
  runWith,
  sizeOf,
  type Dtype,
  type Faults,
  type Grid,
  type Op,
  type Reading,
  type Sample,
} from "./other-rules.ts";

/** A fault, the calls that it is planted in, and their wrong results. */
export interface Planted {
  readonly id: string;
  sample(random: Random): Sample;
  /** Null if the fault has no effect in this call. Different random numbers try the variants of a fault. */
  wrong(sample: Sample, random: Random): number[] | null;
  /**
   * True for a combination of two faults. A diagnosis with several pairs of the same result is right if this pair is
   * among them.
   */
  readonly isPair?: true;
  /** True if the call is an error in its version. */
  readonly isError?: true;
  /** True if the fault involves a choice that the call does not determine. */
  readonly isRandom?: true;
}

interface Choice {
  readonly ops?: readonly Op[];
  readonly dtypes?: readonly Dtype[];
  readonly words?: readonly Sample["reduction"][];
  /** True if all dimensions of data are equal, and those of indices too, if possible. */
  readonly isCube?: boolean;
  readonly batches?: boolean;
  /** Versions without negative indices. */
  readonly isUnsigned?: boolean;
  /** One index in this many is negative; 0 for none. */
  readonly negative?: number;
  readonly value?: (dtype: Dtype, random: Random) => number;
}

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)];

const SCATTERS: readonly Op[] = ["ScatterND", "ScatterElements"];
const GATHERS: readonly Op[] = ["GatherND", "GatherElements", "Gather"];
const ALL: readonly Op[] = [...SCATTERS, ...GATHERS];
const DTYPES: readonly Dtype[] = [
  ...(["float32", "float64", "float16", "bfloat16"] as const),
  ...(["int32", "int64", "int16", "uint32"] as const),
];

export function anyValue(dtype: Dtype, random: Random): number {
  if (dtype.startsWith("uint")) return random(2001);
  if (isInteger(dtype)) return random(2001) - 1000;
  return round(dtype, (random(2 ** 20) - 2 ** 19) / 2 ** 14 + random(1000) / 999);
}

export function gridOf(shape: readonly number[], value: (place: number[]) => number): Grid {
  return { shape, values: everyPlace(shape).map(value) };
}

/** Indices with several likely repeats. */
export function anyCall(random: Random, choice: Choice = {}): Sample {
  const { negative = 4, isCube = false, value = anyValue } = choice;
  const op = pick(choice.ops ?? ALL, random);
  if (op === "TensorScatter") return anySequences(random, choice);
  const dtype = pick(choice.dtypes ?? DTYPES, random);
  const n = 2 + random(3);
  const rank = isCube || choice.batches ? 2 + random(2) : 1 + random(3);
  const dims = Array.from({ length: rank }, () => (isCube ? n : 2 + random(4)));
  const batchDims = choice.batches ? 1 : 0;
  let axis = 0;
  let shape: number[];
  if (op.endsWith("ND")) {
    const k = 1 + random(rank - batchDims);
    const lead = batchDims === 1 ? [dims[0]] : random(3) === 0 ? [2] : [];
    shape = [...lead, 3 + random(8), k];
  } else if (op === "Gather") {
    axis = batchDims + random(rank - batchDims);
    const last = isCube && batchDims === 0 ? [] : [1 + random(4)];
    shape = [batchDims === 1 ? dims[0] : isCube ? n : 1 + random(3), ...last];
  } else {
    axis = random(rank);
    // GatherElements-6, the version without negative indices, needs the sizes of data on other axes.
    const isEqual = op === "GatherElements" && choice.isUnsigned === true;
    shape = dims.map((dim, d) => {
      if (isCube) return n;
      if (d === axis) return 2 + random(6);
      return isEqual ? dim : 1 + random(dim);
    });
  }
  const k = shape[shape.length - 1];
  const dimAt = (place: number[]): number =>
    op.endsWith("ND") ? dims[batchDims + place[place.length - 1]] : dims[axis];
  const indices = gridOf(shape, (place) => {
    const dim = dimAt(place);
    return random(dim) - (negative > 0 && random(negative) === 0 ? dim : 0);
  });
  const updates =
    op === "ScatterND"
      ? [...shape.slice(0, -1), ...dims.slice(k)]
      : op === "ScatterElements"
        ? shape
        : [0];
  return {
    ...{ op, dtype, axis, batchDims, indices },
    reduction: SCATTERS.includes(op) ? pick(choice.words ?? ["none"], random) : "none",
    data: gridOf(dims, () => value(dtype, random)),
    updates: gridOf(updates, () => value(dtype, random)),
    ...(op === "Gather" && batchDims > 0 && { version: "openvino" }),
    ...(choice.isUnsigned && { version: "unsigned" }),
  };
}

/** Sequences that all fit into their cache. */
function anySequences(random: Random, { dtypes = DTYPES, value = anyValue }: Choice): Sample {
  const dtype = pick(dtypes, random);
  const rank = 2 + random(3);
  const axis = 1 + random(rank - 1);
  const dims = Array.from({ length: rank }, () => 2 + random(3));
  dims[axis] = 4 + random(5);
  const length = 2 + random(dims[axis] - 2);
  return {
    ...{ op: "TensorScatter", dtype, axis, batchDims: 0, reduction: "none", isCircular: false },
    data: gridOf(dims, () => value(dtype, random)),
    indices: gridOf([dims[0]], () => random(dims[axis] - length + 1)),
    updates: gridOf(dims.with(axis, length), () => value(dtype, random)),
  };
}

/** Some sequences begin before their axis or extend beyond it. */
function unfitting(sample: Sample, random: Random): Sample {
  const { indices, data, updates, axis } = sample;
  const [dim, length] = [data.shape[axis], updates.shape[axis]];
  const far = (): number =>
    random(3) === 0 ? -1 - random(length) : dim - length + 1 + random(length);
  const values = indices.values.map((start) => (random(3) > 0 ? start : far()));
  values[random(values.length)] = far();
  return { ...sample, indices: { ...indices, values } };
}

/** Some indices are outside their axis. */
function withOutside(sample: Sample, random: Random): Sample {
  const { indices } = sample;
  const values = indices.values.map((index) =>
    random(4) > 0 ? index : random(2) === 0 ? 6 + random(4) : -7 - random(4),
  );
  values[random(values.length)] = 6 + random(4);
  return { ...sample, indices: { ...indices, values } };
}

/** Some indices are just outside their axis, so that their flat offset is within data. */
function justOutside(sample: Sample, random: Random): Sample {
  const { indices, data } = sample;
  const values = indices.values.map((index) => (random(4) > 0 ? index : data.shape[0] + random(2)));
  values[random(values.length)] = data.shape[0];
  return { ...sample, indices: { ...indices, values } };
}

const outside =
  (instead: (place: number, dim: number) => number | null) =>
  (sample: Sample): Reading =>
  (index, dim) => {
    const place = ownReading(sample)(index, dim) as number;
    return place >= 0 && place < dim ? place : instead(place, dim);
  };

const nearest = outside((place, dim) => (place < 0 ? 0 : dim - 1));
const leftOut = outside(() => null);

const reading =
  (read: (sample: Sample) => Reading, fill = 0) =>
  (sample: Sample): number[] =>
    runWith(sample, { read: read(sample), fill });

const SUMS = ["add", "mul"] as const;
const FLOATS: readonly Dtype[] = ["float32", "float16", "bfloat16"];

/** The positions of the updates of each target. */
function hitsOf(sample: Sample): Map<number, number[]> {
  const hits = new Map<number, number[]>();
  linksOf(sample, exactly).forEach((target, position) => {
    if (target === null) return;
    hits.set(target, [...(hits.get(target) ?? []), position]);
  });
  return hits;
}

function transposed(grid: Grid, random: Random): Grid {
  const { shape, values } = grid;
  const reversed = shape.toReversed();
  const turned = (place: readonly number[]): number[] => place.toReversed();
  const [a, b] = [random(shape.length), random(shape.length)];
  if (random(3) === 0 && a !== b && shape[a] === shape[b]) {
    return gridOf([...shape], (place) => at(grid, place.with(a, place[b]).with(b, place[a])));
  }
  if (random(2) === 0) {
    return gridOf([...shape], (place) => at({ shape: reversed, values }, turned(place)));
  }
  const other = gridOf(reversed, (place) => at(grid, turned(place)));
  return { shape, values: other.values };
}

/** A step with changed operands and a changed result, rounded by the data type. */
const stepped =
  (change: (value: number) => number) =>
  (sample: Sample): Faults => ({
    step: (a, b) => {
      const { dtype, reduction } = sample;
      return change(round(dtype, combine(reduction, dtype, change(a), change(b))));
    },
  });

const tiny = (dtype: Dtype, random: Random): number =>
  (random(33) - 16) * LEAST[dtype] * (random(3) === 0 ? 1 : 2 ** -4);

function flushed({ dtype }: Sample, value: number): number {
  if (Math.abs(value) >= LEAST[dtype] || Number.isNaN(value)) return value;
  return value < 0 || Object.is(value, -0) ? -0 : 0;
}

/** A max or min by comparison: the operand to keep if the comparison is false, for NaN or for equal zeros. */
function compared(sample: Sample, keeps: "data" | "update", isForNaN: boolean): Faults {
  const isMax = sample.reduction === "max";
  return {
    step: (a, b) => {
      if (isForNaN ? Number.isNaN(a) || Number.isNaN(b) : a === b) return keeps === "data" ? a : b;
      if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
      return isMax ? Math.max(a, b) : Math.min(a, b);
    },
  };
}

const withNaN = (dtype: Dtype, random: Random): number =>
  random(4) === 0 ? NaN : anyValue(dtype, random);

const zeros = (_: Dtype, random: Random): number => pick([0, -0, 1, -1], random);

/** Data and indices that are valid for both ScatterND and ScatterElements (or their gathers). */
function bothOperators(random: Random): Sample {
  const n = 3 + random(3);
  const [p, q] = [1 + random(n), 1 + random(n)];
  const op = pick(["ScatterND", "ScatterElements", "GatherND", "GatherElements"] as const, random);
  const dtype = pick(DTYPES, random);
  const axis = op.endsWith("ND") ? 0 : random(2);
  const value = (): number => anyValue(dtype, random);
  return {
    ...{ op, dtype, axis, batchDims: 0, reduction: "none" },
    data: gridOf([n, n, 2], value),
    indices: gridOf([p, q, 2], () => random(n)),
    updates: gridOf(op.startsWith("Scatter") ? [p, q, 2] : [0], value),
  };
}

const OTHER = {
  ScatterND: "ScatterElements",
  ScatterElements: "ScatterND",
  GatherND: "GatherElements",
  GatherElements: "GatherND",
} as const;

/** Sums the updates of each target first, then adds data. */
function updatesFirst(sample: Sample): number[] {
  const { dtype, reduction, data } = sample;
  const combined = runWith(sample, { first: (_, b) => b });
  const hits = hitsOf(sample);
  return data.values.map((value, cell) =>
    hits.has(cell) ? round(dtype, combine(reduction, dtype, value, combined[cell])) : value,
  );
}

/** Everything from the first negative index onwards is missing. */
function refused(sample: Sample, random: Random): number[] | null {
  const links = linksOf(sample, (index, dim) => (index < 0 ? null : exactly(index, dim)));
  const stop = random(2) === 0 ? links.indexOf(null) : 0;
  if (!links.includes(null)) return null;
  if (isScatter(sample)) return runWith(sample, { isDone: (position) => position < stop });
  return runWith(sample).map((value, cell) => (cell < stop ? value : 0));
}

/** Tuples with reordered coordinates: the last first, or two neighbours swapped. */
function withCoordinatesSwapped(sample: Sample, random: Random): Sample {
  const { indices } = sample;
  const k = indices.shape[indices.shape.length - 1];
  const j = k > 2 && random(2) === 0 ? random(k - 1) : null;
  const from = (to: number): number =>
    j === null ? k - 1 - to : to === j ? j + 1 : to === j + 1 ? j : to;
  const turned = gridOf(indices.shape, (place) =>
    at(indices, [...place.slice(0, -1), from(place[place.length - 1])]),
  );
  return { ...sample, indices: turned };
}

const isPaired = ({ indices }: Sample): boolean => indices.shape[indices.shape.length - 1] > 1;

/** True if some index is outside its axis. */
const hasOutside = (sample: Sample): boolean => linksOf(sample, leftOut(sample)).includes(null);

/** The result of a function without data, which sums the updates of a target, or keeps the last. */
function withoutData(sample: Sample, isSummed: boolean): number[] {
  const zeros = gridOf(sample.data.shape, () => 0);
  return runWith({ ...sample, data: zeros }, isSummed ? { word: "add" } : {});
}

export const PLANTED: readonly Planted[] = [
  {
    id: "swapped-coordinates",
    sample: (random) =>
      anyCall(random, { ops: ["ScatterND", "GatherND"], isCube: random(2) === 0 }),
    wrong(sample, random) {
      if (!isPaired(sample)) return null;
      const other = withCoordinatesSwapped(sample, random);
      // The effect of such a tuple outside its axis is open; here its update or element is left out.
      return reading(leftOut)(other);
    },
  },
  {
    id: "swapped-coordinates",
    isError: true,
    // The call was intended for axes in the other order.
    sample(random) {
      const sample = anyCall(random, { ops: ["ScatterND", "GatherND"] });
      const other = isPaired(sample) ? withCoordinatesSwapped(sample, random) : sample;
      return hasOutside(other) ? other : justOutside(sample, random);
    },
    wrong(sample, random) {
      if (!isPaired(sample)) return null;
      const other = withCoordinatesSwapped(sample, random);
      return hasOutside(other) ? null : runWith(other);
    },
  },
  {
    id: "zeros-for-data",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: ["none", "none", "add", "max"] }),
    wrong: (sample, random) =>
      withoutData(
        sample,
        sample.reduction === "add" || (sample.reduction === "none" && random(2) === 0),
      ),
  },
  {
    id: "indices-from-one",
    sample: (random) => anyCall(random),
    wrong(sample, random) {
      const by = random(2) === 0 ? 1 : -1;
      const wraps = random(2) === 0;
      return reading(() => (index, dim) => {
        const place = wraps && index + by < 0 ? index + by + dim : index + by;
        return place >= 0 && place < dim ? place : null;
      })(sample);
    },
  },
  {
    id: "indices-from-one",
    isError: true,
    sample(random) {
      const sample = anyCall(random, { negative: 0 });
      const values = sample.indices.values.map((index) => index + 1);
      const other = { ...sample, indices: { ...sample.indices, values } };
      return hasOutside(other) ? other : justOutside(sample, random);
    },
    wrong: (sample) =>
      sample.indices.values.includes(0) ? null : reading(() => (index) => index - 1)(sample),
  },
  {
    id: "not-applied",
    sample: (random) => anyCall(random, { negative: 0 }),
    wrong: (sample) => runWith(sample, { read: () => null }),
  },
  {
    id: "first-wins",
    sample: (random) => anyCall(random, { ops: SCATTERS }),
    wrong: (sample) => runWith(sample, { isDone: (_, nth) => nth === 0 }),
  },
  {
    id: "any-order",
    isRandom: true,
    sample: (random) => anyCall(random, { ops: SCATTERS }),
    wrong(sample, random) {
      const hits = hitsOf(sample);
      const winners = new Set([...hits.values()].map((positions) => pick(positions, random)));
      return runWith(sample, { isDone: (position) => winners.has(position) });
    },
  },
  {
    id: "lost-updates",
    isRandom: true,
    sample: (random) =>
      anyCall(random, {
        ops: SCATTERS,
        words: ["add"],
        dtypes: ["int32", "int64", "float32", "float64"],
      }),
    wrong: (sample, random) => runWith(sample, { isDone: () => random(3) > 0 }),
  },
  {
    id: "negative-dropped",
    sample: (random) => anyCall(random),
    wrong: reading(() => (index) => (index < 0 ? null : index)),
  },
  {
    id: "negative-clamped",
    sample: (random) => anyCall(random),
    wrong: reading(() => (index) => Math.max(index, 0)),
  },
  { id: "negative-refused", sample: (random) => anyCall(random), wrong: refused },
  {
    id: "out-of-range-clipped",
    isError: true,
    sample: (random) => withOutside(anyCall(random), random),
    wrong: reading(nearest),
  },
  {
    id: "out-of-range-dropped",
    isError: true,
    sample: (random) => withOutside(anyCall(random, { ops: SCATTERS }), random),
    wrong: reading(leftOut),
  },
  {
    id: "out-of-range-filled",
    isError: true,
    sample: (random) => withOutside(anyCall(random, { ops: GATHERS }), random),
    wrong: (sample, random) =>
      reading(leftOut, sample.dtype.startsWith("float") && random(2) === 0 ? NaN : 0)(sample),
  },
  {
    id: "flat-offset",
    isError: true,
    sample: (random) => justOutside(anyCall(random, { isCube: true }), random),
    // An index with a flat offset beyond data is left out, which is another fault.
    wrong(sample) {
      const values = reading(ownReading)(sample);
      return String(values) === String(reading(leftOut)(sample)) ? null : values;
    },
  },
  {
    id: "other-reduction",
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: ["add", "mul", "max", "min", "none"] }),
    wrong: (sample, random) =>
      runWith(sample, { word: pick(["add", "mul", "max", "min", "none"] as const, random) }),
  },
  {
    id: "without-self",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: ["add", "mul", "max", "min"] }),
    wrong: (sample) => runWith(sample, { first: (_, b) => b }),
  },
  {
    id: "other-axis",
    sample: (random) =>
      anyCall(random, { ops: ["ScatterElements", "GatherElements", "Gather"], isCube: true }),
    wrong: (sample) => runWith({ ...sample, axis: (sample.axis + 1) % sample.data.shape.length }),
  },
  {
    id: "batch-zero",
    sample: (random) =>
      anyCall(random, { ops: ["GatherND", "Gather", "TensorScatter"], batches: true }),
    wrong(sample) {
      const { indices } = sample;
      const first = gridOf(indices.shape, (place) => at(indices, place.with(0, 0)));
      return runWith({ ...sample, indices: first });
    },
  },
  {
    id: "updates-first",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: SUMS, dtypes: FLOATS }),
    wrong: updatesFirst,
  },
  {
    id: "wide-accumulation",
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: SUMS, dtypes: ["float16", "bfloat16"] }),
    wrong(sample) {
      const step = (a: number, b: number): number =>
        Math.fround(combine(sample.reduction, sample.dtype, a, b));
      return runWith(sample, { step }).map((value) => round(sample.dtype, value));
    },
  },
  {
    id: "subnormals-flushed",
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: ["add", "max"], dtypes: FLOATS, value: tiny }),
    wrong: (sample) => runWith(sample, stepped((value) => flushed(sample, value))(sample)),
  },
  {
    id: "nan-one-operand",
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: ["max", "min"], dtypes: FLOATS, value: withNaN }),
    wrong(sample, random) {
      if (random(2) === 0)
        return runWith(sample, compared(sample, random(2) === 0 ? "data" : "update", true));
      const { step } = compared(sample, "data", true);
      return runWith(sample, {
        step: (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Number(step?.(a, b))),
      });
    },
  },
  {
    id: "signed-zero",
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: ["max", "min"], dtypes: FLOATS, value: zeros }),
    wrong: (sample, random) =>
      runWith(sample, compared(sample, random(2) === 0 ? "data" : "update", false)),
  },
  {
    id: "other-operator",
    sample: bothOperators,
    wrong: (sample) => {
      const op = OTHER[sample.op as keyof typeof OTHER];
      return runWith({ ...sample, op });
    },
  },
  {
    id: "transposed-input",
    sample: (random) => anyCall(random, { isCube: random(2) === 0 }),
    wrong(sample, random) {
      const part = pick(["data", "updates"] as const, random);
      return runWith({ ...sample, [part]: transposed(sample[part], random) });
    },
  },
  {
    id: "indices-truncated",
    isError: true,
    sample(random) {
      const sample = anyCall(random);
      const far = (index: number): number =>
        index + (random(5) === 0 ? 2 ** 32 * (1 + random(9)) : 0);
      const values = sample.indices.values.map(far);
      values[0] += 2 ** 32;
      return { ...sample, indices: { ...sample.indices, values } };
    },
    wrong: (sample) => {
      const values = sample.indices.values.map((index) => index | 0);
      return runWith({ ...sample, indices: { ...sample.indices, values } });
    },
  },
  {
    id: "rounding",
    isRandom: true,
    sample: (random) =>
      anyCall(random, { ops: SCATTERS, words: SUMS, dtypes: ["float32", "float64"] }),
    wrong: (sample) => runWith(sample, { reverse: true }),
  },
  {
    id: "other-batch-dims",
    sample: (random) => anyCall(random, { ops: ["GatherND", "Gather"], batches: true }),
    wrong(sample, random) {
      const { op, data, indices } = sample;
      if (op === "GatherND" && random(2) === 0) {
        const isInside = everyPlace(indices.shape).every((place) => {
          const dim = data.shape[place[place.length - 1]];
          return at(indices, place) >= -dim && at(indices, place) < dim;
        });
        if (!isInside) return null;
        return withTuplesFromAxis0(sample);
      }
      const first = gridOf(data.shape, (place) => at(data, place.with(0, 0)));
      return runWith({ ...sample, data: first });
    },
  },
  {
    id: "negative-counted",
    isError: true,
    // Gather-1 and Scatter-9 do not support bfloat16.
    sample: (random) =>
      anyCall(random, {
        negative: 3,
        isUnsigned: true,
        dtypes: DTYPES.filter((dtype) => dtype !== "bfloat16"),
      }),
    wrong: reading(() => exactly),
  },
  {
    id: "negative-counted",
    sample: (random) => anyCall(random, { negative: 3 }),
    wrong(sample, random) {
      const size = pick(sample.data.shape, random);
      const isBefore = random(2) === 0;
      const read: Reading = (index, dim) =>
        index < 0 ? index + (isBefore ? dim - 1 : size) : index;
      return linksOf(sample, read).includes(null) ? null : runWith(sample, { read });
    },
  },
  {
    id: "other-mode",
    isError: true,
    sample: (random) => unfitting(anySequences(random, {}), random),
    wrong: (sample) => runWith({ ...sample, isCircular: true }),
  },
  {
    id: "out-of-range-clipped",
    isError: true,
    sample: (random) => unfitting(anySequences(random, {}), random),
    wrong(sample) {
      const { indices, data, updates, axis } = sample;
      const most = data.shape[axis] - updates.shape[axis];
      const values = indices.values.map((start) => Math.min(Math.max(start, 0), most));
      return runWith({ ...sample, indices: { ...indices, values } });
    },
  },
  {
    id: "out-of-range-dropped",
    isError: true,
    sample: (random) => unfitting(anySequences(random, {}), random),
    wrong: reading(leftOut),
  },
  {
    id: "flat-offset",
    isError: true,
    sample: (random) => unfitting(anySequences(random, {}), random),
    wrong: reading(ownReading),
  },
  {
    id: "lost-updates",
    isRandom: true,
    sample: (random) => manyEqual(random),
    wrong: (sample, random) => runWith(sample, { isDone: () => random(9) > 0 }),
  },
  {
    id: "wrong-rounding",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: SUMS, dtypes: ["bfloat16"] }),
    wrong(sample) {
      const step = (a: number, b: number): number => {
        const sum = combine(sample.reduction, sample.dtype, a, b);
        const bits = new DataView(new ArrayBuffer(4));
        bits.setFloat32(0, sum);
        // The first two bytes are the bfloat16 below.
        const isOddWithHalf = bits.getUint8(1) % 2 === 1 && bits.getUint8(2) >= 0x80;
        bits.setUint32(0, (bits.getUint16(0) + (isOddWithHalf ? 1 : 0)) * 0x10000);
        return bits.getFloat32(0);
      };
      return runWith(sample, { step });
    },
  },
  {
    id: "other-type",
    sample: (random) =>
      anyCall(random, {
        words: ["none", "add"],
        dtypes: ["int64", "float64"],
        value: (dtype) =>
          dtype === "int64"
            ? random(2 ** 20) * 2 ** 20 + random(2 ** 20) - 2 ** 39
            : random(2 ** 20) / 999,
      }),
    wrong(sample) {
      const { dtype, data, updates, reduction } = sample;
      const narrow = (value: number): number =>
        dtype === "int64" ? Number(BigInt.asIntN(32, BigInt(value))) : Math.fround(value);
      const given = [data, updates].map(({ shape, values }) => ({
        shape,
        values: values.map(narrow),
      }));
      const step = (a: number, b: number): number => narrow(combine(reduction, dtype, a, b));
      return runWith({ ...sample, data: given[0], updates: given[1] }, { step });
    },
  },
  {
    id: "mean-truncated",
    sample: (random) => ({
      ...anyCall(random, { ops: ["ScatterElements"], words: ["mean"], dtypes: ["int32", "int64"] }),
      version: "openvino",
    }),
    wrong: (sample) =>
      sample.reduction === "mean"
        ? runWith(sample, { quotient: (value) => Math.trunc(value) + 0 })
        : null,
  },
  {
    id: "first-of-slice",
    sample: (random) => anyCall(random, { ops: ["Gather"] }),
    wrong(sample) {
      if (sample.op !== "Gather") return null;
      const inner = sizeOf(sample.data.shape.slice(sample.axis + 1));
      return runWith(sample).map((value, p) => (p % inner === 0 ? value : 0));
    },
  },
  {
    id: "whole-ignored",
    sample(random) {
      const sample = anyCall(random, { ops: ["ScatterND"], words: ["none", "add"] });
      const count = 1 + random(3);
      return {
        ...sample,
        indices: { shape: [count, 0], values: [] },
        updates: gridOf([count, ...sample.data.shape], () => anyValue(sample.dtype, random)),
      };
    },
    wrong: ({ op, data, indices }) =>
      op === "ScatterND" && indices.shape.at(-1) === 0 ? [...data.values] : null,
  },
];

/** Tuples of a GatherND address data from axis 0, and slices begin there. */
export function withTuplesFromAxis0(sample: Sample): number[] {
  const tuples = sizeOf(sample.indices.shape.slice(0, -1));
  const larger = runWith({ ...sample, batchDims: 0 });
  const [given, wanted] = [larger.length / tuples, sizeOf(outputShape(sample)) / tuples];
  return larger.filter((_, p) => p % given < wanted);
}

/** Hundreds of updates of a few cells: all equal, or a few small integers. */
function manyEqual(random: Random): Sample {
  const dtype = pick(["float32", "float64", "int32", "int64", "uint32"] as const, random);
  const op = pick(SCATTERS, random);
  const [cells, count] = [2 + random(9), 100 + random(900)];
  const shape = op === "ScatterND" ? [count, 1] : [count];
  const one = anyValue(dtype, random);
  const isMixed = isInteger(dtype) && random(2) === 0;
  return {
    ...{ op, dtype, axis: 0, batchDims: 0, reduction: "add" },
    data: gridOf([cells], () => anyValue(dtype, random)),
    indices: gridOf(shape, () => random(cells)),
    updates: gridOf([count], () => (isMixed ? 1 + random(9) : one)),
  };
}

/** Two faults at once. */
export const PAIRS: readonly Planted[] = [
  {
    isPair: true,
    id: "negative-clamped+first-wins",
    sample: (random) => anyCall(random, { ops: SCATTERS, negative: 3 }),
    wrong: (sample) =>
      runWith(sample, { read: (index) => Math.max(index, 0), isDone: (_, nth) => nth === 0 }),
  },
  {
    isPair: true,
    id: "negative-dropped+other-reduction",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: ["add", "max"], negative: 3 }),
    wrong: (sample) =>
      runWith(sample, { read: (index) => (index < 0 ? null : index), word: "none" }),
  },
  {
    isPair: true,
    id: "negative-clamped+without-self",
    sample: (random) => anyCall(random, { ops: SCATTERS, words: ["add"], negative: 3 }),
    wrong: (sample) => runWith(sample, { read: (index) => Math.max(index, 0), first: (_, b) => b }),
  },
  {
    isPair: true,
    id: "out-of-range-clipped+first-wins",
    isError: true,
    sample: (random) => withOutside(anyCall(random, { ops: SCATTERS }), random),
    wrong: (sample) => runWith(sample, { read: nearest(sample), isDone: (_, nth) => nth === 0 }),
  },
  {
    isPair: true,
    id: "out-of-range-dropped+other-reduction",
    isError: true,
    sample: (random) => withOutside(anyCall(random, { ops: SCATTERS, words: ["add"] }), random),
    wrong: (sample) => runWith(sample, { read: leftOut(sample), word: "none" }),
  },
];

/** Calls without elements reveal no fault. */
export const hasElements = ({ data }: Sample): boolean => sizeOf(data.shape) > 0;
