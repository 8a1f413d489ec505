/** Exact sessions: how models are cut, and that everything but the replaced nodes is the runtime's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createExactSession,
  runModel,
  writeModel,
  type Model,
  type ModelSpec,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { asTensor, tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { ADD, ADD_AT, body, chain, opsOf, runExact, X } from "../support/exact-models.ts";
import { LocalTensor, localRuntime, type LocalSession } from "../support/local-runtime.ts";
import { F32, f32, i64, I64, onnxModel } from "../support/node-models.ts";
import { assertRejected } from "../support/refusal.ts";

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
    const { y } = await session.run({ x: X });
    assert.ok(y instanceof LocalTensor);
    assert.ok(equals(y, runModel(model, { x: X })["y"]));
    await session.release();
    assert.equal(open(), 0);
  });
}
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
      { op: "ScatterND", inputs: ["copy", "at", "u"], outputs: ["a"], attributes: ADD },
      { op: "ScatterND", inputs: ["alias", "at", "u"], outputs: ["b"], attributes: ADD },
      { op: "ScatterND", inputs: ["b", "at", "u"], outputs: ["y"], attributes: ADD },
    ],
    outputs: { a: null, alias: null, y: null },
  });
  for (const nodes of ["scatters", "all"] as const) {
    // oxlint-disable-next-line no-await-in-loop
    const outputs = await runExact(model, { x: X }, nodes);
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
    ...{ op: "ScatterElements", inputs: [data, "at", "u"], outputs: [output], attributes: ADD },
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
  const ones = tensor("float32", [1, size], new Float32Array(size).fill(1));
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
    nodes: [{ op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["y"], attributes: ADD }],
    outputs: { x: null, u: null, y: null },
  });
  const session = await createExactSession(model, localRuntime());
  const first = await session.run({ x: X });
  for (const { data } of Object.values(first))
    new Float32Array((data as Float32Array).buffer).fill(0);
  const { y, u } = await session.run({ x: X });
  assert.deepEqual(Array.from(y.data), [15, 20, 30, 40]);
  assert.deepEqual(Array.from(u.data), [5]);
});

for (const [title, ops, results] of [
  ["of a cut model", ["Identity", "ScatterND", "Gather"], [[1, 4], [3, 4]]], // prettier-ignore
  ["of a model in one session", ["Identity", "Gather"], [[1, 0], [3, 0]]], // prettier-ignore
] as const) {
  test(`runs ${title} that overlap end one after another, and release waits for them`, async () => {
    // The runtime refuses runs that overlap, and sessions that are released while they run.
    const { createSession, open } = localRuntime();
    const session = await createExactSession(chain(...ops), { createSession });
    const feed = (one: number): Tensors => ({ x: f32([4], one, 0, 0, 0) });
    const order: string[] = [];
    const first = session.run(feed(1)).finally(() => order.push("first"));
    // A run that fails stops neither the runs after it nor the release.
    const failed = assert.rejects(session.run({})).then(() => order.push("failed"));
    const second = session.run(feed(3)).finally(() => order.push("second"));
    const released = session.release().then(() => order.push("released"));
    const runs = await Promise.all([first, second]);
    assert.deepEqual(runs.map(({ y }) => Array.from(y.data)), results); // prettier-ignore
    await Promise.all([failed, released]);
    assert.deepEqual(order, ["first", "failed", "second", "released"]);
    assert.equal(open(), 0);
  });
}

test("a gather that only feeds a replaced scatter is carried out beside it", async () => {
  const model = onnxModel(18, {
    inputs: { h: F32("N", 2), zeros: F32("N", 2) },
    constants: { from: i64([3], 1, 0, 1), to: i64([3, 1], 0, 0, 1) },
    nodes: [
      { op: "Cast", inputs: ["h"], outputs: ["m"], attributes: { to: 1 } },
      { op: "Gather", inputs: ["m", "from"], outputs: ["e"] },
      { op: "ScatterND", inputs: ["zeros", "to", "e"], outputs: ["y"], attributes: ADD },
    ],
    outputs: { y: null },
  });
  const { createSession, models } = localRuntime();
  const session = await createExactSession(model, { createSession });
  assert.deepEqual(opsOf(models), ["Cast"]);
  const { y } = await session.run({ h: f32([2, 2], 1, 2, 3, 4), zeros: f32([2, 2], 0, 0, 0, 0) });
  assert.deepEqual(Array.from(y.data), [4, 6, 3, 4]);
});

for (const [rows, sessions] of [
  [3, ["Cast Gather"]],
  [5, ["Cast"]],
] as const) {
  test(`a gather of ${rows} rows out of 4 stays where fewer elements are handed over`, async () => {
    const from = Array.from({ length: rows }, (_, at) => at % 4);
    const model = onnxModel(18, {
      inputs: { h: F32(4, 2), zeros: F32(5, 2) },
      constants: { from: i64([rows], ...from), to: i64([rows, 1], ...from) },
      nodes: [
        { op: "Cast", inputs: ["h"], outputs: ["m"], attributes: { to: 1 } },
        { op: "Gather", inputs: ["m", "from"], outputs: ["e"] },
        { op: "ScatterND", inputs: ["zeros", "to", "e"], outputs: ["y"] },
      ],
      outputs: { y: null },
    });
    const { createSession, models } = localRuntime();
    await createExactSession(model, { createSession });
    assert.deepEqual(opsOf(models), sessions);
  });
}

test("an input with a default may be left out", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4), u: F32(1) },
    constants: { at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [{ op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["y"], attributes: ADD }],
    outputs: { y: null },
  });
  assert.deepEqual(await runExact(model, { x: X }), { y: [15, 20, 30, 40] });
  assert.deepEqual(await runExact(model, { x: X, u: f32([1], 7) }), { y: [17, 20, 30, 40] });
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
  assert.deepEqual(Array.from((await session.run({ x: X }))["y"].data), [10, 23, 30, 44]);
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

/** What onnxruntime says of a node that fails. */
const FAILS = "Non-zero status code returned while running Cast node. Name:'n0' Status Message: no";

