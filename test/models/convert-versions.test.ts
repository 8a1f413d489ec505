/** Operators outside the family in another opset: what becomes of them, and what the table knows of their versions. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FACTS } from "../../src/models/convert/versions/convert-versions.ts";
import { TYPES as GROUPS } from "../../src/models/convert/versions/facts.ts";
import { HISTORIES, historyOf } from "../../src/models/convert/versions/table.ts";
import { isOperator } from "../../src/core/operators/registry.ts";
import { isTensorError } from "../../src/core/errors.ts";
import {
  buildModel,
  convertModel,
  type Model,
  type ModelNode,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import { DTYPE_NAMES, isDType, type DType } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { SETS, TYPES } from "../fixtures/onnx-types.ts";
import { VERSION_REWRITES, versionModel } from "../fixtures/version-rewrites.ts";
import type { TensorType } from "../../src/entries/index.ts";
import { assertSince, reasonOf } from "../support/convert-reasons.ts";
import { F32, i64, onnxModel, UNRANKED } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const plain = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(Number) : typeof value === "bigint" ? Number(value) : value;

/** `op inputs | attributes` */
function printNode({ op, inputs, attributes }: ModelNode): string {
  const settings = Object.entries(attributes).map(
    ([name, { value }]) => `${name}=${JSON.stringify(plain(value))}`,
  );
  const words = [op, ...inputs.map((name) => name || "-")].join(" ");
  return settings.length === 0 ? words : `${words} | ${settings.join(" ")}`;
}

