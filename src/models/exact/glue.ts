/**
 * Small operators between replaced nodes, which this package computes because a runtime session is slower. A run of
 * onnxruntime takes about 30 µs even for small tensors, and these operators take less than 1 µs. The operators change
 * shapes, compare integers or convert integers, so they never round.
 *
 * ONNX: Operators, Cast-6 to -25, Equal-1 to -19, Identity-1 to -25, Not-1, Shape-1 to -25, Size-1 to -25, Squeeze-1 to
 * -25, Unsqueeze-1 to -25.
 */

import { malformed } from "../../core/errors.ts";
import { allocate, DTYPES, integerRange, type DType } from "../../core/tensor/dtype.ts";
import { isKnown, printShape, product } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { castTensor } from "../model/cast.ts";
import { findOpset, opsetOf } from "../model/graph.ts";
import { destinationOf, narrowRulesOf } from "../model/inline.ts";
import { nodeTitle, type Graph, type ModelNode } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import type { Opsets } from "./facts.ts";
import { fromBuffer, type ExactGpu } from "./gpu.ts";
import { Value } from "./values.ts";

interface GlueCall {
  readonly node: ModelNode;
  readonly opset: number;
  readonly values: readonly Value[];
  /** The inputs. A value on the GPU has only a data type and a shape. */
  readonly tensors: readonly Tensor[];
  readonly gpu: ExactGpu | null;
}

type Glue = (call: GlueCall) => Value;

/** The first version of Squeeze and Unsqueeze that reads the axes from an input. */
const AXES_AS_INPUT = 13;

function axesOf(
  { node, opset, tensors }: GlueCall,
  rankWith: (count: number) => number,
): readonly number[] | null {
  const { axes } = node.attributes;
  const { [1]: input } = tensors;
  const given =
    opset >= AXES_AS_INPUT
      ? input && Array.from(input.data as Iterable<bigint>, Number)
      : axes?.type === "ints"
        ? axes.value.map(Number)
        : undefined;
  if (given === undefined) return null;
  const rank = rankWith(given.length);
  const own = given.map((axis) => (axis < 0 ? axis + rank : axis));
  if (own.every((axis) => axis >= 0 && axis < rank) && new Set(own).size === own.length) return own;
  throw malformed(
    `${nodeTitle(node)} must name axes of rank ${rank}, each once, got ${given.join(", ")}`,
    { node: nodeTitle(node), key: "axes", got: given },
  );
}

const reshaped = ({ node, values, tensors, gpu }: GlueCall, shape: number[]): Value => {
  const [{ dtype, size, data }] = tensors;
  if (gpu !== null && values[0].isOnGpu) {
    const { buffer } = values[0].onGpu(gpu, node.inputs[0]);
    return new Value(null, { device: fromBuffer(gpu, buffer, dtype, shape), of: values[0] });
  }
  return new Value(new Tensor(dtype, shape, size, data), { of: values[0] });
};

const unsqueeze: Glue = (call) => {
  const [{ shape: dims }] = call.tensors;
  const axes = axesOf(call, (count) => dims.length + count) ?? [];
  const rest = dims.values();
  return reshaped(
    call,
    Array.from({ length: dims.length + axes.length }, (_, axis) =>
      axes.includes(axis) ? 1 : (rest.next().value ?? 1),
    ),
  );
};

const squeeze: Glue = (call) => {
  const [{ shape: dims }] = call.tensors;
  const axes = axesOf(call, () => dims.length);
  const odd = axes?.find((axis) => dims[axis] !== 1);
  if (odd !== undefined)
    throw malformed(
      `${nodeTitle(call.node)} can only drop axes of size 1, but axis ${odd} of ${printShape(dims)} is larger`,
      { node: nodeTitle(call.node), key: "axes", got: dims },
    );
  return reshaped(
    call,
    dims.filter((dim, axis) => (axes === null ? dim !== 1 : !axes.includes(axis))),
  );
};

const made = (dtype: DType, shape: number[], data: BigInt64Array | Uint8Array): Value =>
  new Value(new Tensor(dtype, shape, data.length, data));

/** The first version of Shape that can return a range of the dimensions. */
const PART_OF_SHAPE = 15;

