/** Shapes of operators with spatial axes: convolutions, pooling and resizing. */

import { printCount } from "../../../core/foreign.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { floatsOf } from "../known.ts";
import {
  atAxes,
  countedAxis,
  givenDim,
  productDims,
  quotientDims,
  sameDim,
  sizeDim,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import { fromFirst, output, type NodeView, type ShapeOf, type TypeRule } from "./rules.ts";

/** The windows along a spatial axis. */
interface Window {
  /** The number of elements from the first to the last element of a window. */
  readonly reach: number | null;
  readonly stride: number;
  readonly before: number;
  readonly after: number;
  /** True if the padding follows from the dimension: there is one window per stride. */
  readonly isSame: boolean;
}

/** Returns the windows along each spatial axis; null if an attribute is unknown. */
function windowsOf(view: NodeView, axes: number, weights: PartialShape): readonly Window[] | null {
  const listed = (name: string, count: number, absent: number): readonly number[] | null => {
    const list = view.ints(name);
    if (list === undefined) return Array.from({ length: count }, () => absent);
    if (list !== null && list.length !== count)
      throw wrongNode(`${name} has ${printCount(list.length, "number")}`);
    return list;
  };
  const given = view.ints("kernel_shape");
  const kernel = given === undefined ? (weights?.slice(2) ?? unknownDims(axes)) : given;
  if (kernel !== null && kernel.length !== axes)
    throw wrongNode("the kernel must have the spatial axes of the input");
  const strides = listed("strides", axes, 1);
  const dilations = listed("dilations", axes, 1);
  const pads = listed("pads", 2 * axes, 0);
  const autoPad = view.string("auto_pad", "NOTSET");
  if (kernel === null || strides === null || dilations === null) return null;
  if (pads === null || autoPad === null) return null;
  if ([...strides, ...dilations].some((one) => one < 1))
    throw wrongNode("strides and dilations must be positive");
  return kernel.map((size, at) => {
    const isNumber = typeof size === "number";
    if (isNumber && size < 1) throw wrongNode("a kernel must not be empty");
    const [before, after] = autoPad === "VALID" ? [0, 0] : [pads[at], pads[at + axes]];
    const reach = isNumber ? dilations[at] * (size - 1) + 1 : null;
    return { reach, stride: strides[at], before, after, isSame: autoPad.startsWith("SAME") };
  });
}

/** Returns the number of window positions along an axis. */
function places(dim: Dim, { reach, stride, before, after, isSame }: Window, isCeil: boolean): Dim {
  if (isSame) return typeof dim === "number" ? Math.ceil(dim / stride) : null;
  if (reach === null) return null;
  if (typeof dim !== "number") {
    return stride === 1 && before + after === reach - 1 ? dim : null;
  }
  const room = dim + before + after - reach;
  if (room < 0) return null;
  const count = (isCeil ? Math.ceil(room / stride) : Math.floor(room / stride)) + 1;
  // Current runtimes drop a window that would begin in the end padding; old runtimes do not.
  const isBeyond = isCeil && (count - 1) * stride >= dim + before;
  return isBeyond ? null : sizeDim(count);
}

function spatial(view: NodeView, dims: readonly Dim[], weights: PartialShape): Dim[] {
  const windows = windowsOf(view, dims.length, weights);
  const isCeil = view.int("ceil_mode", 0);
  if (windows === null || isCeil === null) return unknownDims(dims.length);
  return dims.map((dim, at) => places(dim, windows[at], isCeil !== 0));
}

/** Returns the spatial dimensions of a transposed convolution. */
function grown(view: NodeView, dims: readonly Dim[], weights: PartialShape): Dim[] {
  const { length: axes } = dims;
  const asked = view.ints("output_shape");
  if (asked === null) return unknownDims(axes);
  if (asked !== undefined) {
    if (asked.length < axes)
      throw wrongNode("output_shape must have the spatial axes of the input");
    return asked.slice(-axes).map(sizeDim);
  }
  const windows = windowsOf(view, axes, weights);
  const extra = view.ints("output_padding");
  if (windows === null || extra === null) return unknownDims(axes);
  return dims.map((dim, at) => {
    const { reach, stride, before, after, isSame } = windows[at];
    if (typeof dim !== "number" || reach === null) return null;
    if (isSame) return sizeDim(dim * stride);
    return sizeDim(stride * (dim - 1) + (extra?.[at] ?? 0) + reach - before - after);
  });
}

/** The shape of a convolution. The parameter `weightsAt` is the position of the weights. */
export const convolution =
  (weightsAt: number, isTransposed = false): ShapeOf =>
  (view) => {
    const [dims, weights] = [view.shape(0), view.shape(weightsAt)];
    const rank = dims?.length ?? weights?.length;
    if (rank === undefined) return null;
    if (rank < 3 || (weights?.length ?? rank) !== rank) throw wrongNode("ranks differ");
    const [batch, channels, ...rest] = dims ?? unknownDims(rank);
    const [first = null, second = null] = weights ?? [];
    const grouped = productDims([second, view.int("group", 1)]);
    sameDim(channels, isTransposed ? first : grouped);
    return isTransposed
      ? [batch, grouped, ...grown(view, rest, weights)]
      : [batch, first, ...spatial(view, rest, weights)];
  };

export const pool = /* @__PURE__ */ fromFirst((dims, view) => {
  if (dims.length < 3) throw wrongNode("the input must have spatial axes");
  const [batch, channels, ...rest] = dims;
  return [batch, channels, ...spatial(view, rest, null)];
});

export const globalPool = /* @__PURE__ */ fromFirst((dims) =>
  dims.map((dim, axis) => (axis < 2 ? dim : 1)),
);

/** `Resize` and `Upsample` scale axes. Runtimes round fractional scales differently. */
export const resized = /* @__PURE__ */ fromFirst((dims, view) => {
  const isOld = view.opset < 18;
  const axes = isOld ? undefined : view.ints("axes");
  const policy = isOld ? "stretch" : view.string("keep_aspect_ratio_policy", "stretch");
  if (policy !== "stretch") return unknownDims(dims.length);
  const sizes = view.opset >= 11 && view.has(3) ? view.elements(3) : undefined;
  // With cropping, the output size also depends on the region, so the scales are not enough.
  const isCropped = view.string("coordinate_transformation_mode", "") === "tf_crop_and_resize";
  const scales = isCropped ? null : scalesOf(view);
  return atAxes(dims, axes, (dim, at) => {
    if (sizes !== undefined) return givenDim(sizes?.[at] ?? null);
    const scale = scales?.[at] ?? null;
    if (scale === null || !Number.isInteger(scale) || scale < 0) return null;
    return productDims([dim, scale]);
  });
});

function scalesOf(view: NodeView): readonly number[] | null {
  const isUpsample = view.node.op === "Upsample";
  if (isUpsample && view.opset < 9) return view.floats("scales");
  return floatsOf(view.input(isUpsample || view.opset < 11 ? 1 : 2));
}

type Scaling = (dim: Dim, by: number) => Dim;

const multiplied: Scaling = (dim, by) => productDims([dim, by]);
const divided: Scaling = (dim, by) => quotientDims([dim], [by]);

/** The shape of operators that move blocks between spatial axes and channels. */
const blocks =
  (channels: Scaling, sides: Scaling): ShapeOf =>
  (view) => {
    const dims = view.shape(0);
    const by = view.int("blocksize", null);
    if (dims !== null && dims.length !== 4) throw wrongNode("the input must have four axes");
    if (dims === null || by === null || by < 1) return unknownDims(4);
    const [batch, depth, height, width] = dims;
    return [batch, channels(depth, by * by), sides(height, by), sides(width, by)];
  };

export const depthToSpace = (): ShapeOf => blocks(divided, multiplied);
export const spaceToDepth = (): ShapeOf => blocks(multiplied, divided);

/** The shape of image regions: `MaxRoiPool` and `RoiAlign`. */
export const regions =
  (height: string, width: string): ShapeOf =>
  (view) => {
    const [, channels = null] = view.shape(0) ?? [];
    const [count = null] = view.shape(1) ?? [];
    const pooled = view.ints("pooled_shape");
    const sides = pooled ?? [view.int(height, 1), view.int(width, 1)];
    const [rows = null, columns = null] = pooled === null ? [] : sides;
    return [count, channels, givenDim(rows), givenDim(columns)];
  };

/** `AffineGrid`: the output has one point per position of an image with the size [batch, channels, ...]. */
export function affineGrid(view: NodeView): PartialShape {
  const size = view.elements(1);
  if (size === null) return null;
  if (size.length !== 4 && size.length !== 5)
    throw wrongNode("a size must have four or five numbers");
  const [batch, , ...spatial] = size.map(givenDim);
  return [batch, ...spatial, spatial.length];
}

export function gridSample(view: NodeView): PartialShape {
  const [dims, grid] = [view.shape(0), view.shape(1)];
  const rank = dims?.length ?? grid?.length;
  if (rank === undefined) return null;
  const [batch = null, channels = null] = dims ?? [];
  const sides = grid === null ? unknownDims(Math.max(0, rank - 2)) : grid.slice(1, -1);
  return [batch, channels, ...sides];
}

/**
 * The rule for normalization along an axis and all later axes. The output has data's type, and the statistics have a
 * known rank.
 */
export const layerNormalisation: TypeRule = (view) => {
  const dims = view.shape(0);
  const axis = view.int("axis", -1);
  const stash = view.dtypeOf("stash_type", "float32");
  const at = dims === null || axis === null ? null : countedAxis(axis, dims.length);
  const statistics = at === null ? null : (dims?.map((dim, one) => (one < at ? dim : 1)) ?? null);
  return [output(view.dtype(0), dims), output(stash, statistics), output(stash, statistics)];
};