/** A runtime whose runs fail. */
const failing = (message = FAILS) => ({
  createSession: async () => ({ run: () => Promise.reject(new Error(message)) }),
});

const UNNAMED = onnxModel(18, {
  inputs: { x: F32(1) },
  nodes: [{ op: "Cast", inputs: ["x"], outputs: ["y"], attributes: { to: 1 } }],
  outputs: { y: null },
});

test("a data type without tensors of the runtime's class comes as a plain object", async () => {
  const data = tensor("bfloat16", [2], [1, 2]);
  const model = onnxModel(18, {
    inputs: { x: { dtype: "bfloat16", shape: [2] } },
    constants: { at: i64([2, 1], 1, 1), u: tensor("bfloat16", [2], [4, 8]) },
    nodes: [{ op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["y"], attributes: ADD }],
    outputs: { y: null },
  });
  const { y } = await (await createExactSession(model, localRuntime())).run({ x: data });
  assert.ok(!(y instanceof LocalTensor));
  assert.ok(equals(asTensor(y, {}, "y"), tensor("bfloat16", [2], [1, 14])));
});

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

for (const [title, code, facts, make] of [
  [
    "a type that nobody tells",
    "unsupported-model",
    {},
    () => createExactSession(unknownType, { createSession: doubling(false), nodes: "all" }),
  ],
  [
    "a body of another operator",
    "unsupported-model",
    {},
    () => createExactSession(sequences, localRuntime()),
  ],
  [
    "a function that calls itself",
    "unsupported-model",
    {},
    () => createExactSession(nestedCalls(2, true), localRuntime()),
  ],
  [
    "a model of 2^40 calls",
    "too-large",
    {},
    () => createExactSession(nestedCalls(40, false), localRuntime()),
  ],
  [
    "a version that does not exist",
    "unsupported-model",
    {},
    () => createExactSession({ ...chain("ScatterND"), opsets: { "ai.onnx": 10 } }, localRuntime()),
  ],
  [
    "a name that no node has",
    "unsupported-model",
    {},
    () => createExactSession(chain("ScatterND"), { ...localRuntime(), nodes: ["n7"] }),
  ],
  [
    "a node of another operator",
    "unsupported-model",
    {},
    () => createExactSession(chain("Identity", "ScatterND"), { ...localRuntime(), nodes: ["n0"] }),
  ],
  [
    "another word for nodes",
    "attribute",
    {},
    () => createExactSession(chain("ScatterND"), { ...localRuntime(), nodes: "none" as never }),
  ],
  [
    "a runtime that does not load a part",
    "runtime",
    { got: "too new" },
    () =>
      createExactSession(chain("Cast", "ScatterND"), {
        createSession: async () => Promise.reject(new Error("too new")),
      }),
  ],
  [
    "a runtime that fails in a part, at a node that its message names",
    "runtime",
    { node: 'node "n0"', got: FAILS },
    async () =>
      (await createExactSession(chain("Cast", "ScatterND"), failing())).run({ x: f32([1], 0) }),
  ],
  [
    "a runtime that fails in a model without replaced nodes, at an unnamed node",
    "runtime",
    { node: 'the Cast that makes "y"', got: FAILS.replace("n0", "") },
    async () =>
      (await createExactSession(UNNAMED, failing(FAILS.replace("n0", "")))).run({ x: f32([1], 0) }),
  ],
  [
    "an index out of range",
    "index-out-of-range",
    {
      op: "ScatterND",
      opset: 18,
      input: "indices",
      at: [0, 0],
      axis: 0,
      got: 1,
      expected: [-1, 0],
    },
    async () =>
      (await createExactSession(chain("ScatterND"), localRuntime())).run({ x: f32([1], 1) }),
  ],
  [
    "a missing input",
    "shape-mismatch",
    { input: "x" },
    async () => (await createExactSession(chain("ScatterND"), localRuntime())).run({}),
  ],
  [
    "an unknown input",
    "shape-mismatch",
    { input: "z" },
    async () => (await createExactSession(chain("ScatterND"), localRuntime())).run({ x: X, z: X }),
  ],
] as const) {
  test(`${title} is refused`, async () => {
    await assertRejected(code, facts, make);
  });
}
test("what a caller gives for an input with a default reaches the sessions too", async () => {
  // onnxruntime-node ignores what is given for an input that has a constant, as this runtime does.
  const model = onnxModel(18, {
    inputs: { x: F32(4), w: F32(4) },
    constants: { w: f32([4], 1, 1, 1, 1), at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [
      { op: "Cast", inputs: ["w"], outputs: ["v"], attributes: { to: 1 } },
      { op: "ScatterND", inputs: ["v", "at", "u"], outputs: ["s"], attributes: ADD },
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["z"], attributes: ADD },
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
  assert.deepEqual(await run({ x: X }), [[6, 1, 1, 1], [1, 1, 1, 1]]); // prettier-ignore
  assert.deepEqual(await run({ x: X, w }), [[7, 3, 4, 5], [2, 3, 4, 5]]); // prettier-ignore
  assert.deepEqual(await run({ x: X }), [[6, 1, 1, 1], [1, 1, 1, 1]]); // prettier-ignore
  assert.equal(open(), 1);
  await session.release();
  assert.equal(open(), 0);
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
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["s"], attributes: ADD },
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
  const { y, a } = await session.run({ x: X });
  // v is w turned round, and turned again by the scatter.
  assert.deepEqual([Array.from(a.data), Array.from(y.data)], [[1, 2, 3, 4], [1, 2, 3, 4]]); // prettier-ignore
});

test("a node is carried out where its result is used, so that the runtime can fuse the two", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4), z: F32(4) },
    constants: { at: i64([1, 1], 0), u: f32([1], 5), i: i64([4], 3, 2, 1, 0) },
    nodes: [
      { op: "Gather", name: "early", inputs: ["z", "i"], outputs: ["kept"] },
      { op: "Gather", name: "late", inputs: ["z", "i"], outputs: ["v"] },
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["s"], attributes: ADD },
      { op: "ScatterElements", name: "last", inputs: ["s", "i", "v"], outputs: ["t"] },
      { op: "Gather", name: "mid", inputs: ["kept", "i"], outputs: ["m"] },
      { op: "ScatterElements", name: "end", inputs: ["t", "i", "m"], outputs: ["y"] },
    ],
    outputs: { kept: null, t: null, y: null },
  });
  const { createSession, models } = localRuntime();
  const session = await createExactSession(model, { createSession, nodes: ["s"] });
  assert.deepEqual(
    models.map(({ graph }) => graph.nodes.map(({ name }) => name)),
    [["early"], ["late", "last", "mid", "end"]],
  );
  const { kept, t, y } = await session.run({ x: X, z: f32([4], 1, 2, 3, 4) });
  const made = [kept, t, y].map(({ data }) => Array.from(data));
  assert.deepEqual(made, [[4, 3, 2, 1], [1, 2, 3, 4], [4, 3, 2, 1]]); // prettier-ignore
});

