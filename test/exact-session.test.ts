/** Exact sessions: how models are cut, and that everything but the replaced nodes is the runtime's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createExactSession,
  runModel,
  writeModel,
  type Attribute,
  type Model,
  type ModelSpec,
  type Tensors,
} from "../src/entries/onnx.ts";
import { equals, tensor, type Tensor } from "../src/core/tensor/tensor.ts";
import { LocalTensor, localRuntime, type LocalSession } from "./support/local-runtime.ts";
import { BOOL, F32, f32, i64, I64, onnxModel } from "./support/node-models.ts";
import { isTensorError } from "../src/core/errors.ts";

const add = { reduction: "add" };

/** A chain: each step takes what the one before it made. */
function chain(...ops: readonly string[]): Model {
  const last = ops.length - 1;
  return onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { at: i64([3, 1], 1, 1, 3), u: f32([3], 1, 2, 4), i: i64([2], 0, 3) },
    nodes: ops.map((op, nth) => {
      const [input, output] = [nth === 0 ? "x" : `v${nth - 1}`, nth === last ? "y" : `v${nth}`];
      const more = op === "ScatterND" ? ["at", "u"] : op === "Gather" ? ["i"] : [];
      const attributes = op === "ScatterND" ? add : {};
      return { op, name: `n${nth}`, inputs: [input, ...more], outputs: [output], attributes };
    }),
    outputs: { y: null },
  });
}

const x = f32([4], 10, 20, 30, 40);

/** The operators of each session. */
const opsOf = (models: readonly Model[]): string[] =>
  models.map(({ graph }) => graph.nodes.map(({ op }) => op).join(" "));

for (const [title, ops, sessions] of [
  ["no node is replaced", ["Cast", "Gather"], ["Cast Gather"]],
  ["a node in the middle", ["Cast", "ScatterND", "Cast"], ["Cast", "Cast"]],
  ["two that follow each other", ["Cast", "ScatterND", "ScatterND", "Cast"], ["Cast", "Cast"]],
  ["a node at the end", ["Cast", "ScatterND"], ["Cast"]],
  ["a small operator between two", ["Cast", "ScatterND", "Identity", "ScatterND"], ["Cast"]],
  ["replaced nodes alone", ["ScatterND"], []],
] as const) {
  test(`${title}: the sessions are ${sessions.join(", ") || "none"}`, async () => {
    const model = chain(...ops);
    for (const { op, attributes } of model.graph.nodes) {
      if (op === "Cast") Object.assign(attributes, { to: { type: "int", value: 1 } });
    }
    const { createSession, models, open } = localRuntime();
    const session = await createExactSession(writeModel(model), { createSession });
    assert.deepEqual(opsOf(models), sessions);
    assert.equal(session.sessionCount, sessions.length);
    assert.deepEqual([session.inputNames, session.outputNames], [["x"], ["y"]]);
    const { y } = await session.run({ x });
    assert.ok(y instanceof LocalTensor);
    assert.ok(equals(y, runModel(model, { x })["y"]));
    await session.release();
    assert.equal(open(), 0);
  });
}

/** A graph as the body of a node. */
const body = (spec: Partial<ModelSpec>): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [onnxModel(18, { outputs: {}, nodes: [], ...spec }).graph],
});

/** Runs a model in an exact session of a runtime that has no If, Loop and Scan. */
async function runExact(
  model: Model,
  feeds: Tensors,
  nodes: "scatters" | "all" = "scatters",
): Promise<Readonly<Record<string, unknown>>> {
  const { createSession, open } = localRuntime();
  const session = await createExactSession(model, { createSession, nodes });
  const outputs = await session.run(feeds);
  await session.release();
  assert.equal(open(), 0);
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { type, dims, data }]) => [
      name,
      tensor(type as "float32", dims, data).toArray(),
    ]),
  );
}

