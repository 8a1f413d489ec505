/** Selects the detections of a model with a high score, and counts them by class. */

import { full, gather, scatterElements, tensor, zeros } from "ndscatter/js";
import { buildModel, writeModel } from "ndscatter/onnx";
import * as ort from "onnxruntime-web";

const LEAST_SCORE = 0.5;
const CLASSES = ["cat", "dog", "bird"];

// One thread, because this model is small.
ort.env.wasm.numThreads = 1;
// This model stands for a detector. It returns four boxes, and a score for each box and class.
const boxes = tensor([[10, 10, 50, 50], [0, 0, 9, 9], [60, 20, 90, 40], [5, 70, 30, 95]]); // prettier-ignore
const logits = tensor([[3, -2, -4], [-3, -2, -3], [-1, 2, -5], [1, -1, -2]]); // prettier-ignore
const detector = buildModel({
  opsets: { "ai.onnx": 18 },
  constants: { boxes, logits },
  nodes: [
    { op: "Identity", inputs: ["boxes"], outputs: ["found"] },
    { op: "Sigmoid", inputs: ["logits"], outputs: ["scores"] },
  ],
  outputs: { found: boxes, scores: logits },
});
const session = await ort.InferenceSession.create(writeModel(detector));
const { found, scores } = await session.run({});

// The best class of each box, and the boxes whose best score is high enough, best first.
const best = Array.from({ length: found.dims[0] }, (_, box) => {
  const own = scores.data.subarray(box * CLASSES.length, (box + 1) * CLASSES.length);
  return { box, score: Math.max(...own), kind: own.indexOf(Math.max(...own)) };
});
const kept = best.filter(({ score }) => score >= LEAST_SCORE).toSorted((a, b) => b.score - a.score);
const keptBoxes = gather(
  found,
  Int32Array.from(kept, ({ box }) => box),
);
for (const [at, corners] of keptBoxes.toArray().entries()) {
  console.log(`${CLASSES[kept[at].kind]} ${kept[at].score.toFixed(2)}: ${corners}`);
}

const kinds = Int32Array.from(kept, ({ kind }) => kind);
const ones = full("int32", [kept.length], 1);
const counts = scatterElements(zeros("int32", [CLASSES.length]), kinds, ones, { reduction: "add" });
console.log(CLASSES.map((name, kind) => `${name}: ${counts.data[kind]}`).join(", "));
