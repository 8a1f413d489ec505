/**
 * The behaviour of runtimes that do not follow the specification, as nested loops over plain numbers. This module
 * shares no code with the package, because `diagnose` is tested with it.
 */

export type Dtype =
  | ("float64" | "float32" | "float16" | "bfloat16")
  | ("int64" | "int32" | "int16" | "uint8" | "uint32");
export type Op =
  | ("ScatterND" | "ScatterElements" | "TensorScatter")
  | ("GatherND" | "GatherElements" | "Gather");
type Word = "none" | "add" | "mul" | "max" | "min" | "mean";

export interface Grid {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** A call, with every number as a double. */
export interface Sample {
  readonly op: Op;
  readonly dtype: Dtype;
  readonly axis: number;
  readonly batchDims: number;
  readonly reduction: Word;
  readonly data: Grid;
  readonly indices: Grid;
  /** Empty for a gather. */
  readonly updates: Grid;
  /** For TensorScatter, whose indices are the starts of sequences. */
  readonly isCircular?: boolean;
  /** OpenVINO's operator of the kind, or the operator's version without negative indices. */
  readonly version?: "openvino" | "unsigned";
}

export const isScatter = ({ op }: Sample): boolean => isScatterOp(op);

export const sizeOf = (shape: readonly number[]): number => {
  let size = 1;
  for (const dim of shape) size *= dim;
  return size;
};

/** All coordinates of a shape, the last axis first. */
export function everyPlace(shape: readonly number[]): number[][] {
  let places: number[][] = [[]];
  for (const dim of shape) {
    const longer: number[][] = [];
    for (const place of places) for (let i = 0; i < dim; i++) longer.push([...place, i]);
    places = longer;
  }
  return places;
}

/** The position of coordinates, which may be outside the shape. */
export function flat(place: readonly number[], shape: readonly number[]): number {
  let position = 0;
  for (let d = 0; d < shape.length; d++) position = position * shape[d] + place[d];
  return position;
}

export const at = (grid: Grid, place: readonly number[]): number =>
  grid.values[flat(place, grid.shape)];

/** The position of an index on an axis; null leaves its update or element out. */
export type Reading = (index: number, dim: number) => number | null;

export const exactly: Reading = (index, dim) => (index < 0 ? index + dim : index);

/** The position of an index by the rules of its version. */
export function ownReading({ op, isCircular = false, version }: Sample): Reading {
  if (op === "TensorScatter")
    return (index, dim) => (isCircular ? ((index % dim) + dim) % dim : index);
  return version === "unsigned" ? (index) => index : exactly;
}

export const outputShape = ({ op, data, indices, axis, batchDims }: Sample): readonly number[] => {
  if (op === "GatherElements") return indices.shape;
  if (op === "Gather") {
    const looked = indices.shape.slice(batchDims);
    return [...data.shape.slice(0, axis), ...looked, ...data.shape.slice(axis + 1)];
  }
  if (isScatterOp(op)) return data.shape;
  const k = indices.shape[indices.shape.length - 1];
  return [...indices.shape.slice(0, -1), ...data.shape.slice(batchDims + k)];
};

const isScatterOp = (op: Op): boolean => op.includes("Scatter");

/** The element of data for each element of updates or of the output, in order; null for none. */
export function linksOf(sample: Sample, read: Reading): (number | null)[] {
  const { op, data, indices, updates, axis, batchDims } = sample;
  const links: (number | null)[] = [];
  const link = (place: (number | null)[]): void => {
    const known = place.filter((one) => one !== null);
    const position = known.length < place.length ? -1 : flat(known, data.shape);
    links.push(position >= 0 && position < data.values.length ? position : null);
  };
  if (op === "ScatterElements" || op === "GatherElements") {
    for (const place of everyPlace(indices.shape)) {
      const target: (number | null)[] = [...place];
      target[axis] = read(at(indices, place), data.shape[axis]);
      link(target);
    }
  } else if (op === "TensorScatter") {
    for (const place of everyPlace(updates.shape)) {
      const target: (number | null)[] = [...place];
      target[axis] = read(indices.values[place[0]] + place[axis], data.shape[axis]);
      link(target);
    }
  } else if (op === "Gather") {
    for (const before of everyPlace(data.shape.slice(0, axis))) {
      for (const place of everyPlace(indices.shape.slice(batchDims))) {
        const index = at(indices, [...before.slice(0, batchDims), ...place]);
        for (const behind of everyPlace(data.shape.slice(axis + 1))) {
          link([...before, read(index, data.shape[axis]), ...behind]);
        }
      }
    }
  } else {
    const k = indices.shape[indices.shape.length - 1];
    for (const place of everyPlace(indices.shape.slice(0, -1))) {
      const batch = op === "GatherND" ? place.slice(0, batchDims) : [];
      const tuple: (number | null)[] = [];
      for (let j = 0; j < k; j++) {
        tuple.push(read(at(indices, [...place, j]), data.shape[batch.length + j]));
      }
      for (const behind of everyPlace(data.shape.slice(batch.length + k))) {
        link([...batch, ...tuple, ...behind]);
      }
    }
  }
  return links;
}

/** Rounds to nearest even, to `bits` bits after the leading one, in a format with this range of exponents. */
function toBits(value: number, bits: number, least: number, greatest: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  let exponent = Math.floor(Math.log2(Math.abs(value)));
  if (2 ** exponent > Math.abs(value)) exponent--;
  if (2 ** (exponent + 1) <= Math.abs(value)) exponent++;
  const unit = 2 ** (Math.max(exponent, least) - bits);
  const whole = Math.floor(value / unit);
  const rest = value / unit - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 !== 0);
  const rounded = (up ? whole + 1 : whole) * unit;
  if (Math.abs(rounded) >= 2 ** (greatest + 1)) return Math.sign(value) * Infinity;
  return rounded === 0 && value < 0 ? -0 : rounded;
}

