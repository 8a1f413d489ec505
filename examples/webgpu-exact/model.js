/** A layer of a graph network, whose scatter adds many rows into few. Numbers come from a formula. */

import { gather, scatterND, tensor, zeros } from "ndscatter";
import { buildModel, writeModel } from "ndscatter/onnx";

const NODES = 1000;
const EDGES = 4000;
const WIDTH = 8;

/** Numbers in [0, 1) that look random. */
function randoms(count, seed) {
  const mixed = (p) =>
    Math.imul(Math.imul(p + 1000 * seed, 0x9e3779b1) ^ 0x5bd1e995, 0x85ebca6b) >>> 0;
  return Array.from({ length: count }, (_, p) => mixed(p) / 2 ** 32);
}

const weights = (shape, seed) =>
  tensor(
    "float32",
    shape,
    randoms(shape[0] * shape[1], seed).map((one) => one - 0.5),
  );

/** Returns nodes by number; with a greater power more of them are the first ones. */
const nodesOf = (shape, seed, power) =>
  tensor(
    "int64",
    shape,
    randoms(EDGES, seed).map((one) => Math.floor(NODES * one ** power)),
  );

const SOURCES = nodesOf([EDGES], 1, 1);
const TARGETS = nodesOf([EDGES, 1], 2, 4);

export const features = () => weights([NODES, WIDTH], 3);

export const layerModel = () =>
  writeModel(
    buildModel({
      opsets: { "": 18 },
      inputs: { features: { dtype: "float32", shape: [NODES, WIDTH] } },
      constants: {
        mixing: weights([WIDTH, WIDTH], 4),
        scoring: weights([WIDTH, 1], 5),
        nothing: zeros("float32", [NODES, WIDTH]),
        sources: SOURCES,
        targets: TARGETS,
      },
      nodes: [
        { op: "MatMul", inputs: ["features", "mixing"], outputs: ["mixed"] },
        { op: "Gather", inputs: ["mixed", "sources"], outputs: ["messages"] },
        {
          op: "ScatterND",
          name: "sum",
          inputs: ["nothing", "targets", "messages"],
          outputs: ["sums"],
          attributes: { reduction: "add" },
        },
        { op: "MatMul", inputs: ["sums", "scoring"], outputs: ["scores"] },
      ],
      outputs: { mixed: null, sums: null, scores: null },
    }),
  );

/** What the sums must be, by the JavaScript engine, of the rows that the runtime mixed. */
export const sumsOf = (mixed) =>
  scatterND(
    zeros("float32", [NODES, WIDTH]),
    TARGETS,
    gather(tensor("float32", [NODES, WIDTH], mixed), SOURCES),
    { reduction: "add" },
  ).data;
