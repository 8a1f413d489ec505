/** Shapes of matrix products, attention, and operators that pass a state along a sequence or from call to call. */

import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import {
  broadcastDim,
  broadcastShapes,
  givenDim,
  productDims,
  sameDim,
  sumDims,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import type { Known } from "../known.ts";
import { output, type NodeView, type ShapeOf, type TypeRule } from "./rules.ts";

/** `MatMul` of two inputs as in NumPy: a vector temporarily gets an axis of size 1. */
export const productOf =
  (first: number, second: number): ShapeOf =>
  (view) => {
    const [a, b] = [view.shape(first), view.shape(second)];
    if (a === null || b === null) return null;
    if (a.length === 0 || b.length === 0)
      throw wrongNode("a matrix must have one axis or more, got a scalar");
    const left = a.length === 1 ? [1, ...a] : a;
    const right = b.length === 1 ? [...b, 1] : b;
    sameDim(left[left.length - 1], right[right.length - 2]);
    const batches = broadcastShapes([left.slice(0, -2), right.slice(0, -2)]) ?? [];
    return [
      ...batches,
      ...(a.length === 1 ? [] : left.slice(-2, -1)),
      ...(b.length === 1 ? [] : right.slice(-1)),
    ];
  };

/** Returns an input's dimensions, which are null if unknown. Throws for another rank. */
function dimsOf(view: NodeView, position: number, rank: number): readonly Dim[] {
  const shape = view.shape(position) ?? unknownDims(rank);
  if (shape.length !== rank) throw wrongNode(`input ${position} has ${rank} axes`);
  return shape;
}

/**
 * `GroupedMatMul`: rows [M, K] are multiplied by matrices [G, K, N]. The indices [M, S] select the matrices, and a bias
 * [G, N] is added.
 */
export function grouped(view: NodeView): PartialShape {
  const [rows, inner] = dimsOf(view, 0, 2);
  const [groups, other, columns] = dimsOf(view, 1, 3);
  const [rowsOfIndices, selections] = dimsOf(view, 2, 2);
  const [groupsOfBias, columnsOfBias] = dimsOf(view, 3, 2);
  sameDim(inner, other);
  sameDim(groups, groupsOfBias);
  return [sameDim(rows, rowsOfIndices), selections, sameDim(columns, columnsOfBias)];
}

export function gemm(view: NodeView): PartialShape {
  const side = (position: number, transposed: string, axis: number): readonly [Dim, Dim] => {
    const flag = view.int(transposed, 0);
    const dims = dimsOf(view, position, 2);
    if (flag === null) return [null, null];
    const outer = flag === 0 ? axis : 1 - axis;
    return [dims[outer], dims[1 - outer]];
  };
  const [rows, inner] = side(0, "transA", 0);
  const [columns, other] = side(1, "transB", 1);
  sameDim(inner, other);
  return [rows, columns];
}

/** `Einsum`: the shape is known if the equation names the output and has no ellipsis. */
export function einsum(view: NodeView): PartialShape {
  const equation = view.string("equation", "")?.replaceAll(" ", "") ?? "";
  const [left, right] = equation.split("->");
  if (right === undefined || equation.includes(".")) return null;
  const sizes = new Map<string, Dim>();
  for (const [position, letters] of left.split(",").entries()) {
    const dims = view.shape(position);
    if (dims === null) continue;
    if (dims.length !== letters.length) throw wrongNode("a term must name the axes of its input");
    for (const [axis, letter] of Array.from(letters).entries()) {
      // A dimension of size 1 may be broadcast.
      const [dim, before = dim] = [dims[axis], sizes.get(letter)];
      sizes.set(letter, before === dim ? dim : broadcastDim(before, dim));
    }
  }
  return Array.from(right, (letter) => sizes.get(letter) ?? null);
}

/** The rule for recurrent operators. The parameter `states` is 1, or 2 for `LSTM`, which also returns its cells. */
export const recurrent =
  (states: 1 | 2): TypeRule =>
  (view) => {
    const dtype = view.sharedDType([0, 1, 2]);
    const layout = view.opset < 14 ? 0 : view.int("layout", 0);
    const [first, second] = dimsOf(view, 0, 3);
    const direction = view.string("direction", "forward");
    const directions = direction === null ? null : direction === "bidirectional" ? 2 : 1;
    const hidden = givenDim(view.int("hidden_size", null)) ?? view.shape(2)?.[2] ?? null;
    const made = (all: PartialShape, last: PartialShape): ReturnType<TypeRule> => [
      output(dtype, all),
      ...Array.from({ length: states }, () => output(dtype, last)),
    ];
    if (layout === null) return made(unknownDims(4), unknownDims(3));
    // In version 1, an attribute can turn off the output sequence.
    if (layout === 0)
      return made(view.opset < 7 ? null : [first, directions, second, hidden], [
        directions,
        second,
        hidden,
      ]);
    return made([first, second, directions, hidden], [first, directions, hidden]);
  };

/** The rule for losses: the output is a scalar, or has one value per label if the reduction is none. */
export const loss: TypeRule = (view) => {
  const dtype = view.dtype(0);
  const way = view.string("reduction", "mean");
  const summed: PartialShape = way === null ? null : way === "none" ? view.shape(1) : [];
  return [output(dtype, summed), output(dtype, view.shape(0))];
};

/**
 * `Loop` and `Scan`: a state keeps its data type in all iterations, but its shape may change. The types of collected
 * outputs are unknown here, because this rule does not examine the body.
 */
export const loop: TypeRule = (view) => view.inputs().slice(2).map(stateOf);

export const scan: TypeRule = (view) => {
  const read = view.int("num_scan_inputs", null);
  // Version 8 has an additional first input.
  if (read === null || read < 0 || view.opset < 9) return [];
  return view
    .inputs()
    .slice(0, Math.max(0, view.count - read))
    .map(stateOf);
};

const stateOf = ({ type }: Known): Known => output(type?.dtype ?? null, null);

/** Returns the size per head if several heads are merged into one axis; null if unknown. */
const headSize = (width: Dim, heads: Dim): Dim =>
  typeof width === "number" && typeof heads === "number" && heads > 0 && width % heads === 0
    ? width / heads
    : null;

/**
 * Returns [batch, heads, length, head size] of an input. An input with three axes merges heads and head size in its
 * last axis.
 */
function headDims(view: NodeView, position: number, heads: string): readonly Dim[] {
  const shape = view.shape(position);
  if (shape?.length === 4) return shape;
  const count = givenDim(view.int(heads, null));
  const [batch, length, width] = shape ?? unknownDims(3);
  if (shape !== null && shape.length !== 3)
    throw wrongNode("queries, keys and values must have three or four axes");
  return [batch, count, length, headSize(width, count)];
}

/**
 * `Attention`: the output has the rank of the queries. With three axes, heads and head sizes are merged. The other
 * outputs are the past and present keys and values, and the products of queries and keys.
 */
export const attention: TypeRule = (view) => {
  const dtype = view.dtype(0);
  const query = view.shape(0);
  const [batch, heads, length] = headDims(view, 0, "q_num_heads");
  const [, shared, keys, size] = headDims(view, 1, "kv_num_heads");
  const [, , , width] = headDims(view, 2, "kv_num_heads");
  const past = view.has(4) ? (view.shape(4)?.[2] ?? null) : 0;
  const total = sumDims([past, keys]);
  const merged = [batch, length, productDims([heads, width])];
  const attended = query?.length === 3 ? merged : [batch, heads, length, width];
  return [
    output(dtype, query === null ? null : attended),
    output(dtype, [batch, shared, total, size]),
    output(view.dtype(2), [batch, shared, total, width]),
    output(dtype, [batch, heads, length, total]),
  ];
};

/**
 * `LinearAttention`: heads and head sizes are merged. The state has the shape of the past state, which may be absent.
 */
export const linearAttention: TypeRule = (view) => {
  const [batch, heads, length, size] = headDims(view, 0, "q_num_heads");
  const [, shared, , width] = headDims(view, 2, "kv_num_heads");
  return [
    output(view.dtype(0), [batch, length, productDims([heads, width])]),
    output(view.dtype(view.has(3) ? 3 : 0), [batch, shared, size, width]),
  ];
};

/** `CausalConvWithState`: the output has the input's type. The state has one position fewer than the kernel. */
export const causalConvolution: TypeRule = (view) => {
  const dtype = view.sharedDType([0, 1, 2, 3]);
  const input = dimsOf(view, 0, 3);
  const size = view.shape(1)?.[2];
  const before = typeof size === "number" ? givenDim(size - 1) : null;
  return [output(dtype, input), output(dtype, [input[0], input[1], before])];
};