test("a default that nobody replaces is an input of the part, with its default", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4), w: F32(4) },
    constants: {
      at: i64([1, 1], 0),
      u: f32([1], 5),
      w: f32([4], 1, 2, 3, 4),
      i: i64([4], 3, 2, 1, 0),
    },
    nodes: [
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["s"], attributes: ADD },
      { op: "ScatterElements", name: "last", inputs: ["s", "i", "w"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });
  const { createSession, models } = localRuntime();
  const session = await createExactSession(model, { createSession, nodes: ["s"] });
  const [{ graph }] = models;
  assert.deepEqual(graph.inputs.map(({ name }) => name), ["s", "w"]); // prettier-ignore
  assert.ok(graph.constants.some(({ name }) => name === "w"));
  assert.deepEqual(Array.from((await session.run({ x: X })).y.data), [4, 3, 2, 1]);
});

test("replaced nodes that depend on constants alone are constants of the parts", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { w: f32([4], 1, 2, 3, 4), i: i64([4], 3, 2, 1, 0) },
    nodes: [
      { op: "Gather", inputs: ["w", "i"], outputs: ["turned"] },
      // The runtime computes the value between two replaced nodes.
      { op: "Identity", inputs: ["turned"], outputs: ["same"] },
      { op: "Gather", inputs: ["same", "i"], outputs: ["again"] },
      { op: "ScatterElements", inputs: ["x", "i", "again"], outputs: ["a"] },
      { op: "ScatterElements", name: "last", inputs: ["x", "i", "turned"], outputs: ["y"] },
    ],
    outputs: { a: null, y: null },
  });
  const { createSession, models, open } = localRuntime();
  const nodes = ["turned", "again", "a"];
  const session = await createExactSession(model, { createSession, nodes });
  const ops = models.map(({ graph }) => graph.nodes.map(({ op }) => op).join());
  assert.deepEqual(ops, ["Identity", "ScatterElements"]);
  const last = models[1].graph;
  assert.deepEqual(last.inputs.map(({ name }) => name), ["x"]); // prettier-ignore
  const constant = last.constants.find(({ name }) => name === "turned");
  assert.deepEqual(constant?.read().toArray(), [4, 3, 2, 1]);
  const { a, y } = await session.run({ x: X });
  assert.deepEqual([a, y].map(({ data }) => Array.from(data)), [[4, 3, 2, 1], [1, 2, 3, 4]]); // prettier-ignore
  await session.release();
  assert.equal(open(), 0);
});