/** Adds u into x at an index that is the value `at` of the graph around. */
const ADD_AT = {
  op: "ScatterElements",
  inputs: ["x", "at", "u"],
  outputs: ["added"],
  attributes: add,
};

const chooses = onnxModel(18, {
  inputs: { c: BOOL(), x: F32(4), at: I64(1) },
  constants: { u: f32([1], 5) },
  nodes: [
    {
      op: "If",
      name: "choose",
      inputs: ["c"],
      outputs: ["y"],
      attributes: {
        then_branch: body({ nodes: [ADD_AT], outputs: { added: null } }),
        else_branch: body({
          nodes: [{ op: "Identity", inputs: ["x"], outputs: ["same"] }],
          outputs: { same: null },
        }),
      },
    },
  ],
  outputs: { y: null },
});

test("an If takes its branch, which sees the values around it", async () => {
  const feeds = { x, at: i64([1], 2) };
  const c = (value: boolean): Tensor => tensor("bool", [], value);
  assert.deepEqual(await runExact(chooses, { ...feeds, c: c(true) }), { y: [10, 20, 35, 40] });
  assert.deepEqual(await runExact(chooses, { ...feeds, c: c(false) }), { y: [10, 20, 30, 40] });
  assert.deepEqual(x.toArray(), [10, 20, 30, 40]);
});

/** A Loop that adds u into a state at the number of the iteration, and collects the states. */
const repeats = onnxModel(18, {
  inputs: { n: I64(), start: F32(4) },
  constants: { u: f32([1], 5), shape: i64([1], 1) },
  nodes: [
    {
      op: "Loop",
      name: "repeat",
      inputs: ["n", "", "start"],
      outputs: ["last", "all"],
      attributes: {
        body: body({
          inputs: { at: I64(1), going: BOOL(), x: F32(4) },
          nodes: [
            ADD_AT,
            { op: "Identity", inputs: ["going"], outputs: ["again"] },
            { op: "Identity", inputs: ["added"], outputs: ["each"] },
          ],
          outputs: { again: null, added: null, each: F32(4) },
        }),
      },
    },
  ],
  outputs: { last: null, all: null },
});

for (const [count, last, all] of [
  [0, [10, 20, 30, 40], []],
  [1, [15, 20, 30, 40], [[15, 20, 30, 40]]],
  [3, [15, 25, 35, 40], [[15, 20, 30, 40], [15, 25, 30, 40], [15, 25, 35, 40]]], // prettier-ignore
] as const) {
  test(`a Loop of ${count} iterations carries its state on and collects each`, async () => {
    const outputs = await runExact(repeats, { n: tensor("int64", [], count), start: x });
    assert.deepEqual(outputs, { last, all });
  });
}

/** A Scan that adds the columns of a matrix into a state, from last to first, and collects the states as columns. */
const scans = onnxModel(18, {
  inputs: { start: F32(2), columns: F32(2, 3) },
  constants: { zero: i64([1], 0), at: i64([2], 1, 1) },
  nodes: [
    {
      op: "Scan",
      name: "scan",
      inputs: ["start", "columns"],
      outputs: ["last", "all"],
      attributes: {
        num_scan_inputs: 1,
        scan_input_axes: [1],
        scan_input_directions: [1],
        scan_output_axes: [-1],
        body: body({
          inputs: { x: F32(2), u: F32(2) },
          nodes: [ADD_AT, { op: "Identity", inputs: ["added"], outputs: ["each"] }],
          outputs: { added: null, each: F32(2) },
        }),
      },
    },
  ],
  outputs: { last: null, all: null },
});

test("a Scan takes slices along its axis and direction, and stacks what it makes", async () => {
  const columns = f32([2, 3], 1, 2, 3, 10, 20, 30);
  // Each column is added into element 1: 33, then 22, then 11.
  assert.deepEqual(await runExact(scans, { start: f32([2], 7, 0), columns }), {
    last: [7, 66],
    all: [
      [7, 7, 7],
      [33, 55, 66],
    ],
  });
});

