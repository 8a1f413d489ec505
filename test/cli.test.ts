/**
 * The command as a user runs it: a process with arguments, a status and two streams. A row is one run; rows that leave
 * files behind are followed by a look at those.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  equals,
  full,
  operators,
  tensor,
  zeros,
  type Tensor,
  type TensorType,
} from "../src/index.ts";
import { readNpy, writeNpy } from "../src/npy/index.ts";
import { buildModel, readTensor, writeModel, writeTensor, type Model } from "../src/onnx/index.ts";
import { writeIR } from "../src/openvino/index.ts";
import { bytes, file, int, text } from "./onnx-encoder.ts";

const MAIN = fileURLToPath(new URL("../src/cli/main.js", import.meta.url));

/** Every run starts here, so that files go by their bare names. */
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-cli-"));

/** Whoever runs the tests may have an opinion on colours. */
const { NO_COLOR: _no, FORCE_COLOR: _force, ...ENV } = process.env;

const ndscatterIn = (env: object, ...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [MAIN, ...args], {
    cwd: home,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...ENV, ...env },
  });

const ndscatter = (...args: readonly string[]): SpawnSyncReturns<string> =>
  ndscatterIn({}, ...args);

const at = (name: string): string => path.join(home, name);

const save = (name: string, value: Tensor): void =>
  fs.writeFileSync(at(name), name.endsWith(".npy") ? writeNpy(value) : writeTensor(value));

const load = (name: string): Tensor => {
  const content = new Uint8Array(fs.readFileSync(at(name)));
  return name.endsWith(".npy") ? readNpy(content) : readTensor(content);
};

const F32 = (...shape: (number | string)[]): TensorType => ({ dtype: "float32", shape });
const I64 = (...shape: (number | string)[]): TensorType => ({ dtype: "int64", shape });

const SCATTER_ADD: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2), indices: I64("M", 1), updates: F32("M", 2) },
  nodes: [
    {
      op: "ScatterND",
      inputs: ["data", "indices", "updates"],
      outputs: ["y"],
      attributes: { reduction: "add" },
    },
  ],
  outputs: { y: F32("N", 2) },
});

/** One node among others that are not run here, its indices a constant; two Relu; a name with an escape sequence. */
const LARGE: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { x: F32("N", 2), updates: F32(2, 2) },
  constants: { indices: tensor("int64", [2, 1], [1, 3]) },
  nodes: [
    { op: "Relu", inputs: ["x"], outputs: ["r"], name: "first" },
    {
      op: "ScatterND",
      inputs: ["r", "indices", "updates"],
      outputs: ["\u001b[31my"],
      name: "middle",
    },
    { op: "Relu", inputs: ["\u001b[31my"], outputs: ["z"] },
  ],
  outputs: { z: F32("N", 2) },
});

/** One node with two faults and one with a risk, beside others. */
const FAULTY: Model = buildModel({
  opsets: { "ai.onnx": 16, "com.example": 1 },
  inputs: { data: F32("\u001bN", 2), updates: F32(2, 2) },
  constants: { far: tensor("int64", [2, 2], [0, 1, 1, 2]), twice: tensor("int64", [2, 1], [1, 1]) },
  nodes: [
    { op: "GatherND", inputs: ["data", "far"], outputs: ["g"], attributes: { mode: "clip" } },
    { op: "Relu", inputs: ["data"], outputs: ["r"] },
    {
      op: "ScatterND",
      name: "sum",
      inputs: ["r", "twice", "updates"],
      outputs: ["y"],
      attributes: { reduction: "add" },
    },
  ],
  outputs: { y: null },
});

const RISKY: Model = { ...FAULTY, graph: { ...FAULTY.graph, nodes: FAULTY.graph.nodes.slice(1) } };

/** An IR whose version takes no negative indices, with one. */
const IR = writeIR(
  buildModel({
    opsets: { openvino: 4 },
    irVersion: 11,
    inputs: { d: F32(4), u: F32(1) },
    constants: { i: tensor("int32", [1, 1], [-1]) },
    nodes: [
      {
        domain: "openvino",
        op: "ScatterNDUpdate",
        name: "s",
        inputs: ["d", "i", "u"],
        outputs: ["y"],
      },
    ],
    outputs: { y: F32(4) },
  }),
);

/** An IR with its indices in the `.bin`. */
const NET = writeIR(
  buildModel({
    opsets: { openvino: 15 },
    irVersion: 11,
    inputs: { data: F32("N", 2), updates: F32(2, 2) },
    constants: { indices: tensor("int32", [2, 1], [1, -1]) },
    nodes: [
      {
        domain: "openvino",
        op: "ScatterNDUpdate",
        name: "scatter",
        inputs: ["data", "indices", "updates"],
        outputs: ["y"],
        attributes: { reduction: "sum" },
      },
    ],
    outputs: { y: F32("N", 2) },
  }),
);

const TWO: Model = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { data: F32("N", 2), indices: I64("M", 1) },
  nodes: [
    { op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] },
    { op: "GatherND", inputs: ["data", "indices"], outputs: ["z"] },
    { op: "Relu", inputs: ["z"], outputs: ["r"] },
  ],
  outputs: { r: F32("M", 2) },
});

const DATA = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const ADDED = tensor("float32", [4, 2], [1, 2, 13, 24, 5, 6, 37, 48]);

/** A float32 tensor of 2 elements with its data in another file. */
const external = (location: string, offset = 0): Uint8Array =>
  file(
    int(1, 2),
    int(2, 1),
    text(8, "data"),
    ...[
      ["location", location],
      ["offset", String(offset)],
    ].map(([key, value]) => bytes(13, [...text(1, key), ...text(2, value)])),
    int(14, 1),
  );

