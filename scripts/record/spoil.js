/** Spoils a call in one way, so that it is refused, or has one more reason to be. */

import { tensor } from "../../build/src/core/tensor/tensor.js";
import { randomTensor } from "../../build/test/support/random.js";

const pick = (list, random) => list[random(list.length)];

/** Changes one input of a call. */
const withInput = (call, position, change) =>
  call.inputs[position] === undefined
    ? call
    : { ...call, inputs: call.inputs.with(position, change(call.inputs[position])) };

const anyInput = ({ inputs }, random) => random(inputs.length);

/** Changes the options of a function, or the attributes of a node. */
const withOption = (call, options) =>
  call.by === "node"
    ? { ...call, node: { ...call.node, attributes: { ...call.node.attributes, ...options } } }
    : { ...call, options: { ...call.options, ...options } };

/** The ways, each from a call and a source of random numbers to another call. */
const WAYS = {
  index: (call, random) =>
    withInput(call, 1, (indices) => {
      if (!/^u?int(32|64)$/.test(indices.dtype) || indices.size === 0) return indices;
      const values = Array.from(indices.data);
      const far = pick([19, 100_000, -1000, 2 ** 31 - 1, -(2 ** 31)], random);
      values[random(values.length)] = typeof values[0] === "bigint" ? BigInt(far) : far;
      return tensor(indices.dtype, indices.shape, values);
    }),
  dtype: (call, random) =>
    withInput(call, anyInput(call, random), ({ shape, dtype }) =>
      randomTensor(
        pick(
          ["float32", "int8", "string", "uint64"].filter((one) => one !== dtype),
          random,
        ),
        shape,
        random,
      ),
    ),
  shape: (call, random) =>
    withInput(call, anyInput(call, random), ({ shape, dtype }) => {
      const other = pick(
        [[...shape, 1], shape.slice(1), shape.map((dim) => dim + 1), [2, ...shape]],
        random,
      );
      return randomTensor(dtype, other, random);
    }),
  axis: (call, random) => withOption(call, { axis: pick([9, -9, 1.5, "0"], random) }),
  "batch dims": (call, random) => withOption(call, { batchDims: pick([7, -1, null], random) }),
  option: (call, random) =>
    withOption(call, pick([{ reductoin: "add" }, { axes: 0 }, { Bounds: "clip" }], random)),
  reduction: (call, random) =>
    withOption(call, { reduction: pick(["avg", "sum", 3, "mean", "mul"], random) }),
  bounds: (call, random) =>
    withOption(call, { bounds: pick(["wrap", "fill", "drop", true], random) }),
  negative: (call) => withOption(call, { negative: "error" }),
  duplicates: (call) => withOption(call, { duplicates: "error" }),
  count: (call, random) => ({
    ...call,
    inputs: random(2) === 0 ? call.inputs.slice(0, -1) : [...call.inputs, call.inputs[0]],
  }),
  missing: (call, random) => ({ ...call, given: { [anyInput(call, random)]: "null" } }),
  disposed: (call, random) => ({ ...call, given: { [anyInput(call, random)]: "disposed" } }),
  out: (call, random) => {
    const { dtype, shape } = call.out;
    const out = pick(
      [
        { dtype: "uint4", shape },
        { dtype, shape: [...shape, 2] },
        { dtype, shape: [] },
      ],
      random,
    );
    return { ...call, result: call.by === "node" ? "new" : "out", out };
  },
  node: (call, random) =>
    call.by === "node"
      ? {
          ...call,
          node: {
            ...call.node,
            ...pick([{ op: "ScaterND" }, { opset: 1 }, { opset: 99 }, { domain: "onnx" }], random),
          },
        }
      : WAYS.index(call, random),
  gradient: (call, random) =>
    call.gradient === null
      ? WAYS.shape(call, random)
      : {
          ...call,
          gradient: randomTensor("float64", [2, 3], random),
          chosen: pick([{ ties: "none" }, { argnums: 5 }, {}], random),
        },
};

/** @param {import("./draw.js").Call} call */
export function spoiled(call, random) {
  return WAYS[pick(Object.keys(WAYS), random)](call, random);
}
