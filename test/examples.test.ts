import assert from "node:assert/strict";
import { test } from "node:test";
import { infer, run } from "../src/run.ts";
import { equals, fromNested, zeros } from "../src/tensor.ts";
import { EXAMPLES } from "./cases/examples.ts";
import { ENGINES } from "./support/engines.ts";

for (const { source, versions, op, domain, attributes, dtype, indexType, ...values } of EXAMPLES) {
  for (const opset of versions) {
    for (const [name, engine] of Object.entries(ENGINES)) {
      test(`${source}, version ${opset}, on ${name}`, () => {
        const inputs = [
          fromNested(dtype, values.data, {}),
          fromNested(indexType, values.indices, {}),
          ...(values.updates === undefined ? [] : [fromNested(dtype, values.updates, {})]),
        ];
        const expected = fromNested(dtype, values.output, {});
        const [output] = run({ domain, op, opset, attributes }, inputs, { engine });
        assert.ok(equals(output, expected), `${output} is not ${expected}`);
      });
    }
  }
}

test("ScatterNDUpdate-15, example 5: the shapes of 25 x 125 tuples of 3", () => {
  const node = { domain: "openvino", op: "ScatterNDUpdate", opset: 15 };
  const data = zeros("float32", [1000, 256, 10, 15]);
  const indices = zeros("int64", [25, 125, 3]);
  const updates = zeros("float32", [25, 125, 15]);
  assert.deepEqual(infer(node, [data, indices, updates]), [
    { dtype: "float32", shape: [1000, 256, 10, 15] },
  ]);
  assert.deepEqual(run(node, [data, indices, updates])[0].shape, [1000, 256, 10, 15]);
});
