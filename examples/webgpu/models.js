/** Two tiny models of a decoder with one layer, between which the cache is written. Weights come from a formula. */

import { tensor } from "ndscatter";
import { buildModel, writeModel } from "ndscatter/onnx";

export const HEADS = 2;
export const POSITIONS = 12;
export const WIDTH = 8;
/** The attention is counted for pages of so many positions, as a cache does that gives pages up. */
export const PAGE = 4;

const HIDDEN = HEADS * WIDTH;
const ROW = { dtype: "float32", shape: [HEADS, 1, WIDTH] };
const CACHE = { dtype: "float32", shape: [HEADS, POSITIONS, WIDTH] };
const TOKEN = { dtype: "float32", shape: [1, HIDDEN] };

/** Returns a tensor of numbers in [-0.5, 0.5) that look random. */
function weights(shape, seed) {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const mixed = (p) =>
    Math.imul(Math.imul(p + 1000 * seed, 0x9e3779b1) ^ 0x5bd1e995, 0x85ebca6b) >>> 0;
  const values = Array.from({ length: size }, (_, p) => mixed(p) / 2 ** 32 - 0.5);
  return tensor("float32", shape, values);
}

/** Returns the vector of the first token. */
export const firstToken = () => weights([1, HIDDEN], 1);

const shapeOf = (dims) => tensor("int64", [dims.length], dims);

/** Returns the key and the value of a token for each head. */
export const projectModel = () =>
  model({
    inputs: { token: TOKEN },
    constants: {
      keys: weights([HIDDEN, HIDDEN], 2),
      values: weights([HIDDEN, HIDDEN], 3),
      rows: shapeOf(ROW.shape),
    },
    nodes: [
      node("MatMul", ["token", "keys"], ["flatKey"]),
      node("MatMul", ["token", "values"], ["flatValue"]),
      node("Reshape", ["flatKey", "rows"], ["key"]),
      node("Reshape", ["flatValue", "rows"], ["value"]),
    ],
    outputs: { key: ROW, value: ROW },
  });

/** What the cache makes of a token: the next one, and how much attention each position received. */
export const attendModel = () =>
  model({
    inputs: {
      token: TOKEN,
      keyCache: CACHE,
      valueCache: CACHE,
      // 0 for positions that are written, a large negative number for all others.
      mask: { dtype: "float32", shape: [1, 1, POSITIONS] },
    },
    constants: {
      queries: weights([HIDDEN, HIDDEN], 4),
      mixing: weights([HIDDEN, HIDDEN], 5),
      rows: shapeOf(ROW.shape),
      flat: shapeOf(TOKEN.shape),
    },
    nodes: [
      node("MatMul", ["token", "queries"], ["flatQuery"]),
      node("Reshape", ["flatQuery", "rows"], ["query"]),
      { ...node("Transpose", ["keyCache"], ["columns"]), attributes: { perm: [0, 2, 1] } },
      node("MatMul", ["query", "columns"], ["scores"]),
      node("Add", ["scores", "mask"], ["masked"]),
      { ...node("Softmax", ["masked"], ["attention"]), attributes: { axis: -1 } },
      node("MatMul", ["attention", "valueCache"], ["context"]),
      node("Reshape", ["context", "flat"], ["flatContext"]),
      node("MatMul", ["flatContext", "mixing"], ["mixed"]),
      node("Tanh", ["mixed"], ["next"]),
    ],
    outputs: { next: TOKEN, attention: { dtype: "float32", shape: [HEADS, 1, POSITIONS] } },
  });

const node = (op, inputs, outputs) => ({ op, inputs, outputs });
const model = (parts) => writeModel(buildModel({ opsets: { "": 18 }, ...parts }));
