/**
 * The programs with PyTorch, JAX and TensorFlow are run where Python has the library, and give what the page shows.
 * `PYTHON=/path/to/python` names another Python.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { DTYPES, resolve, run, tensor, type DType } from "ndscatter";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { elementsOf } from "../../src/values/tensor-text.ts";
import { asJax } from "../../src/writing/as-jax.ts";
import { asPyTorch } from "../../src/writing/as-pytorch.ts";
import { asTensorFlow } from "../../src/writing/as-tensorflow.ts";
import { CALLS } from "./calls.ts";

const PYTHON = process.env["PYTHON"] ?? "/usr/bin/python3";

/** Runs each program of a list on its own and writes the outputs as float64, or what it raised. */
const RUN_ALL = `
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
def held(output):
    array = output.detach() if hasattr(output, "detach") else output
    if "bfloat16" in str(array.dtype):
        array = array.float().numpy() if hasattr(array, "float") else np.asarray(array).astype(np.float32)
    array = np.asarray(array)
    if array.dtype == object:
        return {"shape": array.shape, "text": [one.decode() for one in array.ravel().tolist()]}
    return {"shape": array.shape, "dtype": str(array.dtype), "bits": array.tobytes().hex()}
results = []
for one in json.load(open(sys.argv[1])):
    scope = {"print": lambda *text: None}
    try:
        exec(compile(one["code"], one["name"], "exec"), scope)
        results.append(held(scope[one["output"]]))
    except Exception as error:
        results.append({"error": str(error)[:300]})
print(json.dumps(results))
`;

interface Result {
  readonly shape: readonly number[];
  readonly bits?: string;
  readonly text?: readonly string[];
  readonly error?: string;
}

const has = (module: string): boolean => {
  try {
    execFileSync(PYTHON, ["-c", `import ${module}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

function runAll(programs: readonly object[]): readonly Result[] {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-"));
  try {
    const file = path.join(folder, "programs.json");
    fs.writeFileSync(file, JSON.stringify(programs));
    const options = { encoding: "utf8", maxBuffer: 2 ** 28 } as const;
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    return JSON.parse(execFileSync(PYTHON, ["-c", RUN_ALL, file], { ...options, stdio }));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const isProgram = (code: string): boolean => /^print\(/m.test(code);

const LIBRARIES = [
  ["PyTorch", "torch", asPyTorch],
  ["JAX", "jax", asJax],
  ["TensorFlow", "tensorflow", asTensorFlow],
] as const;

/** Elements as numbers: of another order of additions a little may be lost. */
function isNear(got: unknown, wanted: unknown, isOpen: boolean): boolean {
  if (Object.is(got, wanted)) return true;
  if (Array.isArray(got) && Array.isArray(wanted))
    return got.every((part, p) => isNear(part, wanted[p], isOpen));
  const [one, other] = [Number(got), Number(wanted)];
  return isOpen && Math.abs(one - other) <= 0.02 * Math.max(1, Math.abs(other));
}

for (const [name, module, write] of LIBRARIES) {
  test(`${name} gives the same where there is a program`, (t) => {
    if (!has(module)) return t.skip(`${PYTHON} has no ${module}`);
    const known = [...CALLS].filter(([, state]) => isProgram(write(state)));
    assert.ok(known.length > 100, `${known.length}`);
    const results = runAll(
      known.map(([call, state]) => ({
        name: call,
        code: write(state),
        output: resolve(state).outputs[0].name,
      })),
    );
    const wrong = known.flatMap(([call, state], at) => {
      const sentence = difference(state, results[at], /may combine/.test(write(state)));
      return sentence === null ? [] : [`${call}: ${sentence}\n${write(state)}`];
    });
    t.diagnostic(`${known.length} programs, ${wrong.length} wrong`);
    assert.equal(wrong.length, 0, wrong.slice(0, 4).join("\n"));
  });
}

function difference(state: State, result: Result, isOpen: boolean): string | null {
  const { node, inputs } = readState(state);
  const [wanted] = run(node, inputs);
  const { shape, bits, text, error } = result;
  if (error !== undefined) return error;
  if (String(shape) !== String(wanted.shape)) return `shape ${shape}, not ${wanted.shape}`;
  if (text !== undefined) return String(text) === String(wanted.data) ? null : `${text}`;
  const bytes = Uint8Array.from(Buffer.from(bits ?? "", "hex"));
  const dtype = wanted.dtype === "bfloat16" ? "float32" : wanted.dtype;
  const data = new DTYPES[dtype as Exclude<DType, "string">].storage(bytes.buffer);
  const got = elementsOf(tensor(dtype, shape, data));
  const exact = elementsOf(wanted);
  const at = got.findIndex((value, p) => !isNear(value, exact[p], isOpen));
  return at === -1 ? null : `element ${at} is ${String(got[at])}, not ${String(exact[at])}`;
}

/** A call whose updates meet in one target. */
const REPEATED: State = {
  domain: "ai.onnx",
  op: "ScatterND",
  opset: 18,
  attributes: {},
  inputs: [
    { dtype: "float32", shape: [3], values: ["1", "2", "3"] },
    { dtype: "int64", shape: [2, 1], values: ["1", "1"] },
    { dtype: "float32", shape: [2], values: ["10", "20"] },
  ],
};

test("where repeated updates leave the result open, the tab says so in place of a program", () => {
  for (const [name, , write] of LIBRARIES) {
    assert.match(write(REPEATED), new RegExp(`^# ${name} leaves open which of several updates`));
    assert.ok(!isProgram(write(REPEATED)));
    const added = write({ ...REPEATED, attributes: { reduction: "add" } });
    assert.match(added, new RegExp(`^# ${name} may combine updates in another order`, "m"));
    assert.ok(isProgram(added));
  }
});

test("what a library lacks is said", () => {
  const product = { ...REPEATED, attributes: { reduction: "mul" } };
  assert.equal(
    asTensorFlow(product),
    "# TensorFlow has no tensor_scatter_nd function for a product.\n",
  );
  const [data, indices, updates] = REPEATED.inputs;
  const wide = {
    ...REPEATED,
    inputs: [data, indices, updates].map((one, at) =>
      at === 1 || one === null ? one : { ...one, dtype: "uint64" as const },
    ),
  };
  assert.equal(asPyTorch(wide), "# PyTorch has no data type uint64 for this call.\n");
});
