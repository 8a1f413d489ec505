/** `ndscatter fix`, with a runtime in the folder that runs models here and has a fault on demand. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readModel, writeModel, type SessionSettings } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { gatherFarIndex } from "../support/cli-models.ts";
import { checkResult, fails, prints, refuses } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";
import { setLimits } from "../support/limits.ts";
import { F32, i64, scatterND, takePutAgain } from "../support/node-models.ts";

const folder = makeCliFolder();
const { at, save, ndscatter } = folder;

/** A pattern of parts in this order, with any text between them. */
const inOrder = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join("[\\s\\S]*"));

fs.writeFileSync(at("m.onnx"), writeModel(takePutAgain()));
const sum = scatterND({
  opset: 16,
  data: F32(4),
  indices: i64([3, 1], 1, 3, 1),
  updates: tensor("float32", [3], [1, 2, 4]),
  attributes: { reduction: "sum" },
});
fs.writeFileSync(at("sum.onnx"), writeModel(sum));
save("x.npy", tensor("float32", [4], [1, 2, 3, 4]));
save("i.npy", i64([2], 1, 0));

/** Runs models with this package, takes `sum` for none, and changes `s` or `y` where `globalThis.fault` says so. */
const RUNTIME = `
import fs from "node:fs";
import { readModel, runModel } from ${JSON.stringify(pathToFileURL(new URL("../../src/entries/onnx.js", import.meta.url).pathname).href)};
export const InferenceSession = {
  async create(bytes, options) {
    const { model_external_initializers_file_folder_path: home } = options?.extra?.session ?? {};
    const external = (file, offset, length) => fs.readFileSync(home + "/" + file).subarray(offset, offset + length);
    const model = readModel(bytes, { external });
    for (const node of model.graph.nodes) if (node.attributes.reduction?.value === "sum") node.attributes = {};
    return {
      async run(feeds) {
        const outputs = runModel(model, feeds);
        const changed = outputs.s ?? outputs.y;
        if (changed && globalThis.fault?.(options)) changed.data[0] = 10;
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [name, { type: dtype, dims: shape, data }]),
        );
      },
    };
  },
};
`;

for (const name of ["onnxruntime-node", "onnxruntime-web"]) {
  const home = at(`node_modules/${name}`);
  fs.mkdirSync(home, { recursive: true });
  fs.writeFileSync(`${home}/package.json`, '{ "type": "module", "exports": "./index.js" }');
  fs.writeFileSync(`${home}/index.js`, RUNTIME);
}

const LINE = "fix m.onnx --feed x=x.npy --feed i=i.npy";
const ADD = "fix sum.onnx --feed data=x.npy";

testTranscript(folder, "fix", "ndscatter fix");

test("the model that was written is right", () => {
  const { graph } = readModel(fs.readFileSync(at("cured.onnx")));
  assert.equal(graph.nodes[0].attributes["reduction"].value, "add");
});

test("a cured model in another folder has the weights that stayed in the file of the model", async () => {
  fs.mkdirSync(at("elsewhere"));
  const restore = setLimits({ CLI: { light: 1, weights: 8 } });
  try {
    const line = `${ADD} --runtime onnxruntime-web -o elsewhere/cured.onnx`;
    const { status, stderr } = await ndscatter(line);
    assert.deepEqual([status, stderr], [0, ""]);
  } finally {
    restore();
  }
  const [here, there] = ["cured.onnx", "elsewhere/cured.onnx"].map((file) =>
    readModel(fs.readFileSync(at(file))).graph.constants.map((one) => [
      one.name,
      String(one.read()),
    ]),
  );
  assert.ok(here.length > 0);
  assert.deepEqual(there, here);
});

test("a cured model never replaces a file that the command reads", async () => {
  fs.writeFileSync(at("far.onnx"), gatherFarIndex("far.bin"));
  fs.writeFileSync(at("far.bin"), new Uint8Array(8));
  save("far.npy", tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]));
  for (const output of ["far.bin", "./far.npy", "y.npy", "far.onnx"]) {
    fs.copyFileSync(at("far.npy"), at("y.npy"));
    const line = `fix far.onnx --feed data=far.npy --expected y=y.npy -o ${output}`;
    const sentence = `the output ${output} is a file that the command reads; give another output`;
    // oxlint-disable-next-line no-await-in-loop
    checkResult(await ndscatter(line), refuses(line, sentence));
  }
});

