/**
 * Small operators between replaced nodes, which this package computes because a runtime session is slower. A run of
 * onnxruntime takes about 30 µs even for small tensors, and these operators take about 2 µs. The operators change
 * shapes, compare integers or convert integers, so they never round.
 *
 * ONNX: Operators, Cast-6 to -25, Equal-1 to -19, Identity-1 to -25, Not-1, Shape-1 to -25, Size-1 to -25, Squeeze-1 to
 * -25, Unsqueeze-1 to -25.
 */

import { malformed, recovering, sentenceOf } from "../../core/errors.ts";
import { DTYPES, integerRange, type DType } from "../../core/tensor/dtype.ts";
import { isKnown, product } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { findOpset, opsetOf } from "../model/graph.ts";
import { destinationOf, inlineOperator, type InlineOperator } from "../model/inline.ts";
import { knownConstant, typeOnly } from "../model/known.ts";
import { constant, nodeTitle, type Graph, type ModelNode } from "../model/model.ts";
import { NodeView } from "../model/types/rules.ts";
import { TYPE_RULES } from "../model/types/table.ts";
import type { Scope } from "../model/values.ts";
import type { Opsets } from "./facts.ts";
import { fromBuffer, type ExactGpu } from "./gpu.ts";
import { Value } from "./values.ts";

/** Operators whose inputs must be single integers or booleans. Single elements are enough for conditions. */
const OF_SCALARS: ReadonlySet<string> = new Set(["Cast", "Equal", "Not"]);

/** Operators that do not read the elements of their first input. */
const OF_SHAPES: ReadonlySet<string> = new Set("Identity Shape Size Squeeze Unsqueeze".split(" "));

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

/** Runs a node for which `isGlue` is true. `gpu` is null in a session without an engine. */
export function runGlue(
  node: ModelNode,
  opsets: Opsets,
  values: readonly Value[],
  gpu: ExactGpu | null,
): Value {
  const opset = opsetOf({ opsets }, node);
  if (OF_SHAPES.has(node.op)) return ofShape(node, opset, values, gpu);
  const inputs = values.map((value, at) => value.scalar(node.inputs[at]));
  if (node.op === "Cast")
    return new Value((inlineOperator(node) as InlineOperator)(node, inputs, opset)[0]);
  // The result has the higher rank.
  const [{ shape }] = inputs.toSorted((one, other) => other.shape.length - one.shape.length);
  const [one, other] = inputs.map(({ data }) => data[0]);
  const truth = node.op === "Not" ? !one : one === other;
  return new Value(new Tensor("bool", shape, 1, Uint8Array.of(Number(truth))));
}

/** Runs an operator whose type rule gives the shape of the result, or all of its elements. */
function ofShape(
  node: ModelNode,
  opset: number,
  [value, axes]: readonly Value[],
  gpu: ExactGpu | null,
): Value {
  if (node.op === "Identity") return value;
  const [name, axesName] = node.inputs;
  const isThere = gpu !== null && value.isOnGpu;
  const given = isThere ? value.onGpu(gpu, name) : value.tensor(name);
  const { dtype, shape: dims } = given;
  const inputs = [typeOnly({ dtype, shape: dims })];
  if (axes !== undefined) inputs.push(knownConstant(constant(axesName, axes.tensor(axesName))));
  const refuse = (why: string): never => {
    const title = nodeTitle(node);
    throw malformed(`${title} ${why}`, { node: title, key: "axes" });
  };
  const [{ type, constant: made }] = recovering(
    () => TYPE_RULES[node.domain][node.op](new NodeView(node, opset, inputs)),
    (error) => refuse(`is invalid: ${sentenceOf(error)}`),
  );
  if (made !== null) return new Value(made.read());
  const shape = type?.shape ?? null;
  if (shape === null || !isKnown(shape)) return refuse("has no axes that can be read");
  return "buffer" in given && gpu !== null
    ? new Value(null, { device: fromBuffer(gpu, given.buffer, dtype, shape), of: value })
    : new Value(new Tensor(dtype, shape, product(shape), value.tensor(name).data), { of: value });
}

export const isGlueGraph = ({ nodes }: Graph, opsets: Opsets, scope: Scope): boolean =>
  nodes.every((node) => node.op === "Constant" || isGlue(node, opsets, scope));
