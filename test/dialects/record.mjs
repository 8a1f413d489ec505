/**
 * Records what other systems make of `calls.jsonl`, by the lines that `ndscatter compare` prints, in `recorded.jsonl`:
 *
 *     node test/dialects/record.mjs FOLDER PYTHON...
 *
 * FOLDER has @tensorflow/tfjs, @tensorflow/tfjs-backend-wasm, onnxruntime-node and onnxruntime-web installed, and each
 * PYTHON is an interpreter with some of numpy, torch, tensorflow, jax and onnxruntime, and with numpy and ml_dtypes. The
 * package must be built, and the tests too. What is not installed keeps the results of its last run.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";

const here = import.meta.dirname;
const { compareDialects, tensor } = await import("../../dist/entries/index.js");
const { buildModel, writeModel } = await import("../../dist/entries/onnx.js");
const { codeOf } = await import("../../build/src/cli/text/dialect-code.js");

const [folder, ...pythons] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), "package.json"));
const linesOf = (name) =>
  fs
    .readFileSync(path.join(here, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const calls = linesOf("calls.jsonl");

const number = (value) => (typeof value === "string" ? Number(value) : value);
const word = (value) =>
  Object.is(value, -0) ? "-0" : Number.isFinite(value) ? value : String(value);
const tensorOf = ({ dtype, shape, values }) => tensor(dtype, shape, values.map(number));

const jobs = calls.flatMap(({ name, node, inputs }) => {
  const tensors = inputs.map(tensorOf);
  return compareDialects(node, tensors).flatMap(({ dialect, why }) => {
    const line = codeOf(dialect, node, tensors);
    if (why === "missing" || line === null) return [];
    const names = inputs.length === 2 || node.op === "Gather" ? 2 : 3;
    const named = ["data", "indices", "updates"].slice(0, names).map((one, p) => [one, inputs[p]]);
    return [{ call: name, dialect, line, node, inputs: Object.fromEntries(named) }];
  });
});

function withPython(python) {
  const script = path.join(here, "record.py");
  const input = JSON.stringify(
    jobs.map(({ dialect, line, inputs }) => ({ dialect, line, inputs })),
  );
  const { status, stdout, stderr } = spawnSync(python, [script], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(stderr);
  const results = JSON.parse(stdout.trim().split("\n").at(-1));
  return jobs.map((job, p) => [job, results[p]]);
}

const attempt = async (about, action) => {
  try {
    const { shape, values } = await action();
    return { ...about, shape: [...shape].map(Number), values: [...values].map(Number).map(word) };
  } catch (error) {
    return { ...about, error: String(error.message).split("\n")[0].slice(0, 160) };
  }
};

async function withTfjs(backend) {
  const tf = require("@tensorflow/tfjs");
  const { setWasmPaths } = require("@tensorflow/tfjs-backend-wasm");
  const packageFile = require.resolve("@tensorflow/tfjs-backend-wasm/package.json");
  setWasmPaths(`${path.join(path.dirname(packageFile), "dist")}/`);
  await tf.setBackend(backend);
  await tf.ready();
  const about = { tool: "@tensorflow/tfjs", version: tf.version.tfjs };
  const results = [];
  for (const job of jobs.filter(({ dialect }) => dialect === `tfjs-${backend}`)) {
    const [data, indices, updates] = Object.values(job.inputs).map(({ dtype, shape, values }) =>
      tf.tensor(values.map(number), shape, dtype === "int64" ? "int32" : dtype),
    );
    // The line is what is recorded: it must run as it is printed.
    // oxlint-disable-next-line no-new-func
    const run = new Function("tf", "data", "indices", "updates", `let ${job.line}; return y;`);
    const result = await attempt(about, () => {
      const y = run(tf, data, indices, updates);
      return { shape: y.shape, values: y.dataSync() };
    });
    results.push([job, result]);
  }
  return results;
}

async function withRuntime(name) {
  const ort = require(name);
  ort.env.logLevel = "fatal";
  const about = {
    tool: name,
    version: ort.env.versions[name.slice(12)] ?? ort.env.versions.common,
  };
  const results = [];
  const arrays = { float32: Float32Array, int32: Int32Array };
  for (const job of jobs.filter(({ dialect }) => dialect === "onnxruntime-cpu")) {
    const { node, inputs } = job;
    if (arrays[inputs.data.dtype] === undefined || node.domain === "openvino") continue;
    const names = Object.keys(inputs);
    const model = buildModel({
      opsets: { "ai.onnx": node.opset },
      inputs: Object.fromEntries(names.map((one) => [one, inputs[one]])),
      nodes: [{ op: node.op, inputs: names, outputs: ["y"], attributes: node.attributes ?? {} }],
      outputs: { y: null },
    });
    const feeds = Object.fromEntries(
      names.map((one) => {
        const { dtype, shape, values } = inputs[one];
        const data =
          dtype === "int64"
            ? BigInt64Array.from(values.map(BigInt))
            : arrays[dtype].from(values.map(number));
        return [one, new ort.Tensor(dtype, data, shape)];
      }),
    );
    const result = await attempt(about, async () => {
      const session = await ort.InferenceSession.create(writeModel(model), { logSeverityLevel: 4 });
      const { y } = await session.run(feeds);
      return { shape: y.dims, values: y.data };
    });
    results.push([job, result]);
  }
  return results;
}

const isThere = (name) => {
  try {
    return require.resolve(name) !== "";
  } catch {
    return false;
  }
};

const results = pythons.flatMap(withPython);
if (isThere("@tensorflow/tfjs")) {
  for (const backend of ["cpu", "wasm"]) results.push(...(await withTfjs(backend)));
}
for (const name of ["onnxruntime-node", "onnxruntime-web"]) {
  if (isThere(name)) results.push(...(await withRuntime(name)));
}

const file = path.join(here, "recorded.jsonl");
const before = fs.existsSync(file) ? linesOf("recorded.jsonl") : [];
const rows = new Map(before.map((row) => [`${row.tool} ${row.dialect} ${row.call}`, row]));
for (const [{ call, dialect, line }, result] of results) {
  if (result !== null)
    rows.set(`${result.tool} ${dialect} ${call}`, { call, dialect, line, ...result });
}
fs.writeFileSync(file, [...rows.values()].map((row) => `${JSON.stringify(row)}\n`).join(""));
console.log(`${results.filter(([, result]) => result !== null).length} results`);
process.exit(0);
