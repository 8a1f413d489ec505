/** What operators make of the types of their inputs, row by row, and what is found through them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { elementsOf, NOTHING_KNOWN, type Known } from "../../src/models/model/known.ts";

import { outputsOf, TYPE_RULES } from "../../src/models/model/types/table.ts";
import { buildModel, inspectModel, type AttributeInput } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import * as rows from "../fixtures/type-rules.ts";
import { knownFrom, printKnown } from "../support/known-text.ts";
import { randomFrom } from "../support/random.ts";

type Attributes = Readonly<Record<string, AttributeInput>>;

function nodeOf(op: string, inputs: readonly string[], count: number, attributes: Attributes) {
  const outputs = Array.from({ length: count }, (_, at) => `y${at}`);
  const spec = { op, inputs, outputs, attributes };
  return buildModel({ opsets: {}, nodes: [spec], outputs: {} }).graph.nodes[0];
}

const ROWS = Object.values(rows).flat();

for (const [op, opset, inputs, attributes, outputs] of ROWS) {
  test(`${op}-${opset} of ${inputs} makes ${outputs} (${Object.keys(attributes).join()})`, () => {
    const given = inputs === "" ? [] : inputs.split("; ");
    const wanted = outputs.split("; ");
    const names = given.map((text, at) => (text === "-" ? "" : `x${at}`));
    const node = nodeOf(op, names, wanted.length, attributes);
    const made = outputsOf(node, opset, given.map(knownFrom));
    const printed = wanted.map((_, at) => printKnown(made[at] ?? NOTHING_KNOWN));
    assert.deepEqual(printed, wanted);
  });
}

test("rules are those of a domain, and there are no others", () => {
  const made = (domain: string, op: string): string[] =>
    outputsOf({ ...nodeOf(op, ["x"], 1, {}), domain }, 1, [knownFrom("float32[N]")]).map(
      printKnown,
    );
  assert.deepEqual(made("com.microsoft", "Gelu"), ["float32[N]"]);
  assert.deepEqual(made("ai.onnx", "Gelu"), ["float32[N]"]);
  for (const [op, inputs, attributes, outputs] of [
    [
      "EmbedLayerNormalization",
      "int32[B, S]; int32[B, S]; float16[9, 4]",
      {},
      ["float16[B, S, 4]", "int32[B]", "float16[B, S, 4]"],
    ],
    ["GatherBlockQuantized", "uint4[9, 8]; int64[N]; float16[9, 1]", {}, ["float16[N, 8]"]],
    [
      "GatherBlockQuantized",
      "uint8[9, 8]; int64[N]; float32[9, 1]",
      { gather_axis: 0 },
      ["float32[N, ?]"],
    ],
  ] as const) {
    const given = inputs.split("; ");
    const node = nodeOf(
      op,
      given.map((_, at) => `x${at}`),
      outputs.length,
      attributes,
    );
    const known = outputsOf({ ...node, domain: "com.microsoft" }, 1, given.map(knownFrom));
    assert.deepEqual(known.map(printKnown), outputs);
  }
  for (const [domain, op] of [
    ["com.microsoft", "Relu"],
    ["com.example", "Relu"],
    ["ai.onnx", "Other"],
    ["ai.onnx", "toString"],
    ["toString", "Relu"],
  ]) {
    assert.deepEqual(made(domain, op), []);
  }
  const relu = nodeOf("Relu", ["x"], 1, {});
  assert.deepEqual(outputsOf(relu, null, [knownFrom("float32[N]")]), []);
});

test("every rule has a row", () => {
  const tested = new Set(ROWS.map(([op]) => TYPE_RULES["ai.onnx"][op]));
  const missing = Object.entries(TYPE_RULES["ai.onnx"]).filter(([, rule]) => !tested.has(rule));
  assert.deepEqual(
    missing.map(([op]) => op),
    [],
  );
});

/** Values of which a rule may be given anything: types that fit and types that do not, elements, nothing. */
const VALUES = [
  "?",
  "float32[...]",
  "float32[]",
  "float32[2, N]",
  "float32[?, 3, 4]",
  "float32[N, 0, 3, 4]",
  "int64[2]",
  "int64[N]",
  "int64{2, 3}",
  "int64{0, -1}",
  "int64{}",
  "int64{9007199254740991}",
  "int64{N, -5, ?}",
  "int64(3)",
  "int64{9223372036854775807, -9223372036854775808}",
  "int32{-2147483648}",
  "bool{1, 0, ?}",
  "float32{0.5, -2, 1, 1}",
].map(knownFrom);

