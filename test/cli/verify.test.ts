/** `ndscatter capture` and `ndscatter verify`, with a runtime in the folder that runs models here and is wrong on demand. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { buildModel, readModel, writeModel, type Model } from "../../src/entries/onnx.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { gatherFarIndex } from "../support/cli-models.ts";
import { MAIN, runCommand, words } from "../support/cli.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { testTranscript } from "../support/transcripts.ts";
import { i64, takePutAgain } from "../support/node-models.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";

const folder = makeCliFolder();
const { at, json, save, ndscatter } = folder;

fs.writeFileSync(at("m.onnx"), writeModel(takePutAgain()));
save("x.npy", tensor("float32", [4], [1, 2, 3, 4]));
save("good.npy", i64([2], 1, 0));
save("bad.npy", i64([2], 1, 3));

test("without a runtime one sentence says what to install", async () => {
  // The inputs are missing too.
  const { status, stderr } = await ndscatter("verify m.onnx");
  assert.equal(status, 2);
  assert.equal(
    stderr,
    "ndscatter: no ONNX Runtime is installed here; install one (npm install onnxruntime-node)\n",
  );
});

test("a runtime that cannot be loaded, or is none, is said to be so", async () => {
  const line = "verify m.onnx --feed x=x.npy --feed i=good.npy";
  for (const [name, source, says] of [
    [
      "broken",
      'throw new Error("no such binding");',
      "cannot be loaded: no such binding; install it again",
    ],
    ["empty", "export {};", "has no InferenceSession; install it again"],
  ]) {
    const place = `${name}/node_modules/onnxruntime-web`;
    fs.mkdirSync(at(place), { recursive: true });
    fs.writeFileSync(at(`${place}/package.json`), '{ "type": "module", "exports": "./index.js" }');
    fs.writeFileSync(at(`${place}/index.js`), source);
    const files = line.replaceAll(/\S+\.(npy|onnx)/g, (file) => file.replace(/[^=]*$/, "../$&"));
    const { status, stderr } = await runCommand(at(name), files.split(" "));
    assert.equal(status, 2);
    assert.equal(stderr, `ndscatter: the onnxruntime-web that is installed here ${says}\n`);
  }
});

/**
 * Runs models with this package, reads external data from the folder that it is told, and makes the first update of `s` win
 * where `globalThis.firstWins` gives its value.
 */
const RUNTIME = `
import * as fs from "node:fs";
import { readModel, runModel } from ${JSON.stringify(pathToFileURL(new URL("../../src/entries/onnx.js", import.meta.url).pathname).href)};
export const InferenceSession = {
  async create(bytes, options) {
    globalThis.sessionOptions?.push(options);
    const { intraOpNumThreads = 1, extra } = options;
    const folder = extra?.session.model_external_initializers_file_folder_path;
    const external = (name, offset, length) => {
      const file = fs.openSync(folder + "/" + name);
      const data = new Uint8Array(length);
      fs.readSync(file, data, 0, length, offset);
      fs.closeSync(file);
      return data;
    };
    const model = readModel(bytes, folder === undefined ? {} : { external });
    const isUnknown = model.graph.nodes.some(({ op }) => op === "Unknown");
    if (isUnknown) throw new Error("Fatal error: other:Unknown(-1) is not a registered function/op");
    return {
      async run(feeds) {
        const outputs = runModel(model, feeds);
        if ((globalThis.firstWins || intraOpNumThreads === 8) && outputs.s) outputs.s.data[0] = globalThis.firstWins?.() ?? 10;
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [name, { type: dtype, dims: shape, data }]),
        );
      },
    };
  },
};
`;

function install(place: string): void {
  fs.mkdirSync(at(place), { recursive: true });
  fs.writeFileSync(at(`${place}/package.json`), '{ "type": "module", "exports": "./index.js" }');
  fs.writeFileSync(at(`${place}/index.js`), RUNTIME);
}

test("a runtime is installed", () => install("node_modules/onnxruntime-node"));

/** A gather, and behind it an operator that the runtime does not load: `whole` says so, as onnxruntime does. */
const unknown = buildModel({
  opsets: { "ai.onnx": 18, other: 1 },
  inputs: { x: { dtype: "float32", shape: [4] } },
  constants: { i: i64([2], 1, 0) },
  nodes: [
    { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["t"] },
    { op: "Unknown", domain: "other", inputs: ["t"], outputs: ["y"] },
  ],
  outputs: { y: null },
});
fs.writeFileSync(at("unknown.onnx"), writeModel(unknown));

