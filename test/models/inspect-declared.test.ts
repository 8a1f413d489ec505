/** What is certain of a model and what only its declarations say: one that is out of date makes nothing wrong. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  buildModel,
  FINDINGS,
  inspectModel,
  type Finding,
  type FindingId,
  type Model,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import type { TensorType } from "../../src/core/operators/operator.ts";
import { FINDING_ROWS } from "../fixtures/findings.ts";
import { INDEX_ROWS } from "../fixtures/findings-of-indices.ts";
import { behindUnknown, F16, F32, i64 } from "../support/node-models.ts";

/** Findings that follow from the types of inputs. */
const BY_TYPES: ReadonlySet<FindingId> = new Set([
  "reduction-undefined",
  "data-type-not-taken",
  "index-type-not-taken",
  "data-types-differ",
  "rank-does-not-fit",
  "axis-out-of-range",
  "shape-does-not-fit",
  "index-out-of-range",
  "index-filled",
  "declared-type-differs",
]);

const isFree = (id: FindingId): boolean => !BY_TYPES.has(id);

const findingsOf = (model: Model): readonly Finding[] =>
  inspectModel(model).nodes.flatMap(({ findings }) => findings);

const ROWS = [...FINDING_ROWS, ...INDEX_ROWS];

for (const [position, { ids, of, untyped = ids.filter(isFree) }] of ROWS.entries()) {
  test(`row ${position}: by declared types what was wrong is risky`, () => {
    const found = findingsOf(behindUnknown(of, (type) => type));
    const isNote = (id: FindingId): boolean => FINDINGS[id].severity === "note";
    const certain = untyped.filter((id) => !isNote(id) || ids.includes(id));
    const declared = ids.filter((id) => !untyped.includes(id));
    assert.deepEqual(
      found.map(({ id, severity }) => [id, severity]),
      [
        ...certain.map((id) => [id, FINDINGS[id].severity]),
        ...declared.map((id) => [id, isNote(id) ? "note" : "risky"]),
      ],
      found.map(({ sentence }) => sentence).join("\n"),
    );
    for (const { id, sentence } of found) {
      const says = /; this relies on the types? declared for "[a-z/]+"(, "[a-z/]+")*$/;
      const isSaid = declared.includes(id) && !isNote(id) && id !== "declared-type-differs";
      assert.equal(says.test(sentence), isSaid, sentence);
    }
  });
  test(`row ${position}: without types nothing is found that follows from them`, () => {
    const found = findingsOf(behindUnknown(of, () => null));
    assert.deepEqual(
      found.map(({ id }) => id),
      untyped,
    );
  });
}

interface Nodes {
  readonly inputs: Readonly<Record<string, TensorType>>;
  /** Declared for values between nodes, */
  readonly values: Readonly<Record<string, TensorType>>;
  /** and for outputs; "z" is always one. */
  readonly outputs?: Readonly<Record<string, TensorType | null>>;
  readonly nodes: readonly ModelNodeSpec[];
}

/** A model of opset 18 with the constant indices `seven`, of one tuple. */
function modelOf({ inputs, values, outputs = {}, nodes }: Nodes): Model {
  const model = buildModel({
    opsets: { "": 18, "com.example": 1 },
    inputs,
    constants: { seven: i64([1, 1], 7), cell: i64([1, 2], 7, 4) },
    nodes,
    outputs: { z: null, ...outputs },
  });
  model.graph.values = Object.entries(values).map(([name, type]) => ({ name, type }));
  return model;
}

const node = (op: string, inputs: readonly string[], output: string): ModelNodeSpec => ({
  op,
  name: output,
  domain: op === "Unknown" ? "com.example" : "",
  inputs,
  outputs: [output],
});

