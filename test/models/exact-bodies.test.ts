/** Exact sessions: nodes with bodies, and small operators, are carried out beside the replaced nodes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createExactSession,
  readModel,
  type Attribute,
  type Model,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { bodyAttribute, MAX_BODY_DEPTH } from "../../src/models/model/model.ts";
import { ADD, ADD_AT, body, runExact, X } from "../support/exact-models.ts";
import { localRuntime } from "../support/local-runtime.ts";
import { BOOL, F32, f32, i64, I64, onnxModel } from "../support/node-models.ts";
import { deepFile } from "../support/place-models.ts";
import { assertRejected } from "../support/refusal.ts";

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
  const feeds = { x: X, at: i64([1], 2) };
  const c = (value: boolean): Tensor => tensor("bool", [], value);
  assert.deepEqual(await runExact(chooses, { ...feeds, c: c(true) }), { y: [10, 20, 35, 40] });
  assert.deepEqual(await runExact(chooses, { ...feeds, c: c(false) }), { y: [10, 20, 30, 40] });
  assert.deepEqual(X.toArray(), [10, 20, 30, 40]);
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
    const outputs = await runExact(repeats, { n: tensor("int64", [], count), start: X });
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
            attributes: { axis: { type: "other", value: "INT", reference: "along" }, ...ADD },
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
      { op: "ScatterND", inputs: ["x", "at", "u"], outputs: ["a"], attributes: ADD },
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

for (const [title, model] of [
  ["an axis that is too long", between("Squeeze", withAxes(1))],
  ["an axis beyond the rank", between("Unsqueeze", withAxes(5))],
  ["an axis twice", between("Unsqueeze", withAxes(1, 1))],
] as const) {
  test(`${title} is refused when it runs`, async () => {
    const session = await createExactSession(model, localRuntime());
    await assertRejected("malformed-file", {}, () => session.run({ x: row }));
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

/** The same with the inputs of Equal in the other order, of which the second has the higher rank then. */
const turned: Model = {
  ...conditional,
  graph: {
    ...conditional.graph,
    nodes: conditional.graph.nodes.map((one) =>
      one.op === "Equal" ? { ...one, inputs: one.inputs.toReversed() } : one,
    ),
  },
};

