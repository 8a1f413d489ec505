/** Type rules for matrix products and for operators on sequences. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { broadcastShapes, givenDim, sameDim, unknownDims, wrongNode } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

/** `MatMul` as in NumPy: a vector temporarily gets an axis of size 1. */
function productShape(a: PartialShape, b: PartialShape): PartialShape {
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
}

export const matMul: TypeRule = (view) => [
  output(view.sharedDType([0, 1]), productShape(view.shape(0), view.shape(1))),
];

export const matMulInteger: TypeRule = (view) => [
  output("int32", productShape(view.shape(0), view.shape(1))),
];

/** `QLinearMatMul`: the output has the data type of the last zero point. */
export const qLinearMatMul: TypeRule = (view) => [
  output(view.dtype(7), productShape(view.shape(0), view.shape(3))),
];

/**
 * `GroupedMatMul`: rows [M, K] are multiplied by matrices [G, K, N]. The indices [M, S] select the matrices, and a bias
 * [G, N] is added.
 */
export const groupedMatMul: TypeRule = (view) => {
  const dims = (position: number, rank: number): readonly Dim[] => {
    const shape = view.shape(position) ?? unknownDims(rank);
    if (shape.length !== rank) throw wrongNode(`input ${position} has ${rank} axes`);
    return shape;
  };
  const [rows, inner] = dims(0, 2);
  const [groups, other, columns] = dims(1, 3);
  const [rowsOfIndices, selections] = dims(2, 2);
  const [groupsOfBias, columnsOfBias] = dims(3, 2);
  sameDim(inner, other);
  sameDim(groups, groupsOfBias);
  const shape = [sameDim(rows, rowsOfIndices), selections, sameDim(columns, columnsOfBias)];
  return [output(view.sharedDType([0, 1, 3]), shape)];
};

export const gemm: TypeRule = (view) => {
  const dtype = view.sharedDType([0, 1, 2]);
  const side = (position: number, transposed: string, axis: number): readonly [Dim, Dim] => {
    const flag = view.int(transposed, 0);
    const dims = view.shape(position);
    if (dims !== null && dims.length !== 2) throw wrongNode("a matrix must have two axes");
    if (dims === null || flag === null) return [null, null];
    const outer = flag === 0 ? axis : 1 - axis;
    return [dims[outer], dims[1 - outer]];
  };
  const [rows, inner] = side(0, "transA", 0);
  const [columns, other] = side(1, "transB", 1);
  sameDim(inner, other);
  return [output(dtype, [rows, columns])];
};

/** `Einsum`: the shape is known if the equation names the output and has no ellipsis. */
export const einsum: TypeRule = (view) => {
  const positions = view.node.inputs.map((_, position) => position);
  const dtype = view.sharedDType(positions);
  const equation = view.string("equation", "")?.replaceAll(" ", "") ?? "";
  const [left, right] = equation.split("->");
  if (right === undefined || equation.includes(".")) return [output(dtype, null)];
  const sizes = new Map<string, Dim>();
  for (const [position, letters] of left.split(",").entries()) {
    const dims = view.shape(position);
    if (dims === null) continue;
    if (dims.length !== letters.length) throw wrongNode("a term must name the axes of its input");
    for (const [axis, letter] of Array.from(letters).entries()) {
      // A dimension of size 1 may be broadcast.
      const { [axis]: dim } = dims;
      const before = sizes.get(letter);
      sizes.set(letter, before === undefined || before === dim ? dim : broadcastPair(before, dim));
    }
  }
  return [
    output(
      dtype,
      Array.from(right, (letter) => sizes.get(letter) ?? null),
    ),
  ];
};

const broadcastPair = (a: Dim, b: Dim): Dim => broadcastShapes([[a], [b]])?.[0] ?? null;