type Fault = (options: SessionSettings) => boolean;

/** Checks what a command prints while the runtime has a fault. */
const withFault = async (fault: Fault, row: Parameters<typeof checkResult>[1]): Promise<void> => {
  Object.assign(globalThis, { fault });
  const restore = setLimits({
    FIX: { runs: 3, nodeTime: Infinity, modelTime: Infinity, saving: Infinity },
  });
  try {
    checkResult(await ndscatter(row.line), row);
  } finally {
    restore();
    Object.assign(globalThis, { fault: undefined });
  }
};

test("a setting is the cure: no file is written", async () => {
  await withFault(
    ({ intraOpNumThreads }) => intraOpNumThreads !== 1,
    prints(
      `${LINE} -o none.onnx`,
      inOrder(
        /\n {2}one thread: correct; the faulty nodes gave exact results in 3 of 3 separate runs; the model gave identical results in 3 runs; the run took /,
        /\n {2}one node at a time: wrong; the faulty nodes gave exact results in 0 of 1 separate run; /,
        /\ncure: one thread\n {2}InferenceSession\.create\(model, \{ intraOpNumThreads: 1 \}\)\n/,
        / {2}this cure needs no file, so no file was written\n$/,
      ),
    ),
  );
  assert.equal(fs.existsSync(at("none.onnx")), false);
});

test("an exact session is the cure: its code is printed", async () => {
  await withFault(
    () => true,
    prints(
      LINE,
      inOrder(
        /\n {2}an exact session: correct; the model gave identical results in 3 runs; /,
        /\ncure: an exact session\n/,
        /createExactSession\(fs\.readFileSync\("m\.onnx"\), \{\n/,
        /nodes: \["put"\],\n {2}\}\);\n$/,
      ),
    ),
  );
});

test("the printed code of a model with data in other files reads these files", async () => {
  const [hasFolder, reads] = [
    /create\(model, \{ extra: \{ session: \{ model_external_initializers_file_folder_path: "\." \} \} \}\),\n/,
    / {2}external: \(location, offset, length\) =>\n {6}fs\.readFileSync\("\.\/" \+ location\)\.subarray\(offset, offset \+ length\),\n/,
  ];
  await withFault(
    () => true,
    prints(
      "fix far.onnx --feed data=far.npy",
      inOrder(/\ncure: an exact session\n/, hasFolder, reads),
    ),
  );
});

test("the printed code has the runtime and the execution provider of the command", async () => {
  const line = `${LINE} --runtime onnxruntime-web --provider wasm`;
  const always = /create\(model, \{ executionProviders: \["wasm"\]/;
  await withFault(
    () => true,
    prints(line, inOrder(/import \{ InferenceSession \} from "onnxruntime-web";\n/, always)),
  );
  await withFault(
    ({ executionMode }) => executionMode === undefined,
    prints(line, inOrder(/\ncure: one node at a time\n/, always)),
  );
});

test("without a cure the status is 1", async () => {
  const mean = scatterND({
    opset: 18,
    data: F32(4),
    attributes: { reduction: "mean" },
    indices: i64([1, 1], 0),
    updates: tensor("float32", [1], [1]),
  });
  fs.writeFileSync(at("mean.onnx"), writeModel(mean));
  const words =
    /\n {4}the node was not rewritten as equivalent nodes: this call is an error according to the specification/;
  await withFault(
    () => false,
    fails("fix mean.onnx --random", null, inOrder(words, /\nno cure was found\n$/)),
  );
});

test("--json prints the same as data", async () => {
  const { status, stdout } = await ndscatter(`${ADD} -o again.onnx --json`);
  const { agrees, faulty, cures, chosen, written, nodes } = JSON.parse(stdout);
  assert.deepEqual(
    [status, agrees, chosen, written],
    [0, false, "1 node rewritten as equivalent nodes", "again.onnx"],
  );
  assert.deepEqual([faulty[0].path, faulty[0].faults[0].id], ["n", "unknown-reduction"]);
  assert.deepEqual([nodes[0].verdict, cures.length, cures[0].kind], ["wrong", 1, "model"]);
  assert.equal(cures[0].modelBytes, fs.statSync(at("again.onnx")).size);
});
