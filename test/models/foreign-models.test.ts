/** Models that were edited by hand: whatever a field of theirs holds, every function that takes them says so. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import * as onnx from "../../src/entries/onnx.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { caseList } from "../support/cases.ts";
import { F32, i64, onnxModel } from "../support/node-models.ts";
import { SEED } from "../support/random.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

type Model = onnx.Model;

/** What reading a constant throws is its owner's, and passes through. */
const OWN = new RangeError("the caller's own error");
const fails = (): never => {
  throw OWN;
};

/** Data, indices that are a constant, nodes in a body and in a function, and an attribute of each type. */
function model(): Model {
  const attributes = {
    axes: [0, 1],
    floats: [0.5],
    strings: ["a"],
    half: 0.5,
    mode: "linear",
    value: tensor("float32", [], 1),
    tensors: { type: "tensors", value: [onnx.constant("t", zeros("int8", [1]))] },
  } as const;
  const body = onnxModel(13, {
    nodes: [{ op: "Squeeze", inputs: ["x", "i"], outputs: ["b"] }],
    outputs: { b: null },
  }).graph;
  const made = onnxModel(13, {
    inputs: { x: F32(1, "N"), c: { dtype: "bool", shape: [] } },
    constants: { i: i64([1], 0) },
    nodes: [
      { op: "ReduceSum", name: "sum", inputs: ["x"], outputs: ["s"], attributes },
      { op: "Gather", name: "g", inputs: ["x", "i"], outputs: ["y"], attributes: { axis: 0 } },
      { op: "If", inputs: ["c"], outputs: ["z"] },
    ],
    outputs: { y: F32(1, "N") },
  });
  const branch = { type: "other", value: "GRAPH", graphs: [body] } as const;
  made.graph.nodes[2].attributes = { then_branch: branch };
  made.graph.values = [{ name: "s", type: F32(1, 1) }];
  made.graph.aliases = { s: ["t", "u"] };
  const functions = [{ name: "f", domain: "d", opsets: { "ai.onnx": 13 }, graph: { ...body } }];
  return { ...made, functions };
}

const x = zeros("float32", [1, 2]);

const TAKERS: Readonly<Record<string, (model: Model) => unknown>> = {
  "convertModel up": (one) => onnx.convertModel(one, { opset: 18 }),
  "convertModel down": (one) => onnx.convertModel(one, { opset: 9 }),
  "convertModel, force": (one) => onnx.convertModel(one, { opset: 9 }, { force: true }),
  "convertModel to OpenVINO": (one) => onnx.convertModel(one, { domain: "openvino" }),
  extractNode: (one) => onnx.extractNode(one, "g"),
  "extractNode of a body": (one) => onnx.extractNode(one, "b"),
  inspectModel: (one) => onnx.inspectModel(one),
  writeModel: (one) => onnx.writeModel(one),
  writeIR: (one) => writeIR(one),
  externalFiles: (one) => onnx.externalFiles(one),
  unsupportedOperators: (one) => onnx.unsupportedOperators(one),
  runModel: (one) => onnx.runModel(one, { x }),
};

/** None is what a field of a model may hold, or if it is, it means nothing there. */
// prettier-ignore
const ODD: readonly unknown[] = [
  ...[undefined, null, true, NaN, -1, 2 ** 40, -(2n ** 63n), Symbol("odd"), "", "__proto__"],
  ...[[], [null], [2n ** 70n], {}, fails, Array.from({ length: 65 }, () => "x")],
  { type: "int", value: 2 ** 40 }, { type: "int", value: "x" }, { type: "float", value: "x" },
  { type: "ints", value: [-99, 99] }, { type: "ints", value: "x" }, { type: "strings", value: [1] },
  { type: "tensor", value: {} }, { type: "tensors", value: [null] }, { type: "odd", value: 1 },
  { type: "tensor", value: { name: "", dtype: "float32", shape: [1], read: fails } },
  { type: "other", value: "GRAPH", graphs: [{}] }, { type: "other", value: "GRAPH", graphs: 5 },
  { type: "other", value: "GRAPH", graphs: null }, { type: "other", value: "INT", reference: "a" },
];

const isTensor = (value: object): boolean => "toArray" in value || ArrayBuffer.isView(value);

/** The places of all fields. */
function* placesIn(value: unknown, before: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null || isTensor(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [...before, key];
    yield* placesIn(inner, [...before, key]);
  }
}

/** A copy in which the place holds `odd`. */
function withOdd(value: unknown, [key, ...others]: readonly string[], odd: unknown): unknown {
  if (key === undefined) return odd;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as object) };
  Object.defineProperty(copy, key, { value: withOdd(copy[key], others, odd) });
  return copy;
}

// One reader makes models from foreign ones, so only the first function takes all of ODD; the seed chooses for the others.
let turn = SEED;

for (const [nth, [name, take]] of Object.entries(TAKERS).entries()) {
  test(`${name} says what is wrong with a model, whatever field is odd`, () => {
    const surprises = new Set<string>();
    const sound = model();
    for (const place of placesIn(sound)) {
      for (const odd of nth === 0 ? ODD : caseList(ODD, turn++)) {
        const given = withOdd(sound, place, odd) as Model;
        try {
          take(given);
        } catch (error) {
          if (!isTensorError(error) && error !== OWN)
            surprises.add(`${place.join(".")}: ${String(error)}`);
        }
      }
    }
    assert.deepEqual([...surprises].slice(0, 10), []);
  });
}