const IDENTITY = [node("Identity", ["x"], "v"), node("GatherND", ["v", "seven"], "z")];
const UNKNOWN = [node("Unknown", ["x"], "v"), node("GatherND", ["v", "seven"], "z")];
const CELL = [node("Identity", ["x"], "v"), node("GatherND", ["v", "cell"], "z")];
const CHAIN = [node("ScatterND", ["x", "seven", "u"], "v"), node("GatherND", ["v", "seven"], "z")];
const UPDATES = { u: F32(1, 4) };

/** A data type that ScatterND does not take. */
const F8 = (...shape: number[]): TensorType => ({ dtype: "float8e5m2", shape });

for (const [certain, declared, nodes] of [
  ["data", "updates", [node("Unknown", ["u"], "v"), node("ScatterND", ["x", "seven", "v"], "z")]],
  ["updates", "data", [node("Unknown", ["x"], "v"), node("ScatterND", ["v", "seven", "u"], "z")]],
] as const) {
  test(`one id for ${certain}, which is certain, and for ${declared}, which are declared`, () => {
    const values = { v: declared === "data" ? F8(8, 4) : F8(1, 4) };
    const found = findingsOf(modelOf({ inputs: { x: F8(8, 4), u: F8(1, 4) }, values, nodes }));
    assert.deepEqual(
      found.map(({ id, severity, input }) => [id, severity, input]),
      [
        ["data-type-not-taken", "wrong", certain],
        ["data-type-not-taken", "risky", declared],
      ],
    );
    assert.doesNotMatch(found[0].sentence, /relies on/);
    assert.match(found[1].sentence, /; this relies on the type declared for "v"$/);
  });
}

/** Index 7 fits in data of 8 rows and not in those of 5. */
const STALE: readonly (readonly [name: string, nodes: Nodes, found: readonly string[]])[] = [
  [
    "what Identity makes is certain, whatever is declared",
    { inputs: { x: F32(8, 4) }, values: { v: F32(5, 4) }, nodes: IDENTITY },
    [],
  ],
  [
    "nor does a declaration make right what is wrong",
    { inputs: { x: F32(5, 4) }, values: { v: F32(8, 4) }, nodes: IDENTITY },
    ["z index-out-of-range wrong"],
  ],
  [
    "a declaration that says more than is certain is believed",
    { inputs: { x: F32("N", 4) }, values: { v: F32(5, 4) }, nodes: IDENTITY },
    ["z index-out-of-range risky"],
  ],
  [
    "one that says no more changes nothing",
    { inputs: { x: F32(5, "N") }, values: { v: F32(5, null) }, nodes: IDENTITY },
    ["z index-out-of-range wrong"],
  ],
  [
    "what is wrong for certain is not reported twice",
    { inputs: { x: F32("N", 4) }, values: { v: F32(5, 4) }, nodes: CELL },
    ["z index-out-of-range wrong"],
  ],
  [
    "of an unknown node nothing is certain",
    { inputs: { x: F32(8, 4) }, values: { v: F32(5, 4) }, nodes: UNKNOWN },
    ["z index-out-of-range risky"],
  ],
  [
    "nobody holds an output to what is declared for it either",
    { inputs: { x: F32(8, 4) }, values: {}, outputs: { v: F32(5, 4) }, nodes: UNKNOWN },
    ["z index-out-of-range risky"],
  ],
  [
    "what the family makes is certain, and its stale declaration is found",
    { inputs: { x: F32(8, 4), ...UPDATES }, values: { v: F32(5, 4) }, nodes: CHAIN },
    ["v declared-type-differs risky"],
  ],
  [
    "where an output of the model is declared to be another type, that is wrong",
    { inputs: { x: F32(8, 4), ...UPDATES }, values: {}, outputs: { v: F32(5, 4) }, nodes: CHAIN },
    ["v declared-type-differs wrong"],
  ],
  [
    "but not where the inputs are only declared as well",
    {
      inputs: { x: F32(8, 4), ...UPDATES },
      values: { v: F32(8, 4) },
      outputs: { w: F32(5, 4) },
      nodes: [node("Unknown", ["x"], "v"), node("ScatterND", ["v", "seven", "u"], "w")],
    },
    ["w declared-type-differs risky"],
  ],
  [
    "what follows from declarations is passed on as such",
    {
      inputs: { x: F32(8, 4), ...UPDATES },
      values: { v: F32(8, 4) },
      nodes: [
        node("Unknown", ["x"], "v"),
        node("ScatterND", ["v", "seven", "u"], "w"),
        node("GatherND", ["w", "cell"], "z"),
      ],
    },
    ["z index-out-of-range risky"],
  ],
  [
    "a data type comes for certain with updates, a shape does not",
    {
      inputs: { x: F32(8, 4), ...UPDATES, h: F16(1) },
      values: { v: F32(8, 4) },
      nodes: [
        node("Unknown", ["x"], "v"),
        node("ScatterND", ["v", "seven", "u"], "w"),
        node("ScatterND", ["w", "cell", "h"], "z"),
      ],
    },
    ["z data-types-differ wrong", "z index-out-of-range risky"],
  ],
];

