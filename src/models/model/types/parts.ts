/** Shapes of operators that slice, join, repeat or pad tensors. */

import { printCount } from "../../../core/foreign.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { MAX_ELEMENTS, type Known } from "../known.ts";
import {
  atAxes,
  atAxis,
  countedAxes,
  countedAxis,
  givenDim,
  productDims,
  sameDim,
  sizeDim,
  sumDims,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import { fromFirst, output, type NodeView, type TypeRule } from "./rules.ts";

export function joined(view: NodeView): PartialShape {
  const axis = view.int("axis", view.opset < 4 ? 1 : null);
  const shapes = view.inputs().map(({ type }) => type?.shape ?? null);
  const known = shapes.filter((one) => one !== null);
  if (known.length === 0) return null;
  const [{ length: rank }] = known;
  if (known.some((one) => one.length !== rank)) throw wrongNode("ranks differ");
  if (axis === null) return unknownDims(rank);
  const along = countedAxis(axis, rank);
  return unknownDims(rank).map((_, at) =>
    at === along
      ? sumDims(shapes.map((one) => one && one[at]))
      : known.reduce<Dim>((dim, one) => sameDim(dim, one[at]), null),
  );
}

interface Bounds {
  readonly start: Dim;
  readonly end: Dim;
  readonly step: Dim;
}

/** A bound of this size or more means the end of any axis, because exporters write the largest int32 or int64. */
const END = 2 ** 31 - 1;

interface Taken {
  readonly dim: Dim;
  readonly positions: readonly number[] | null;
}

/**
 * Returns the number of elements that a slice selects along an axis. For a few elements, the result also contains their
 * positions.
 */
function take(dim: Dim, { start, end, step }: Bounds): Taken {
  if (step === 0) throw wrongNode("a step is 0");
  const isFromStart = start === 0 && step === 1;
  if (typeof start !== "number" || typeof end !== "number" || typeof step !== "number")
    return { dim: isFromStart && end === dim ? dim : null, positions: null };
  if (typeof dim !== "number")
    return { dim: isFromStart && end >= END ? dim : null, positions: null };
  // For such a start, the specification includes the first element, but NumPy includes no element.
  if (step < 0 && start < -dim) return { dim: null, positions: null };
  const [low, high] = step > 0 ? [0, dim] : [-1, dim - 1];
  const counted = (bound: number): number =>
    Math.max(low, Math.min(high, bound < 0 ? bound + dim : bound));
  const first = counted(start);
  const count = Math.max(0, Math.ceil((counted(end) - first) / step));
  if (dim === 0) return { dim: 0, positions: [] };
  const positions =
    count > MAX_ELEMENTS ? null : Array.from({ length: count }, (_, at) => first + at * step);
  return { dim: sizeDim(count), positions };
}

/**
 * Returns what a `Slice` selects along each axis; null if the bounds or the axes are unknown. The bounds are attributes
 * before version 10, and inputs since version 10.
 */
export function takenBySlice(view: NodeView): readonly Taken[] | null {
  const dims = view.shape(0) ?? [];
  const isInput = view.opset >= 10;
  const starts = isInput ? view.bounds(1) : (view.ints("starts") ?? null);
  const ends = isInput ? view.bounds(2) : (view.ints("ends") ?? null);
  const axes = isInput ? (view.has(3) ? view.integers(3) : undefined) : view.ints("axes");
  const steps = isInput && view.has(4) ? view.bounds(4) : undefined;
  if (starts === null || ends === null || axes === null) return null;
  const named = countedAxes(axes ?? [...starts.keys()], dims.length);
  const { length } = starts;
  if ([ends, named, steps ?? starts].some((list) => list.length !== length))
    throw wrongNode("bounds must have equal lengths");
  return dims.map((dim, axis): Taken => {
    const at = named.indexOf(axis);
    if (at < 0) return { dim, positions: null };
    const step = steps === undefined ? 1 : (steps?.[at] ?? null);
    return take(dim, { start: starts[at], end: ends[at], step });
  });
}

export const sliced = /* @__PURE__ */ fromFirst(
  (dims, view) => takenBySlice(view)?.map(({ dim }) => dim) ?? unknownDims(dims.length),
);

/**
 * `Split`: the sizes are an attribute before version 13, and an input since version 13. Version 1 accepts either form.
 */
export const split: TypeRule = (view) => {
  const { outputs } = view.node;
  const dims = view.shape(0);
  const axis = view.int("axis", 0);
  const made = (shapeOf: (at: number) => PartialShape): Known[] =>
    outputs.map((_, at) => output(view.dtype(0), shapeOf(at)));
  if (dims === null || axis === null) return made(() => dims && unknownDims(dims.length));
  const along = countedAxis(axis, dims.length);
  const sizes = splitSizes(view, dims[along], outputs.length);
  if (sizes.length !== outputs.length)
    throw wrongNode(
      `${printCount(sizes.length, "size")} for ${printCount(outputs.length, "output")}`,
    );
  return made((at) => dims.with(along, sizes[at]));
};

export function splitSizes(view: NodeView, dim: Dim, count: number): readonly Dim[] {
  const isInput = view.opset >= 13 || view.opset < 2;
  const given = isInput && view.has(1) ? view.elements(1) : undefined;
  const listed = given === undefined && view.opset < 13 ? view.ints("split") : given;
  if (listed !== undefined) {
    const sizes = listed?.map(givenDim);
    const total = sizes === undefined ? null : sumDims(sizes);
    if (typeof total === "number" && typeof dim === "number" && total !== dim)
      throw wrongNode(`the sum of the sizes must be ${dim}, got ${total}`);
    return sizes ?? unknownDims(count);
  }
  if (typeof dim !== "number" || count === 0) return count === 1 ? [dim] : unknownDims(count);
  // Since version 18, the last part of a split may be smaller.
  const each = Math.ceil(dim / count);
  const last = dim - each * (count - 1);
  if ((view.opset < 18 && dim % count !== 0) || last < 0)
    throw wrongNode(`${dim} in ${printCount(count, "part")}`);
  return Array.from({ length: count }, (_, at) => (at === count - 1 ? last : each));
}

/** `Tile`: version 1 repeats along one axis only. */
export const tiled = /* @__PURE__ */ fromFirst((dims, view) => {
  if (view.opset < 6) return unknownDims(dims.length);
  const repeats = view.elements(1) ?? unknownDims(dims.length);
  if (repeats.length !== dims.length) throw wrongNode("repeats must have a number for each axis");
  return dims.map((dim, axis) => productDims([dim, givenDim(repeats[axis])]));
});

/** `Pad`: the pads are an attribute before version 11, with another name in version 1. */
export const padded = /* @__PURE__ */ fromFirst((dims, view) => {
  const listed = view.opset < 11 ? view.ints(view.opset < 2 ? "paddings" : "pads") : undefined;
  const pads = view.opset < 11 ? (listed ?? null) : view.elements(1);
  const axes = view.opset >= 18 && view.has(3) ? view.integers(3) : undefined;
  if (pads === null || axes === null) return unknownDims(dims.length);
  const { length: count } = axes ?? dims;
  if (pads.length !== 2 * count) throw wrongNode("pads must have two numbers for each axis");
  // Negative pads remove elements.
  return atAxes(dims, axes, (dim, at) => sumDims([dim, pads[at], pads[at + count]]));
});

/** `Compress`: the number of selected elements depends on values. */
export const compressed = (view: NodeView): PartialShape => {
  if (!view.hasAttribute("axis")) return [null];
  const dims = view.shape(0);
  return dims && atAxis(dims, view.int("axis", null), () => null);
};

/** `CenterCropPad`: the given axes get the given sizes. By default all axes are changed. */
export const centered = /* @__PURE__ */ fromFirst((dims, view) => {
  const axes = view.ints("axes");
  if (axes === null) return unknownDims(dims.length);
  const { length: count } = axes ?? dims;
  const sizes = view.elements(1) ?? unknownDims(count);
  if (sizes.length !== count) throw wrongNode("every axis must have a size");
  return atAxes(dims, axes, (_, at) => givenDim(sizes[at]));
});

/** `StringSplit`: the outputs are the substrings of each text, along a new last axis, and the number of substrings. */
export const stringSplit: TypeRule = (view) => {
  const dims = view.shape(0);
  return [output("string", dims && [...dims, null]), output("int64", dims)];
};

/** `TfIdfVectorizer`: each word sequence has one weight, at the position that `ngram_indexes` gives. */
export const wordWeights = /* @__PURE__ */ fromFirst((dims, view) => {
  const places = view.ints("ngram_indexes") ?? [];
  const last = places.reduce((most, one) => Math.max(most, one), -Infinity);
  const length = places.length > 0 ? givenDim(last + 1) : null;
  return [...dims.slice(0, -1), length];
});

/**
 * `EmbedLayerNormalization` of com.microsoft: the outputs are an embedding per position, the length of each text, and
 * the sums.
 */
export const embedded: TypeRule = (view) => {
  const dtype = view.dtype(2);
  const [batch = null, length = null] = view.shape(0) ?? [];
  const [, width = null] = view.shape(2) ?? [];
  const shape = [batch, length, width];
  return [output(dtype, shape), output("int32", [batch]), output(dtype, shape)];
};

/** `GatherBlockQuantized` of com.microsoft: a byte may contain several values. */
export function gatheredBlocks(view: NodeView): PartialShape {
  const [data, indices] = [view.shape(0), view.shape(1)];
  const axis = view.int("gather_axis", 0);
  if (data === null || indices === null || axis === null) return null;
  const at = countedAxis(axis, data.length);
  const isPacked = view.dtype(0) === "uint8" || view.dtype(0) === null;
  const dims = isPacked ? [...data.slice(0, -1), null] : data;
  return dims.toSpliced(at, 1, ...indices);
}