test("an error of a replaced node that depends on constants alone names the node", async () => {
  const model = onnxModel(18, {
    constants: { w: f32([2], 1, 2), i: i64([1], 2) },
    nodes: [{ op: "Gather", name: "far", inputs: ["w", "i"], outputs: ["y"] }],
    outputs: { y: null },
  });
  await assertRejected("index-out-of-range", { node: 'node "far"', axis: 0 }, () =>
    createExactSession(model, { ...localRuntime(), nodes: "all" }),
  );
});

test("a reduction newer than the opset is computed with the meaning of the opset that brought it", async () => {
  const model = onnxModel(16, {
    inputs: { x: F32(4) },
    constants: { at: i64([2, 1], 1, 1), u: f32([2], 25, 7) },
    nodes: [
      {
        op: "ScatterND",
        inputs: ["x", "at", "u"],
        outputs: ["y"],
        attributes: { reduction: "max" },
      },
    ],
    outputs: { y: null },
  });
  assert.deepEqual(await runExact(model, { x: X }), { y: [10, 25, 30, 40] });
});

for (const nodes of ["scatters", []] as const) {
  test(`values that the runtime does not carry have a Cast at the border: ${nodes.length} nodes`, async () => {
    const model = onnxModel(18, {
      inputs: { x: F32(2) },
      constants: { at: i64([1, 1], 1), u: tensor("bfloat16", [1], [4]) },
      nodes: [
        { op: "Cast", inputs: ["x"], outputs: ["b"], attributes: { to: 16 } },
        { op: "ScatterND", inputs: ["b", "at", "u"], outputs: ["s"], attributes: ADD },
        { op: "Identity", inputs: ["s"], outputs: ["z"] },
        { op: "Cast", inputs: ["s"], outputs: ["y"], attributes: { to: 1 } },
      ],
      outputs: { y: null, z: { dtype: "bfloat16", shape: [2] } },
    });
    const { createSession, open } = localRuntime((outputs) => {
      if (Object.values(outputs).some(({ type }) => type === "bfloat16"))
        throw new Error("type 16");
    });
    const session = await createExactSession(model, { createSession, nodes });
    const { y, z } = await session.run({ x: f32([2], 1, 1.0078125) });
    assert.deepEqual([y, z].map((one) => asTensor(one, {}, "").toArray()), [[1, 5], [1, 5]]); // prettier-ignore
    assert.equal(z.type, "bfloat16");
    await session.release();
    assert.equal(open(), 0);
  });
}

