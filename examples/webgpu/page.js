/**
 * Decodes a few tokens on the GPU: a model makes key and value, ndscatter appends both to the cache, and the next model
 * reads the cache, all on the device of onnxruntime-web.
 */

import { equals } from "ndscatter";
import { createGpuEngine } from "ndscatter/webgpu";
import * as ort from "onnxruntime-web/webgpu";
import { CACHE, HostCache, PAGE_OF, PAGES } from "./host-cache.js";
import { attendModel, firstToken, HEADS, POSITIONS, projectModel } from "./models.js";

const STEPS = 8;

/** @returns {Promise<string>} the verdict */
async function decode() {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: new URL("ort-wasm-simd-threaded.asyncify.wasm", location.href) };
  const options = { executionProviders: ["webgpu"], preferredOutputLocation: "gpu-buffer" };
  const project = await ort.InferenceSession.create(projectModel(), options);
  const attend = await ort.InferenceSession.create(attendModel(), options);
  // The runtime has a device as soon as it has a session. On that device tensors are shared without a copy.
  const engine = await createGpuEngine({ device: await ort.env.webgpu.device });

  const keys = engine.alloc("float32", CACHE);
  const values = engine.alloc("float32", CACHE);
  const pages = engine.alloc("float32", PAGES);
  const plan = engine.planScatterND(PAGES, PAGE_OF);
  const host = new HostCache();

  let token = toRuntime(engine.upload(firstToken()));
  let different = 0;
  let last = null;
  for (let step = 0; step < STEPS; step++) {
    const made = await project.run({ token });
    const [key, value] = [fromRuntime(engine, made.key), fromRuntime(engine, made.value)];
    const where = Array.from({ length: HEADS }, (_, head) => [[head, step]]);
    engine.scatterND(keys, where, key, { out: keys });
    engine.scatterND(values, where, value, { out: values });

    const cache = { keyCache: toRuntime(keys), valueCache: toRuntime(values) };
    const { next, attention } = await attend.run({ token, ...cache, mask: maskOf(step) });
    const weights = fromRuntime(engine, attention);
    plan.scatter(pages, weights, { reduction: "add", out: pages });

    // The rest only compares. A page that just decodes reads nothing here.
    host.write(where, await key.read(), await value.read(), await weights.read());
    const got = { keys: await keys.read(), values: await values.read(), pages: await pages.read() };
    const same = host.equals(got);
    if (!same) different++;
    const numbers = await fromRuntime(engine, next).read();
    show(step, numbers.data.slice(0, 3), got.pages.data, same ? "the same" : "differ");
    last = { token, mask: maskOf(step), numbers };
    for (const tensor of [made.key, made.value, attention]) tensor.dispose();
    token = next;
  }
  await engine.done();
  const goesOn = equals(await nextOf(attend, engine, host, last), last.numbers);
  engine.dispose();
  if (different > 0) return `In ${different} of ${STEPS} steps the bits differ.`;
  return `In all ${STEPS} steps cache and sums have the bits of the JavaScript engine. The last token from a cache made on the host ${goesOn ? "is the same" : "differs"}.`;
}

/** What the second model makes of a token with the cache of the host. */
async function nextOf(attend, engine, host, { token, mask }) {
  const [keyCache, valueCache] = [host.keys, host.values].map(
    ({ data }) => new ort.Tensor("float32", data, CACHE),
  );
  const { next } = await attend.run({ token, keyCache, valueCache, mask });
  return fromRuntime(engine, next).read();
}

/** A tensor of the runtime over the buffer of one of ndscatter, and the other way round. Neither copies. */
const toRuntime = ({ buffer, shape }) =>
  ort.Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims: shape });
const fromRuntime = (engine, { gpuBuffer, dims }) => engine.fromBuffer(gpuBuffer, "float32", dims);

/** Lets a token see the positions up to its own. */
function maskOf(step) {
  const values = Float32Array.from({ length: POSITIONS }, (_, p) => (p <= step ? 0 : -1e9));
  return new ort.Tensor("float32", values, [1, 1, POSITIONS]);
}

function show(step, token, pages, bits) {
  const row = document.querySelector("#steps").insertRow();
  for (const text of [String(step + 1), printed(token), printed(pages), bits]) {
    row.insertCell().textContent = text;
  }
}

const printed = (numbers) => Array.from(numbers, (number) => number.toFixed(4)).join(" ");

const verdict = document.querySelector("#verdict");
try {
  verdict.textContent = await decode();
  verdict.dataset.state = "done";
} catch (error) {
  verdict.textContent = `It failed: ${error.message}`;
  verdict.dataset.state = "failed";
}