/** The rule for recurrent operators. The parameter `states` is 1, or 2 for `LSTM`, which also returns its cells. */
export const recurrent =
  (states: 1 | 2): TypeRule =>
  (view) => {
    const dtype = view.sharedDType([0, 1, 2]);
    const layout = view.opset < 14 ? 0 : view.int("layout", 0);
    const input = view.shape(0);
    if (input !== null && input.length !== 3) throw wrongNode("a sequence must have three axes");
    const direction = view.string("direction", "forward");
    const directions = direction === null ? null : direction === "bidirectional" ? 2 : 1;
    const hidden = givenDim(view.int("hidden_size", null)) ?? view.shape(2)?.[2] ?? null;
    if (layout === null) {
      return [
        output(dtype, unknownDims(4)),
        ...Array.from({ length: states }, () => output(dtype, unknownDims(3))),
      ];
    }
    const [first = null, second = null] = input ?? [];
    const [length, batch] = layout === 0 ? [first, second] : [second, first];
    const all =
      layout === 0 ? [length, directions, batch, hidden] : [batch, length, directions, hidden];
    const last = layout === 0 ? [directions, batch, hidden] : [batch, directions, hidden];
    // In version 1, an attribute can turn off the output sequence.
    const sequence = view.opset < 7 ? null : all;
    return [output(dtype, sequence), ...Array.from({ length: states }, () => output(dtype, last))];
  };

/**
 * `QuantizeLinear`: the data type comes from the zero point or from an attribute. Without either, the data type is
 * uint8.
 */
export const quantize: TypeRule = (view) => {
  const given = view.opset < 21 ? null : view.dtypeOf("output_dtype", null);
  const isGiven = view.opset >= 21 && (view.int("output_dtype", 0) ?? 1) !== 0;
  const dtype = view.has(2) ? view.dtype(2) : isGiven ? given : "uint8";
  return [output(dtype, view.shape(0))];
};

/**
 * `DequantizeLinear`: the output has the scale's data type. Since version 23, an attribute can give another data type.
 */
export const dequantize: TypeRule = (view) => {
  const isGiven = view.opset >= 23 && (view.int("output_dtype", 0) ?? 1) !== 0;
  return [output(isGiven ? view.dtypeOf("output_dtype", null) : view.dtype(1), view.shape(0))];
};

export const dynamicQuantize: TypeRule = (view) => [
  output("uint8", view.shape(0)),
  output("float32", []),
  output("uint8", []),
];

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
export const loop: TypeRule = (view) =>
  Array.from({ length: Math.max(0, view.count - 2) }, (_, at) => output(view.dtype(at + 2), null));

export const scan: TypeRule = (view) => {
  const read = view.int("num_scan_inputs", null);
  // Version 8 has an additional first input.
  if (read === null || read < 0 || view.opset < 9) return [];
  const states = Math.max(0, view.count - read);
  return Array.from({ length: states }, (_, at) => output(view.dtype(at), null));
};

/** The rule for an output with the first input's data type and rank. */
export const rankOfInput: TypeRule = (view) => {
  const rank = view.shape(0)?.length;
  return [output(view.dtype(0), rank === undefined ? null : unknownDims(rank))];
};

/** `Det`: the last two axes are reduced to one number. */
export const determinant: TypeRule = (view) => [
  output(view.dtype(0), view.shape(0)?.slice(0, -2) ?? null),
];

/** `MelWeightMatrix`: the matrix has one row per frequency of half a Fourier transform, and one column per band. */
export const melWeights: TypeRule = (view) => {
  const [bands, length] = [view.integer(0), view.integer(1)];
  const frequencies = typeof length === "number" ? Math.floor(length / 2) + 1 : null;
  return [
    output(view.dtypeOf("output_datatype", "float32"), [givenDim(frequencies), givenDim(bands)]),
  ];
};

export const sampleWindow: TypeRule = (view) => {
  const dtype = view.dtypeOf("output_datatype", "float32");
  return [output(dtype, [givenDim(view.integer(0))])];
};

export const ranked =
  (dtype: DType, rank: number): TypeRule =>
  () => [output(dtype, unknownDims(rank))];

/** The rule for an output with the first input's data type and an unknown shape. */
export const typeOfInput: TypeRule = (view: NodeView) => [output(view.dtype(0), null)];
