/**
 * The iterations of Loop and Scan: which values enter the body, which values pass to the next iteration, and how values
 * are sliced and stacked. The callers run the bodies.
 *
 * ONNX: Operators, Loop-1 to -25, Scan-9 to -25.
 */

import { malformed } from "../../core/errors.ts";
import { runNode as run } from "../../core/functions.ts";
import { isNumericStorage, type DType } from "../../core/tensor/dtype.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { tensor, zeros, type Tensor } from "../../core/tensor/tensor.ts";
import { nodeTitle, type Graph, type ModelNode, type ValueInfo } from "../model/model.ts";

/** The first version of Scan whose body has no batch axis. */
export const SCAN_WITHOUT_BATCHES = 9;

/** The data types of a Loop body's first inputs: the iteration number and the condition. */
export const LOOP_OWN: readonly DType[] = ["int64", "bool"];

/** The positions of a node's states. All inputs of a node other than Loop and Scan are states. */
export interface Layout {
  /** The position of the first state among the inputs of the node and of its body. */
  readonly first: number;
  /** The position of the first input that a Scan slices. */
  readonly end: number;
  /** The number of body outputs before the states: 1 in a Loop, whose body returns a condition. */
  readonly skipped: number;
  /** The position of the first node output that stacks the results of all iterations. */
  readonly collected: number;
}

export function layoutOf(node: ModelNode): Layout {
  const isLoop = node.op === "Loop";
  const scanned = node.op === "Scan" ? Number(integers(node, "num_scan_inputs")[0] ?? 0) : 0;
  const [first, end] = [isLoop ? LOOP_OWN.length : 0, node.inputs.length - scanned];
  const collected = isLoop || node.op === "Scan" ? end - first : Infinity;
  return { first, end, skipped: Number(isLoop), collected };
}

/** The axis and the order in which an input is sliced, or an output is stacked. */
export interface Slicing {
  readonly axis: number;
  readonly isReverse: boolean;
}

/** Returns the slicing of a scanned input or a stacked output. A Loop stacks its outputs along axis 0. */
export const slicingOf = (node: ModelNode, side: "input" | "output", nth: number): Slicing => ({
  axis: Number(integers(node, `scan_${side}_axes`)[nth] ?? 0),
  isReverse: Number(integers(node, `scan_${side}_directions`)[nth]) === 1,
});

function integers({ attributes }: ModelNode, name: string): readonly (number | bigint)[] {
  const one = attributes[name];
  if (one?.type === "ints") return one.value;
  return one?.type === "int" ? [one.value] : [];
}

/**
 * Returns the shape of a Loop's iteration number or condition. The shape is [1] if the body declares it, as in a
 * runtime.
 */
export const loopShape = ({ type }: ValueInfo): readonly number[] =>
  type?.shape?.length === 1 ? [1] : [];

/** The iterations of a Loop or a Scan whose inputs are known. */
export interface Iterations extends Layout {
  /** The maximum number of iterations. */
  readonly count: number;
  /** False if the condition of a Loop excludes all iterations. */
  readonly isGoing: boolean;
  /** The names of the states in the body. */
  readonly states: readonly string[];
  /** Returns the body's other inputs in an iteration: the number and the condition of a Loop, the slices of a Scan. */
  given(at: number): readonly (readonly [name: string, value: Tensor])[];
}

/** Returns a node's input by position; undefined for an omitted input. The text `what` describes a scalar. */
export type ReadInput = (at: number, what?: string) => Tensor | undefined;

/** Throws `malformed-file` for a node or a body without the required inputs. */
export function iterationsOf(node: ModelNode, body: Graph, read: ReadInput): Iterations {
  const layout = layoutOf(node);
  const names = body.inputs.map(({ name }) => name);
  if (node.op !== "Loop") {
    const scanned = scannedInputs(node, read);
    const given = (at: number): [string, Tensor][] =>
      scanned.map(({ value, axis, length, isReverse }, nth) => {
        const index = tensor("int64", [], BigInt(isReverse ? length - 1 - at : at));
        return [names[layout.end + nth], take(value, axis, index)];
      });
    const states = names.slice(0, layout.end);
    return { ...layout, count: scanned[0].length, isGoing: true, states, given };
  }
  const [number, going] = body.inputs;
  if (going === undefined)
    throw malformed(`the body of ${nodeTitle(node)} must have 2 inputs at least`, {
      ...{ node: nodeTitle(node), key: "inputs", expected: 2 },
    });
  const most = read(0, "the number of iterations");
  const condition = read(1, "the condition");
  return {
    ...layout,
    count: most === undefined ? Infinity : numberOf(most),
    isGoing: condition === undefined || numberOf(condition) !== 0,
    states: names.slice(layout.first),
    given: (at) => [
      [number.name, tensor("int64", loopShape(number), BigInt64Array.of(BigInt(at)))],
      [going.name, tensor("bool", loopShape(going), Uint8Array.of(1))],
    ],
  };
}

/** Returns a tensor's first element; 0 for an omitted value. */
export const numberOf = (value: Tensor | undefined): number => Number(value?.data[0] ?? 0);

/** An input from which each iteration of a Scan gets one slice. */
export interface Scanned extends Slicing {
  readonly value: Tensor;
  /** The number of slices. */
  readonly length: number;
}

/**
 * Returns the scanned inputs of a Scan. A Scan has at least one scanned input, because scanned inputs determine the
 * number of iterations.
 */
export function scannedInputs(node: ModelNode, read: ReadInput): readonly Scanned[] {
  const { end } = layoutOf(node);
  const title = nodeTitle(node);
  const scanned = node.inputs.slice(end);
  if (scanned.length === 0) throw malformed(`${title} has no input to scan`, { node: title });
  return scanned.map((_, nth) => {
    const value = read(end + nth);
    if (value === undefined)
      throw malformed(`${title} must have all inputs that it scans, and one is missing`, {
        node: title,
      });
    const slicing = slicingOf(node, "input", nth);
    return { ...slicing, value, length: value.shape.at(slicing.axis) ?? 0 };
  });
}

/** Returns the slices of a tensor at some positions of an axis. */
export const take = (value: Tensor, axis: number, positions: Tensor): Tensor =>
  run({ op: "Gather", opset: 13, attributes: { axis } }, [value, positions])[0];

/**
 * Stacks one or more results of the iterations along a new axis. Throws `malformed-file` for tensors of different
 * shapes, with the title of the node.
 */
export function stack(
  results: readonly Tensor[],
  { axis: given, isReverse }: Slicing,
  title: string,
): Tensor {
  const slices = isReverse ? results.toReversed() : results;
  const [first] = slices;
  const { dtype, shape } = first;
  const axis = given < 0 ? given + shape.length + 1 : given;
  const odd = slices.find((one) => !sameShape(one.shape, shape));
  if (odd !== undefined)
    throw malformed(
      `${title} must have the same shape in all iterations, got ${printShape(shape)} and ${printShape(odd.shape)}`,
    );
  const result = zeros(dtype, shape.toSpliced(axis, 0, slices.length));
  if (result.size === 0) return result;
  const count = shape.slice(0, axis).reduce((a, b) => a * b, 1);
  const length = first.data.length / count;
  const to = result.data;
  for (const [nth, { data }] of slices.entries()) {
    for (let row = 0; row < count; row++) {
      const at = (row * slices.length + nth) * length;
      if (isNumericStorage(to)) {
        to.set((data as typeof to).subarray(row * length, (row + 1) * length) as never, at);
      } else {
        for (let k = 0; k < length; k++) (to as unknown[])[at + k] = data[row * length + k];
      }
    }
  }
  return result;
}
