/** Represents the operator call that a text expresses, in forms that several libraries share. */

import type { Role } from "ndscatter";
import { sizeOf } from "../../values/shape.ts";
import { alongAxis, cropped, filledWith, grownTo, type Arr } from "./arrays.ts";

/** An operator with attributes and inputs. Attributes may have their default values. */
export interface Draft {
  readonly domain: "ai.onnx" | "openvino";
  readonly op: string;
  /** The operator's opset; by default the newest version is used. */
  readonly opset?: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Partial<Record<Role, Arr>>>;
  readonly remarks?: readonly string[];
}

export const withRemark = (draft: Draft | null, remark: string): Draft | null =>
  draft && { ...draft, remarks: [...(draft.remarks ?? []), remark] };

/** What a call reads. */
export interface Reads {
  readonly data: Arr;
  readonly indices: Arr;
  readonly axis: number;
  readonly batchDims?: number;
}

/** What a call reads and writes. */
export interface Writes extends Reads {
  readonly updates: Arr;
  readonly reduction: string;
  /** True if the result excludes data. */
  readonly isFresh?: boolean;
}

const axisInput = (axis: number): Arr => ({
  dtype: "int64",
  shape: [],
  values: [String(axis)],
  isSaid: false,
});

const shownInstead = (lack: string, op: string): string =>
  `ONNX ${lack}, so the page shows OpenVINO's ${op}.`;

/** OpenVINO's reduction names. */
const OPENVINO: ReadonlyMap<string, string> = new Map([
  ["add", "sum"],
  ["mul", "prod"],
]);

/** Repeats a single update, and crops updates that are larger than indices. */
function fitted(updates: Arr, { shape }: Arr): Arr {
  if (updates.shape.length === 0) return filledWith(updates, shape, updates.values[0]);
  const isLarger =
    updates.shape.length === shape.length &&
    updates.shape.every((dim, d) => dim >= shape[d]) &&
    String(updates.shape) !== String(shape);
  return isLarger && sizeOf(shape) > 0 ? cropped(updates, shape) : updates;
}

/** Drafts a scatter of elements along an axis. Only OpenVINO supports `mean` and can exclude data from the result. */
export function elements(given: Writes): Draft {
  const { data, indices, updates, axis, reduction, isFresh = false } = given;
  const inputs = { data, indices, updates: fitted(updates, indices) };
  const remarks =
    inputs.updates.values.length < updates.values.length
      ? ["The updates are cropped to the shape of the indices."]
      : [];
  if (!isFresh && reduction !== "mean" && reduction !== "sub") {
    const attributes = { axis: String(axis), reduction };
    return { domain: "ai.onnx", op: "ScatterElements", attributes, inputs, remarks };
  }
  const op = "ScatterElementsUpdate";
  const lack = isFresh
    ? "cannot exclude data from a scatter"
    : `does not have the reduction ${reduction}`;
  return {
    domain: "openvino",
    op,
    attributes: {
      reduction: OPENVINO.get(reduction) ?? reduction,
      use_init_val: String(!isFresh),
    },
    inputs: { ...inputs, axis: axisInput(axis) },
    remarks: [...remarks, shownInstead(lack, op)],
  };
}

/** Drafts a scatter of slices by index tuples. Updates are broadcast to the shape of the slices. */
export function tuples(given: Omit<Writes, "axis">): Draft {
  const { data, indices, updates, reduction } = given;
  const shape = [...indices.shape.slice(0, -1), ...data.shape.slice(indices.shape.at(-1) ?? 0)];
  const inputs = { data, indices, updates: grownTo(updates, shape) };
  const attributes = { reduction };
  if (reduction !== "sub") return { domain: "ai.onnx", op: "ScatterND", attributes, inputs };
  const op = "ScatterNDUpdate";
  const remarks = [shownInstead("does not have the reduction sub", op)];
  return { domain: "openvino", op, attributes, inputs, remarks };
}

/** Drafts a scatter of whole slices along an axis, such as `x[:, idx] = u`. */
export function slices(given: Writes): Draft {
  const { data, indices, updates, reduction } = given;
  const axis = given.axis < 0 ? given.axis + data.shape.length : given.axis;
  if (axis === 0) {
    const rows = { ...indices, shape: [...indices.shape, 1] };
    return tuples({ data, indices: rows, updates, reduction });
  }
  if (reduction === "none") {
    const shape = [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)];
    const inputs = { data, indices, updates: grownTo(updates, shape), axis: axisInput(axis) };
    const op = "ScatterUpdate";
    const remarks = [shownInstead("does not have a scatter of slices along another axis", op)];
    return { domain: "openvino", op, attributes: {}, inputs, remarks };
  }
  const full = indices.shape.length === 1 ? alongAxis(indices, axis, data.shape) : indices;
  const grown = grownTo(updates, full.shape);
  return elements({ data, indices: full, updates: grown, axis, reduction });
}

/** Drafts a gather of slices along an axis. Only OpenVINO supports batches. */
export function gather({ data, indices, axis, batchDims = 0 }: Reads): Draft {
  if (batchDims === 0) {
    const attributes = { axis: String(axis) };
    return { domain: "ai.onnx", op: "Gather", attributes, inputs: { data, indices } };
  }
  const inputs = { data, indices, axis: axisInput(axis) };
  const attributes = { batch_dims: String(batchDims) };
  const remarks = [shownInstead("does not have batches in Gather", "Gather")];
  return { domain: "openvino", op: "Gather", attributes, inputs, remarks };
}

export function gatherElements({ data, indices, axis }: Reads): Draft {
  const attributes = { axis: String(axis) };
  return { domain: "ai.onnx", op: "GatherElements", attributes, inputs: { data, indices } };
}

export function gatherND({ data, indices, batchDims = 0 }: Omit<Reads, "axis">): Draft {
  const attributes = { batch_dims: String(batchDims) };
  return { domain: "ai.onnx", op: "GatherND", attributes, inputs: { data, indices } };
}