const sequence = buildModel({
  opsets: { "ai.onnx": 18 },
  constants: { i: i64([], 1), j: i64([2], 1, 0) },
  nodes: [
    { op: "SequenceAt", inputs: ["s", "i"], outputs: ["x"] },
    { op: "Gather", name: "take", inputs: ["x", "j"], outputs: ["t"] },
  ],
  outputs: { t: null },
});
sequence.graph.inputs = [{ name: "s", type: null }];
fs.writeFileSync(at("sequence.onnx"), writeModel(sequence));

const elements = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { d: { dtype: "float32", shape: [2, 2] } },
  constants: { i: i64([2, 2], 0, 1, 1, 0) },
  nodes: [
    {
      op: "GatherElements",
      name: "pick",
      inputs: ["d", "i"],
      outputs: ["p"],
      attributes: { axis: 0 },
    },
    { op: "Identity", inputs: ["p"], outputs: ["y"] },
  ],
  outputs: { y: null },
});
fs.writeFileSync(at("pick.onnx"), writeModel(elements));
save("matrix.npy", tensor("float32", [2, 2], [1, 2, 3, 4]));
save("meant.npy", tensor("float32", [2, 2], [1, 2, 4, 3]));

/** The line about `put`, which writes element 0 twice; the count is a limit. */

testTranscript(folder, "verify", "ndscatter verify");

// How much memory a process may take differs between machines, so the process gets a limit.
const skip =
  WITHOUT_NODE_ITSELF || (process.platform !== "linux" && "other systems have no such limit");

test("a made-up input that does not fit in memory is refused", { skip }, () => {
  const limited = `ulimit -v 5000000; exec "$0" "$@"`;
  const line = words("verify m.onnx --random --dim N=1579781889 --dim M=2");
  const { status, stderr } = spawnSync("sh", ["-c", limited, process.execPath, MAIN, ...line], {
    cwd: folder.home,
    encoding: "utf8",
  });
  const advice = "use --dim to give smaller sizes, or --feed to give the tensor";
  const what = 'the input "x": 1579781889 elements of float32 do not fit in memory';
  assert.equal(stderr, `ndscatter: ${what}; ${advice}\n`);
  assert.equal(status, 2);
});

const [{ name: FAR_INPUT }] = readModel(gatherFarIndex("far.bin")).graph.inputs;

/** A model in a folder of its own whose indices are the first 8 bytes of a file that no memory holds. */
function saveFar(place: string): string {
  fs.mkdirSync(at(place), { recursive: true });
  fs.writeFileSync(at(`${place}/far.onnx`), gatherFarIndex("far.bin"));
  const file = fs.openSync(at(`${place}/far.bin`), "w");
  fs.writeSync(file, new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]));
  fs.ftruncateSync(file, 2 ** 36);
  fs.closeSync(file);
  return `verify ${place}/far.onnx --feed ${FAR_INPUT}=d.npy`;
}

test("of data in other files only what a session uses is read, by onnxruntime-node itself", async () => {
  const line = saveFar("far");
  const { status, stdout, stderr } = await ndscatter(line);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /\n1 equal\n$/);
  fs.rmSync(at("far/far.bin"));
  const missing = await ndscatter(line);
  assert.equal(missing.status, 1);
  assert.match(
    missing.stderr + missing.stdout,
    /"far\.bin" cannot be read: no such file or directory/,
  );
  fs.symlinkSync(at("x.npy"), at("far/far.bin"));
  const outside = await ndscatter(line);
  assert.match(
    outside.stdout + outside.stderr,
    /"far\.bin" must be in the model's folder, got a path outside it/,
  );
});

test("a runtime that opens no files gets models that hold the data themselves", async () => {
  install("web/node_modules/onnxruntime-web");
  saveFar("web");
  fs.copyFileSync(at("d.npy"), at("web/d.npy"));
  const line = `verify far.onnx --feed ${FAR_INPUT}=d.npy`;
  const { status, stdout, stderr } = await runCommand(at("web"), line.split(" "));
  assert.deepEqual([status, stdout, stderr], [0, "far.onnx: 1 scatter/gather node\n1 equal\n", ""]);
});

test("what was captured of a node that fails is explained", async () => {
  const line = "explain bad/node.onnx bad/data.npy bad/indices.npy";
  const { status, stdout } = await ndscatter(line);
  assert.equal(status, 1);
  assert.match(stdout, /\n {2}indices\[1\] is 3, /);
});

