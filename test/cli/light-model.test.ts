/** Models whose large weights stay in their file, as external data of the file itself. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { buildModel, readModel, writeModel } from "../../src/entries/onnx.ts";
import { lightModel } from "../../src/cli/input/light-model.ts";
import { equals, tensor } from "../../src/core/tensor/tensor.ts";
import { setLimits } from "../support/limits.ts";
import { f32, i64 } from "../support/node-models.ts";

after(setLimits({ CLI: { weights: 64 } }));

const table = tensor(
  "float32",
  [16, 2],
  Array.from({ length: 32 }, (_, at) => at),
);
const FILE = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "float32", shape: [2] } },
    constants: { small: i64([2], 1, 15), table, last: f32([1], 7) },
    nodes: [
      { op: "Gather", inputs: ["table", "small"], outputs: ["t"] },
      { op: "Add", inputs: ["t", "x"], outputs: ["s"] },
      { op: "Add", inputs: ["s", "last"], outputs: ["y"] },
    ],
    outputs: { y: null },
  }),
);

const sourceOf = (bytes: Uint8Array) => ({
  size: bytes.length,
  read: (offset: number, length: number) => bytes.slice(offset, offset + length),
});

test("large weights stay in the file, and the model is the same", () => {
  const light = lightModel("m.onnx", sourceOf(FILE)) as Uint8Array;
  const asked: unknown[] = [];
  const external = (location: string, offset: number, length: number): Uint8Array => {
    asked.push(location);
    return FILE.slice(offset, offset + length);
  };
  const [model, whole] = [readModel(light, { external }), readModel(FILE)];
  assert.deepEqual(
    model.graph.nodes.map(({ op, inputs, outputs }) => [op, inputs, outputs]),
    whole.graph.nodes.map(({ op, inputs, outputs }) => [op, inputs, outputs]),
  );
  assert.deepEqual([model.opsets, model.irVersion], [whole.opsets, whole.irVersion]);
  for (const [at, one] of model.graph.constants.entries())
    assert.ok(equals(one.read(), whole.graph.constants[at].read()), one.name);
  assert.ok(asked.length > 0 && asked.every((location) => location === "m.onnx"));
});

test("a file that is no model is left to the usual reader", () => {
  for (const bytes of [FILE.subarray(0, 200), Uint8Array.of(0x0f, 1), Uint8Array.of(0x3a, 0xff)])
    assert.equal(lightModel("m.onnx", sourceOf(bytes)), null);
});
