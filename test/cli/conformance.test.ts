/**
 * `ndscatter conformance`: over ONNX's own test folders, where they are present, and over folders made here: some that
 * fail in every way a folder can, and some like those of ONNX's older releases that cannot pass as they are.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { main } from "../../src/cli/program.ts";
import { DTYPES, tensor, type DType, type Tensor } from "../../src/entries/index.ts";
import {
  buildModel,
  readModel,
  readTensor,
  writeModel,
  writeTensor,
  type Model,
} from "../../src/entries/onnx.ts";
import { makeFolder, runCommand, TERMINAL } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

// From build/test: the folder beside the project.
const ONNX_NODE = fileURLToPath(
  new URL("../../../../shared/conformance/onnx-node", import.meta.url),
);

const ifThere = { skip: !fs.existsSync(ONNX_NODE) && `${ONNX_NODE} is not there` };

test("ONNX's own folders", ifThere, async () => {
  const { stdout, stderr, status } = await runCommand("/", ["conformance", ONNX_NODE]);
  const lines = stdout.trimEnd().split("\n");
  const named = (word: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => /^\S+ +([^:\s]+)/.exec(line)?.[1] ?? line);
  assert.deepEqual(named("FAIL"), []);
  assert.equal(named("ok").length, 29, stdout);
  assert.equal(lines.at(-1), "29 passed, 0 failed, 0 skipped");
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

test("a model that is read is written with the same bytes", ifThere, () => {
  for (const folder of fs.readdirSync(ONNX_NODE)) {
    const bytesOf = (...names: string[]): Uint8Array =>
      new Uint8Array(fs.readFileSync(path.join(ONNX_NODE, folder, ...names)));
    const original = bytesOf("model.onnx");
    const { graph, opsets } = readModel(original);
    assert.ok(graph.nodes.length > 0 && opsets["ai.onnx"] > 8);
    // ONNX's writer puts fields in the order of their numbers, and so does ours.
    assert.deepEqual(writeModel(readModel(original)), original, folder);
    const inputs = fs
      .readdirSync(path.join(ONNX_NODE, folder, "test_data_set_0"))
      .filter((name) => name.startsWith("input_"));
    assert.equal(graph.inputs.length, inputs.length);
    for (const [i, { name, type }] of graph.inputs.entries()) {
      const part = bytesOf("test_data_set_0", `input_${i}.pb`);
      const { dtype, shape } = readTensor(part);
      assert.deepEqual({ dtype, shape }, type);
      assert.deepEqual(writeTensor(readTensor(part), name), part);
    }
  }
});

interface DataSet {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
}

/** A test folder with a model and its data sets. */
function makeTest(folder: string, model: Model, sets: readonly DataSet[]): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(model));
  for (const [number, { inputs, outputs }] of sets.entries()) {
    const data = path.join(folder, `test_data_set_${number}`);
    fs.mkdirSync(data);
    for (const [kind, tensors] of Object.entries({ input: inputs, output: outputs })) {
      for (const [position, one] of tensors.entries()) {
        fs.writeFileSync(path.join(data, `${kind}_${position}.pb`), writeTensor(one));
      }
    }
  }
}

/** Adds 5 to one cell of a vector. */
const addFive = (op = "ScatterElements"): Model => {
  const vector = { dtype: "float32", shape: ["N"] } as const;
  return buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: vector, at: { dtype: "int64", shape: ["M"] } },
    constants: { updates: tensor("float32", [1], [5]) },
    nodes: [
      { op, inputs: ["x", "at", "updates"], outputs: ["y"], attributes: { reduction: "add" } },
    ],
    outputs: { y: vector },
  });
};

const RIGHT = tensor("float32", [2], [1, 7]);

/** Data sets of {@link addFive}, of which the last expects `expected`. */
const setsOf = (expected: Tensor, count = 1): DataSet[] =>
  Array.from({ length: count }, (_, set) => ({
    inputs: [tensor("float32", [2], [1, 2]), tensor("int64", [1], [1])],
    outputs: [set === count - 1 ? expected : RIGHT],
  }));

const folder = makeFolder();
const { at, json, ndscatter } = folder;