test("a node that fails is wrong by its own document, and the status is 1", async () => {
  const { status, stdout } = await ndscatter("verify m.onnx --feed x=x.npy --feed i=bad.npy");
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^m\.onnx: 3 scatter\/gather nodes\n {2}equal: .* put: .*\n {2}wrong: Gather-13 again: .*; the runtime says: .*\n2 equal, 1 wrong\n$/,
  );
});

test("of runs with other results three are named, and the others are counted", async () => {
  let value = 10;
  Object.assign(globalThis, { firstWins: () => value++ });
  const line = "verify m.onnx --feed x=x.npy --feed i=good.npy --runs 9";
  const { stdout } = await ndscatter(line);
  Object.assign(globalThis, { firstWins: undefined });
  assert.match(
    stdout,
    /: the same inputs gave a different result in run 2, run 3, run 4 and 5 other runs\n/,
  );
});

/** `put` and then `again`, whose result is an output. */
const putAndTake = (): Model => {
  const model = takePutAgain();
  model.graph.outputs = [{ name: "s", type: null }, ...model.graph.outputs];
  return model;
};

test("run --with gives exact scatters whatever the runtime makes of them", async () => {
  fs.writeFileSync(at("s.onnx"), writeModel(putAndTake()));
  Object.assign(globalThis, { firstWins: () => 10 });
  const line = "run s.onnx --with onnxruntime-node x=x.npy i=good.npy";
  const { status, stdout } = await ndscatter(line);
  Object.assign(globalThis, { firstWins: undefined });
  assert.equal(status, 0);
  assert.equal(
    stdout,
    `s: float32[4]
tensor([20.,  2.,  3.,  4.], dtype=float32)
y: float32[2]
tensor([1., 2.], dtype=float32)
`,
  );
  const compared = await ndscatter(`${line} -o s=made.npy --expect y=x.npy`);
  assert.equal(compared.status, 1);
  const wrong = await ndscatter("run m.onnx --with onnxruntime-node x=x.npy i=bad.npy");
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /^ndscatter: m\.onnx: Gather-13: indices\[1\] is 3/);
  assert.match(compared.stderr, /^ndscatter: y is float32\[2\], but x\.npy has float32\[4\]/);
});

test("the runtime is the one that is chosen, and gets the provider", async () => {
  const options: { readonly executionProviders?: readonly string[] }[] = [];
  Object.assign(globalThis, { sessionOptions: options });
  const line = "verify m.onnx --random --dim N=4 --dim M=2 --node take --runtime onnxruntime-node";
  for (const more of ["", " --provider webgpu"]) {
    // oxlint-disable-next-line no-await-in-loop
    assert.equal((await ndscatter(`${line}${more}`)).status, 0);
  }
  Object.assign(globalThis, { sessionOptions: undefined });
  assert.deepEqual(
    options.map(({ executionProviders }) => executionProviders),
    [undefined, undefined, ["webgpu"], ["webgpu"]],
  );
});

test("a wrong result is named with node, element and values, and threads reach the runtime", async () => {
  const options: { readonly intraOpNumThreads: number }[] = [];
  Object.assign(globalThis, { firstWins: () => 10, sessionOptions: options });
  const line = "verify m.onnx --feed x=x.npy --feed i=good.npy --threads 2";
  const { status, stdout } = await ndscatter(line);
  assert.equal(status, 1);
  assert.equal(
    stdout.replace(/\d+ runs? of/, "N runs of"),
    `m.onnx: 3 scatter/gather nodes
  differs: ScatterND-13 put: s[0] is 10, expected 20; N runs of the node alone gave the same result
    why: the first update of each repeated target was kept, not the last (first-wins, explains the cell)
    exactly:
      output[0]
        1 -> 10   updates[0], indices[0] = 0
        10 -> 20  updates[1], indices[1] = 0
2 equal, 1 differs
`,
  );
  // The whole model, its nodes, the node alone, and the node alone with one thread.
  assert.deepEqual(
    options.map(({ intraOpNumThreads }) => intraOpNumThreads),
    [2, 2, 2, 1],
  );
  Object.assign(globalThis, { firstWins: undefined, sessionOptions: undefined });
  const report = (await json(`${line} --runs 2`)) as {
    readonly agrees: boolean;
    readonly nodes: readonly { readonly reruns: { readonly count: number } | null }[];
  };
  assert.deepEqual([report.agrees, report.nodes.length], [true, 3]);
  const [take, put, again] = report.nodes.map(({ reruns }) => reruns?.count);
  assert.deepEqual([take, again], [undefined, undefined]);
  assert.ok(Number(put) > 0);
});
