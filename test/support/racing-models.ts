/** Models whose scatters race in ONNX Runtime for the CPU: more than 10,000 updates of one ScatterND, with repeats. */

import type { Model } from "../../src/entries/onnx.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { F32, i64, onnxModel } from "./node-models.ts";
import { randomFrom, type Random } from "./random.ts";

/** Numbers of 12 bits between -1 and 1, whose sums are rarely rounded and depend on which numbers were added. */
const randomFloats = (random: Random, shape: readonly number[]): Tensor => {
  const values = Float32Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    () => (random(4001) - 2000) / 2000,
  );
  return tensor("float32", shape, values);
};

const NODES = 2000;
const EDGES = 20_000;
const WIDTH = 64;

/** A graph network: each layer sends rows along edges and adds them at the target nodes, mostly at a few. */
export function graphNetwork(layers = 3): Model {
  const random = randomFrom(7);
  const at = (skew: number): number => Math.floor(NODES * (random(1e6) / 1e6) ** skew);
  const edges = (skew: number): number[] => Array.from({ length: EDGES }, () => at(skew));
  return onnxModel(18, {
    inputs: { h0: F32("N", WIDTH) },
    constants: {
      zeros: tensor("float32", [NODES, WIDTH], new Float32Array(NODES * WIDTH)),
      sources: i64([EDGES], ...edges(1)),
      targets: i64([EDGES, 1], ...edges(3)),
      ...Object.fromEntries(
        Array.from({ length: layers }, (_, n) => [`w${n}`, randomFloats(random, [WIDTH, WIDTH])]),
      ),
    },
    nodes: Array.from({ length: layers }, (_, n) => [
      { op: "MatMul", name: `mix${n}`, inputs: [`h${n}`, `w${n}`], outputs: [`m${n}`] },
      { op: "Gather", name: `send${n}`, inputs: [`m${n}`, "sources"], outputs: [`e${n}`] },
      {
        op: "ScatterND",
        name: `sum${n}`,
        inputs: ["zeros", "targets", `e${n}`],
        outputs: [`s${n}`],
        attributes: { reduction: "add" },
      },
      {
        op: "Relu",
        name: `relu${n}`,
        inputs: [`s${n}`],
        outputs: [n + 1 < layers ? `h${n + 1}` : "y"],
      },
    ]).flat(),
  });
}

/** 40,000 rows of 16 elements, added into 8 of 1,000 rows. */
export function manyIntoFew(): Model {
  const random = randomFrom(8);
  const [rows, width] = [40_000, 16];
  return onnxModel(18, {
    inputs: { x: F32(1000, width) },
    constants: {
      indices: i64([rows, 1], ...Array.from({ length: rows }, () => 100 * random(8))),
      updates: randomFloats(random, [rows, width]),
    },
    nodes: [
      {
        op: "ScatterND",
        name: "sum",
        inputs: ["x", "indices", "updates"],
        outputs: ["y"],
        attributes: { reduction: "add" },
      },
    ],
  });
}
