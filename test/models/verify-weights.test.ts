/** Which bytes of a model's weights are read to verify its scatters and gathers. The runtime reads its own. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  buildModel,
  captureCalls,
  createExactSession,
  readModel,
  runModel,
  verifyModel,
  writeModel,
  type ModelSpec,
  type Session,
} from "../../src/entries/onnx.ts";
import { asTensor, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { assertRejectedCode } from "../support/refusal.ts";
import { setLimits } from "../support/limits.ts";
import { i64 } from "../support/node-models.ts";
import { bytes, file, littleEndian, text, type Bytes } from "../support/onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  external as elsewhere,
  FUNCTION,
  functionNode,
  head,
  initializer,
  MODEL,
  node,
  NODE,
  opset,
  TENSOR,
} from "../support/onnx-parts.ts";

after(setLimits({ EXTERNAL: { slice: 0 } }));

const [ROWS, COLUMNS] = [64, 4];
const ROW = 4 * COLUMNS;
const TABLE = tensor(
  "float32",
  [ROWS, COLUMNS],
  Array.from({ length: ROWS * COLUMNS }, (_, at) => at / 8),
);
const DATA = Uint8Array.from(littleEndian(TABLE.data as Float32Array));

/** A tensor with the values of `TABLE`, in a file of its own. */
const weight = (name: string): Bytes => [
  ...head("float32", ROWS, COLUMNS),
  ...elsewhere({ location: `${name}.bin`, length: String(DATA.length) }),
  ...text(TENSOR.name, name),
];

/** Appends weights to a model. */
const withWeights = (spec: ModelSpec, names: readonly string[], ...more: Bytes[]): Uint8Array =>
  file(
    writeModel(buildModel(spec)),
    bytes(
      MODEL.graph,
      names.flatMap((name) => initializer(weight(name))),
    ),
    ...more,
  );

/** The bytes read of each file. */
class Reads {
  readonly of = new Map<string, number>();

  readonly external = (location: string, offset: number, length: number): Uint8Array => {
    this.of.set(location, (this.of.get(location) ?? 0) + length);
    return DATA.slice(offset, offset + length);
  };
}

/** Runs a model here; `change` makes its results wrong. */
const runtime =
  (change: (outputs: Readonly<Record<string, Tensor>>) => void = () => {}) =>
  async (model: Uint8Array): Promise<Session> => {
    const read = readModel(model, { external: new Reads().external });
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const own = Object.entries(feeds).map(([name, value]) => [name, asTensor(value, {}, name)]);
        const outputs = runModel(read, Object.fromEntries(own) as Record<string, Tensor>);
        change(outputs);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
            name,
            { type: dtype, dims: shape, data },
          ]),
        );
      },
    };
  };

const INT64 = (...shape: number[]) => ({ dtype: "int64", shape }) as const;

/** A gather from the table `t`, beside one from the table `w`. */
const gathers = (op: string, shape: readonly number[], attributes = {}): Uint8Array =>
  withWeights(
    {
      opsets: { "ai.onnx": 18 },
      inputs: { i: INT64(...shape) },
      nodes: [
        { name: "take", op, inputs: ["t", "i"], outputs: ["y"], attributes },
        { name: "other", op: "Gather", inputs: ["w", "i"], outputs: ["z"] },
      ],
      outputs: { y: null, z: null },
    },
    ["t", "w"],
  );

/** A gather from a `Constant` node. */
const FROM_NODE = file(
  bytes(
    MODEL.graph,
    node(
      "Constant",
      text(NODE.output, "t"),
      attribute("value", "TENSOR", bytes(ATTRIBUTE.t, weight("t"))),
    ),
  ),
  writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { i: INT64(2) },
      nodes: [{ name: "take", op: "Gather", inputs: ["t", "i"], outputs: ["y"] }],
      outputs: { y: null },
    }),
  ),
);

const TAKEN: readonly (readonly [string, Uint8Array, Tensor, number])[] = [
  ["rows", gathers("Gather", [3]), i64([3], 5, -1, 5), 2 * ROW],
  ["rows of a node", FROM_NODE, i64([2], 5, -1), 2 * ROW],
  ["columns", gathers("Gather", [1], { axis: 1 }), i64([1], 2), ROWS * 4],
  ["rows by tuples", gathers("GatherND", [2, 1]), i64([2, 1], 7, 0), 2 * ROW],
  ["elements by tuples", gathers("GatherND", [2, 2]), i64([2, 2], 7, 1, 63, 3), 2 * 4],
  ["elements", gathers("GatherElements", [1, 4], {}), i64([1, 4], 1, 2, 3, 63), 4 * 4],
];

for (const [what, model, i, read] of TAKEN) {
  test(`of a table, only the ${what} that a gather takes are read`, async () => {
    for (const runs of [1, 2]) {
      const { of, external } = new Reads();
      const options = { createSession: runtime(), external, node: "take", runs };
      // oxlint-disable-next-line no-await-in-loop
      const { nodes } = await verifyModel(model, { i }, options);
      assert.deepEqual(
        nodes.map(({ verdict }) => verdict),
        ["equal"],
      );
      assert.deepEqual([...of], [["t.bin", runs * read]]);
    }
  });
}