fs.mkdirSync(at("empty/inside"), { recursive: true });

testTranscript(folder, "conformance", "ndscatter conformance");

test("folders that fail, each in its way", async () => {
  for (const name of ["test_1_ok", "test_2_cut", "test_3_few", "test_4_bare", "test_5_gone"]) {
    makeTest(at(`ways/${name}`), addFive(), setsOf(RIGHT));
  }
  makeTest(at("ways/test_6_value"), addFive(), setsOf(tensor("float32", [2], [1, 6.5]), 11));
  makeTest(at("ways/test_7_shape"), addFive(), setsOf(tensor("float32", [1], [1])));
  makeTest(at("ways/test_10_other"), addFive("Relu"), setsOf(RIGHT));
  fs.writeFileSync(at("ways/test_2_cut/test_data_set_0/input_1.pb"), new Uint8Array([8]));
  fs.rmSync(at("ways/test_3_few/test_data_set_0/input_1.pb"));
  fs.rmSync(at("ways/test_4_bare/test_data_set_0"), { recursive: true });
  fs.rmSync(at("ways/test_5_gone/model.onnx"));
  fs.mkdirSync(at("ways/test_8_nothing"));
  fs.writeFileSync(at("ways/README"), "no folder");

  const { stdout, stderr, status } = await ndscatter("conformance ways");
  const patterns = [
    /^ok {7}test_1_ok$/,
    /^FAIL {5}test_2_cut: .*input_1\.pb: /,
    /^FAIL {5}test_3_few: test_data_set_0 must have 2 input files, one for each input of the model, got 1$/,
    /^FAIL {5}test_4_bare: test_data_set_0 is missing$/,
    /^FAIL {5}test_5_gone: .*model\.onnx: no such file or directory$/,
    /^FAIL {5}test_6_value: y\[1\] is 7, but test_data_set_10\/output_0\.pb has 6\.5$/,
    /^FAIL {5}test_7_shape: y is float32\[2\], but .* has float32\[1\]$/,
    /^skipped {2}test_10_other: .*Relu at opset 18/,
    /^1 passed, 6 failed, 1 skipped$/,
  ];
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines.length, patterns.length, stdout);
  for (const [position, pattern] of patterns.entries()) assert.match(lines[position], pattern);
  assert.equal(stderr, "");
  assert.equal(status, 1);

  assert.deepEqual(await json("conformance ways/test_1_ok"), {
    passed: 1,
    failed: 0,
    skipped: 0,
    folders: [{ name: "test_1_ok", status: "ok" }],
  });
  assert.equal((await ndscatter("conformance ways/test_1_ok")).status, 0);
});

const FLOAT = { dtype: "float32", shape: null } as const;
const scalar = (value: number): Tensor => tensor("float32", [], value);

/** Copies each of `count` inputs to an output, so that the order of their files matters. */
const copies = (count: number): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: Object.fromEntries(range(count).map((one) => [`in${one}`, FLOAT])),
    nodes: range(count).map((one) => ({
      op: "Identity",
      inputs: [`in${one}`],
      outputs: [`out${one}`],
    })),
    outputs: Object.fromEntries(range(count).map((one) => [`out${one}`, FLOAT])),
  });
const range = (count: number): number[] => Array.from({ length: count }, (_, one) => one);

test("files are in the order of their numbers, and every output that differs is named", async () => {
  const inputs = range(12).map(scalar);
  makeTest(at("order"), copies(12), [{ inputs, outputs: inputs }]);
  assert.equal(
    (await ndscatter("conformance order")).stdout,
    "ok       order\n1 passed, 0 failed, 0 skipped\n",
  );
  const outputs = [scalar(0), scalar(7), scalar(2), scalar(9)];
  makeTest(at("differ"), copies(4), [{ inputs: inputs.slice(0, 4), outputs }]);
  const place = "test_data_set_0/output_";
  assert.match(
    (await ndscatter("conformance differ")).stdout,
    new RegExp(`: out1 is 1, but ${place}1\\.pb has 7; out3 is 3, but ${place}3\\.pb has 9\\n`),
  );
});

