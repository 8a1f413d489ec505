/** The code that the page gives is run, and gives what the page shows. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as ndscatter from "ndscatter";
import { DTYPES, equals, isTensorError, operators, run, tensor, type Tensor } from "ndscatter";
import { asNumPy } from "../../src/writing/as-numpy.ts";
import { asTypeScript } from "../../src/writing/as-typescript.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { readState, explainState } from "../../src/document/read-state.ts";
import { dtypesOf } from "../../src/values/schema.ts";
import type { State } from "../../src/values/state.ts";
import { CALLS, gatherText, SMALL_CALLS, WORDS } from "./calls.ts";
import { difference, has, programOf, python, PYTHON, runAll } from "../support/python.ts";
import { stateOf } from "../support/states.ts";

const outputOf = (state: State): Tensor => {
  const { node, inputs } = readState(state);
  return run(node, inputs)[0];
};

/** Runs TypeScript that is JavaScript too, with this library, and gives what it prints. */
function runTypeScript(code: string): unknown {
  const printed: unknown[] = [];
  const body = code.replace(/^import \{ (.*) \} from "ndscatter";/, "const { $1 } = ndscatter;");
  // eslint-disable-next-line no-new-func
  const program = new Function("ndscatter", "console", body);
  program(ndscatter, { log: (value: unknown) => printed.push(value) });
  assert.equal(printed.length, 1);
  return printed[0];
}

test("there are calls of every operator, and of every data type that one takes", () => {
  const states = [...CALLS.values()];
  for (const { name, domain } of operators()) {
    assert.ok(
      states.some((one) => one.op === name && one.domain === domain),
      name,
    );
  }
  const taken = operators().flatMap((version) => dtypesOf(version, version.inputs[0]));
  // All but int2 and the floats of 6 bits, which no version takes yet.
  assert.equal(new Set(taken).size, Object.keys(DTYPES).length - 3);
  for (const dtype of new Set(taken)) {
    assert.ok(
      states.some(({ inputs }) => inputs[0]?.dtype === dtype),
      dtype,
    );
  }
});

test("among them are small ones of each operator, empty ones and repeats", () => {
  for (const { name, domain } of operators()) {
    const own = SMALL_CALLS.filter((one) => one.op === name && one.domain === domain);
    assert.ok(own.length >= 5, `${domain}/${name}: ${own.length}`);
  }
  assert.ok(SMALL_CALLS.some((one) => one.inputs[1]?.shape.includes(0)));
  assert.ok(
    SMALL_CALLS.some((one) => (explainState(one).explanation?.story?.summary.repeats ?? 0) > 0),
  );
});

test("there is NumPy for every operator, without a loop", () => {
  for (const [name, state] of CALLS) {
    assert.match(asNumPy(state), /^print\(repr\(/m, name);
    assert.doesNotMatch(asNumPy(state), /^ *for /m, name);
  }
});

test("TypeScript gives the same bits, but for the sign of NaN, which no literal has", () => {
  const factsOf = (output: Tensor) => [output.dtype, output.shape, output.toArray()];
  for (const [name, state] of CALLS) {
    const output = runTypeScript(asTypeScript(state)) as Tensor;
    assert.deepStrictEqual(factsOf(output), factsOf(outputOf(state)), name);
  }
});

test("TypeScript of a call that is refused throws the error that the page shows", () => {
  const refused = PRESETS.filter(({ state }) => explainState(state).explanation?.error);
  assert.ok(refused.length > 3);
  for (const { id, state } of refused) {
    const { message } = explainState(state).explanation?.error ?? {};
    const code = asTypeScript(state);
    assert.ok(code.includes(`// It throws: ${message}\n`), id);
    assert.throws(
      () => runTypeScript(code),
      (error) => isTensorError(error) && error.message === message,
    );
  }
});

const SMALL = stateOf(
  "ai.onnx/ScatterND/18;reduction=add;float32:4:-0,nan,-inf,0.1;int64:2,1:0,-1;float32:2:1,2.5",
);

test("how it reads in TypeScript", () => {
  assert.equal(
    asTypeScript(SMALL),
    `import { run, tensor } from "ndscatter";

const data = tensor("float32", [4], [-0, NaN, -Infinity, 0.1]);
const indices = tensor("int64", [2, 1], [[0], [-1]]);
const updates = tensor("float32", [2], [1, 2.5]);

const node = { op: "ScatterND", opset: 18, attributes: { reduction: "add" } };
const [output] = run(node, [data, indices, updates]);
console.log(output);
`,
  );
});

test("how it reads in NumPy", () => {
  assert.equal(
    asNumPy(SMALL),
    `import numpy as np

data = np.array([-0.0, np.nan, -np.inf, 0.1], dtype=np.float32)
indices = np.array([[0], [-1]], dtype=np.int64)
updates = np.array([1.0, 2.5], dtype=np.float32)

at = tuple(np.moveaxis(indices, -1, 0))
output = data.copy()
np.add.at(output, at, updates)
print(repr(output))
`,
  );
});

test("long lists take lines of their own", () => {
  const values = Array.from({ length: 60 }, (_, i) => String(i));
  const data = { dtype: "int64", shape: [60], values } as const;
  const code = asTypeScript({
    ...SMALL,
    op: "GatherND",
    opset: 13,
    attributes: {},
    inputs: [data, SMALL.inputs[1]],
  });
  assert.ok(code.split("\n").every((line) => line.length <= 90));
  assert.ok(equals(runTypeScript(code) as Tensor, tensor("int64", [2], [0, 59])));
});

test("what must be corrected first is in comments, whatever was typed", () => {
  const [data, , updates] = SMALL.inputs;
  const typed = ["x\nprint(1)", "2\u2028alert(1)"];
  const state: State = {
    ...SMALL,
    inputs: [data, { dtype: "int64", shape: [2, 1], values: typed }, updates],
  };
  for (const [write, mark] of [
    [asTypeScript, "//"],
    [asNumPy, "#"],
  ] as const) {
    const lines = write(state)
      .trimEnd()
      .split(/[\n\r\u2028\u2029]/);
    assert.equal(lines.length, 3);
    for (const line of lines) assert.ok(line.startsWith(`${mark} `), line);
    assert.match(lines[1], /indices\[0, 0\]: int64 cannot hold/);
    const without = write({ ...SMALL, inputs: [data, null, updates] });
    assert.match(without, /The call is not valid yet:\n.*indices must be given/);
  }
});

test("text with quotes and characters of every language is the same text there", () => {
  const output = runTypeScript(asTypeScript(gatherText(WORDS))) as Tensor;
  assert.deepEqual(output.data, WORDS.toReversed());
});

test("NumPy gives the same, of every operator, reduction and data type that it has", (t) => {
  if (!has("numpy")) return t.skip(`${PYTHON} has no NumPy`);
  const known = [...CALLS].filter(([, state]) => !asNumPy(state).includes("ml_dtypes"));
  const results = runAll(known.map(([name, state]) => programOf(name, state, asNumPy(state))));
  assert.equal(results.length, known.length);
  for (const [at, [name, state]] of known.entries()) {
    assert.equal(difference(state, results[at]), null, name);
  }
});

test("all Python compiles", (t) => {
  if (!has("json")) return t.skip("there is no Python here");
  const states = [...CALLS.values(), ...PRESETS.map(({ state }) => state)];
  python("import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)", [
    ...new Set(states.map(asNumPy)),
  ]);
});