const ROW_GATHER = gathers("Gather", [2]);
const i = i64([2], 3, 9);

test("all of a table is read if the result is wrong, because reasons are searched in it", async () => {
  const { of, external } = new Reads();
  const createSession = runtime(({ y }) => {
    // Row 4 instead of row 3.
    if (y) (y.data as Float32Array).set((TABLE.data as Float32Array).subarray(16, 20));
  });
  const options = { createSession, external, node: "take" };
  const { nodes } = await verifyModel(ROW_GATHER, { i }, options);
  assert.equal(nodes[0].verdict, "differs");
  assert.ok(equals(nodes[0].call?.inputs[0] as Tensor, TABLE));
  assert.deepEqual([...of], [["t.bin", 2 * ROW + DATA.length]]);
});

test("all of a table is read for an index out of range", async () => {
  const { external } = new Reads();
  const { nodes } = await verifyModel(
    ROW_GATHER,
    { i: i64([2], 3, 64) },
    { createSession: runtime(), external, node: "take" },
  );
  assert.equal(nodes[0].verdict, "wrong");
  assert.ok(equals(nodes[0].call?.inputs[0] as Tensor, TABLE));
});

for (const more of [-1, 1]) {
  test(`rows of ${ROW + more} bytes in place of ${ROW} are refused`, async () => {
    const external = (_location: string, _offset: number, length: number): Uint8Array =>
      new Uint8Array(length + more);
    const options = { createSession: runtime(), external, node: "take" };
    await assertRejectedCode("malformed-file", { input: "t" }, () =>
      verifyModel(ROW_GATHER, { i: i64([2], 62, 63) }, options),
    );
  });
}

test("a captured gather has all of its table", async () => {
  const { external } = new Reads();
  const options = { createSession: runtime(), external, node: "take" };
  for await (const { call } of captureCalls(ROW_GATHER, { i }, options))
    assert.ok(equals(call?.inputs[0] as Tensor, TABLE));
});

test("a model with the expected outputs is not searched for changes", async () => {
  const { of, external } = new Reads();
  const data = (TABLE.data as Float32Array).slice(12, 16);
  const y = tensor("float32", [2, COLUMNS], [...data, ...data]);
  const options = { createSession: runtime(), external, node: "take", expected: { y } };
  const { agrees } = await verifyModel(ROW_GATHER, { i: i64([2], 3, 3) }, options);
  assert.deepEqual([agrees, ...of], [true, ["t.bin", ROW]]);
});

test("a model with other expected outputs is searched for changes with all of its tables", async () => {
  const { external } = new Reads();
  // Row 9 where row 3 is.
  const data = (TABLE.data as Float32Array).slice(36, 40);
  const y = tensor("float32", [2, COLUMNS], [...data, ...data]);
  const options = { createSession: runtime(), external, expected: { y } };
  const { expected, agrees } = await verifyModel(ROW_GATHER, { i }, options);
  assert.deepEqual([expected?.outputs[0].isExpected, agrees], [false, false]);
});

/** A model whose function scatters into `t` what it gathers from `w`. */
function functionModel(): Uint8Array {
  const io = (inputs: readonly string[], output: string, name: string): Bytes => [
    ...inputs.flatMap((one) => text(NODE.input, one)),
    ...text(NODE.output, output),
    ...text(NODE.name, name),
  ];
  return withWeights(
    {
      opsets: { "ai.onnx": 18, d: 1 },
      inputs: { i: INT64(2, 1) },
      nodes: [{ op: "F", domain: "d", inputs: ["i", "t", "w"], outputs: ["y"] }],
      outputs: { y: null },
    },
    ["t", "w"],
    bytes(MODEL.functions, [
      ...text(FUNCTION.name, "F"),
      ...["I", "T", "W"].flatMap((one) => text(FUNCTION.input, one)),
      ...text(FUNCTION.output, "Y"),
      ...functionNode("GatherND", io(["W", "I"], "rows", "other")),
      ...functionNode("ScatterND", io(["T", "I", "rows"], "Y", "put")),
      ...opset(18, undefined, FUNCTION.opsetImport),
      ...text(FUNCTION.domain, "d"),
    ]),
  );
}

const TUPLES = { i: i64([2, 1], 3, 9) };

test("weights that a function gets for other nodes are not read", async () => {
  const { of, external } = new Reads();
  const options = { createSession: runtime(), external, node: "put" };
  const { nodes } = await verifyModel(functionModel(), TUPLES, options);
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal"],
  );
  assert.deepEqual([...of], [["t.bin", DATA.length]]);
});

test("an exact session does not read the weights of other nodes in a function", async () => {
  const { of, external } = new Reads();
  const session = await createExactSession(functionModel(), { createSession: runtime(), external });
  const { y } = await session.run(TUPLES);
  await session.release();
  // The rows are the same in `t` and `w`.
  assert.ok(equals(asTensor(y, {}, "y"), TABLE));
  assert.deepEqual([...of], [["t.bin", DATA.length]]);
});