const shape: Glue = ({ node, opset, tensors }) => {
  const [{ shape: dims }] = tensors;
  const bound = (name: string, otherwise: number): number => {
    const one = opset < PART_OF_SHAPE ? undefined : node.attributes[name];
    return one?.type === "int" ? Number(one.value) : otherwise;
  };
  const part = dims.slice(bound("start", 0), bound("end", dims.length));
  return made("int64", [part.length], BigInt64Array.from(part, BigInt));
};

const size: Glue = ({ tensors: [{ size: count }] }) =>
  made("int64", [], BigInt64Array.of(BigInt(count)));

const not: Glue = ({ tensors: [{ shape: dims, data }] }) => {
  const opposite = Uint8Array.from(data as Uint8Array, (one) => 1 - one);
  return made("bool", [...dims], opposite);
};

/** Compares two single-element values. The result has the higher rank. */
const equal: Glue = ({ node, tensors: [first, second] }) => {
  const [one, other] =
    first.shape.length >= second.shape.length ? [first, second] : [second, first];
  if (one.size === 1 && other.size === 1)
    return made("bool", [...one.shape], Uint8Array.of(Number(one.data[0] === other.data[0])));
  const shapes = `${printShape(first.shape)} and ${printShape(second.shape)}`;
  throw malformed(
    `${nodeTitle(node)} must compare values of one element, got the shapes ${shapes}`,
    { node: nodeTitle(node) },
  );
};

const cast: Glue = ({ node, tensors: [source] }) => {
  const fields = { op: "Cast" };
  const rules = narrowRulesOf(node, fields);
  return new Value(castTensor(source, destinationOf(node) as DType, fields, rules));
};

const identity: Glue = ({ values: [value] }) => value;

/** Operators whose inputs must be single integers or booleans. Single elements are enough for conditions. */
const OF_SCALARS: ReadonlyMap<string, Glue> = new Map([
  ["Cast", cast],
  ["Equal", equal],
  ["Not", not],
]);

/** Operators that do not read the elements of their first input. */
const OF_SHAPES: ReadonlyMap<string, Glue> = new Map([
  ["Identity", identity],
  ["Shape", shape],
  ["Size", size],
  ["Squeeze", squeeze],
  ["Unsqueeze", unsqueeze],
]);

export function isGlue(node: ModelNode, opsets: Opsets, scope: Scope): boolean {
  const { op, domain, inputs } = node;
  if (domain !== "ai.onnx" || findOpset(opsets, node) === null) return false;
  if (inputs.length < (op === "Equal" ? 2 : 1) || inputs.includes("")) return false;
  if (op === "Cast" && !isWhole(destinationOf(node))) return false;
  return (
    OF_SHAPES.has(op) || (OF_SCALARS.has(op) && inputs.every((name) => isWholeScalar(scope, name)))
  );
}

const isWhole = (dtype: DType | null): boolean =>
  dtype !== null && (integerRange(dtype) !== null || DTYPES[dtype].family === "bool");

function isWholeScalar(scope: Scope, name: string): boolean {
  const { type } = scope.get(name).certain;
  const isOne =
    type !== null && type.shape !== null && isKnown(type.shape) && product(type.shape) === 1;
  return isOne && isWhole(type.dtype);
}

/** Returns the inputs whose elements a small operator reads. These inputs must be on the host. */
export const readByGlue = ({ op }: ModelNode, values: readonly Value[]): readonly Value[] =>
  OF_SHAPES.has(op) ? values.slice(1) : values;

/** Runs a node for which `isGlue` is true. If all values are on the host, `gpu` is null. */
export function runGlue(
  node: ModelNode,
  opsets: Opsets,
  values: readonly Value[],
  gpu: ExactGpu | null,
): Value {
  const glue = (OF_SCALARS.get(node.op) ?? OF_SHAPES.get(node.op)) as Glue;
  const tensors = values.map((value, at) => {
    const { [at]: name } = node.inputs;
    if (gpu === null || !value.isOnGpu) return value.tensor(name);
    const { dtype, shape: dims } = value.onGpu(gpu, name);
    return new Tensor(dtype, [...dims], product(dims), allocate(dtype, 0));
  });
  return glue({ node, opset: opsetOf({ opsets }, node), values, tensors, gpu });
}

export const isGlueGraph = ({ nodes }: Graph, opsets: Opsets, scope: Scope): boolean =>
  nodes.every((node) => node.op === "Constant" || isGlue(node, opsets, scope));
