/** Runs the examples of the operators' documents on every version that can express them, and on every engine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { roleOf } from "../../src/core/operators/operator.ts";
import { operators, resolve } from "../../src/core/operators/registry.ts";
import { infer } from "../../src/core/call/check.ts";
import { run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { fromNested, zeros } from "../../src/core/tensor/tensor.ts";
import { EXAMPLES } from "../fixtures/examples.ts";
import { ENGINES } from "../support/engines.ts";

for (const { source, versions, op, domain, attributes, dtype, indexType, ...values } of EXAMPLES) {
  for (const opset of versions) {
    for (const [name, engine] of Object.entries(ENGINES)) {
      test(`${source}, version ${opset}, on ${name}`, () => {
        const given = {
          data: { dtype, value: values.data },
          indices: { dtype: indexType, value: values.indices },
          updates: { dtype, value: values.updates },
          axis: { dtype: "int64", value: values.axis },
        } as const;
        const inputs = resolve({ domain, op, opset }).inputs.map((input) => {
          const { dtype, value } = given[roleOf(input)];
          return value === undefined ? undefined : fromNested(dtype, value, {});
        });
        const expected = fromNested(dtype, values.output, {});
        const [output] = run({ domain, op, opset, attributes }, inputs, { engine });
        if (!equals(output, expected)) assert.fail(`${output} is not ${expected}`);
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

type ShapeRow = readonly [
  op: string,
  opset: number,
  attributes: Readonly<Record<string, number>>,
  inputs: readonly (readonly number[])[],
  axis: number | null,
  output: readonly number[],
];

/** Documents of openvino that print shapes and no values. The input axis has no row in `inputs`. */
// prettier-ignore
const SHAPES: readonly ShapeRow[] = [
  ["ScatterUpdate", 3, {}, [[1000, 256, 10, 15], [125, 20], [1000, 125, 20, 10, 15]], 1, [1000, 256, 10, 15]],
  ["ScatterElementsUpdate", 12, {}, [[1000, 256, 7, 7], [125, 20, 7, 6], [125, 20, 7, 6]], 0, [1000, 256, 7, 7]],
  ["Gather", 8, { batch_dims: 1 }, [[2, 64, 128], [2, 32, 21]], 1, [2, 32, 21, 128]],
  ["GatherND", 5, { batch_dims: 0 }, [[1000, 256, 10, 15], [25, 125, 3]], null, [25, 125, 15]],
  ["GatherND", 5, { batch_dims: 2 }, [[30, 2, 100, 35], [30, 2, 3, 1]], null, [60, 3, 35]],
  ["GatherND", 8, { batch_dims: 2 }, [[30, 2, 100, 35], [30, 2, 3, 1]], null, [30, 2, 3, 35]],
  ["GatherND", 8, { batch_dims: 3 }, [[1, 64, 64, 320], [1, 64, 64, 1, 1]], null, [1, 64, 64, 1]],
  ["GatherElements", 6, { axis: 1 }, [[3, 7, 5], [3, 10, 5]], null, [3, 10, 5]],
];

for (const [op, opset, attributes, inputs, axis, output] of SHAPES) {
  const said = JSON.stringify(attributes);
  test(`${op}-${opset} of openvino: the shapes that its document prints, ${said}`, () => {
    const node = { domain: "openvino", op, opset, attributes };
    const types = resolve(node).inputs.map((input, position) => {
      const role = roleOf(input);
      if (role === "axis") return fromNested("int32", [axis], {});
      return { dtype: role === "indices" ? "int64" : "float32", shape: inputs[position] } as const;
    });
    assert.deepEqual(infer(node, types), [{ dtype: "float32", shape: output }]);
  });
}

test("every version has examples", () => {
  for (const { domain, name, sinceVersion } of operators()) {
    const isShown = EXAMPLES.some(
      (one) =>
        (one.domain ?? "ai.onnx") === domain &&
        one.op === name &&
        one.versions.includes(sinceVersion),
    );
    assert.ok(isShown, `${domain} ${name}-${sinceVersion}`);
  }
});
