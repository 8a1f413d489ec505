/** Represents the operator call that a text expresses, in forms that several libraries share. */

import type { Role } from "ndscatter";
import { sizeOf } from "../../values/shape.ts";
import {
  alongAxis,
  broadcast,
  commonShape,
  cropped,
  filledWith,
  numbers,
  reshapedTo,
  type Arr,
} from "./arrays.ts";

/** An operator with attributes and inputs. */
export interface Draft {
  readonly domain: "ai.onnx" | "openvino";
  readonly op: string;
  /** The operator's opset; by default the newest version is used. */
  readonly opset?: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Partial<Record<Role, Arr>>>;
  readonly remarks?: readonly string[];
}

const none = (reduction: string): Record<string, string> =>
  reduction === "none" ? {} : { reduction };

const axisOf = (axis: number): Record<string, string> => (axis === 0 ? {} : { axis: String(axis) });

const axisInput = (axis: number): Arr => numbers([axis], []);

/** OpenVINO's reduction names. */
const OPENVINO: Readonly<Record<string, string | undefined>> = { add: "sum", mul: "prod" };

/** Broadcasts or crops updates to the shape of indices. */
function fitted(updates: Arr, index: Arr): Arr {
  const isLarger =
    updates.shape.length === index.shape.length &&
    updates.shape.every((dim, d) => dim >= index.shape[d]) &&
    String(updates.shape) !== String(index.shape);
  return isLarger && sizeOf(index.shape) > 0 ? cropped(updates, index.shape) : updates;
}

const shownInstead = (lack: string, op: string): string =>
  `ONNX ${lack}, so the page shows OpenVINO's ${op}.`;

/** Drafts a scatter of elements along an axis. Only OpenVINO supports `mean` and can exclude data from the result. */
export function elements(
  data: Arr,
  index: Arr,
  updates: Arr,
  {
    axis,
    reduction = "none",
    isFresh = false,
  }: { axis: number; reduction?: string; isFresh?: boolean },
): Draft {
  const single = updates.values.length === 1 && updates.shape.length === 0;
  const fit = single ? filledWith(updates, index.shape, updates.values[0]) : fitted(updates, index);
  const inputs = { data, indices: index, updates: fit };
  const cropped =
    fit !== updates && !single ? ["The updates are cropped to the shape of the indices."] : [];
  if (reduction !== "mean" && !isFresh && reduction !== "sub") {
    const attributes = { ...axisOf(axis), ...none(reduction) };
    return { domain: "ai.onnx", op: "ScatterElements", attributes, inputs, remarks: cropped };
  }
  return {
    domain: "openvino",
    op: "ScatterElementsUpdate",
    attributes: {
      ...none(OPENVINO[reduction] ?? reduction),
      ...(isFresh ? { use_init_val: "false" } : {}),
    },
    inputs: { ...inputs, axis: axisInput(axis) },
    remarks: [
      ...cropped,
      shownInstead(
        isFresh ? "cannot exclude data from a scatter" : `does not have the reduction ${reduction}`,
        "ScatterElementsUpdate",
      ),
    ],
  };
}

/** Drafts a scatter of slices by index tuples. Updates are broadcast to the shape of the slices. */
export function tuples(data: Arr, indices: Arr, updates: Arr, reduction = "none"): Draft {
  const shape = [...indices.shape.slice(0, -1), ...data.shape.slice(indices.shape.at(-1) ?? 0)];
  const inputs = { data, indices, updates: grownTo(updates, shape) };
  if (reduction !== "sub") {
    return { domain: "ai.onnx", op: "ScatterND", attributes: none(reduction), inputs };
  }
  const remarks = [shownInstead("does not have the reduction sub", "ScatterNDUpdate")];
  return { domain: "openvino", op: "ScatterNDUpdate", attributes: { reduction }, inputs, remarks };
}

/** Broadcasts an array to a shape; an array that does not fit stays as it is, and the page reports its shape. */
const grownTo = (array: Arr, shape: readonly number[]): Arr => {
  const isFit =
    String(commonShape([array.shape, shape])) === String(shape) &&
    array.shape.every(
      (dim, d) => dim === 1 || dim === shape[d + shape.length - array.shape.length],
    );
  return isFit ? broadcast(array, shape) : array;
};

/** Drafts a scatter of whole slices along an axis, such as `x[:, idx] = u`. */
export function slices(
  data: Arr,
  index: Arr,
  updates: Arr,
  axis: number,
  reduction = "none",
): Draft {
  if (axis === 0) {
    const rows = reshapedTo(index, [...index.shape, 1]);
    return tuples(data, rows, updates, reduction);
  }
  if (reduction === "none") {
    const shape = [...data.shape.slice(0, axis), ...index.shape, ...data.shape.slice(axis + 1)];
    const own = grownTo(updates, shape);
    const inputs = { data, indices: index, updates: own, axis: axisInput(axis) };
    return { domain: "openvino", op: "ScatterUpdate", attributes: {}, inputs };
  }
  const full = index.shape.length === 1 ? alongAxis(index, axis, data.shape) : index;
  return elements(data, full, grownTo(updates, full.shape), { axis, reduction });
}

export function gather(data: Arr, indices: Arr, axis: number, batchDims = 0): Draft {
  if (batchDims === 0) {
    return { domain: "ai.onnx", op: "Gather", attributes: axisOf(axis), inputs: { data, indices } };
  }
  const attributes = { batch_dims: String(batchDims) };
  const inputs = { data, indices, axis: axisInput(axis) };
  return { domain: "openvino", op: "Gather", attributes, inputs };
}

export const gatherElements = (data: Arr, indices: Arr, axis: number): Draft => ({
  domain: "ai.onnx",
  op: "GatherElements",
  attributes: axisOf(axis),
  inputs: { data, indices },
});

export const gatherND = (data: Arr, indices: Arr, batchDims = 0): Draft => ({
  domain: "ai.onnx",
  op: "GatherND",
  attributes: batchDims === 0 ? {} : { batch_dims: String(batchDims) },
  inputs: { data, indices },
});

/** Flattens an array to one axis, as `np.take` does without an axis. */
export const flat = (array: Arr): Arr => reshapedTo(array, [array.values.length]);

/** Returns zeros of the updates' data type, for sums that exclude data. */
export const zerosLike = (updates: Arr, shape: readonly number[]): Arr =>
  filledWith(updates, shape, "0");
