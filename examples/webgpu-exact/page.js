/** Runs a layer of a graph network on WebGPU, as onnxruntime-web does alone and as an exact session, and counts wrong sums. */

import { createExactSession } from "ndscatter/onnx";
import { createGpuEngine } from "ndscatter/webgpu";
import * as ort from "onnxruntime-web/webgpu";
import { features, layerModel, sumsOf } from "./model.js";

const RUNS = 10;

/** @returns {Promise<string>} the verdict */
async function compare() {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: new URL("ort-wasm-simd-threaded.asyncify.wasm", location.href) };
  const options = { executionProviders: ["webgpu"], preferredOutputLocation: "gpu-buffer" };
  const createSession = (model) => ort.InferenceSession.create(model, options);

  const alone = await createSession(layerModel());
  const exact = await createExactSession(layerModel(), {
    createSession,
    // The runtime has a device as soon as it has a session. On that device its buffers are used as they are.
    gpu: async () => createGpuEngine({ device: await ort.env.webgpu.device }),
  });
  let wrong = 0;
  for (let run = 0; run < RUNS; run++) {
    const [theirs, ours] = [await wrongSums(alone), await wrongSums(exact)];
    if (ours.wrong > 0) wrong++;
    show(run, theirs, ours);
  }
  await exact.release();
  await alone.release();
  return wrong === 0
    ? `In all ${RUNS} runs the sums of the exact session have the bits of the JavaScript engine.`
    : `In ${wrong} of ${RUNS} runs sums of the exact session differ.`;
}

/** Runs a session. Its sums stay on the GPU until they are read here. */
async function wrongSums(session) {
  const { data, shape } = features();
  const outputs = await session.run({ features: new ort.Tensor("float32", data, shape) });
  const { location } = outputs.sums;
  const [mixed, sums, scores] = await Promise.all(
    ["mixed", "sums", "scores"].map((name) => outputs[name].getData(true)),
  );
  const expected = sumsOf(mixed);
  const wrong = expected.filter((one, at) => !Object.is(one, sums[at])).length;
  return { wrong, count: expected.length, location, score: scores[0] };
}

function show(run, theirs, ours) {
  const row = document.querySelector("#runs").insertRow();
  row.insertCell().textContent = String(run + 1);
  for (const { wrong, count, location, score } of [theirs, ours]) {
    const sums = wrong === 0 ? "all sums are right" : `${wrong} of ${count} sums differ`;
    row.insertCell().textContent = `${sums}, ${location}, first score ${score}`;
  }
}

const verdict = document.querySelector("#verdict");
try {
  verdict.textContent = await compare();
  verdict.dataset.state = "done";
} catch (error) {
  verdict.textContent = `It failed: ${error.message}`;
  verdict.dataset.state = "failed";
}