/** `model` with one more constant: two messages after one another are one with the fields of both. */
const withConstant = (model: Model, constant: Uint8Array): Uint8Array =>
  file(writeModel(model), bytes(7, bytes(5, constant)));

const GATHER_EXTERNAL = buildModel({
  opsets: { "ai.onnx": 13 },
  inputs: { indices: I64(1, 1) },
  nodes: [{ op: "GatherND", inputs: ["data", "indices"], outputs: ["y"] }],
  outputs: { y: F32(1) },
});

before(() => {
  save("d.npy", DATA);
  save("i.npy", tensor("int64", [2, 1], [1, 3]));
  save("u.npy", tensor("float32", [2, 2], [10, 20, 30, 40]));
  save("u.pb", tensor("float32", [2, 2], [10, 20, 30, 40]));
  save("far.npy", tensor("int64", [2, 1], [1, 9]));
  save("i32.npy", tensor("int32", [2, 1], [1, 3]));
  save("y.npy", ADDED);
  save("wrong.npy", tensor("float32", [4, 2], [1, 2, 13, 24, 5, 6, 37.1, 0]));
  save("odd.npy", tensor("float64", [4], [NaN, -Infinity, -0, 0.1]));
  save(
    "nan.npy",
    tensor("float32", [2], new Float32Array(new Uint32Array([0x7fc00001, 0]).buffer)),
  );
  save(
    "nan2.npy",
    tensor("float32", [2], new Float32Array(new Uint32Array([0x7fc00002, 0]).buffer)),
  );
  save("none.npy", zeros("int64", [0, 1]));
  save("long.npy", tensor("int64", [3], [2n ** 63n - 1n, 0n, -1n]));
  save("big.npy", full("float32", [300, 300], 1));
  save("empty.npy", zeros("float32", [0, 300]));
  save("none2.npy", zeros("float32", [0]));
  save("one.npy", tensor("int64", [1], [1]));
  save("all.npy", tensor("int64", [4, 1], [0, 1, 2, 3]));
  save("i2.npy", tensor("int64", [2, 1], [0, -1]));
  save("i1.npy", tensor("int64", [1, 1], [1]));
  save("line.npy", tensor("float32", [3], [1, 2, 3]));
  save("lines.npy", tensor("int64", [3], [1, 1, 2]));
  save("axis.npy", tensor("int64", [], [0]));
  save("twice.npy", tensor("int64", [3, 1], [1, 3, -3]));
  save("u3.npy", tensor("float32", [3, 2], [10, 20, 30, 40, 0.5, -0]));
  save("odd3.npy", tensor("float64", [2], [NaN, -Infinity]));
  save("i4.npy", tensor("int64", [2, 2], [1, 7, -1, 9]));
  save("cube.npy", tensor("int32", [2, 1, 3], [1, 2, 3, 4, 5, 6]));
  save("text.pb", tensor("string", [2, 1], ["\u001b[31mred", "x".repeat(40)]));
  save("i0.npy", tensor("int64", [1, 1], [0]));
  fs.writeFileSync(at("cut.npy"), fs.readFileSync(at("d.npy")).subarray(0, 140));
  fs.writeFileSync(at("add.onnx"), writeModel(SCATTER_ADD));
  fs.writeFileSync(at("large.onnx"), writeModel(LARGE));
  fs.writeFileSync(at("faulty.onnx"), writeModel(FAULTY));
  fs.writeFileSync(at("risky.onnx"), writeModel(RISKY));
  for (const name of ["ir.xml", "bare.xml"]) fs.writeFileSync(at(name), IR.xml);
  fs.writeFileSync(at("ir.bin"), IR.bin);
  fs.writeFileSync(at("two.onnx"), writeModel(TWO));
  fs.writeFileSync(at("cut.onnx"), writeModel(SCATTER_ADD).subarray(0, 40));

  fs.mkdirSync(at("model/inside"), { recursive: true });
  const weights = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
  for (const name of ["secret.bin", "model/weights.bin"]) fs.writeFileSync(at(name), weights);
  fs.symlinkSync("../secret.bin", at("model/link.bin"));
  fs.symlinkSync("..", at("model/out"));
  fs.symlinkSync("../weights.bin", at("model/inside/link.bin"));
  const places = {
    good: "weights.bin",
    inside: "inside/link.bin",
    link: "link.bin",
    out: "out/secret.bin",
    missing: "missing.bin",
    folder: "inside",
  };
  for (const [name, location] of Object.entries(places)) {
    fs.writeFileSync(
      at(`model/${name}.onnx`),
      withConstant(GATHER_EXTERNAL, external(location, 4)),
    );
  }
  fs.writeFileSync(
    at("model/short.onnx"),
    withConstant(GATHER_EXTERNAL, external("weights.bin", 8)),
  );
  for (const name of ["net", "model/net", "alone", "model/leads-out"]) {
    fs.writeFileSync(at(`${name}.xml`), NET.xml);
  }
  fs.writeFileSync(at("net.bin"), NET.bin);
  fs.writeFileSync(at("model/net.bin"), NET.bin.subarray(1));
  fs.symlinkSync("../net.bin", at("model/leads-out.bin"));
  fs.writeFileSync(at("entity.xml"), `<!DOCTYPE net SYSTEM "net.bin">${NET.xml}`);
  fs.writeFileSync(at("model/dots.pb"), external("../secret.bin"));
  fs.writeFileSync(at("model/good.pb"), external("weights.bin"));
});

