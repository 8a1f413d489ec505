/** Random nodes of every operator version, data type and attribute value, with their inputs. */

import type { NodeSpec } from "../../src/core/call/call.ts";
import {
  roleOf,
  type AttributeSchema,
  type OperatorVersion,
} from "../../src/core/operators/operator.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomIndices, randomTensor, type Random } from "../support/random.ts";

export interface NodeCase {
  readonly version: OperatorVersion;
  readonly node: NodeSpec;
  /** Tensors in the order of the version's inputs. */
  readonly inputs: readonly Tensor[];
  readonly dtype: DType;
  /** True if an index may be out of range. */
  readonly isBad: boolean;
}

/** The newest opset that a release of ONNX has and runtimes load; the package also knows the next one. */
export const RELEASED = 28;

interface Shapes {
  readonly indices: readonly number[];
  readonly updates: readonly number[];
  readonly dimAt: (position: number) => number;
}

const one = <T>(list: readonly T[], random: Random): T => list[random(list.length)];
const dims = (count: number, random: Random): number[] =>
  Array.from({ length: count }, () => 1 + random(4));

export const typesOf = (version: OperatorVersion, of: string): readonly DType[] =>
  version.typeConstraints.find(({ name }) => name === of)?.types ?? [of as DType];

/** Returns the reductions of a version; only none if it has no reductions. */
export const reductionsOf = (version: OperatorVersion): readonly string[] =>
  version.attributes.find(({ name }) => name === "reduction")?.values?.map(String) ?? ["none"];

const has = (version: OperatorVersion, name: string): boolean =>
  version.attributes.some((attribute: AttributeSchema) => attribute.name === name);

/** Returns a node with valid shapes. If `isBad`, some indices may be out of range. */
export function nodeCase(
  version: OperatorVersion,
  dtype: DType,
  reduction: string,
  isBad: boolean,
  random: Random,
): NodeCase {
  const rank = 1 + random(4) + (version.indexForm === "sequences" ? 1 : 0);
  const data = dims(rank, random);
  const axis = version.indexForm === "sequences" ? 1 + random(rank - 1) : random(rank);
  const hasBatch = has(version, "batch_dims");
  const batch = hasBatch ? random(version.indexForm === "tuples" ? rank : axis + 1) : 0;
  const shapes = shapesOf(version, data, axis, batch, random);
  const inputs = version.inputs.flatMap((input): Tensor[] => {
    const role = roleOf(input);
    if (role === "data") return [values(dtype, data, random)];
    if (role === "updates") return [values(dtype, shapes.updates, random)];
    const type = one(typesOf(version, input.type), random);
    if (role === "axis") return [tensor(type, [], type.includes("64") ? BigInt(axis) : axis)];
    return [indicesOf(version, type, shapes, isBad, random)];
  });
  const sign = random(3) === 0 && version.domain === "ai.onnx" ? rank : 0;
  const attributes = {
    ...(has(version, "axis") && { axis: axis - sign }),
    ...(hasBatch && { batch_dims: batch }),
    ...(has(version, "reduction") && { reduction }),
    ...(has(version, "use_init_val") && { use_init_val: random(2) === 0 }),
    ...(has(version, "mode") && { mode: one(["linear", "circular"], random) }),
  };
  const { domain, name: op, sinceVersion, opset = sinceVersion } = version;
  return { version, node: { domain, op, opset, attributes }, inputs, dtype, isBad };
}

/**
 * Returns true for a gather with batch axes in which each axis before the gathered one has the size 1. OpenVINO's plugin
 * then reads other memory.
 */
export const isOneBatch = (batch: unknown, data: readonly number[], axis: number): boolean =>
  batch !== undefined &&
  Number(batch) !== 0 &&
  data.slice(0, axis < 0 ? axis + data.length : axis).every((dim) => dim === 1);

/** Returns "true" or "false" for {@link isOneBatch}, and for data of rank 1, which rows of accepted differences name. */
export function shapeFacts({
  version,
  node,
  inputs,
}: Pick<NodeCase, "version" | "node" | "inputs">) {
  const { shape } = inputs[0];
  const at = version.inputs.findIndex((input) => roleOf(input) === "axis");
  const axis = Number(inputs[at]?.toArray() ?? node.attributes?.["axis"] ?? 0);
  return {
    oneBatch: String(isOneBatch(node.attributes?.["batch_dims"], shape, axis)),
    vector: String(shape.length === 1 && version.indexForm === "slices"),
  };
}

/** Returns random values; texts without unpaired surrogates, which Python packages refuse. */
function values(dtype: DType, shape: readonly number[], random: Random): Tensor {
  const drawn = randomTensor(dtype, shape, random);
  if (dtype !== "string") return drawn;
  const texts = (drawn.data as readonly string[]).map((one) =>
    one.replaceAll(/\p{Surrogate}/gu, "s"),
  );
  return tensor(dtype, shape, texts);
}

function shapesOf(
  { name, indexForm, needsEqualAxes }: OperatorVersion,
  data: readonly number[],
  axis: number,
  batch: number,
  random: Random,
): Shapes {
  const own = dims(1 + random(2), random);
  if (indexForm === "tuples") {
    const k = 1 + random(data.length - batch);
    const lead = [...data.slice(0, batch), ...own];
    const updates = [...lead, ...data.slice(batch + k)];
    return { indices: [...lead, k], updates, dimAt: (p) => data[batch + (p % k)] };
  }
  if (indexForm === "slices") {
    const lead = data.slice(0, batch);
    const indices = name === "ScatterUpdate" ? own : [...lead, ...own];
    const updates = [...data.slice(0, axis), ...own, ...data.slice(axis + 1)];
    return { indices, updates, dimAt: () => data[axis] };
  }
  if (indexForm === "sequences") {
    const length = 1 + random(data[axis]);
    const updates = data.with(axis, length);
    return { indices: [data[0]], updates, dimAt: () => data[axis] - length + 1 };
  }
  const indices = data.map((dim, d) => {
    if (d === axis) return 1 + random(5);
    return needsEqualAxes === true ? dim : 1 + random(dim);
  });
  return { indices, updates: indices, dimAt: () => data[axis] };
}

/** Returns indices, with negative ones only if the version counts them from the end and the type is signed. */
function indicesOf(
  version: OperatorVersion,
  type: DType,
  { indices, dimAt }: Shapes,
  isBad: boolean,
  random: Random,
): Tensor {
  const drawn = randomIndices("int32", indices, dimAt, random);
  const canNegate =
    version.negativeIndices && version.promisesRange !== true && version.indexForm !== "sequences";
  const isSigned = !type.startsWith("u");
  const values = Array.from(drawn.data as Int32Array, (index, p) => {
    if (isBad && random(4) === 0) return dimAt(p) + random(3);
    return index < 0 && !(canNegate && isSigned) ? index + dimAt(p) : index;
  });
  const list = type.includes("64") ? values.map(BigInt) : values;
  return tensor(type, indices, list as never) as Tensor;
}