const ATTRIBUTES =
  `num_scan_inputs axis axes keepdims start end starts ends perm to split shape pads kernel_shape strides dilations auto_pad group
  output_shape ceil_mode blocksize k equation hidden_size layout direction noop_with_empty_axes value allowzero
  num_outputs dtype output_dtype pooled_shape scales q_num_heads kv_num_heads output_padding`.split(
    /\s+/,
  );

const GIVEN: readonly AttributeInput[] = [
  ...[
    0,
    1,
    -1,
    2,
    -7,
    2 ** 53 - 1,
    1 - 2 ** 53,
    2n ** 63n - 1n,
    0.5,
    "ij,jk->ik",
    "SAME_UPPER",
    "bidirectional",
  ],
  ...[[], [0], [1, 2], [2, 2, 1], [-1, 0], [-(2n ** 63n), 1n], [0.5], ["a"]],
  { type: "other", value: "int", reference: "x" },
  tensor("int64", [1], [5]),
  tensor("string", [1], ["a"]),
];

const isSound = ({ type, constant, elements }: Known): boolean => {
  const dims = type?.shape ?? [];
  const areSizes = dims.every(
    (dim) => typeof dim !== "number" || (Number.isSafeInteger(dim) && dim >= 0),
  );
  const list = elementsOf({ type, constant, elements });
  const areWhole = list?.every((one) => typeof one !== "number" || Number.isSafeInteger(one));
  const isOfShape = list === null || (dims.length < 2 && list.length === (dims[0] ?? 1));
  return areSizes && (areWhole ?? true) && isOfShape;
};

test("no rule throws or makes up what is no size, whatever a node looks like", () => {
  const next = randomFrom(31);
  const pick = <T>(list: readonly T[]): T => list[next(list.length)];
  let known = 0;
  for (const op of Object.keys(TYPE_RULES["ai.onnx"])) {
    for (let round = 0; round < 150; round++) {
      const given = Array.from({ length: next(5) }, () => pick(VALUES));
      const names = given.map((_, at) => (next(9) === 0 ? "" : `x${at}`));
      const chosen = Array.from(
        { length: next(6) },
        () => [pick(ATTRIBUTES), pick(GIVEN)] as const,
      );
      const node = nodeOf(op, names, next(4), Object.fromEntries(chosen));
      const opset = 1 + next(24);
      for (const made of outputsOf(node, opset, given)) {
        if (made.type !== null) known++;
        assert.ok(isSound(made), `${op}-${opset}: ${printKnown(made)}`);
      }
    }
  }
  assert.ok(known > 3000, `${known} types`);
});

test("lists of any length do not overflow the stack", () => {
  const names = Array.from({ length: 300_000 }, (_, at) => `x${at}`);
  const max = nodeOf("Max", names, 1, {});
  const known = knownFrom("int64{2, 3}");
  const largest = outputsOf(
    max,
    18,
    names.map(() => known),
  );
  assert.deepEqual(largest.map(printKnown), ["int64{2, 3}"]);
  const weights = nodeOf("TfIdfVectorizer", ["x"], 1, { ngram_indexes: names.map((_, at) => at) });
  const made = outputsOf(weights, 9, [knownFrom("int64[4]")]);
  assert.deepEqual(made.map(printKnown), ["float32[300000]"]);
  const joined = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "int64", shape: [1, 1] }, u: { dtype: "float32", shape: null } },
    constants: { zeros: tensor("float32", [9], [0, 0, 0, 0, 0, 0, 0, 0, 0]) },
    nodes: [
      { op: "Concat", inputs: names.map(() => "x"), outputs: ["at"], attributes: { axis: 0 } },
      { op: "ScatterND", inputs: ["zeros", "at", "u"], outputs: ["sums"] },
      { op: "Add", inputs: ["sums", "u"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });
  const [{ findings }] = inspectModel(joined).nodes;
  assert.deepEqual(
    findings.map(({ id }) => id),
    ["repeats-lost"],
  );
});