test("as many files as inputs and outputs", async () => {
  makeTest(at("outputs"), copies(2), [{ inputs: [scalar(0), scalar(1)], outputs: [scalar(0)] }]);
  assert.match(
    (await ndscatter("conformance outputs")).stdout,
    /: test_data_set_0 must have 2 output files, one for each output of the model, got 1\n/,
  );
});

test("a constant that is an input too may have a file or none", async () => {
  // As in every model before IR version 4.
  const model = buildModel({
    opsets: { "ai.onnx": 9 },
    irVersion: 3,
    inputs: { x: FLOAT, c: FLOAT, y: FLOAT },
    constants: { c: scalar(5) },
    nodes: ["x", "c", "y"].map((name) => ({
      op: "Identity",
      inputs: [name],
      outputs: [`${name}${name}`],
    })),
    outputs: { xx: FLOAT, cc: FLOAT, yy: FLOAT },
  });
  const [one, two, three, five] = [1, 2, 3, 5].map(scalar);
  const sets = [
    { inputs: [one, two], outputs: [one, five, two] },
    { inputs: [one, two, three], outputs: [one, two, three] },
  ];
  makeTest(at("constants"), model, sets);
  assert.match((await ndscatter("conformance constants")).stdout, /^ok {7}constants\n/);
});

test("a model with an input that is no tensor is skipped", async () => {
  const model = copies(1);
  const inputs = [{ ...model.graph.inputs[0], type: null }];
  makeTest(at("untyped"), { ...model, graph: { ...model.graph, inputs } }, []);
  const { stdout, status } = await ndscatter("conformance untyped");
  assert.match(
    stdout,
    /^skipped {2}untyped: the input "in0" must be a tensor of a data type that this package has\n/,
  );
  assert.equal(status, 0);
});

test("the event loop has a turn after each folder, in which a closed pipe is noticed", async () => {
  for (const name of range(4)) {
    makeTest(at(`turns/${name}`), copies(1), [{ inputs: [scalar(1)], outputs: [scalar(1)] }]);
  }
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const output = { isTTY: false, columns: 80, write: () => {} };
  const io = {
    cwd: folder.home,
    env: {},
    stdin: TERMINAL,
    stdout: output,
    stderr: output,
    onSignal: () => () => {},
    onInterrupt: () => () => {},
  };
  await main(["conformance", "turns"], io);
  clearImmediate(next);
  assert.ok(turns >= 4, `${turns} turns`);
});

const SHAPE = [3, 4] as const;
const NUMBERS = [0.47892547, 0.48033667, 0.49968487, 0.81910545, 0.47031248, 0.816468, 0.25, -9];
/** Such values ONNX's tests of Cast have, as text. */
const TEXT = tensor("string", SHAPE, [...NUMBERS.map(String), "NaN", "INF", "+INF", "-INF"]);
const VALUES = new Float32Array([...NUMBERS, NaN, Infinity, Infinity, -Infinity]);
const FLOATS = tensor("float32", SHAPE, VALUES);
const DOUBLES = tensor("float64", SHAPE, [...VALUES]);
const ROUNDED = tensor("bfloat16", SHAPE, VALUES);
/** The upper halves of the bits: bfloat16 rounded toward zero, where Cast rounds to nearest. */
const UPPER = new Uint32Array(VALUES.buffer).map((bits) => bits >>> 16);
const CUT = tensor("uint16", SHAPE, new Uint16Array(UPPER));
const WIDENED = tensor(
  "float32",
  SHAPE,
  new Float32Array(new Uint32Array(UPPER.map((bits) => bits << 16)).buffer),
);

/** The result of ONNX's reference. */
const NARROW = tensor(
  "float8e4m3fn",
  SHAPE,
  Uint8Array.of(0x2f, 0x2f, 0x30, 0x35, 0x2f, 0x35, 0x28, 0xd1, 0x7f, 0x7e, 0x7e, 0xfe),
);
const BEYOND = tensor("uint8", SHAPE, new Uint8Array(12));

/** A number that ONNX gives to no data type. */
const UNKNOWN = 99;

