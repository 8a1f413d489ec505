/** Shapes of operators with spatial axes: convolutions, pooling and resizing. */

import { printCount } from "../../../core/foreign.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { floatsOf } from "../known.ts";
import {
  atAxes,
  countedAxis,
  givenDim,
  productDims,
  sameDim,
  sizeDim,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";
import { fromFirst, type ShapeOf } from "./rule-kinds.ts";

/** A window's attributes, with one number per spatial axis; null if an attribute is unknown. */
interface Windows {
  readonly kernel: readonly Dim[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly pads: readonly number[];
  readonly autoPad: string;
}

function windowsOf(view: NodeView, axes: number, weights: PartialShape): Windows | null {
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
  if (kernel.some((one) => typeof one === "number" && one < 1))
    throw wrongNode("a kernel must not be empty");
  return { kernel, strides, dilations, pads, autoPad };
}

/** Returns the number of window positions along an axis. */
function places(dim: Dim, at: number, windows: Windows, isCeil: boolean): Dim {
  const { kernel, strides, dilations, pads, autoPad } = windows;
  const { [at]: size } = kernel;
  const { [at]: stride } = strides;
  if (autoPad.startsWith("SAME")) return typeof dim === "number" ? Math.ceil(dim / stride) : null;
  const [before, after] = autoPad === "VALID" ? [0, 0] : [pads[at], pads[at + kernel.length]];
  if (typeof size !== "number") return null;
  const reach = dilations[at] * (size - 1) + 1;
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
  const { length: axes } = dims;
  const windows = windowsOf(view, axes, weights);
  const isCeil = view.int("ceil_mode", 0);
  if (windows === null || isCeil === null) return unknownDims(axes);
  return dims.map((dim, at) => places(dim, at, windows, isCeil !== 0));
}

interface Convolved {
  readonly channels: Dim;
  /** The spatial axes of the first input. */
  readonly rest: readonly Dim[];
  readonly weights: PartialShape;
  /** The first axis of the weights, and the second axis times the number of groups. */
  readonly kernels: Dim;
  readonly grouped: Dim;
}

/** The shape of a convolution. The parameter `weightsAt` is the position of the weights. */
const convolved =
  (weightsAt: number, dimsOf: (parts: Convolved, view: NodeView) => readonly Dim[]): ShapeOf =>
  (view) => {
    const [dims, weights] = [view.shape(0), view.shape(weightsAt)];
    const rank = dims?.length ?? weights?.length;
    if (rank === undefined) return null;
    if (rank < 3 || (weights?.length ?? rank) !== rank) throw wrongNode("ranks differ");
    const [batch, channels, ...rest] = dims ?? unknownDims(rank);
    const [kernels = null, groupSize = null] = weights ?? [];
    const grouped = productDims([groupSize, view.int("group", 1)]);
    return [batch, ...dimsOf({ channels, rest, weights, kernels, grouped }, view)];
  };

export const convolution = (weightsAt: number): ShapeOf =>
  convolved(weightsAt, ({ channels, rest, weights, kernels, grouped }, view) => {
    sameDim(channels, grouped);
    return [kernels, ...spatial(view, rest, weights)];
  });

export const transposedConvolution = (): ShapeOf =>
  convolved(1, ({ channels, rest, weights, kernels, grouped }, view) => {
    sameDim(channels, kernels);
    return [grouped, ...grown(view, rest, weights)];
  });

export const pool = /* @__PURE__ */ fromFirst((dims, view) => {
  if (dims.length < 3) throw wrongNode("the input must have spatial axes");
  const [batch, channels, ...rest] = dims;
  return [batch, channels, ...spatial(view, rest, null)];
});

export const globalPool = /* @__PURE__ */ fromFirst((dims) =>
  dims.map((dim, axis) => (axis < 2 ? dim : 1)),
);

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
  const { kernel, strides, dilations, pads, autoPad } = windows;
  return dims.map((dim, at) => {
    const { [at]: size } = kernel;
    if (typeof dim !== "number" || typeof size !== "number") return null;
    if (autoPad.startsWith("SAME")) return sizeDim(dim * strides[at]);
    const [before, after] = autoPad === "VALID" ? [0, 0] : [pads[at], pads[at + axes]];
    const reach = dilations[at] * (size - 1) + 1;
    return sizeDim(strides[at] * (dim - 1) + (extra?.[at] ?? 0) + reach - before - after);
  });
}

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

const divided: Scaling = (dim, by) => {
  if (typeof dim !== "number") return by === 1 ? dim : null;
  if (dim % by !== 0) throw wrongNode(`${dim} must be a multiple of ${by}`);
  return dim / by;
};

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