/** What a function adds lands where the attribute of its call says. */
const calls = (): Model => ({
  ...onnxModel(18, {
    opsets: { "ai.onnx": 18, d: 1 },
    inputs: { x: F32(2, 2), at: I64(1, 2), u: F32(1, 2) },
    nodes: [
      {
        op: "AddInto",
        domain: "d",
        inputs: ["x", "at", "u"],
        outputs: ["r"],
        attributes: { along: 0 },
      },
      {
        op: "AddInto",
        domain: "d",
        inputs: ["r", "at", "u"],
        outputs: ["y"],
        attributes: { along: 1 },
      },
    ],
    outputs: { y: null },
  }),
  functions: [
    {
      name: "AddInto",
      domain: "d",
      opsets: { "ai.onnx": 18 },
      graph: onnxModel(18, {
        inputs: {},
        nodes: [
          {
            op: "ScatterElements",
            inputs: ["X", "I", "U"],
            outputs: ["Y"],
            attributes: { axis: { type: "other", value: "INT", reference: "along" }, ...add },
          },
        ],
        outputs: { Y: null },
      }).graph,
    },
  ],
});

test("calls of a function have the attributes of each call", async () => {
  const model = calls();
  const [{ graph }] = model.functions ?? [];
  graph.inputs.push(...["X", "I", "U"].map((name) => ({ name, type: null })));
  const feeds = { x: f32([2, 2], 0, 0, 0, 0), at: i64([1, 2], 1, 0), u: f32([1, 2], 1, 10) };
  // Along axis 0: rows 1 and 0. Along axis 1: columns 1 and 0 of row 0.
  assert.deepEqual(await runExact(model, feeds), { y: [[10, 11], [1, 0]] }); // prettier-ignore
});

test("what was fed, constants and earlier results keep their elements", async () => {
  const model = chain("ScatterND", "ScatterND");
  const session = await createExactSession(writeModel(model), localRuntime());
  const fed = f32([4], 10, 20, 30, 40);
  const first = await session.run({ x: fed });
  const before = Array.from(first["y"].data);
  const second = await session.run({ x: f32([4], 0, 0, 0, 0) });
  assert.deepEqual(fed.toArray(), [10, 20, 30, 40]);
  assert.deepEqual(Array.from(first["y"].data), before);
  assert.deepEqual(before, [10, 26, 30, 48]);
  assert.deepEqual(Array.from(second["y"].data), [0, 6, 0, 8]);
});

test("a value that is used again is not overwritten by a scatter into it", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { at: i64([1, 1], 0), u: f32([1], 5), i: i64([4], 0, 1, 2, 3) },
    nodes: [
      { op: "Gather", inputs: ["x", "i"], outputs: ["copy"] },
      { op: "Identity", inputs: ["copy"], outputs: ["alias"] },
      { op: "ScatterND", inputs: ["copy", "at", "u"], outputs: ["a"], attributes: add },
      { op: "ScatterND", inputs: ["alias", "at", "u"], outputs: ["b"], attributes: add },
      { op: "ScatterND", inputs: ["b", "at", "u"], outputs: ["y"], attributes: add },
    ],
    outputs: { a: null, alias: null, y: null },
  });
  for (const nodes of ["scatters", "all"] as const) {
    // oxlint-disable-next-line no-await-in-loop
    const outputs = await runExact(model, { x }, nodes);
    assert.deepEqual(outputs, {
      a: [15, 20, 30, 40],
      alias: [10, 20, 30, 40],
      y: [20, 20, 30, 40],
    });
  }
});

