/**
 * Compares ndscatter with native runtimes that are called natively, from Python, instead of through their Node bindings:
 * a part of `npm run bench`, or alone `node bench/native/main.js [--python FILE] [--rounds 3] [--seconds 0.2]`. A runtime
 * without its wheel is skipped by name. All processes run in turn; the least of all rounds counts.
 */

import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { createEngine, tensor } from "../../dist/entries/index.js";
import { heapTensors } from "../ours.js";
import { round } from "../statistics.js";
import { inputsOf, optionsOf } from "../workloads.js";
import { printNative } from "./report.js";
import { NATIVE_WORKLOADS } from "./workloads.js";

const OURS = fileURLToPath(new URL("ours.js", import.meta.url));
const PEER = fileURLToPath(new URL("peer.py", import.meta.url));

/** The native runtimes, each with the Python packages that it needs. */
const RUNTIMES = { onnxruntime: ["numpy", "onnx", "onnxruntime"], openvino: ["numpy", "openvino"] };

/** Our ways to call, each with its tensors and its number of threads. */
const WAYS = { plain: ["plain", 1], engine: ["engine", 1], "engine, 2 threads": ["engine", 2] };

/** Names of the operators and attributes in ONNX. */
const ONNX_NAMES = {
  scatterND: "ScatterND",
  scatterElements: "ScatterElements",
  gatherND: "GatherND",
  gather: "Gather",
  gatherElements: "GatherElements",
};

const NUMPY_NAMES = { float32: "<f4", float16: "<f2", int64: "<i8" };

const runFile = promisify(execFile);

/**
 * @param {{ python?: string, rounds?: number, seconds?: number, tell: (message: string) => void }} settings
 * @returns {Promise<import("./report.js").Native>}
 */
export async function compareWithNative({ python = "python3", rounds = 3, seconds = 0.2, tell }) {
  const native = { versions: {}, missing: [], wrong: [], ours: {}, peers: {} };
  const runtimes = [];
  for (const [name, packages] of Object.entries(RUNTIMES)) {
    const why = await whyMissing(python, packages);
    if (why === null) runtimes.push(name);
    else native.missing.push(`${name}: ${why}`);
  }
  for (const line of native.missing) tell(`native ${line}`);
  if (runtimes.length === 0) return native;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-native-"));
  try {
    writeWorkloads(folder);
    for (let turn = 1; turn <= rounds; turn++) {
      tell(`native runtimes, round ${turn} of ${rounds}`);
      for (const [way, [tensors, threads]] of Object.entries(WAYS)) {
        const times = await measure(process.execPath, [OURS, tensors, threads, seconds]);
        keepLeast((native.ours[way] ??= {}), times);
      }
      for (const runtime of runtimes) {
        for (const threads of [1, 2]) {
          const found = await measure(python, [PEER, runtime, threads, seconds, folder]);
          native.versions[runtime] = found.version;
          keepLeast((native.peers[`${runtime} ${threads}`] ??= {}), found.times);
          const wrong = found.wrong.map((name) => `${runtime}, ${threads} threads: ${name}`);
          native.wrong = [...new Set([...native.wrong, ...wrong])];
        }
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return native;
}

/** Returns null if Python has the packages, and the reason otherwise. */
async function whyMissing(python, packages) {
  try {
    await runFile(python, ["-c", packages.map((name) => `import ${name}`).join("\n")]);
    return null;
  } catch (error) {
    return String(error.stderr || error.message)
      .trim()
      .split("\n")
      .at(-1);
  }
}

async function measure(program, args) {
  const { stdout } = await runFile(program, args.map(String), { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

function keepLeast(least, times) {
  for (const [name, time] of Object.entries(times)) {
    least[name] = round(Math.min(least[name] ?? Infinity, time));
  }
}

/** Writes the inputs and our results as files that peer.py reads. */
function writeWorkloads(folder) {
  const engine = createEngine();
  const workloads = NATIVE_WORKLOADS.map((row, number) => {
    const inputs = inputsOf(row);
    const { data, indices, updates, shapes } = inputs;
    const write = (part, dtype, values, shape) => {
      const file = `${number}.${part}`;
      fs.writeFileSync(path.join(folder, file), values);
      return { file, dtype: NUMPY_NAMES[dtype], shape };
    };
    const { axis, batchDims, reduction } = optionsOf(row);
    const attributes = {
      ...(axis !== undefined && { axis }),
      ...(batchDims !== undefined && { batch_dims: batchDims }),
      ...(reduction !== undefined && reduction !== "none" && { reduction }),
    };
    const result = engine[row.op](...heapTensors({ tensor }, row, inputs), optionsOf(row));
    return {
      name: row.name,
      op: ONNX_NAMES[row.op],
      attributes,
      inputs: [
        write("data", row.dtype, data, shapes.data),
        write("indices", "int64", indices, shapes.indices),
        ...(updates === null ? [] : [write("updates", row.dtype, updates, shapes.sequential)]),
      ],
      output: write("output", row.dtype, result.data, result.shape),
    };
  });
  engine.dispose();
  fs.writeFileSync(path.join(folder, "workloads.json"), JSON.stringify(workloads));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      python: { type: "string" },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "0.2" },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const tell = (message) => process.stderr.write(`${message}\n`);
  const { python } = values;
  process.stdout.write(printNative(await compareWithNative({ python, rounds, seconds, tell })));
}