for (const [order, model] of [
  ["a list and a scalar", conditional],
  ["a scalar and a list", turned],
] as const)
  test(`conditions that follow from replaced nodes need no session: ${order}`, async () => {
    const { createSession } = localRuntime();
    const session = await createExactSession(model, { createSession, nodes: "all" });
    assert.equal(session.sessionCount, 0);
    for (const [at, expected, number] of [
      [1, [10, 20, 30, 40], 1n],
      [3, [10, 20, 30, 45], 0n],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop
      const outputs = await session.run({ x: X, at: i64([1], at) });
      assert.deepEqual(Array.from(outputs["y"].data), expected);
      const { dims, data } = outputs["number"];
      assert.deepEqual([dims, Array.from(data)], [[1], [number]]);
    }
  });

/** A model whose node `taken` uses what a node with bodies makes, whose types nobody declares. */
function behind(op: string, spec: Partial<ModelSpec>, made: readonly string[]): Model {
  const [node] = spec.nodes ?? [];
  return onnxModel(18, {
    ...spec,
    nodes: [
      { ...node, op, name: "whole", outputs: [...made], inputs: node?.inputs ?? [] },
      ...made.map((name) => ({
        op: "Cast",
        inputs: [name],
        outputs: [`${name}!`],
        attributes: { to: 1 },
      })),
    ],
    outputs: Object.fromEntries(made.map((name) => [`${name}!`, null])),
  });
}

const untyped = (...names: readonly string[]): Record<string, null> =>
  Object.fromEntries(names.map((name) => [name, null]));

/** The body of a Loop or a Scan, of whose values no types are declared. */
function openBody(inputs: readonly string[], spec: Partial<ModelSpec>): Attribute {
  const made = body(spec);
  assert.ok(made.type === "other" && made.graphs);
  made.graphs[0].inputs = inputs.map((name) => ({ name, type: null }));
  return made;
}

const EACH = { op: "Identity", inputs: ["added"], outputs: ["each"] };

for (const [title, model, types] of [
  [
    "an If has the types of its branches, and sizes in which they agree",
    behind(
      "If",
      {
        inputs: { c: BOOL(), x: F32(4), at: I64(1) },
        constants: { u: f32([1], 5), i: i64([2], 0, 1) },
        nodes: [
          {
            op: "",
            inputs: ["c"],
            outputs: [],
            attributes: {
              then_branch: body({
                nodes: [ADD_AT, { op: "Identity", inputs: ["added"], outputs: ["same"] }],
                outputs: untyped("added", "same"),
              }),
              else_branch: body({
                nodes: [
                  { op: "Gather", inputs: ["x", "i"], outputs: ["short"] },
                  { op: "Identity", inputs: ["x"], outputs: ["long"] },
                ],
                outputs: untyped("short", "long"),
              }),
            },
          },
        ],
      },
      ["some", "all"],
    ),
    { some: [null], all: [4] },
  ],
  [
    "a Loop has states of any shape, and collects what it makes",
    behind(
      "Loop",
      {
        inputs: { x: F32(4), n: I64() },
        constants: { u: f32([1], 5), c: i64([1], 0), one: f32([2], 1, 2) },
        nodes: [
          {
            op: "",
            inputs: ["n", "", "x"],
            outputs: [],
            attributes: {
              body: openBody(["at0", "on", "x"], {
                nodes: [
                  { ...ADD_AT, inputs: ["x", "c", "u"] },
                  { op: "Identity", inputs: ["on"], outputs: ["again"] },
                  { op: "Identity", inputs: ["one"], outputs: ["each"] },
                ],
                outputs: untyped("again", "added", "each"),
              }),
            },
          },
        ],
      },
      ["last", "rows"],
    ),
    { last: null, rows: [null, 2] },
  ],
  [
    "a Scan has states of one shape, and as many slices as it takes",
    behind(
      "Scan",
      {
        inputs: { x: F32(2), columns: F32(2, 3) },
        constants: { at: i64([2], 1, 1) },
        nodes: [
          {
            op: "",
            inputs: ["x", "columns"],
            outputs: [],
            attributes: {
              num_scan_inputs: 1,
              scan_input_axes: [1],
              scan_output_axes: [-1],
              body: openBody(["x", "u"], {
                nodes: [ADD_AT, EACH],
                outputs: untyped("added", "each"),
              }),
            },
          },
        ],
      },
      ["last", "columns!"],
    ),
    { last: [2], "columns!": [2, 3] },
  ],
] as const) {
  test(title, async () => {
    const { createSession, models } = localRuntime();
    await createExactSession(model, { createSession });
    const { inputs } = models.at(-1)?.graph ?? { inputs: [] };
    assert.deepEqual(
      Object.fromEntries(inputs.map(({ name, type }) => [name, type?.shape])),
      types,
    );
    for (const { type } of inputs) assert.equal(type?.dtype, "float32");
  });
}

/** A sequence of the elements of `x`, of which some are taken again before and after a scatter. */
const sequence = onnxModel(18, {
  inputs: { x: F32(4) },
  constants: { at: i64([1, 1], 0), u: f32([1], 5), none: i64([], 0) },
  nodes: [
    { op: "Relu", name: "relu", inputs: ["x"], outputs: ["r"] },
    { op: "SequenceConstruct", name: "list", inputs: ["r", "x"], outputs: ["s"] },
    { op: "Identity", name: "same", inputs: ["s"], outputs: ["t"] },
    { op: "SequenceInsert", name: "more", inputs: ["t", "x"], outputs: ["l"] },
    { op: "SequenceAt", name: "taken", inputs: ["l", "none"], outputs: ["a"] },
    { op: "ScatterND", name: "put", inputs: ["a", "at", "u"], outputs: ["b"], attributes: ADD },
    { op: "SequenceInsert", name: "last", inputs: ["l", "b"], outputs: ["m"] },
    { op: "SequenceLength", name: "length", inputs: ["m"], outputs: ["y"] },
    { op: "Optional", name: "maybe", inputs: ["t"], outputs: ["o"] },
    { op: "OptionalGetElement", name: "surely", inputs: ["o"], outputs: ["p"] },
    { op: "SequenceAt", name: "other", inputs: ["p", "none"], outputs: ["z"] },
    { op: "ScatterND", name: "end", inputs: ["z", "at", "u"], outputs: ["w"], attributes: ADD },
  ],
  outputs: { y: null, w: null },
});

test("sequences are made again in each session that uses them, and tensors are handed over", async () => {
  const models: Model[] = [];
  const outputMetadata = ["r", "a", "z"].map((name) => ({ name, type: "float32", shape: [4] }));
  const createSession = async (bytes: Uint8Array) => {
    models.push(readModel(bytes));
    return { run: () => Promise.reject(new Error("not run")), outputMetadata };
  };
  await createExactSession(sequence, { createSession });
  assert.deepEqual(
    models.map(({ graph: { nodes, inputs, outputs } }) =>
      [inputs, nodes, outputs].map((list) => list.map(({ name }) => name).join(" ")),
    ),
    [
      ["x", "list same more maybe surely relu taken other", "r a z"],
      ["b x r", "list same more last length", "y"],
    ],
  );
});

/** A body that can be written to a file, as one is that stays in the runtime. */
const written = (spec: Partial<ModelSpec>): Attribute =>
  bodyAttribute(onnxModel(18, { outputs: {}, nodes: [], ...spec }).graph);

/** An If that makes a sequence and a tensor, of which the body of a Loop scatters into the tensor and uses the sequence. */
const mixed = onnxModel(18, {
  inputs: { c: BOOL(), n: I64(), x: F32(4) },
  constants: { at: i64([1], 0), u: f32([1], 5), none: i64([], 0) },
  nodes: [
    {
      op: "If",
      inputs: ["c"],
      outputs: ["s", "t"],
      attributes: {
        then_branch: written({
          nodes: [
            { op: "SequenceConstruct", inputs: ["x"], outputs: ["one"] },
            { op: "Relu", inputs: ["x"], outputs: ["r"] },
          ],
          outputs: { one: null, r: null },
        }),
        else_branch: written({
          nodes: [
            { op: "SequenceConstruct", inputs: ["x", "x"], outputs: ["two"] },
            { op: "Neg", inputs: ["x"], outputs: ["m"] },
          ],
          outputs: { two: null, m: null },
        }),
      },
    },
    {
      op: "Loop",
      inputs: ["n", ""],
      outputs: ["all"],
      attributes: {
        body: openBody(["k", "on"], {
          nodes: [
            { ...ADD_AT, inputs: ["t", "at", "u"] },
            { op: "SequenceAt", inputs: ["s", "none"], outputs: ["e"] },
            { op: "Add", inputs: ["added", "e"], outputs: ["sum"] },
            { op: "Identity", inputs: ["on"], outputs: ["again"] },
          ],
          outputs: untyped("again", "sum"),
        }),
      },
    },
  ],
  outputs: { all: null },
});

test("a tensor that a node makes beside a sequence is handed over to a replaced node in a body that uses both", async () => {
  const { createSession, models } = localRuntime();
  await createExactSession(mixed, { createSession });
  const [first] = models;
  assert.deepEqual(
    first.graph.outputs.map(({ name }) => name),
    ["t"],
  );
});

for (const [title, node] of [
  ["SequenceErase", { op: "SequenceErase", inputs: ["x", "u"] }],
  ["SequenceEmpty", { op: "SequenceEmpty", inputs: [] }],
  ["SplitToSequence", { op: "SplitToSequence", inputs: ["x"] }],
] as const) {
  test(`a scatter into what ${title} makes is refused`, async () => {
    const model = onnxModel(18, {
      inputs: { x: F32(4) },
      constants: { at: i64([1, 1], 0), u: f32([1], 5) },
      nodes: [
        { ...node, name: "odd", outputs: ["s"] },
        { op: "ScatterND", name: "put", inputs: ["s", "at", "u"], outputs: ["y"] },
      ],
      outputs: { y: null },
    });
    await assertRejected("unsupported-model", {}, () => createExactSession(model, localRuntime()));
  });
}

/** A Loop that carries a sequence and collects tensors, and a scatter into one of its outputs. */
const listing = (output: string): Model =>
  onnxModel(18, {
    inputs: { x: F32(4), n: I64() },
    constants: { at: i64([1, 1], 0), u: f32([1], 5) },
    nodes: [
      { op: "SequenceConstruct", name: "first", inputs: ["x"], outputs: ["s"] },
      {
        op: "Loop",
        name: "list",
        inputs: ["n", "", "s"],
        outputs: ["longer", "rows"],
        attributes: {
          body: openBody(["k", "on", "l"], {
            nodes: [
              { op: "Identity", inputs: ["on"], outputs: ["again"] },
              { op: "SequenceInsert", inputs: ["l", "x"], outputs: ["more"] },
              { op: "Identity", inputs: ["x"], outputs: ["row"] },
            ],
            outputs: untyped("again", "more", "row"),
          }),
        },
      },
      { op: "ScatterND", name: "put", inputs: [output, "at", "u"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });

test("of what a Loop makes, its sequences are no tensors and what it collects is", async () => {
  const parts: string[] = [];
  const createSession = async (bytes: Uint8Array) => {
    const { graph } = readModel(bytes);
    parts.push(graph.outputs.map(({ name }) => name).join(" "));
    return { run: () => Promise.reject(new Error("not run")) };
  };
  await createExactSession(listing("rows"), { createSession });
  assert.deepEqual(parts, ["rows"]);
  await assertRejected("unsupported-model", {}, () =>
    createExactSession(listing("longer"), { createSession }),
  );
});

test("a Scan with a batch axis is refused", async () => {
  const scan = behind(
    "Scan",
    {
      inputs: { x: F32(1, 2), rows: F32(1, 3, 2), i: I64(1) },
      nodes: [
        {
          op: "",
          inputs: ["", "x", "rows"],
          outputs: [],
          attributes: {
            num_scan_inputs: 1,
            body: openBody(["s", "r"], {
              nodes: [{ op: "Gather", name: "take", inputs: ["r", "i"], outputs: ["g"] }],
              outputs: untyped("s", "g"),
            }),
          },
        },
      ],
    },
    ["last", "all"],
  );
  const older = { ...scan, opsets: { "ai.onnx": 8 } };
  const options = { ...localRuntime(), nodes: "all" } as const;
  await assertRejected("unsupported-model", {}, () => createExactSession(older, options));
});

test("a Loop collects text and numbers of no elements", async () => {
  const model = onnxModel(18, {
    inputs: { n: I64(), x: F32(4) },
    constants: {
      at: i64([1], 1),
      u: f32([1], 5),
      none: f32([0, 2]),
      names: tensor("string", [2], ["a", "b"]),
    },
    nodes: [
      {
        op: "Loop",
        inputs: ["n", "", "x"],
        outputs: ["last", "texts", "empty"],
        attributes: {
          body: body({
            inputs: { k: I64(), on: BOOL(), x: F32(4) },
            nodes: [
              ADD_AT,
              { op: "Identity", inputs: ["on"], outputs: ["again"] },
              { op: "Identity", inputs: ["names"], outputs: ["text"] },
              { op: "Identity", inputs: ["none"], outputs: ["nothing"] },
            ],
            outputs: untyped("again", "added", "text", "nothing"),
          }),
        },
      },
    ],
    outputs: { last: null, texts: null, empty: null },
  });
  const outputs = await runExact(model, { n: tensor("int64", [], 2), x: X });
  assert.deepEqual(outputs, {
    last: [10, 30, 30, 40],
    texts: [["a", "b"], ["a", "b"]], // prettier-ignore
    empty: [[], []],
  });
});

/** A Loop without an iteration that collects what `nodes` make, of its number `k` and its state `s`. */
const collects = (nodes: ModelSpec["nodes"], made: string): Model =>
  onnxModel(18, {
    inputs: { n: I64(), x: F32(4), table: F32(3, 5) },
    constants: { at: i64([1], 1), u: f32([1], 5), least: tensor("int64", [], 0) },
    nodes: [
      {
        op: "Loop",
        inputs: ["n", "", "x"],
        outputs: ["last", "all"],
        attributes: {
          body: openBody(["k", "on", "s"], {
            nodes: [
              { ...ADD_AT, inputs: ["s", "at", "u"] },
              { op: "Identity", inputs: ["on"], outputs: ["again"] },
              ...nodes,
            ],
            outputs: untyped("again", "added", made),
          }),
        },
      },
    ],
    outputs: { last: null, all: null },
  });

test("a Loop without an iteration has the shape that ONNX Runtime 1.30 gives, or is refused", async () => {
  const { createSession } = localRuntime();
  const feeds = { n: tensor("int64", [], 0), x: X, table: zeros("float32", [3, 5]) };
  const rows = [
    { op: "Min", inputs: ["k", "least"], outputs: ["number"] },
    { op: "Gather", inputs: ["table", "number"], outputs: ["row"] },
  ];
  const session = await createExactSession(collects(rows, "row"), { createSession, nodes: "all" });
  const { all } = await session.run(feeds);
  await session.release();
  assert.deepEqual([all.type, all.dims], ["float32", [0, 5]]);
  const unknown = collects([{ op: "Relu", inputs: ["s"], outputs: ["row"] }], "row");
  const fields = { input: "row", node: 'the Loop that makes "last"' };
  await assertRejected("unsupported-model", fields, () => runExact(unknown, feeds));
});

test("what a Loop collects is not made where nothing needs it", async () => {
  const nodes = [{ op: "Mystery", inputs: ["s"], outputs: ["row"] }];
  const model = collects(nodes, "row");
  const feeds = { n: tensor("int64", [], 0), x: X, table: zeros("float32", [3, 5]) };
  await assertRejected("unsupported-model", { input: "row" }, () => runExact(model, feeds));
  model.graph.outputs.pop();
  assert.deepEqual(await runExact(model, feeds), { last: [10, 20, 30, 40] });
});

test("bodies that are nested too deeply beside a replaced node are refused", async () => {
  const model = readModel(deepFile(MAX_BODY_DEPTH + 1));
  const { graph } = onnxModel(18, { inputs: {}, nodes: [ADD_AT], outputs: { added: null } });
  model.graph.nodes.push(...graph.nodes);
  const limit = { limit: MAX_BODY_DEPTH };
  await assertRejected("too-large", limit, () => createExactSession(model, localRuntime()));
});