test("a value in another shape keeps its memory while later results need some", async () => {
  const size = 2 ** 16;
  const scatter = (data: string, output: string): ModelSpec["nodes"][number] => ({
    ...{ op: "ScatterElements", inputs: [data, "at", "u"], outputs: [output], attributes: add },
  });
  const model = onnxModel(18, {
    inputs: { x: F32(1, size) },
    constants: { at: i64([1, 1], 0), u: f32([1, 1], 5), axes: i64([1], 0) },
    nodes: [
      scatter("x", "a"),
      { op: "Squeeze", inputs: ["a", "axes"], outputs: ["flat"] },
      scatter("x", "b"),
      scatter("b", "c"),
      scatter("x", "d"),
      { op: "Unsqueeze", inputs: ["flat", "axes"], outputs: ["y"] },
    ],
    outputs: { c: null, d: null, y: null },
  });
  const session = await createExactSession(model, localRuntime());
  const ones = f32([1, size], ...Array.from({ length: size }, () => 1));
  const read = ({ data }: LocalTensor): readonly unknown[] => [data[0], data[1], data[size - 1]];
  for (let run = 0; run < 3; run++) {
    // oxlint-disable-next-line no-await-in-loop
    const { c, d, y } = await session.run({ x: ones });
    assert.deepEqual([c, d, y].map(read), [[11, 1, 1], [6, 1, 1], [6, 1, 1]]); // prettier-ignore
  }
});

test("an output that is an input or a constant is a tensor of its own", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [{ op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["y"], attributes: add }],
    outputs: { x: null, u: null, y: null },
  });
  const session = await createExactSession(model, localRuntime());
  const first = await session.run({ x });
  for (const { data } of Object.values(first))
    new Float32Array((data as Float32Array).buffer).fill(0);
  const { y, u } = await session.run({ x });
  assert.deepEqual(Array.from(y.data), [15, 20, 30, 40]);
  assert.deepEqual(Array.from(u.data), [5]);
});

test("runs that overlap end one after another, and release waits for them", async () => {
  const { createSession, open } = localRuntime();
  const session = await createExactSession(chain("Identity", "ScatterND", "Gather"), {
    createSession,
  });
  const runs = [1, 2, 3].map((one) => session.run({ x: f32([4], one, 0, 0, 0) }));
  const released = session.release();
  const results = await Promise.all(runs);
  assert.deepEqual(results.map(({ y }) => Array.from(y.data)), [[1, 4], [2, 4], [3, 4]]); // prettier-ignore
  await released;
  assert.equal(open(), 0);
});

test("a gather that only feeds a replaced scatter is carried out beside it", async () => {
  const model = onnxModel(18, {
    inputs: { h: F32("N", 2), zeros: F32("N", 2) },
    constants: { from: i64([3], 1, 0, 1), to: i64([3, 1], 0, 0, 1) },
    nodes: [
      { op: "Cast", inputs: ["h"], outputs: ["m"], attributes: { to: 1 } },
      { op: "Gather", inputs: ["m", "from"], outputs: ["e"] },
      { op: "ScatterND", inputs: ["zeros", "to", "e"], outputs: ["y"], attributes: add },
    ],
    outputs: { y: null },
  });
  const { createSession, models } = localRuntime();
  const session = await createExactSession(model, { createSession });
  assert.deepEqual(opsOf(models), ["Cast"]);
  const { y } = await session.run({ h: f32([2, 2], 1, 2, 3, 4), zeros: f32([2, 2], 0, 0, 0, 0) });
  assert.deepEqual(Array.from(y.data), [4, 6, 3, 4]);
});

test("an input with a default may be left out", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4), u: F32(1) },
    constants: { at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [{ op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["y"], attributes: add }],
    outputs: { y: null },
  });
  assert.deepEqual(await runExact(model, { x }), { y: [15, 20, 30, 40] });
  assert.deepEqual(await runExact(model, { x, u: f32([1], 7) }), { y: [17, 20, 30, 40] });
});