/** The types of the inputs and of the outputs that a version takes. */
interface VersionTypes {
  readonly version: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const versionsOf = (row: string): { readonly op: string; readonly versions: VersionTypes[] } => {
  const [op, ...versions] = row.trim().split(/\s+/);
  const setsOf = (list: string): string[] =>
    list === "" ? [] : list.split(",").map((one) => SETS[Number(one)]);
  return {
    op,
    versions: versions.map((text) => {
      const [version, inputs, outputs] = text.split(/[:>]/);
      return { version: Number(version), inputs: setsOf(inputs), outputs: setsOf(outputs) };
    }),
  };
};

/** A line that begins with blanks goes on with the operator before. */
const ROWS = TYPES.trim()
  .split(/\n(?! )/)
  .map(versionsOf);

for (const row of VERSION_REWRITES) {
  const {
    from,
    to,
    node,
    attributes = {},
    becomes,
    code = "unsupported-model",
    since,
    adds = {},
  } = row;
  const settings = Object.keys(attributes).join(" ");
  test(`opset ${from} to ${to}: ${node} ${settings}`, () => {
    const model = buildModel(versionModel(row));
    const before = new Set(model.graph.constants.map(({ name }) => name));
    if (becomes === null) {
      assertRefused(code, {}, () => convertModel(model, { opset: to }));
      if (since !== undefined) assertSince(since, (opset) => convertModel(model, { opset }));
      return;
    }
    const { graph } = convertModel(model, { opset: to }).model;
    // 2^63 - 1 is no number of JavaScript.
    const wanted = becomes.map((one) =>
      one.replaceAll("9223372036854775807", "9223372036854776000"),
    );
    assert.deepEqual(graph.nodes.map(printNode), wanted);
    assert.deepEqual(graph.nodes.at(-1)?.outputs, model.graph.nodes[0].outputs);
    const added = graph.constants.filter(({ name }) => !before.has(name));
    assert.deepEqual(added.map(({ name }) => name).toSorted(), Object.keys(adds).toSorted());
    for (const { name, read } of added)
      if (!equals(read(), adds[name])) assert.fail(`${name} is ${read()}`);
  });
}

test("every operator of ONNX is of the family or has its versions, and there are no others", () => {
  assert.deepEqual(ROWS.map(({ op }) => op).toSorted(), [...HISTORIES.keys()].toSorted());
  assert.equal(ROWS.length, 197);
  for (const { op } of ROWS) assert.ok(!isOperator({ domain: "ai.onnx", op }), op);
});

test("every data type is in a list of src/models/convert/versions/facts.ts", () => {
  assert.deepEqual([...GROUPS["all"], ...GROUPS["later"]].toSorted(), [...DTYPE_NAMES].toSorted());
});

test("what stays as it is in another opset is the same node", () => {
  const model = onnxModel(13, {
    inputs: { x: F32(2, 3) },
    nodes: [
      { op: "Relu", inputs: ["x"], outputs: ["a"] },
      { op: "Transpose", inputs: ["a"], outputs: ["y"], attributes: { perm: [1, 0] } },
    ],
  });
  const { model: converted, changes } = convertModel(model, { opset: 24 });
  assert.equal(converted.graph, model.graph);
  assert.deepEqual(changes, []);
});

test("a constant that other nodes use stays for them, and one that is left is removed", () => {
  const model = onnxModel(13, {
    inputs: { x: F32(2, 1) },
    constants: { axes: i64([1], 1), own: i64([1], 0) },
    nodes: [
      { op: "Squeeze", inputs: ["x", "axes"], outputs: ["a"] },
      { op: "Unsqueeze", inputs: ["a", "own"], outputs: ["b"] },
      { op: "Gather", inputs: ["b", "axes"], outputs: ["y"] },
    ],
  });
  const { graph } = convertModel(model, { opset: 12 }).model;
  assert.deepEqual(
    graph.constants.map(({ name }) => name),
    ["axes"],
  );
});

test("nodes that leave out their first output have constants of their own", () => {
  const split = (output: string, ...sizes: number[]): ModelNodeSpec => ({
    op: "Split",
    inputs: ["x"],
    outputs: ["", output],
    attributes: { split: sizes },
  });
  const model = onnxModel(11, {
    inputs: { x: F32(8) },
    nodes: [split("a", 1, 7), split("b", 3, 5)],
    outputs: { a: null, b: null },
  });
  const { graph } = convertModel(model, { opset: 13 }).model;
  assert.deepEqual(graph.nodes.map(printNode), ["Split x a/split", "Split x b/split"]);
  assert.deepEqual(
    graph.constants.map(({ read }) => read().toArray()),
    [
      [1n, 7n],
      [3n, 5n],
    ],
  );
  // Nodes without outputs, which no runtime takes, are called after their operator.
  for (const node of model.graph.nodes) node.outputs = [];
  model.graph.outputs = [];
  const without = convertModel(model, { opset: 13 }).model.graph;
  assert.deepEqual(without.nodes.map(printNode), ["Split x Split/split", "Split x Split/split_1"]);
});

test("a Softmax that is reshaped in opset 13 needs elements, and says so where it may have none", () => {
  const countNotes = (x: TensorType, axis: number, opset: number): number => {
    const nodes = [
      { op: "Softmax", name: "s", inputs: ["x"], outputs: ["y"], attributes: { axis } },
    ];
    const { notes } = convertModel(onnxModel(11, { inputs: { x }, nodes }), { opset });
    for (const note of notes) reportSentence("note", note);
    return notes.length;
  };
  assert.equal(countNotes(F32(2, 3, 4), 1, 13), 0);
  assert.equal(countNotes(F32("N", 3, 4), 1, 13), 0);
  assert.equal(countNotes(F32("N", 3, 4), 0, 13), 1);
  assert.equal(countNotes(F32(2, 3, "N"), 1, 13), 1);
  assert.equal(countNotes(F32(2, 3, "N"), 1, 14), 0);
  assert.equal(countNotes(UNRANKED, 1, 13), 1);
});

test("nodes in bodies are converted, with constants of their own graphs", () => {
  const body = onnxModel(11, {
    nodes: [{ op: "Unsqueeze", inputs: ["x"], outputs: ["b"], attributes: { axes: [0] } }],
    outputs: { b: null },
  }).graph;
  const model = onnxModel(11, {
    inputs: { c: { dtype: "bool", shape: [] }, x: F32(2) },
    nodes: [{ op: "If", inputs: ["c"], outputs: ["y"] }],
  });
  const branch = { type: "other", value: "GRAPH", graphs: [body] } as const;
  model.graph.nodes[0].attributes = { then_branch: branch, else_branch: branch };
  const { graph } = convertModel(model, { opset: 13 }).model;
  const { then_branch: changed } = graph.nodes[0].attributes;
  assert.ok(changed.type === "other" && changed.graphs);
  assert.deepEqual(changed.graphs[0].nodes.map(printNode), ["Unsqueeze x b/axes"]);
  assert.deepEqual(
    changed.graphs[0].constants.map(({ name }) => name),
    ["b/axes"],
  );
  assert.deepEqual(graph.constants, []);
});

/** Below, versions differ in more than types, and runtimes do not take them. */
const OLDEST = 7;

/** A node of a version whose values of the same kind as the one at `place` are of a data type, or of none that is known. */
function typedModel(
  op: string,
  older: VersionTypes,
  newer: VersionTypes,
  place: string,
  dtype: DType | null,
): Model {
  const kindOf = (sets: VersionTypes, others: VersionTypes, one: string): string => {
    const list = one.startsWith(">") ? "outputs" : "inputs";
    const at = Number(one.replace(">", ""));
    return `${sets[list][at]}|${others[list][at]}`;
  };
  const kind = kindOf(newer, older, place);
  const typeAt = (one: string): TensorType | null => {
    const isSame = kindOf(newer, older, one) === kind;
    if (isSame) return dtype && { dtype, shape: [2, 3] };
    const [own, before] = kindOf(newer, older, one).split("|");
    const common = own.split(" ").find((each) => before.split(" ").includes(each)) ?? "float32";
    return { dtype: common as DType, shape: [2, 3] };
  };
  const names = newer.inputs.map((_, at) => `x${at}`);
  const outputs = newer.outputs.map((_, at) => `y${at}`);
  const model = onnxModel(newer.version, {
    nodes: [{ op, inputs: names, outputs }],
    outputs: Object.fromEntries(outputs.map((name, at) => [name, typeAt(`>${at}`)])),
  });
  model.graph.inputs = names.map((name, at) => ({ name, type: typeAt(`${at}`) }));
  return model;
}

/**
 * Operators of sequences and optionals, whose types are not known here, of data types that an attribute decides, and of
 * definitions whose operators take the data types.
 */
const OTHERWISE = new Set(
  `Celu NegativeLogLikelihoodLoss Optional OptionalGetElement OptionalHasElement SplitToSequence ConstantOfShape RandomNormal RandomNormalLike
  RandomUniform RandomUniformLike`.split(/\s+/),
);

/** Reasons that are a data type, or that the data type is unknown: those of Relu, which has no others. */
const OF_TYPES = new Set(
  ([{ dtype: "bfloat16", shape: [2] }, null] as const).map((type) => {
    const relu = { op: "Relu", inputs: ["x"], outputs: ["y"] };
    const model = onnxModel(13, { nodes: [relu], outputs: { y: type } });
    model.graph.inputs = [{ name: "x", type }];
    return reasonOfRefusal(model, 12);
  }),
);

test("a data type is a reason, and an unknown data type is another one", () => {
  assert.deepEqual([OF_TYPES.size, OF_TYPES.has("")], [2, false]);
});

for (const { op, versions } of ROWS) {
  test(`${op} has the versions that ONNX has`, () => {
    const history = historyOf(op);
    assert.deepEqual(
      history.map(({ since }) => since),
      versions.map(({ version }) => version),
    );
    for (const [fact] of history.flatMap(({ facts }) => facts)) assert.ok(fact in FACTS, fact);
  });

  if (OTHERWISE.has(op)) continue;
  test(`${op} is refused in versions that do not take its data types, and in no others for that`, () => {
    for (const [at, newer] of versions.entries()) {
      const { [at - 1]: older } = versions;
      if (at === 0 || newer.version <= OLDEST) continue;
      const places = [
        ...newer.inputs.slice(0, older.inputs.length).map((_, place) => `${place}`),
        ...newer.outputs.slice(0, older.outputs.length).map((_, place) => `>${place}`),
      ];
      for (const place of places) {
        const list = place.startsWith(">") ? "outputs" : "inputs";
        const [now, before] = [newer, older].map((one) =>
          one[list][Number(place.replace(">", ""))].split(" "),
        );
        const reasonFor = (dtype: DType | null): string =>
          reasonOfRefusal(typedModel(op, older, newer, place, dtype), newer.version - 1);
        const where = `${op}-${newer.version} to ${older.version} at ${place}`;
        const added = now.filter((dtype) => !before.includes(dtype));
        for (const dtype of now.filter(isDType)) {
          const reason = reasonFor(dtype);
          if (added.includes(dtype)) assert.notEqual(reason, "", `${where}: ${dtype}`);
          else assert.ok(!OF_TYPES.has(reason), `${where}: ${dtype}: ${reason}`);
        }
        if (added.length > 0 && list === "inputs") assert.notEqual(reasonFor(null), "", where);
      }
    }
  });
}

/** Why a model of one node cannot be converted to an opset; empty if it can be. */
function reasonOfRefusal(model: Model, opset: number): string {
  try {
    convertModel(model, { opset });
    return "";
  } catch (error) {
    assert.ok(isTensorError(error) && isTensorError(error.cause), String(error));
    return reasonOf(error.cause.message);
  }
}

test("a model that is newer than what ONNX Runtime loads has a note", () => {
  const nodes = [{ op: "Identity", inputs: ["x"], outputs: ["y"] }];
  const model = onnxModel(18, { inputs: { x: F32(2) }, nodes });
  const countNotes = (given: Model, opset: number): number => {
    const { notes } = convertModel(given, { opset });
    for (const note of notes) reportSentence("note", note);
    return notes.length;
  };
  assert.equal(countNotes(model, 26), 0);
  for (const opset of [27, 28, 29]) assert.equal(countNotes(model, opset), 1);
  assert.equal(countNotes({ ...model, irVersion: 13 }, 18), 0);
  assert.equal(countNotes({ ...model, irVersion: 14 }, 18), 1);
});

test("a value of a data type that is not known is refused where a constant needs that type", () => {
  const model = onnxModel(10, {
    inputs: { x: F32(2) },
    nodes: [
      { op: "Odd", domain: "d", inputs: ["x"], outputs: ["z"] },
      { op: "Clip", inputs: ["z"], outputs: ["y"], attributes: { min: 0.5 } },
    ],
    opsets: { "ai.onnx": 10, d: 1 },
  });
  assert.throws(() => convertModel(model, { opset: 13 }), {
    code: "unsupported-model",
    message: /Clip-11 has an input of the data type of "z", which is not known/,
  });
});