// prettier-ignore
const REFUSALS: readonly (readonly [place: string, odd: unknown, code: ErrorCode, facts?: Facts])[] = [
  ["irVersion", "8", "malformed-file"],
  ["producer", null, "malformed-file"],
  ["functions.0", new Proxy({}, { get: fails }), "malformed-file"],
  ["functions.0.name", 1, "malformed-file"],
  ["functions.0.domain", 1, "malformed-file"],
  ["graph.name", undefined, "malformed-file"],
  ["graph.inputs.0.name", 5, "malformed-file"],
  ["graph.inputs.0.type", undefined, "malformed-file"],
  ["graph.inputs.0.type.dtype", "f32", "dtype", { input: "x" }],
  ["graph.inputs.0.type.shape", 5, "malformed-file"],
  ["graph.inputs.0.type.shape.0", -1, "shape-mismatch", { input: "x" }],
  ["graph.constants.0.shape.0", "N", "shape-mismatch", { input: "i" }],
  ["graph.constants.0.read", 5, "malformed-file"],
  ["graph.nodes.0.name", 1n, "malformed-file"],
  ["graph.nodes.0.op", [], "malformed-file"],
  ["graph.nodes.0.opset", "13", "malformed-file"],
  ["graph.nodes.1.inputs.0", 7, "malformed-file"],
  ["graph.nodes.1.outputs.0", 7, "malformed-file"],
  ["graph.nodes.0.attributes.axes", 1, "malformed-file"],
  ["graph.nodes.0.attributes.axes.value", "ab", "malformed-file"],
  ["graph.nodes.0.attributes.axes.value.1", "b", "malformed-file"],
  ["graph.nodes.0.attributes.half.value", "b", "malformed-file"],
  ["graph.nodes.0.attributes.half.type", "odd", "malformed-file"],
  ["graph.nodes.2.attributes.then_branch.graphs.0.nodes.0.op", 5, "malformed-file"],
];

for (const [place, odd, code, facts = {}] of REFUSALS) {
  test(`${place}: ${code}`, () => {
    const given = withOdd(model(), place.split("."), odd) as Model;
    assertRefused(code, facts, () => onnx.convertModel(given, { opset: 13 }));
  });
}

/** A model whose Squeeze has the constant `a` for its axes. */
function squeezing(read: () => unknown): Model {
  const made = onnxModel(13, {
    inputs: { x: F32(1, 2) },
    nodes: [{ op: "Squeeze", inputs: ["x", "a"], outputs: ["y"] }],
  });
  made.graph.constants.push({ name: "a", dtype: "int64", shape: [1], read: read as never });
  return made;
}

for (const [name, code, facts, read] of [
  ["returns nothing", "dtype", { input: "a" }, () => undefined],
  ["returns another tensor", "malformed-file", {}, () => zeros("int64", [5000])],
] as const) {
  test(`a constant whose read ${name} is refused where its values are needed`, () => {
    assertRefused(code, facts, () => onnx.convertModel(squeezing(read), { opset: 12 }));
    // Its values are not needed: it is copied as it is.
    const { graph } = onnx.convertModel(squeezing(read), { opset: 18 }).model;
    assert.deepEqual(
      graph.constants.map((one) => one.read),
      [read],
    );
  });
}

test("what the read of a constant throws is its owner's", () => {
  assert.throws(
    () => onnx.convertModel(squeezing(fails), { opset: 12 }),
    (error) => error === OWN,
  );
});

test("read may be a method of a class", () => {
  class Axes {
    readonly name = "a";
    readonly dtype = "int64";
    readonly shape = [1];
    readonly #value = i64([1], 0);
    read() {
      return this.#value;
    }
  }
  const made = squeezing(fails);
  made.graph.constants = [new Axes()];
  const { graph } = onnx.convertModel(made, { opset: 12 }).model;
  assert.deepEqual(graph.nodes[0].attributes["axes"].value, [0n]);
  assert.deepEqual(onnx.extractNode(made, "y").graph.outputs, [{ name: "y", type: F32(2) }]);
  assert.deepEqual(onnx.inspectModel(made).findings, []);
});

test("a body that holds itself is refused", () => {
  const made = model();
  const { attributes } = made.graph.nodes[2];
  const itself = { type: "other", value: "GRAPH", graphs: [made.graph] } as const;
  attributes["then_branch"] = itself;
  attributes["else_branch"] = itself;
  for (const take of Object.values(TAKERS)) {
    assertRefused("malformed-file", {}, () => take(made));
  }
});

test("bodies more than 16 deep are not converted", () => {
  const inBodies = (depth: number): Model => {
    const made = model();
    for (let count = 0; count < depth; count++) {
      const branch = { type: "other", value: "GRAPH", graphs: [made.graph] } as const;
      made.graph = onnxModel(13, { nodes: [{ op: "If", inputs: ["c"], outputs: ["z"] }] }).graph;
      made.graph.nodes[0].attributes = { then_branch: branch };
    }
    return made;
  };
  assert.equal(onnx.convertModel(inBodies(15), { opset: 18 }).changes.length, 0);
  assertRefused("too-large", {}, () =>
    onnx.convertModel(inBodies(16), { opset: 18 }, { force: true }),
  );
});