test("nodes are chosen by name, and others stay in the runtime", async () => {
  const model = writeModel(chain("Gather", "ScatterND", "Gather"));
  for (const [nodes, replaced, sessions] of [
    [["n1"], ["n1"], ["Gather", "Gather"]],
    [["n0", "n2"], ["n0", "n2"], ["ScatterND"]],
    ["all", ["n0", "n1", "n2"], []],
    [[], [], ["Gather ScatterND Gather"]],
  ] as const) {
    const { createSession, models } = localRuntime();
    // oxlint-disable-next-line no-await-in-loop
    const session = await createExactSession(model, { createSession, nodes });
    assert.deepEqual(session.replaced, replaced);
    assert.deepEqual(opsOf(models), sessions);
  }
});

test("an exact session never asks the runtime for the result of a replaced node", async () => {
  const runtime = localRuntime((outputs) => {
    for (const { data } of Object.values(outputs)) (data as Float32Array).fill(99);
  });
  const session = await createExactSession(chain("ScatterND"), runtime);
  assert.deepEqual(Array.from((await session.run({ x }))["y"].data), [10, 23, 30, 44]);
});

/** A gather between two operators of which nothing is known. */
const unknownType = onnxModel(18, {
  inputs: { x: F32(4) },
  constants: { i: i64([2], 0, 3) },
  nodes: [
    { op: "Odd", name: "odd", domain: "d", inputs: ["x"], outputs: ["o"] },
    { op: "Gather", name: "take", inputs: ["o", "i"], outputs: ["s"] },
    { op: "Odd", name: "end", domain: "d", inputs: ["s"], outputs: ["y"] },
  ],
  opsets: { "ai.onnx": 18, d: 1 },
  outputs: { y: null },
});

/** A runtime that doubles, whatever the model, and says the types of its outputs or does not. */
const doubling = (hasTypes: boolean) => async () => ({
  async run(feeds: Readonly<Record<string, LocalTensor>>) {
    const [{ data, dims }] = Object.values(feeds);
    const twice = (data as Float32Array).map((one) => 2 * one);
    return {
      o: new LocalTensor("float32", twice, dims),
      y: new LocalTensor("float32", twice, dims),
    };
  },
  ...(hasTypes && { outputMetadata: [{ name: "o", isTensor: true, type: "float32" }] }),
});

test("types that the model does not tell are those of the runtime", async () => {
  const session = await createExactSession(unknownType, {
    createSession: doubling(true),
    nodes: "all",
  });
  const { y } = await session.run({
    x: new LocalTensor("float32", Float32Array.of(1, 2, 3, 4), [4]),
  });
  assert.deepEqual(Array.from(y.data), [4, 16]);
});

/** Functions of which each calls the one before twice, and the last one itself too if it is to. */
function nestedCalls(count: number, callsItself: boolean): Model {
  const input = ["x", "i", "u"];
  const call = (nth: number, from: string, output: string): ModelSpec["nodes"][number] => ({
    ...{ op: `F${nth}`, domain: "d", inputs: [from, "i", "u"], outputs: [output] },
  });
  const opsets = { "ai.onnx": 18, d: 1 };
  const functions = Array.from({ length: count }, (_, nth) => {
    const scatter = { op: "ScatterND", inputs: input, outputs: ["s"] };
    const before = callsItself ? nth : nth - 1;
    const nodes = nth === 0 ? [scatter] : [scatter, call(before, "s", "m"), call(before, "m", "y")];
    const outputs = { [nth === 0 ? "s" : "y"]: null };
    const { graph } = onnxModel(18, { opsets, nodes, outputs });
    graph.inputs = input.map((name) => ({ name, type: null }));
    return { name: `F${nth}`, domain: "d", opsets, graph };
  });
  const inputs = { x: F32(4), i: I64(1, 1), u: F32(1) };
  const nodes = [call(count - 1, "x", "y")];
  return { ...onnxModel(18, { opsets, inputs, nodes, outputs: { y: null } }), functions };
}

const sequences = onnxModel(18, {
  inputs: { x: F32(4) },
  nodes: [
    {
      op: "SequenceMap",
      name: "map",
      inputs: ["x"],
      outputs: ["y"],
      attributes: { body: body({ nodes: [ADD_AT], outputs: { added: null } }) },
    },
  ],
  outputs: { y: null },
});

