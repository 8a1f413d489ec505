/** Type rules for operators that slice, join, repeat or pad tensors. */

import { printCount } from "../../../core/foreign.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { NOTHING_KNOWN, type Known } from "../known.ts";
import {
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
import { elementsOf, knownElements, MAX_ELEMENTS } from "./elements.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

export const concat: TypeRule = (view) => {
  const positions = view.node.inputs.map((_, position) => position);
  const dtype = view.sharedDType(positions);
  const axis = view.int("axis", view.opset < 4 ? 1 : null);
  const shapes = positions.map((position) => view.shape(position));
  const rank = shapes.find((one) => one !== null)?.length;
  if (rank === undefined) return [output(dtype, null)];
  if (shapes.some((one) => one !== null && one.length !== rank)) throw wrongNode("ranks differ");
  if (axis === null) return [output(dtype, unknownDims(rank))];
  const along = countedAxis(axis, rank);
  if (rank === 1) {
    const lists = positions.map((position) => view.elements(position));
    if (lists.every((list) => list !== null)) return [knownElements(dtype, 1, lists.flat())];
  }
  const known = shapes.filter((one) => one !== null);
  const dims = unknownDims(rank).map((_, at) => {
    if (at !== along) return known.reduce<Dim>((dim, one) => sameDim(dim, one[at]), null);
    return sumDims(shapes.map((one) => (one === null ? null : one[at])));
  });
  return [output(dtype, dims)];
};

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
  const nothingKnown = { dim: null, positions: null };
  if (step === 0) throw wrongNode("a step is 0");
  if (typeof start !== "number" || typeof end !== "number" || typeof step !== "number")
    return start === 0 && step === 1 && end === dim ? { dim, positions: null } : nothingKnown;
  if (typeof dim !== "number") {
    const isWhole = start === 0 && step === 1 && end >= END;
    return isWhole ? { dim, positions: null } : nothingKnown;
  }
  // For such a start, the specification includes the first element, but NumPy includes no element.
  if (step < 0 && start < -dim) return nothingKnown;
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

/** `Slice`: the bounds are attributes before version 10, and inputs since version 10. */
export const slice: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  if (dims === null) return [output(dtype, null)];
  const isInput = view.opset >= 10;
  const starts = isInput ? view.bounds(1) : (view.ints("starts") ?? null);
  const ends = isInput ? view.bounds(2) : (view.ints("ends") ?? null);
  const axes = isInput ? (view.has(3) ? view.integers(3) : undefined) : view.ints("axes");
  const steps = isInput && view.has(4) ? view.bounds(4) : undefined;
  if (starts === null || ends === null || axes === null)
    return [output(dtype, unknownDims(dims.length))];
  const named = countedAxes(axes ?? starts.map((_, axis) => axis), dims.length);
  const { length } = starts;
  if ([ends, named, steps ?? starts].some((list) => list.length !== length))
    throw wrongNode("bounds must have equal lengths");
  const taken = dims.map((dim, axis): Taken => {
    const at = named.indexOf(axis);
    if (at < 0) return { dim, positions: null };
    const step = steps === undefined ? 1 : (steps?.[at] ?? null);
    return take(dim, { start: starts[at], end: ends[at], step });
  });
  const elements = elementsOf(view.input(0));
  const [only] = taken;
  if (dims.length === 1 && elements !== null && only.positions !== null)
    return [
      knownElements(
        dtype,
        1,
        only.positions.map((position) => elements[position]),
      ),
    ];
  return [
    output(
      dtype,
      taken.map(({ dim }) => dim),
    ),
  ];
};

/**
 * `Split`: the sizes are an attribute before version 13, and an input since version 13. Version 1 accepts either form.
 */
export const split: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  const axis = view.int("axis", 0);
  const count = view.node.outputs.length;
  const all = (shape: PartialShape): Known[] => view.node.outputs.map(() => output(dtype, shape));
  if (dims === null) return all(null);
  if (axis === null) return all(unknownDims(dims.length));
  const along = countedAxis(axis, dims.length);
  const sizes = splitSizes(view, dims[along], count);
  if (sizes.length !== count)
    throw wrongNode(`${printCount(sizes.length, "size")} for ${printCount(count, "output")}`);
  const elements = dims.length === 1 ? elementsOf(view.input(0)) : null;
  let start = 0;
  return sizes.map((dim) => {
    if (elements === null || typeof dim !== "number") {
      start = Number.NaN;
      return output(
        dtype,
        dims.map((one, at) => (at === along ? dim : one)),
      );
    }
    const part = Number.isNaN(start) ? null : elements.slice(start, start + dim);
    start += dim;
    return part === null ? output(dtype, [dim]) : knownElements(dtype, 1, part);
  });
};

function splitSizes(view: NodeView, dim: Dim, count: number): readonly Dim[] {
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
export const tile: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  if (dims === null || view.opset < 6) return [output(dtype, dims && unknownDims(dims.length))];
  const repeats = view.elements(1) ?? unknownDims(dims.length);
  if (repeats.length !== dims.length) throw wrongNode("repeats must have a number for each axis");
  const elements = elementsOf(view.input(0));
  const [times] = repeats;
  if (dims.length === 1 && elements?.length && typeof times === "number") {
    const count = sizeDim(times * elements.length);
    if (typeof count !== "number" || count > MAX_ELEMENTS) return [output(dtype, [count])];
    return [knownElements(dtype, 1, Array.from({ length: times }, () => elements).flat())];
  }
  return [
    output(
      dtype,
      dims.map((dim, axis) => repeated(dim, repeats[axis])),
    ),
  ];
};

