/**
 * The parts of the record. Each runs in a process of its own, and yields its cases: an id, and what the package did.
 * If `only` is not empty, only the case of this id runs.
 */

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { EXAMPLES } from "../../build/test/fixtures/examples.js";
import { roleOf } from "../../build/src/core/operators/operator.js";
import { resolve } from "../../build/src/core/operators/registry.js";
import { fromNested } from "../../build/src/core/tensor/tensor.js";
import { EXTREMES } from "../../build/test/support/limits.js";
import { readCollected } from "./collect.js";
import { drawCall, titleOf } from "./draw.js";
import { hashTensors } from "./hash.js";
import { idsOf, Replay } from "./replay.js";
import { describeError, runCall } from "./run-call.js";

const CALLS = 5000;

/** Calls of one process. */
const SHARE = 500;

const ENGINES = {
  js: { kind: "js" },
  wasm: { kind: "wasm" },
  threads: { kind: "wasm", threads: 2 },
};

const ONNX_NODE = path.join(import.meta.dirname, "../../../shared/conformance/onnx-node");

/** The internal limits that decide which code runs a call. */
const LOWERED = ["WASM", "CALLS", "LISTS", "KERNELS", "MOVE", "OFFSETS", "GRADIENTS", "SCRATCH"];

/** The parts that a run consists of, by name. */
export const partNames = (corpus) => [
  ...readCollected(corpus).map(({ name }) => `collected ${name}`),
  ...Array.from({ length: CALLS / SHARE }, (_, share) => `calls ${share * SHARE}`),
  "examples",
  "models",
];

/** The part that has a case. */
export function partOf(id) {
  const [kind, ...rest] = id.split("/");
  if (kind === "call") return `calls ${Math.floor(Number(rest[1]) / SHARE) * SHARE}`;
  if (kind === "example" || kind === "model") return `${kind}s`;
  return `collected ${rest.slice(0, -1).join("/")}`;
}

/**
 * @param {{ root: string, corpus: string, only: string }} setup
 * @returns {AsyncGenerator<{ id: string, shown?: object }>}
 */
export function casesOf(part, setup) {
  const [kind, argument] = part.split(" ");
  if (kind === "collected") return collectedCases(argument, setup);
  if (kind === "calls") return onEngines(setup, randomCalls(Number(argument)));
  return kind === "examples" ? onEngines(setup, examples()) : models(setup);
}

const isWanted = (id, only) => only === "" || id === only;

async function* collectedCases(name, { root, corpus, only }) {
  const file = readCollected(corpus).find((one) => one.name === name);
  if (file === undefined) throw new Error(`${name} runs no command and no program`);
  const replay = new Replay(root, file.store);
  try {
    for (const { id, line, row } of idsOf(file)) {
      if (!isWanted(id, only)) continue;
      // In sequence, because they share a folder.
      // oxlint-disable-next-line no-await-in-loop
      yield { id, line, ...(await replay.run(row)) };
    }
  } finally {
    replay.close();
  }
}

const importFrom = (root, file) => import(pathToFileURL(path.join(root, "build/src", file)).href);

/** Makes calls on each engine; every other one with limits at which more code runs. */
async function* onEngines({ root, only }, calls) {
  const library = await importFrom(root, "entries/index.js");
  const limits = await importFrom(root, "core/limits.js");
  const engines = Object.entries(ENGINES).map(([name, options]) => [
    name,
    library.createEngine(options),
  ]);
  let turn = 0;
  for (const { kind, key, call } of calls) {
    const restore = turn++ % 2 === 0 ? () => {} : lower(limits);
    for (const [name, engine] of engines) {
      const id = `${kind}/${name}/${key}`;
      if (!isWanted(id, only)) continue;
      // oxlint-disable-next-line no-await-in-loop
      yield {
        id,
        ...(await runCall(library, engine, call)),
        shown: { call: titleOf(call), inputs: call.inputs.map(String) },
      };
    }
    restore();
  }
  for (const [, engine] of engines) engine.dispose();
}

/** Sets those internal limits that the package has to their extremes. Results do not depend on them. */
function lower(limits) {
  const before = LOWERED.flatMap((name) =>
    name in limits ? [[limits[name], { ...limits[name] }]] : [],
  );
  for (const name of LOWERED) {
    for (const [field, extreme] of Object.entries(EXTREMES[name] ?? {})) {
      if (typeof limits[name]?.[field] === "number") limits[name][field] = extreme.to ?? extreme;
    }
  }
  return () => before.forEach(([record, values]) => Object.assign(record, values));
}

function* randomCalls(from) {
  for (let number = from; number < from + SHARE; number++) {
    yield { kind: "call", key: String(number), call: drawCall(number) };
  }
}

/** The examples of the operators' documents, as calls. */
function* examples() {
  for (const {
    source,
    versions,
    op,
    domain,
    attributes,
    dtype,
    indexType,
    ...values
  } of EXAMPLES) {
    for (const opset of versions) {
      const node = { domain, op, opset, attributes };
      const types = { data: dtype, indices: indexType, updates: dtype, axis: "int64" };
      const inputs = resolve(node).inputs.map((input) => {
        const role = roleOf(input);
        return values[role] === undefined ? undefined : fromNested(types[role], values[role], {});
      });
      const call = {
        by: "node",
        node,
        inputs,
        options: {},
        gradient: null,
        result: "new",
        given: {},
      };
      yield { kind: "example", key: `${op}-${opset} ${source}`.replaceAll(/[^\w.-]+/g, "-"), call };
    }
  }
}

/** ONNX's own test folders: the outputs of their models. */
async function* models({ root, only }) {
  if (!fs.existsSync(ONNX_NODE)) return;
  const { readModel, readTensor, runModel } = await importFrom(root, "entries/onnx.js");
  for (const name of fs.readdirSync(ONNX_NODE).toSorted()) {
    const id = `model/${name}`;
    if (!isWanted(id, only) || !fs.existsSync(path.join(ONNX_NODE, name, "model.onnx"))) continue;
    const bytes = (...names) =>
      new Uint8Array(fs.readFileSync(path.join(ONNX_NODE, name, ...names)));
    try {
      const model = readModel(bytes("model.onnx"));
      const inputs = model.graph.inputs.map((input, at) => [
        input.name,
        readTensor(bytes("test_data_set_0", `input_${at}.pb`)),
      ]);
      const outputs = runModel(model, Object.fromEntries(inputs));
      yield {
        id,
        values: hashTensors(Object.values(outputs)),
        shown: { outputs: Object.values(outputs).map(String) },
      };
    } catch (error) {
      yield { id, ...describeError(error) };
    }
  }
}

/** The names of the engines, whose results must be equal. */
export const ENGINE_NAMES = Object.keys(ENGINES);
