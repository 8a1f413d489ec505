/** Every version of every operator, in every data type, as a model in a file of its domain: the same bits come out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { buildModel, runModel } from "../../src/entries/onnx.ts";
import { roleOf, type IndexForm, type Role } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";
import { typesOf } from "../../src/core/operators/rows.ts";
import { run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { asFile } from "../support/model-files.ts";
import { randomFrom, randomTensor } from "../support/random.ts";

type Shapes = Readonly<Partial<Record<Role, readonly number[]>>>;

const SHAPES: Readonly<Record<IndexForm, Shapes>> = {
  tuples: { data: [3, 4], indices: [2, 1], updates: [2, 4] },
  elements: { data: [3, 4], indices: [2, 4], updates: [2, 4] },
  slices: { data: [3, 4], indices: [2], updates: [2, 4] },
  sequences: { data: [2, 3, 4], indices: [2], updates: [2, 1, 4] },
};

const random = randomFrom(3);

/** A file holds no half of a surrogate pair. */
const TEXTS = ["", "a", "ä", "\u{10000}"];

function valuesOf(role: Role, dtype: DType, shape: readonly number[]): Tensor {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const small = (most: number) => Array.from({ length: size }, () => random(most));
  if (role === "axis") return tensor(dtype, shape, [0]);
  if (role === "indices") return tensor(dtype, shape, small(3));
  return dtype === "string"
    ? tensor(
        "string",
        shape,
        small(4).map((one) => TEXTS[one]),
      )
    : randomTensor(dtype, shape, random);
}

for (const version of operators()) {
  const { domain, name, sinceVersion, inputs, outputs, attributes } = version;
  const required = Object.fromEntries(
    attributes.flatMap((one) => (one.default === undefined ? [[one.name, 0]] : [])),
  );
  const opset = version.opset ?? sinceVersion;
  test(`${name}-${sinceVersion} of ${domain} in every data type`, () => {
    const types = typesOf(version, outputs[0].type) as readonly DType[];
    assert.ok(types.length >= 13);
    for (const dtype of types) {
      // All index types in turn.
      const indexType = inputs.find((one) => roleOf(one) === "indices")?.type ?? "";
      for (const turn of typesOf(version, indexType).keys()) {
        const tensors = inputs.map((input) => {
          const role = roleOf(input);
          const own = typesOf(version, input.type) as readonly DType[];
          const isData = role === "data" || role === "updates";
          return valuesOf(
            role,
            isData ? dtype : own[turn % own.length],
            SHAPES[version.indexForm][role] ?? [],
          );
        });
        const node = { domain, op: name, opset, attributes: required };
        const [expected] = run(node, tensors);
        const values = inputs.map((input) => input.name);
        const model = buildModel({
          opsets: { [domain]: opset },
          irVersion: domain === "openvino" ? 11 : 8,
          constants: Object.fromEntries(
            values.map((value, position) => [value, tensors[position]]),
          ),
          nodes: [{ domain, op: name, inputs: values, outputs: ["y"], attributes: required }],
          outputs: { y: { dtype, shape: expected.shape } },
        });
        const { y } = runModel(asFile(model), {});
        if (!equals(y, expected)) assert.fail(`${dtype}: ${y} is not ${expected}`);
      }
    }
  });
}