for (const [name, nodes, expected] of STALE) {
  test(name, () => {
    const found = inspectModel(modelOf(nodes)).nodes.flatMap((one) =>
      one.findings.map(({ id, severity }) => `${one.name} ${id} ${severity}`),
    );
    assert.deepEqual(found, expected);
  });
}

test("a finding names the values whose declarations it relies on", () => {
  const [{ sentence, at }] = findingsOf(
    modelOf({ inputs: { x: F32("N", 4) }, values: { v: F32(5, 4) }, nodes: IDENTITY }),
  );
  assert.equal(
    sentence,
    'indices[0, 0] is 7, but axis 0 of data [5, 4] takes -5 to 4; this relies on the type declared for "v"',
  );
  assert.deepEqual(at, [0, 0]);
  const [{ type }] = inspectModel(
    modelOf({ inputs: { x: F32("N", 4) }, values: { v: F32(5, null) }, nodes: IDENTITY }),
  ).nodes[0].inputs;
  assert.deepEqual(type, F32(5, 4));
});

test("values whose declarations add nothing are not named", () => {
  const model = modelOf({
    inputs: { x: F32("N", 4), u: F32(1, 4) },
    values: { v: F32(5, 4), w: F32(1, 4) },
    nodes: [
      node("Identity", ["x"], "v"),
      node("Identity", ["u"], "w"),
      node("ScatterND", ["v", "seven", "w"], "z"),
    ],
  });
  const [{ sentence }] = findingsOf(model);
  assert.match(sentence, /; this relies on the type declared for "v"$/);
  // One value may be several inputs.
  model.graph.nodes[2].inputs[2] = "v";
  assert.match(findingsOf(model)[0].sentence, /; this relies on the type declared for "v"$/);
});

test("the inputs of a body and of a function are what their callers pass, whatever is declared", () => {
  const gathering = modelOf({
    inputs: { v: F32(5, 4) },
    values: {},
    nodes: [node("GatherND", ["v", "seven"], "z")],
  });
  const model = modelOf({
    inputs: { x: F32(8, 4) },
    values: {},
    nodes: [node("Loop", ["x"], "z")],
  });
  const graphs = [gathering.graph];
  model.graph.nodes[0].attributes["body"] = { type: "other", value: "GRAPH", graphs };
  const { graph } = gathering;
  const untyped = { ...graph, inputs: [{ name: "v", type: null }], values: graph.inputs };
  const opsets = { "ai.onnx": 18 };
  const functions = [{ name: "F", domain: "com.example", opsets, graph: untyped }];
  const { nodes } = inspectModel({ ...model, functions });
  assert.deepEqual(
    nodes.map(({ path, findings }) => [path[0], ...findings.map((one) => one.severity)]),
    [
      ['Loop "z"', "risky"],
      ["function com.example.F", "risky"],
    ],
  );
  // The model's own inputs are what its caller is held to.
  assert.equal(findingsOf(gathering)[0].severity, "wrong");
});