after(() => fs.rmSync(home, { recursive: true }));

interface Row {
  readonly args: readonly string[];
  readonly status?: number;
  /** All that stdout holds, or what is found in it. */
  readonly stdout?: string | RegExp;
  /** The sentence behind "ndscatter: ". */
  readonly stderr?: string | RegExp;
}

const words = (line: string): string[] => line.split(" ");
const NODE = "large.onnx --node";

// prettier-ignore
const ROWS: readonly Row[] = [
  // What is typed wrong.
  { args: [], status: 2, stderr: "a command is missing; --help lists them" },
  { args: ["rum"], status: 2, stderr: "unknown command 'rum' (Did you mean run?)" },
  { args: ["run"], status: 2, stderr: "missing required argument 'target'" },
  { args: words("run scatternd d.npy"), status: 2, stderr: /did you mean ScatterND of ai\.onnx\?$/ },
  { args: words("run ScatterND --opset x"), status: 2, stderr: '--opset takes a positive integer, got "x"' },
  { args: words("run ScatterND --attr reduction d.npy"), status: 2, stderr: /--attr takes NAME=VALUE/ },
  { args: words("run GatherND --attr batch_dims=1.5"), status: 2, stderr: '--attr batch_dims must be an integer, got "1.5"' },
  { args: words("run ScatterND --opset 16 --attr reduction=max"), status: 2, stderr: /^ScatterND-16: .* it is in version 18$/ },
  { args: words("run ScatterND d.npy i.npy"), status: 2, stderr: "ScatterND-18 needs data, indices, updates, but there is no file for updates" },
  { args: words("run ScatterND d.npy i.npy u.npy y.npy"), status: 2, stderr: /no input left for y\.npy/ },
  { args: words("run ScatterND x=d.npy"), status: 2, stderr: "ScatterND-18 has no input x; its inputs are data, indices, updates" },
  { args: words("run ScatterND d.npy i.npy u.npy -o out.txt"), status: 2, stderr: "out.txt must end in .npy or .pb, which tells its format" },
  { args: words("run add.onnx --opset 13 d.npy i.npy u.npy"), status: 2, stderr: /--opset goes with an operator/ },
  { args: words(`run ${NODE} nowhere u.npy`), status: 2, stderr: "large.onnx has no node nowhere; its nodes are first, middle, z" },
  { args: words(`run ${NODE} Relu u.npy`), status: 2, stderr: "large.onnx has 2 nodes Relu; name a value that one makes: r, z" },
  // What is read wrong.
  { args: words("run ScatterND d.npy no.npy u.npy"), status: 1, stderr: "no.npy: no such file or directory" },
  { args: words("run cut.onnx d.npy"), status: 1, stderr: /^cut\.onnx: / },
  { args: words("run ScatterND cut.npy i.npy u.npy"), status: 1, stderr: /^cut\.npy: / },
  { args: words("run ScatterND d.npy far.npy u.npy"), status: 1, stderr: "ScatterND-18: indices[1, 0] is 9, but axis 0 of data [4, 2] takes -4..3" },
  { args: words("run ScatterND d.npy i.npy u.npy -o no/out.npy"), status: 1, stderr: "no/out.npy: no such file or directory" },
  { args: words("run large.onnx d.npy u.npy"), status: 1, stderr: /^large\.onnx: .*Relu at opset 18/ },
  { args: words("run ScatterND --debug d.npy far.npy u.npy"), status: 1, stderr: /^ScatterND-18: .*\nTensorError: .*\n +at .*[\s\S]*code: 'index-out-of-range'/ },
  // What is shown.
  { args: words("run add.onnx data=d.npy indices=i.npy updates=u.npy"), stdout: `y: float32[4, 2]\n${ADDED}\n` },
  { args: words("run ScatterNDUpdate --attr reduction=sum d.npy i32.npy u.pb"), stdout: `output: float32[4, 2]\n${ADDED}\n` },
  { args: words(`run ${NODE} ScatterND d.npy u.npy`), stdout: /^"\\u001b\[31my": float32\[4, 2\]\ntensor\(\[\[ 1\., {2}2\.\],\n {8}\[10\., 20\.\]/ },
  { args: words("run model/good.onnx i1.npy"), stdout: "y: float32[1]\ntensor([3.], dtype=float32)\n" },
  { args: words("run model/inside.onnx i1.npy"), stdout: /3\./ },
  { args: words("run GatherND model/good.pb i1.npy"), stdout: "output: float32[1]\ntensor([2.], dtype=float32)\n" },
  { args: words("run model/link.onnx i1.npy"), status: 1, stderr: /"link\.bin" lie outside the folder of the model/ },
  { args: words("run model/out.onnx i1.npy"), status: 1, stderr: /"out\/secret\.bin" lie outside/ },
  { args: words("run model/missing.onnx i1.npy"), status: 1, stderr: /"missing\.bin" cannot be read: no such file/ },
  { args: words("run model/folder.onnx i1.npy"), status: 1, stderr: /inside: it is a folder/ },
  { args: words("run model/short.onnx i1.npy"), status: 1, stderr: /weights\.bin ends at byte 12, but data reach to byte 16/ },
  { args: words("run GatherND model/dots.pb i1.npy"), status: 1, stderr: /^model\/dots\.pb: .*leaves the folder/ },
  { args: words("run net.xml data=d.npy updates=u.npy"), stdout: `y: float32[4, 2]\n${ADDED}\n` },
  { args: words("run net.xml --node scatter d.npy u.pb indices=i32.npy --expect y.npy"), stdout: "y: float32[4, 2]\n  equals y.npy\n" },
  { args: words("run alone.xml d.npy u.npy"), status: 1, stderr: 'alone.xml: the external data "alone.bin" cannot be read: no such file or directory (node "scatter")' },
  { args: words("run model/net.xml d.npy u.npy"), status: 1, stderr: /^model\/net\.xml: layer 2 "indices" has 8 bytes from byte 0 of the \.bin, which has 7/ },
  { args: words("run model/leads-out.xml d.npy u.npy"), status: 1, stderr: /"leads-out\.bin" lie outside the folder of the model/ },
  { args: words("run entity.xml d.npy u.npy"), status: 1, stderr: /^entity\.xml: the XML holds "<!DOCTYPE net SYSTEM/ },
  // What is compared.
  { args: words("run add.onnx d.npy i.npy u.npy --expect y=y.npy"), stdout: "y: float32[4, 2]\n  equals y.npy\n" },
  { args: words("run add.onnx d.npy i.npy u.npy --expect wrong.npy"), status: 1, stdout: /differs from wrong\.npy/, stderr: "y[3, 0] is 37, but wrong.npy has 37.1" },
  { args: words("run ScatterND nan.npy none.npy none2.npy --expect nan2.npy"), status: 1, stdout: /differs/, stderr: "output[0] is NaN (bits 0x7fc00001), but nan2.npy has NaN (bits 0x7fc00002)" },
  // The operators.
  { args: ["--version"], stdout: /^\d+\.\d+\.\d+\n$/ },
  { args: ["run", "--help"], stdout: /Examples:\n {2}ndscatter run ScatterND/ },
  { args: ["ops"], stdout: /^domain +operator +version .*\nai\.onnx +ScatterND +11 [\s\S]*\nopenvino +ScatterNDUpdate +15 .*\n/ },
  { args: words("ops ScatterND --opset 17"), stdout: /^ScatterND-16\n\nname +ScatterND\n[\s\S]*reduction: one of none, add, mul \(default none\)[\s\S]*indices: tensor\(int64\)[\s\S]*tensor\(float\)/ },
  { args: words("ops ScatterNDUpdate --opset 4"), stdout: /^ScatterNDUpdate-3\n[\s\S]*opset4\n[\s\S]* T: boolean, f16, [\s\S]*Tind: i32, i64\n/ },
  { args: words("ops ScatterND --diff 13 18"), stdout: /^ScatterND-13 -> ScatterND-18\n[\s\S]*\+ attributes\.reduction: one of none, add, mul, max, min \(default none\)\n$/ },
  { args: words("ops ScatterND --diff 13"), status: 2, stderr: "--diff takes two opsets, such as --diff 13 18, got 1" },
  { args: words("run ScatterElementsUpdate --attr reduction=mean line.npy lines.npy line.npy axis.npy"), stdout: /1\.6666666, 3\. / },
  // What is explained.
  { args: words("explain ScatterND d.npy i.npy"), status: 2, stderr: "ScatterND-18 needs data, indices, updates, but there is no file for updates" },
  { args: words("explain ScatterND --attr axis=0 d.npy i.npy u.npy"), status: 2, stderr: /there is no attribute "axis"/ },
  { args: words("explain model.none d.npy"), status: 1, stderr: "model.none: no such file or directory" },
  { args: words("explain large.onnx d.npy"), status: 2, stderr: 'large.onnx needs x, updates, but there is no file for updates' },
  { args: words("explain large.onnx d.npy u.npy"), status: 2, stderr: "large.onnx computes r, an input of ScatterND; choose that with --node middle and give its inputs" },
  { args: words("explain two.onnx d.npy i.npy"), status: 2, stderr: "two.onnx has 2 nodes to explain; choose one with --node: y, z" },
  { args: words("explain two.onnx --node Relu d.npy"), status: 1, stderr: /^two\.onnx: .*Relu at opset 18/ },
  { args: words("explain two.onnx --node z d.npy i.npy"), stdout: /^GatherND-13\n[\s\S]*output\[0\] = data\[1\] {2}indices\[0\] = 1\n/ },
  { args: words(`explain ${NODE} middle r=d.npy u.npy`), stdout: /\noutput\[3\]\n {2}\[7, 8\] -> \[30, 40\] {2}updates\[1\], indices\[1\] = 3\n$/ },
  { args: words("explain add.onnx data=d.npy indices=i.npy updates=u.npy"), stdout: /\noutput\[1\]\n {2}\[3, 4\] -> \[13, 24\] {2}add updates\[0\], indices\[0\] = 1\n/ },
  { args: words("explain add.onnx data=d.npy indices=far.npy updates=u.npy"), status: 1, stdout: /\n1 index is out of range:\n {2}indices\[1, 0\] is 9, but axis 0 takes -4\.\.3\n/, stderr: "add.onnx: ScatterND-18: indices[1, 0] is 9, but axis 0 of data [4, 2] takes -4..3" },
  { args: words("explain ScatterND big.npy none.npy empty.npy"), stdout: /data: float32\[300, 300\]\n {2}\(too large to draw\)[\s\S]*\n0 updates hit 0 targets of output, 0 of them more than once\n90000 elements of output are from data\n$/ },
  { args: ["explain", "--help"], stdout: /Examples:\n {2}ndscatter explain ScatterND/ },
  // Types.
  { args: words("infer ScatterND --opset 18 float32[N,4,5] int64[M,2] float32[M,5]"), stdout: "float32[N, 4, 5]\n" },
  { args: words("infer GatherND float32[?,4] int64[...]"), stdout: "float32[...]\n" },
  // The axis where it is an input: a value, or a file.
  { args: words("infer Gather --domain openvino --attr axis=1 float32[2,N,3] int32[4]"), stdout: "float32[2, 4, 3]\n" },
  { args: words("infer Gather --domain openvino float32[2,N,3] int32[4] int64[]"), stdout: "float32[?, ?, ?]\n" },
  { args: words("infer Gather --domain openvino --attr axis=3 float32[2,N,3] int32[4]"), status: 1, stderr: /^Gather-8: axis is 3, but data of rank 3/ },
  { args: words("infer Gather --domain openvino --attr axis=1 float32[2] int32[4] int64[]"), status: 2, stderr: "Gather-8 needs 2 types (data, indices), got 3" },
  { args: words("run ScatterElementsUpdate --attr reduction=mean --attr axis=0 line.npy lines.npy line.npy"), stdout: /1\.6666666, 3\. / },
  { args: words("run Scatter line.npy lines.npy line.npy"), stdout: /^output: float32/, stderr: "note: Scatter-11 is deprecated: ScatterElements replaces it" },
  { args: words("ops GatherND"), stdout: /\n\nopenvino has one too: --domain openvino\n$/ },
  { args: words("infer ScatterND float32[4] int64[1] float32[-1]"), status: 2, stderr: /^"-1" in "float32\[-1\]" is no dimension/ },
  // Models, looked at.
  { args: words("inspect large.onnx"), stdout: 'large.onnx: ai.onnx 18, 3 nodes, 1 of the family\n\nScatterND-18  middle\n  data     r              ?\n  indices  indices        int64[2, 1]    constant\n  updates  updates        float32[2, 2]\n  output   "\\u001b[31my"  float32[...]\n\n0 wrong, 0 risky\n' },
  { args: words("inspect faulty.onnx"), status: 1, stdout: 'faulty.onnx: ai.onnx 16, com.example 1, 3 nodes, 2 of the family\n\nGatherND-13  mode=clip\n  data     data  float32[\\u001bN, 2]\n  indices  far   int64[2, 2]          constant\n  output   g     float32[2]\n  wrong: attribute-unknown: there is no attribute "mode": it has batch_dims\n  wrong: index-out-of-range: indices[1, 1] is 2, but axis 1 of data [\\u001bN, 2] takes -2..1\n\nScatterND-16  sum  reduction=add\n  data     r        ?\n  indices  twice    int64[2, 1]    constant\n  updates  updates  float32[2, 2]\n  output   y        float32[...]\n  risky: repeated-target-reduced: 1 of 2 updates go where another one went; the first is that of indices[1], after indices[0]\n\n2 wrong, 1 risky\n' },
  { args: words("inspect risky.onnx"), stdout: /0 wrong, 1 risky\n$/ },
  { args: words("inspect --strict risky.onnx"), status: 1, stdout: /0 wrong, 1 risky\n$/ },
  { args: words("inspect --strict --json risky.onnx"), status: 1, stdout: /"severity": "risky"/ },
  { args: words("inspect ir.xml"), status: 1, stdout: /^ir\.xml: 1 node, 1 of the family\n\nScatterNDUpdate-3 {2}s\n.*\n {2}indices {2}i {2}int32\[1, 1\] {2}constant\n[\s\S]*wrong: negative-index-not-taken: indices\[0, 0\] is -1/ },
  { args: words("inspect bare.xml"), stdout: /note: indices-not-checked: .*pass that to readIR[\s\S]*\n0 wrong, 0 risky, 1 note\n$/ },
  { args: words("inspect cut.onnx"), status: 1, stderr: /^cut\.onnx: the file is cut short or damaged: byte \d+ begins a part/ },
  { args: words("inspect no.onnx"), status: 1, stderr: "no.onnx: no such file or directory" },
  { args: words("inspect model"), status: 1, stderr: "model: it is a folder, not a file" },
  { args: ["inspect"], status: 2, stderr: "missing required argument 'file'" },
  // Models, converted.
  { args: words("convert large.onnx --opset 16 -o l16.onnx"), stdout: "l16.onnx: 0 nodes changed\n2 nodes of other operators left as before, unchecked: Relu 2\n" },
  { args: words("convert add.onnx -o add.xml"), stdout: 'add.xml: 1 node changed\n  the ScatterND that makes "y": ScatterND-18 to ScatterNDUpdate-15\n' },
  { args: words("run add.xml d.npy i.npy u.npy --expect y.npy"), stdout: "y: float32[4, 2]\n  equals y.npy\n" },
  { args: words("convert add.xml --opset 16 -o back.onnx"), stdout: /^back\.onnx: 1 node changed\n.*ScatterNDUpdate-15 to ScatterND-16\n$/ },
  { args: words("run back.onnx d.npy i.npy u.npy --expect y.npy"), stdout: "y: float32[4, 2]\n  equals y.npy\n" },
  { args: words("convert add.onnx --opset 13 -o no.onnx"), status: 1, stderr: 'add.onnx: the ScatterND that makes "y" cannot be converted to opset 13 of ai.onnx: ScatterND-13 has no reduction "add"; opset 16 can say it' },
  { args: words("convert large.onnx -o no.xml"), status: 1, stderr: /^large\.onnx: to openvino only this package's operators are converted, but the model has Relu \(node "first"\), Relu/ },
  { args: words("convert add.onnx --opset 16 -o no.npy"), status: 2, stderr: "no.npy must end in .onnx or .xml, which tells its format" },
  { args: words("convert add.onnx -o no.onnx"), status: 2, stderr: "an ONNX model needs --opset, such as --opset 18" },
  { args: words("convert add.onnx --opset x -o no.onnx"), status: 2, stderr: '--opset takes a positive integer, got "x"' },
  { args: words("convert add.onnx --opset 99 -o no.onnx"), status: 2, stderr: "opset 99 of ai.onnx is not known here; the newest is 28" },
  { args: words("convert add.onnx --opset 16 -o ./add.onnx"), status: 2, stderr: "the output ./add.onnx would replace a file that the command reads" },
  { args: words("convert add.xml --opset 16"), status: 2, stderr: /required option '-o, --output <file>'/ },
  { args: words("convert no.onnx --opset 16 -o nothing.onnx"), status: 1, stderr: "no.onnx: no such file or directory" },
  // Test folders.
  { args: words("conformance no"), status: 1, stderr: "no: no such file or directory" },
  { args: words("conformance model"), status: 1, stderr: /^model: there is no model\.onnx/ },
];

const found = (pattern: string | RegExp, content: string): void => {
  if (typeof pattern === "string") assert.equal(content, pattern);
  else assert.match(content, pattern);
};

for (const { args, status = 0, stdout = "", stderr } of ROWS) {
  test(["ndscatter", ...args].join(" "), () => {
    const result = ndscatter(...args);
    if (stderr === undefined) {
      assert.equal(result.stderr, "");
    } else {
      assert.ok(
        result.stderr.startsWith("ndscatter: ") && result.stderr.endsWith("\n"),
        result.stderr,
      );
      found(stderr, result.stderr.slice("ndscatter: ".length, -1));
      if (!args.includes("--debug")) assert.equal(result.stderr.split("\n").length, 2);
    }
    found(stdout, result.stdout);
    assert.equal(result.status, status);
  });
}

test("results are written by the ending of the name, beside nothing else", () => {
  for (const name of ["out.npy", "out.pb"]) {
    const result = ndscatter(
      ...words(`run add.onnx d.npy i.npy u.npy -o y=${name} --expect y.npy`),
    );
    assert.equal(result.stdout, `y: float32[4, 2]\n  written to ${name}\n  equals y.npy\n`);
    assert.ok(equals(load(name), ADDED));
  }
  assert.deepEqual(
    fs.readdirSync(home).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("a model with data in other files is written beside them, or as an IR", () => {
  fs.mkdirSync(at("out"));
  const far = [
    ...int(1, 1),
    ...int(1, 1),
    ...int(2, 7),
    ...text(8, "indices"),
    ...int(14, 1),
    ...bytes(13, [...text(1, "location"), ...text(2, "far.bin")]),
  ];
  const graph = [
    ...bytes(1, [
      ...text(1, "data"),
      ...text(1, "indices"),
      ...text(2, "y"),
      ...text(4, "GatherND"),
    ]),
    ...bytes(5, far),
    ...bytes(11, [
      ...text(1, "data"),
      ...bytes(
        2,
        bytes(1, [...int(1, 1), ...bytes(2, [...bytes(1, int(1, 4)), ...bytes(1, int(1, 2))])]),
      ),
    ]),
    ...bytes(12, text(1, "y")),
  ];
  fs.writeFileSync(at("far.onnx"), file(int(1, 8), bytes(7, graph), bytes(8, int(2, 13))));
  fs.writeFileSync(at("far.bin"), new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]));
  const elsewhere = ndscatter(...words("convert far.onnx --opset 11 -o out/far.onnx"));
  assert.equal(elsewhere.status, 1);
  assert.equal(
    elsewhere.stderr,
    "ndscatter: far.onnx keeps data in far.bin beside it; write far.onnx to its folder, .\n",
  );
  assert.deepEqual(fs.readdirSync(at("out")), []);
  assert.equal(ndscatter(...words("convert far.onnx --opset 11 -o far11.onnx")).status, 0);
  assert.equal(ndscatter(...words("convert far.onnx -o out/far.xml")).status, 0);
  assert.deepEqual(fs.readdirSync(at("out")).sort(), ["far.bin", "far.xml"]);
  for (const model of ["far11.onnx", "out/far.xml"]) {
    const result = ndscatter(...words(`run ${model} d.npy -o row.npy`));
    assert.equal(result.stderr, "");
    assert.deepEqual(load("row.npy").toArray(), [(DATA.toArray() as number[][])[2]]);
  }
});

test("an output updates an input in place, but replaces nothing else that was read", () => {
  save("cache.npy", DATA);
  fs.symlinkSync("cache.npy", at("alias.npy"));
  const update = "run add.onnx alias.npy i.npy u.npy -o";
  assert.equal(ndscatter(...words(`${update} cache.npy`)).status, 0);
  assert.ok(equals(load("alias.npy"), ADDED));
  assert.ok(fs.lstatSync(at("alias.npy")).isSymbolicLink());
  const refused = [`${update} i.npy`, `${update} y.npy --expect y.npy`];
  for (const args of refused) {
    const result = ndscatter(...words(args));
    assert.match(result.stderr, /^ndscatter: the output .* would replace/);
    assert.equal(result.status, 2);
  }
  assert.deepEqual(load("i.npy").shape, [2, 1]);
});

test("after an error an output is what it was", () => {
  save("kept.npy", DATA);
  assert.equal(ndscatter(...words("run ScatterND d.npy far.npy u.npy -o kept.npy")).status, 1);
  assert.ok(equals(load("kept.npy"), DATA));
});

const EXPLAIN_ADD = words("explain ScatterND --attr reduction=add d.npy twice.npy u3.npy");

test("a scatter is drawn with what hits it, and told step by step", () => {
  const text = `ScatterND-18

updates must be indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2], got [3, 2]
output is data.shape = [4, 2]

data: float32[4, 2]
  0 |  1  2
  1 |  3  4
  2 |  5  6
  3 |  7  8

indices: int64[3, 1]
  0 |   1
  1 |   3
  2 |  -3

updates: float32[3, 2]
  0 |   10   20
  1 |   30   40
  2 |  0.5   -0

output: float32[4, 2]
  0 |     1       2
  1 |  13.5**    24**
  2 |     5       6
  3 |    37*     48*

* met once, ** met more than once

3 updates hit 2 targets of output, 1 of them more than once
4 elements of output are from data
most often: output[1] 2 times
rows of output: 1, 3

output[1]
  [3, 4] -> [13, 24]      add updates[0], indices[0] = 1
  [13, 24] -> [13.5, 24]  add updates[2], indices[2] = -3, that is 1
output[3]
  [7, 8] -> [37, 48]  add updates[1], indices[1] = 3
`;
  const plain = ndscatter(...EXPLAIN_ADD);
  assert.equal(plain.stdout, text);
  const coloured = ndscatterIn({ FORCE_COLOR: "1" }, ...EXPLAIN_ADD);
  const green = (word: string): string => `\u001b[32m${word}\u001b[39m`;
  const yellow = (word: string): string => `\u001b[33m${word}\u001b[39m`;
  const picture = [
    "  0 |     1     2",
    `  1 |  ${yellow("13.5")}    ${yellow("24")}`,
    "  2 |     5     6",
    `  3 |    ${green("37")}    ${green("48")}`,
    "",
    `${green("met once")}, ${yellow("met more than once")}`,
  ];
  assert.ok(coloured.stdout.includes(picture.join("\n")), coloured.stdout);
  for (const env of [{ NO_COLOR: "1", FORCE_COLOR: "1" }, { FORCE_COLOR: "0" }, { CI: "1" }]) {
    assert.equal(ndscatterIn(env, ...EXPLAIN_ADD).stdout, plain.stdout);
  }
});

test("of many steps the first are told, and how many are left", () => {
  save("many.npy", zeros("int64", [20]));
  save("ones.npy", full("float32", [20], 1));
  const line =
    "explain ScatterElementsUpdate --attr reduction=mean line.npy many.npy ones.npy axis.npy";
  const { stdout } = ndscatter(...words(line));
  assert.ok(
    stdout.endsWith(
      "\n  19 -> 20  add updates[18], indices[18] = 0\n  20 -> 21  add updates[19], indices[19] = 0\n  and 1 more\n",
    ),
    stdout,
  );
});

test("a gather is drawn slice by slice, zeros and all", () => {
  const { stdout } = ndscatter(
    ...words("explain Gather --domain openvino cube.npy i4.npy axis.npy"),
  );
  assert.ok(
    stdout.endsWith(`output: int32[2, 2, 1, 3]
  [0, 0, :, :]
  0 |  4   5   6
  [0, 1, :, :]
  0 |  0~  0~  0~
  [1, 0, :, :]
  0 |  4   5   6
  [1, 1, :, :]
  0 |  0~  0~  0~

** met more than once, ~ 0 for an index out of range

4 reads take 1 target of data, 1 of them more than once
3 elements of data are not read
6 elements of output are 0, because the index is out of range
most often: data[1] 2 times
rows of data: 1

output[0, 0] = data[1]  indices[0, 0] = 1
output[0, 1] = 0        indices[0, 1] = 7, out of range
output[1, 0] = data[1]  indices[1, 0] = -1, that is 1
output[1, 1] = 0        indices[1, 1] = 9, out of range
`),
    stdout,
  );
});

test("text in a picture is cut, and sends nothing to the terminal", () => {
  const { stdout } = ndscatter(...words("explain GatherND text.pb i0.npy"));
  assert.ok(!stdout.includes("\u001b"));
  assert.ok(stdout.includes('  1 |  "xxxxxxxxxxxxxxxxxxx..."\n'), stdout);
});

test("wrong shapes and bad indices are all shown", () => {
  const result = ndscatter(...words("explain ScatterND d.npy i4.npy u3.npy"));
  assert.equal(
    result.stdout,
    `ScatterND-18

updates must be indices.shape[:-1] ++ data.shape[2:] = [2] ++ [] = [2], got [3, 2]!
output is data.shape = [4, 2]

2 indices are out of range:
  indices[0, 1] is 7, but axis 1 takes -2..1
  indices[1, 1] is 9, but axis 1 takes -2..1

data: float32[4, 2]
  0 |  1  2
  1 |  3  4
  2 |  5  6
  3 |  7  8

indices: int64[2, 2]
  0 |   1    7!
  1 |  -1    9!

updates: float32[3, 2]
  0 |   10   20
  1 |   30   40
  2 |  0.5   -0

! out of range
`,
  );
  assert.match(result.stderr, /^ndscatter: ScatterND-18: updates\.shape must be .*\n$/);
  assert.equal(result.status, 1);
});

test("explain --json is all of it", () => {
  const told = json("explain ScatterND d.npy twice.npy u3.npy");
  const at = (order: number, index: number, place: number) => ({
    at: [order],
    index: { at: [order], given: [index], axes: [0], places: [place] },
  });
  const step = { kind: "update", by: "none" };
  assert.deepEqual(told, {
    operator: { name: "ScatterND", domain: "ai.onnx", sinceVersion: 18 },
    inputs: [
      { name: "data", role: "data", dtype: "float32", shape: [4, 2] },
      { name: "indices", role: "indices", dtype: "int64", shape: [3, 1] },
      { name: "updates", role: "updates", dtype: "float32", shape: [3, 2] },
    ],
    shapes: [
      {
        of: "updates",
        terms: [
          { text: "indices.shape[:-1]", shape: [3] },
          { text: "data.shape[1:]", shape: [2] },
        ],
        expected: [3, 2],
        got: [3, 2],
        fits: true,
        sentence:
          "updates must be indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2], got [3, 2]",
      },
      {
        of: "output",
        terms: [{ text: "data.shape", shape: [4, 2] }],
        expected: [4, 2],
        got: null,
        fits: true,
        sentence: "output is data.shape = [4, 2]",
      },
    ],
    error: null,
    badCount: 0,
    badIndices: [],
    output: {
      name: "output",
      dtype: "float32",
      shape: [4, 2],
      values: [
        [1, 2],
        [0.5, -0],
        [5, 6],
        [30, 40],
      ],
    },
    kind: "scatter",
    reduction: "none",
    includeSelf: true,
    addressed: 1,
    summary: {
      count: 3,
      targets: 2,
      repeats: 1,
      most: [{ coordinates: [1], count: 2 }],
      rows: [
        [1, 1],
        [3, 3],
      ],
      rowRanges: 2,
      untouched: 4,
      filled: 0,
    },
    targets: [
      {
        coordinates: [1],
        count: 2,
        steps: [
          { ...step, order: 0, ...at(0, 1, 1), before: [3, 4], update: [10, 20], after: [10, 20] },
          {
            ...step,
            order: 2,
            ...at(2, -3, 1),
            before: [10, 20],
            update: [0.5, -0],
            after: [0.5, -0],
          },
        ],
      },
      {
        coordinates: [3],
        count: 1,
        steps: [
          { ...step, order: 1, ...at(1, 3, 3), before: [7, 8], update: [30, 40], after: [30, 40] },
        ],
      },
    ],
  });
  const gathered = json("explain GatherND odd3.npy i0.npy");
  assert.deepEqual(pick(gathered, "kind", "output", "targets", "reads"), {
    kind: "gather",
    output: { name: "output", dtype: "float64", shape: [1], values: ["NaN"] },
    targets: [{ coordinates: [0], count: 1 }],
    reads: [{ at: [0], index: { at: [0], given: [0], axes: [0], places: [0] }, target: [0] }],
  });
  const failed = json("explain ScatterND d.npy far.npy u.npy");
  const message = "ScatterND-18: indices[1, 0] is 9, but axis 0 of data [4, 2] takes -4..3";
  const bad = { input: "indices", at: [1, 0], axis: 0, got: 9, expected: [-4, 3] };
  assert.deepEqual(pick(failed, "error", "badCount", "badIndices", "output"), {
    error: { code: "index-out-of-range", message, ...bad },
    badCount: 1,
    badIndices: [{ ...bad, sentence: message }],
    output: null,
  });
});

const pick = (value: unknown, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value as object).filter(([name]) => names.includes(name)));

const json = (line: string): unknown => JSON.parse(ndscatter(...words(line), "--json").stdout);

const output = (facts: object): object => ({ outputs: [{ name: "output", ...facts }] });

test("--json is JSON, with strings for what JSON has not", () => {
  const rows: readonly [line: string, expected: unknown][] = [
    [
      "run GatherND odd.npy all.npy",
      output({ dtype: "float64", shape: [4], values: ["NaN", "-Infinity", -0, 0.1] }),
    ],
    [
      "run GatherND long.npy i2.npy",
      output({ dtype: "int64", shape: [2], values: ["9223372036854775807", "-1"] }),
    ],
    [
      "run GatherND d.npy one.npy -o row.npy",
      output({ dtype: "float32", shape: [2], file: "row.npy" }),
    ],
    [
      "run GatherND d.npy one.npy --expect y.npy",
      output({
        dtype: "float32",
        shape: [2],
        expected: "y.npy",
        equal: false,
        difference: { at: null, got: "float32[2]", expected: "float32[4, 2]" },
      }),
    ],
    ["infer GatherND float32[N,?] int64[1]", output({ dtype: "float32", shape: [null] })],
    [
      "convert large.onnx --opset 13 -o l13.onnx",
      {
        output: "l13.onnx",
        irVersion: 8,
        opsets: { "ai.onnx": 13 },
        changes: [],
        unchecked: { Relu: 2 },
        notes: [],
      },
    ],
    ["ops", JSON.parse(JSON.stringify(operators()))],
    [
      "ops ScatterND --diff 11 13",
      {
        from: "ScatterND-11",
        to: "ScatterND-13",
        changes: [
          { kind: "changed", path: "sinceVersion", from: 11, to: 13 },
          { kind: "added", path: "typeConstraints.T.types.bfloat16", value: "bfloat16" },
        ],
      },
    ],
  ];
  for (const [line, expected] of rows) assert.deepEqual(json(line), expected, line);
});

test("a reader that goes away ends the command quietly", async () => {
  const args = words("run --json ScatterND big.npy none.npy empty.npy");
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: home });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((done) => child.on("close", done));
  assert.equal(stderr, "");
  assert.equal(status, 0);
});