export function round(dtype: Dtype, value: number): number {
  if (dtype === "float32") return Math.fround(value);
  if (dtype === "float16") return toBits(Math.fround(value), 10, -14, 15);
  if (dtype === "bfloat16") return toBits(Math.fround(value), 7, -126, 127);
  if (dtype === "int16") return (value << 16) >> 16;
  if (dtype === "uint8") return value & 255;
  if (dtype === "uint32") return value >>> 0;
  return dtype === "int32" ? value | 0 : value;
}

export const isInteger = (dtype: Dtype): boolean => dtype.includes("int");

/** One step of a reduction, before rounding. */
export function combine(word: Word, dtype: Dtype, a: number, b: number): number {
  if (word === "none") return b;
  if (word === "add" || word === "mean") return a + b;
  if (word === "mul") return isInteger(dtype) && dtype !== "int64" ? Math.imul(a, b) : a * b;
  return word === "max" ? Math.max(a, b) : Math.min(a, b);
}

export const LEAST: Readonly<Record<string, number>> = {
  float64: 2 ** -1022,
  float32: 2 ** -126,
  float16: 2 ** -14,
  bfloat16: 2 ** -126,
};

/** The whole call, with some parts replaced by a runtime's own. */
export interface Faults {
  readonly read?: Reading;
  readonly fill?: number;
  /** True if the update at a position is applied, the nth of its target. */
  readonly isDone?: (position: number, nth: number, target: number) => boolean;
  readonly word?: Word;
  readonly step?: (a: number, b: number) => number;
  /** The effect of the first update of a target. */
  readonly first?: (a: number, b: number) => number;
  readonly reverse?: boolean;
  /** Rounds the quotient of a mean. */
  readonly quotient?: (value: number) => number;
}

export function runWith(sample: Sample, faults: Faults = {}): number[] {
  const { dtype, data, updates, reduction } = sample;
  const {
    read = ownReading(sample),
    fill = 0,
    word = reduction,
    isDone = () => true,
    reverse = false,
  } = faults;
  const links = linksOf(sample, read);
  if (!isScatter(sample)) {
    return links.map((position) => (position === null ? fill : data.values[position]));
  }
  const step = faults.step ?? ((a, b) => round(dtype, combine(word, dtype, a, b)));
  const output = [...data.values];
  const met = new Map<number, number>();
  for (let i = 0; i < links.length; i++) {
    const position = reverse ? links.length - 1 - i : i;
    const target = links[position];
    if (target === null) continue;
    const nth = met.get(target) ?? 0;
    met.set(target, nth + 1);
    if (!isDone(position, nth, target)) continue;
    const by = nth === 0 && faults.first !== undefined ? faults.first : step;
    output[target] = by(output[target], updates.values[position]);
  }
  if (word === "mean") {
    const { quotient = Math.floor } = faults;
    for (const [target, count] of met) output[target] = quotient(output[target] / (count + 1));
  }
  return output;
}