for (const [title, code, says, make] of [
  [
    "a type that nobody tells",
    "unsupported-model",
    /the data type of "s" is not known, so node "end" cannot be cut off/,
    () => createExactSession(unknownType, { createSession: doubling(false), nodes: "all" }),
  ],
  [
    "a body of another operator",
    "unsupported-model",
    /^SequenceMap "map" \/ body \/ added cannot be replaced, because it is in node "map": bodies of SequenceMap/,
    () => createExactSession(sequences, localRuntime()),
  ],
  [
    "a function that calls itself",
    "unsupported-model",
    /^function d\.F1 \/ s cannot be replaced, because it is in .*: the function d\.F1 calls itself$/,
    () => createExactSession(nestedCalls(2, true), localRuntime()),
  ],
  [
    "a model of 2^40 calls",
    "too-large",
    /functions and bodies of the model are more than 10000 graphs/,
    () => createExactSession(nestedCalls(40, false), localRuntime()),
  ],
  [
    "a version that does not exist",
    "unsupported-model",
    /^n0 cannot be replaced: opset 10 of ai.onnx does not have it yet/,
    () => createExactSession({ ...chain("ScatterND"), opsets: { "ai.onnx": 10 } }, localRuntime()),
  ],
  [
    "a name that no node has",
    "unsupported-model",
    /the model has no node "n7"; .*"n0"/,
    () => createExactSession(chain("ScatterND"), { ...localRuntime(), nodes: ["n7"] }),
  ],
  [
    "a node of another operator",
    "unsupported-model",
    /node "n0" is Identity, which is not a scatter or gather; the model has "n1"/,
    () => createExactSession(chain("Identity", "ScatterND"), { ...localRuntime(), nodes: ["n0"] }),
  ],
  [
    "another word for nodes",
    "attribute",
    /nodes must be "scatters", "all" or a list of names, got "none"/,
    () => createExactSession(chain("ScatterND"), { ...localRuntime(), nodes: "none" as never }),
  ],
  [
    "a runtime that does not load a part",
    "unsupported-model",
    /the runtime does not load the part of the model from node "n0" to node "n0": too new/,
    () =>
      createExactSession(chain("Cast", "ScatterND"), {
        createSession: async () => Promise.reject(new Error("too new")),
      }),
  ],
  [
    "an index out of range",
    "index-out-of-range",
    /indices\[0, 0\] is 1, but axis 0 of data \[1\].*\(node "n0"\)/,
    async () =>
      (await createExactSession(chain("ScatterND"), localRuntime())).run({ x: f32([1], 1) }),
  ],
  [
    "a missing input",
    "shape-mismatch",
    /the model needs an input "x"/,
    async () => (await createExactSession(chain("ScatterND"), localRuntime())).run({}),
  ],
  [
    "an unknown input",
    "shape-mismatch",
    /the model has no input "z"; it has "x"/,
    async () => (await createExactSession(chain("ScatterND"), localRuntime())).run({ x, z: x }),
  ],
] as const) {
  test(`${title} is refused`, async () => {
    await assert.rejects(make(), (error: Error) => {
      assert.ok(isTensorError(error, code), `not ${code}: ${String(error)}`);
      assert.match(error.message, says);
      return true;
    });
  });
}