function repeated(dim: Dim, times: Dim): Dim {
  if (typeof times === "number") sizeDim(times);
  return productDims([dim, times]);
}

/** `Pad`: the pads are an attribute before version 11, with another name in version 1. */
export const pad: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  if (dims === null) return [output(dtype, null)];
  const unknown = [output(dtype, unknownDims(dims.length))];
  const listed = view.opset < 11 ? view.ints(view.opset < 2 ? "paddings" : "pads") : undefined;
  const pads = view.opset < 11 ? (listed ?? null) : view.elements(1);
  const axes = view.opset >= 18 && view.has(3) ? view.integers(3) : undefined;
  if (pads === null || axes === null) return unknown;
  const named = countedAxes(axes ?? dims.map((_, axis) => axis), dims.length);
  if (pads.length !== 2 * named.length) throw wrongNode("pads must have two numbers for each axis");
  const padded = dims.map((dim, axis): Dim => {
    const at = named.indexOf(axis);
    if (at < 0) return dim;
    return added(dim, pads[at], pads[at + named.length]);
  });
  return [output(dtype, padded)];
};

/** Returns a dimension after padding. Negative pads remove elements. */
function added(dim: Dim, before: Dim, after: Dim): Dim {
  if (typeof before !== "number" || typeof after !== "number") return null;
  if (before === 0 && after === 0) return dim;
  return typeof dim === "number" ? sizeDim(dim + before + after) : null;
}

/** `Compress`: the number of selected elements depends on values. */
export const compress: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  if (!view.hasAttribute("axis")) return [output(dtype, [null])];
  const axis = view.int("axis", null);
  if (dims === null) return [output(dtype, null)];
  if (axis === null) return [output(dtype, unknownDims(dims.length))];
  const along = countedAxis(axis, dims.length);
  return [
    output(
      dtype,
      dims.map((dim, at) => (at === along ? null : dim)),
    ),
  ];
};

/** `CenterCropPad`: the given axes get the given sizes. By default all axes are changed. */
export const centered: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  const axes = view.ints("axes");
  if (dims === null) return [output(dtype, null)];
  if (axes === null) return [output(dtype, unknownDims(dims.length))];
  const along = countedAxes(axes ?? [...dims.keys()], dims.length);
  const sizes = view.elements(1) ?? unknownDims(along.length);
  if (sizes.length !== along.length) throw wrongNode("every axis must have a size");
  const shape = [...dims];
  for (const [at, axis] of along.entries()) shape[axis] = givenDim(sizes[at]);
  return [output(dtype, shape)];
};

/** `StringSplit`: the outputs are the substrings of each text, along a new last axis, and the number of substrings. */
export const stringSplit: TypeRule = (view) => {
  const dims = view.shape(0);
  return [output("string", dims && [...dims, null]), output("int64", dims)];
};

/** `TfIdfVectorizer`: each word sequence has one weight, at the position that `ngram_indexes` gives. */
export const wordWeights: TypeRule = (view) => {
  const places = view.ints("ngram_indexes");
  const length = places != null && places.length > 0 ? givenDim(Math.max(...places) + 1) : null;
  const dims = view.shape(0);
  return [output("float32", dims && [...dims.slice(0, -1), length])];
};

/** Returns the elements that `Gather` selects from a value with partly known elements. */
export function gathered(view: NodeView, made: readonly Known[]): readonly Known[] {
  const elements = elementsOf(view.input(0));
  const indices = view.elements(1);
  const indexShape = view.shape(1);
  const dims = view.shape(0);
  const isFollowed = dims?.length === 1 && indexShape !== null && indexShape.length <= 1;
  if (elements === null || indices === null || !isFollowed || made.length === 0) return made;
  const { length } = elements;
  const taken = indices.map((index): Dim => {
    if (typeof index !== "number") return null;
    if (index < -length || index >= length) throw wrongNode(`${index} is out of range`);
    return elements[index < 0 ? index + length : index];
  });
  return [knownElements((made[0] ?? NOTHING_KNOWN).type?.dtype ?? null, indexShape.length, taken)];
}

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

/**
 * `GatherBlockQuantized` of com.microsoft: the output has the data type of the scales. A byte may contain several
 * values.
 */
export const gatheredBlocks: TypeRule = (view) => {
  const [data, indices] = [view.shape(0), view.shape(1)];
  const axis = view.int("gather_axis", 0);
  const dtype = view.dtype(2);
  if (data === null || indices === null || axis === null) return [output(dtype, null)];
  const at = countedAxis(axis, data.length);
  const isPacked = view.dtype(0) === "uint8" || view.dtype(0) === null;
  const dims = isPacked ? [...data.slice(0, -1), null] : data;
  return [output(dtype, dims.toSpliced(at, 1, ...indices))];
};