test("parts have the types that the whole model implies, and the integers that a runtime folds", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32("N", 6) },
    constants: {
      one: i64([1], 1),
      three: i64([1], -1),
      at: i64([1, 1], 0),
      u: f32([1, 6], 1, 1, 1, 1, 1, 1),
    },
    nodes: [
      { op: "Shape", inputs: ["x"], outputs: ["sizes"] },
      { op: "Gather", name: "columns", inputs: ["sizes", "one"], outputs: ["count"] },
      { op: "Shape", inputs: ["u"], outputs: ["fixed"] },
      { op: "Concat", inputs: ["count", "three"], outputs: ["to"], attributes: { axis: 0 } },
      { op: "ScatterND", name: "s", inputs: ["x", "at", "u"], outputs: ["s"] },
      { op: "Reshape", inputs: ["s", "to"], outputs: ["turned"] },
      { op: "Reshape", inputs: ["turned", "fixed"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });
  const { createSession, models } = localRuntime();
  await createExactSession(model, { createSession, nodes: ["columns", "s"] });
  const { graph } = models[models.length - 1];
  // The number of columns is certain, but a runtime does not fold it, because the number of rows is unknown.
  assert.deepEqual(graph.inputs.map(({ name }) => name), ["s", "count"]); // prettier-ignore
  assert.deepEqual(
    graph.values?.map(({ name, type }) => [name, type?.shape]),
    [["turned", [6, "N"]]],
  );
  assert.deepEqual(
    graph.constants
      .find(({ name }) => name === "fixed")
      ?.read()
      .toArray(),
    [1n, 6n],
  );
});