interface CastRow {
  readonly from: DType;
  /** A data type, or the number of none. */
  readonly to: DType | typeof UNKNOWN;
  /** What the files hold, which need not have these types. */
  readonly input: Tensor;
  readonly output: Tensor;
  readonly verdict: RegExp;
}

const cast = (
  from: DType,
  to: DType | typeof UNKNOWN,
  input: Tensor,
  output: Tensor,
  verdict: RegExp,
): CastRow => ({ from, to, input, output, verdict });

const CUT_OFF =
  /^skipped .*: test_data_set_0\/output_0\.pb is bfloat16 stored as uint16, truncated/;
const NO_TEXT = /^skipped .*: Cast-\d+: string cannot be converted/;
const NO_CAST = /^skipped .*: Cast-\d+: /;
const OK = /^ok /;

const CASTS: readonly CastRow[] = [
  cast("float32", "float64", FLOATS, DOUBLES, OK),
  cast("float32", "float64", FLOATS, tensor("float64", SHAPE, new Float64Array(12)), /^FAIL /),
  // Up to release 1.18 ONNX's files of bfloat16 hold uint16.
  cast("bfloat16", "float32", CUT, WIDENED, OK),
  cast("float32", "bfloat16", FLOATS, CUT, CUT_OFF),
  cast("float32", "bfloat16", FLOATS, ROUNDED, OK),
  // Only bfloat16 is stored as another data type.
  cast("float16", "float32", CUT, WIDENED, /^FAIL .*: the model's input "input" is float16/),
  cast("float32", "float16", FLOATS, CUT, /^FAIL .*: output is float16\[3, 4\], but .* uint16/),
  cast("float32", "string", FLOATS, TEXT, NO_TEXT),
  cast("string", "float32", TEXT, FLOATS, NO_TEXT),
  cast("float32", "float8e4m3fn", FLOATS, NARROW, OK),
  cast("float32", "int4", FLOATS, BEYOND, NO_CAST),
  cast("float32", UNKNOWN, FLOATS, BEYOND, NO_CAST),
];

/** A Cast, with the second input that an expanded CastLike has: nothing reads it, and its file has another shape. */
const castModel = ({ from, to }: CastRow, isLike: boolean): Model => {
  const declared = { dtype: to === UNKNOWN ? "uint8" : to, shape: SHAPE };
  return buildModel({
    opsets: { "ai.onnx": isLike ? 15 : 13 },
    inputs: { input: { dtype: from, shape: SHAPE }, ...(isLike && { like: declared }) },
    nodes: [
      {
        op: "Cast",
        inputs: ["input"],
        outputs: ["output"],
        attributes: { to: to === UNKNOWN ? to : DTYPES[to].onnx.number },
      },
    ],
    outputs: { output: declared },
  });
};

const LIKE = tensor("uint16", [1], [1]);

for (const [number, row] of CASTS.entries()) {
  for (const kind of ["cast", "castlike"]) {
    const name = `test_${kind}_${row.from}_to_${row.to}_${number}`;
    test(name, async () => {
      const { input, output, verdict } = row;
      const isLike = kind === "castlike";
      const inputs = isLike ? [input, LIKE] : [input];
      makeTest(at(name), castModel(row, isLike), [{ inputs, outputs: [output] }]);
      const { stdout, status } = await ndscatter(`conformance ${name}`);
      assert.match(stdout, verdict);
      assert.match(stdout, new RegExp(`^\\w+ +${name}(:.*)?\\n`));
      assert.equal(status, verdict.source.startsWith("^FAIL") ? 1 : 0);
    });
  }
}

test("a Cast that is malformed fails", async () => {
  const model = castModel(CASTS[0], false);
  const [node] = model.graph.nodes;
  const nodes = [{ ...node, inputs: ["input", "input"] }];
  const set = { inputs: [FLOATS], outputs: [DOUBLES] };
  makeTest(at("malformed"), { ...model, graph: { ...model.graph, nodes } }, [set]);
  const { stdout, status } = await ndscatter("conformance malformed");
  assert.match(stdout, /^FAIL {5}malformed: Cast-13: the number of its inputs must be 1, got 2/);
  assert.equal(status, 1);
});
