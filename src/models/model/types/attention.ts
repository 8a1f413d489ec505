/** Type rules for attention, and for operators that pass a state from call to call. */

import type { Dim } from "../../../core/tensor/shape.ts";
import { givenDim, productDims, sumDims, unknownDims, wrongNode } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

/** Returns the size per head if several heads are merged into one axis; null if unknown. */
const headSize = (width: Dim, heads: Dim): Dim =>
  typeof width === "number" && typeof heads === "number" && heads > 0 && width % heads === 0
    ? width / heads
    : null;

const headsOf = (view: NodeView, name: string): Dim => givenDim(view.int(name, null));

/**
 * Returns [batch, heads, length, head size] of an input. An input with three axes merges heads and head size in its
 * last axis.
 */
function headDims(view: NodeView, position: number, heads: string): readonly Dim[] {
  const shape = view.shape(position);
  if (shape === null) return [null, headsOf(view, heads), null, null];
  if (shape.length === 4) return shape;
  if (shape.length !== 3) throw wrongNode("queries, keys and values must have three or four axes");
  const [batch, length, width] = shape;
  const count = headsOf(view, heads);
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
  const input = view.shape(0) ?? unknownDims(3);
  if (input.length !== 3) throw wrongNode("the input must have three axes");
  const [batch, channels] = input;
  const size = view.shape(1)?.[2];
  const before = typeof size === "number" ? givenDim(size - 1) : null;
  return [output(dtype, input), output(dtype, [batch, channels, before])];
};