test("what a caller gives for an input with a default reaches the sessions too", async () => {
  // onnxruntime-node ignores what is given for an input that has a constant, as this runtime does.
  const model = onnxModel(18, {
    inputs: { x: F32(4), w: F32(4) },
    constants: { w: f32([4], 1, 1, 1, 1), at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [
      { op: "Cast", inputs: ["w"], outputs: ["v"], attributes: { to: 1 } },
      { op: "ScatterND", inputs: ["v", "at", "u"], outputs: ["s"], attributes: add },
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["z"], attributes: add },
    ],
    outputs: { s: null, z: null, w: null },
  });
  const { createSession, models, open } = localRuntime();
  const deaf = async (bytes: Uint8Array): Promise<LocalSession> => {
    const session = await createSession(bytes);
    const constants = models.at(-1)?.graph.constants.map(({ name }) => name) ?? [];
    return {
      ...session,
      run: (feeds) =>
        session.run(
          Object.fromEntries(Object.entries(feeds).filter(([name]) => !constants.includes(name))),
        ),
    };
  };
  const session = await createExactSession(model, { createSession: deaf });
  const run = async (feeds: Tensors): Promise<readonly number[][]> => {
    const { s, w } = await session.run(feeds);
    return [s, w].map(({ data }) => Array.from(data));
  };
  const w = f32([4], 2, 3, 4, 5);
  assert.deepEqual(await run({ x }), [[6, 1, 1, 1], [1, 1, 1, 1]]); // prettier-ignore
  assert.deepEqual(await run({ x, w }), [[7, 3, 4, 5], [2, 3, 4, 5]]); // prettier-ignore
  assert.deepEqual(await run({ x }), [[6, 1, 1, 1], [1, 1, 1, 1]]); // prettier-ignore
  assert.equal(open(), 1);
  await session.release();
  assert.equal(open(), 0);
});

/** One small operator between two scatters of `x`, in a graph that has no session. */
function between(
  op: string,
  spec: Partial<ModelSpec> & { readonly more?: readonly string[] },
): Model {
  const {
    more = [],
    constants = {},
    nodes: [{ attributes = {} }] = [{ op, inputs: [], outputs: [] }],
  } = spec;
  return onnxModel(18, {
    inputs: { x: F32(1, 4) },
    constants: { at: i64([1, 1], 0), u: f32([1, 4], 1, 1, 1, 1), ...constants },
    nodes: [
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["a"], attributes: add },
      { op, inputs: ["a", ...more], outputs: ["y"], attributes },
    ],
    outputs: { y: null },
  });
}

const row = f32([1, 4], 1, 2, 3, 4);

for (const [title, model, dims, data] of [
  ["Identity", between("Identity", {}), [1, 4], [2, 3, 4, 5]],
  ["Shape", between("Shape", {}), [2], [1n, 4n]],
  ["Shape from 1", between("Shape", withAttributes({ start: 1 })), [1], [4n]],
  ["Shape to -1", between("Shape", withAttributes({ end: -1 })), [1], [1n]],
  ["Size", between("Size", {}), [], [4n]],
  ["Squeeze", between("Squeeze", {}), [4], [2, 3, 4, 5]],
  ["Squeeze of axis -2", between("Squeeze", withAxes(-2)), [4], [2, 3, 4, 5]],
  ["Unsqueeze of 0 and -1", between("Unsqueeze", withAxes(0, -1)), [1, 1, 4, 1], [2, 3, 4, 5]],
  ["Unsqueeze of 1", between("Unsqueeze", withAxes(1)), [1, 1, 4], [2, 3, 4, 5]],
] as const) {
  test(`${title} is carried out beside a replaced node, without a session`, async () => {
    const { createSession, models } = localRuntime();
    const session = await createExactSession(model, { createSession });
    assert.equal(session.sessionCount, 0);
    const { y } = await session.run({ x: row });
    assert.deepEqual([y.dims, Array.from(y.data)], [dims, data]);
    assert.deepEqual(row.toArray(), [[1, 2, 3, 4]]);
    // The class of tensors is asked of the runtime by one more model.
    assert.equal(models.length, 1);
  });
}

function withAttributes(attributes: Readonly<Record<string, number>>): Partial<ModelSpec> {
  return { nodes: [{ op: "", inputs: [], outputs: [], attributes }] };
}

function withAxes(
  ...axes: readonly number[]
): Partial<ModelSpec> & { readonly more: readonly string[] } {
  return { more: ["axes"], constants: { axes: i64([axes.length], ...axes) } };
}

for (const [title, model, says] of [
  [
    "an axis that is too long",
    between("Squeeze", withAxes(1)),
    /can only drop axes of size 1, but axis 1 of \[1, 4\]/,
  ],
  [
    "an axis beyond the rank",
    between("Unsqueeze", withAxes(5)),
    /must name axes of rank 3, each once, got 5/,
  ],
  [
    "an axis twice",
    between("Unsqueeze", withAxes(1, 1)),
    /must name axes of rank 4, each once, got 1, 1/,
  ],
] as const) {
  test(`${title} is refused when it runs`, async () => {
    const session = await createExactSession(model, localRuntime());
    await assert.rejects(session.run({ x: row }), (error) => {
      assert.ok(isTensorError(error, "malformed-file"));
      assert.match(error.message, says);
      return true;
    });
  });
}

/** A condition of the first index: Equal, Cast and Not between a gather of indices and an If. */
const conditional = onnxModel(18, {
  inputs: { x: F32(4), at: I64(1) },
  constants: { zero: i64([1], 0), u: f32([1], 5), one: i64([], 1) },
  nodes: [
    { op: "Gather", inputs: ["at", "zero"], outputs: ["first"] },
    { op: "Equal", inputs: ["first", "one"], outputs: ["isOne"] },
    { op: "Cast", inputs: ["isOne"], outputs: ["number"], attributes: { to: 7 } },
    { op: "Cast", inputs: ["number"], outputs: ["truth"], attributes: { to: 9 } },
    { op: "Not", inputs: ["truth"], outputs: ["c"] },
    {
      op: "If",
      inputs: ["c"],
      outputs: ["y"],
      attributes: {
        then_branch: body({ nodes: [ADD_AT], outputs: { added: null } }),
        else_branch: body({
          nodes: [{ op: "Identity", inputs: ["x"], outputs: ["same"] }],
          outputs: { same: null },
        }),
      },
    },
  ],
  outputs: { y: null, number: null },
});

test("conditions that follow from replaced nodes need no session", async () => {
  const { createSession } = localRuntime();
  const session = await createExactSession(conditional, { createSession, nodes: "all" });
  assert.equal(session.sessionCount, 0);
  for (const [at, expected, number] of [
    [1, [10, 20, 30, 40], 1n],
    [3, [10, 20, 30, 45], 0n],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop
    const outputs = await session.run({ x, at: i64([1], at) });
    assert.deepEqual(Array.from(outputs["y"].data), expected);
    assert.deepEqual(Array.from(outputs["number"].data), [number]);
  }
});

test("what follows from constants is part of the sessions that use it, and is handed over to replaced nodes", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4) },
    constants: {
      at: i64([1, 1], 0),
      u: f32([1], 5),
      i: i64([4], 3, 2, 1, 0),
      w: f32([4], 1, 2, 3, 4),
    },
    nodes: [
      { op: "Gather", name: "turned", inputs: ["w", "i"], outputs: ["v"] },
      { op: "ScatterElements", name: "first", inputs: ["x", "i", "v"], outputs: ["a"] },
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["s"], attributes: add },
      { op: "ScatterElements", name: "last", inputs: ["s", "i", "v"], outputs: ["y"] },
    ],
    outputs: { a: null, y: null },
  });
  const { createSession, models } = localRuntime();
  const session = await createExactSession(model, { createSession, nodes: ["s"] });
  assert.deepEqual(
    models.map(({ graph }) => graph.nodes.map(({ name }) => name)),
    [["turned", "first"], ["turned", "last"]], // prettier-ignore
  );
  const { y, a } = await session.run({ x });
  // v is w turned round, and turned again by the scatter.
  assert.deepEqual([Array.from(a.data), Array.from(y.data)], [[1, 2, 3, 4], [1, 2, 3, 4]]); // prettier-ignore
});
