/** Which version an operator has at an opset, and what the registry promises of its rows. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { NEWEST_OPSETS, roleOf } from "../../src/core/operators/operator.ts";
import { findVersion, lookUp, operators, resolve } from "../../src/core/operators/registry.ts";
import { isTensorError } from "../../src/core/errors.ts";

/** At each opset the version whose rules hold, by the change logs of the two domains; null where there is none. */
type Row = readonly [
  domain: string | undefined,
  op: string,
  versions: readonly (readonly [opset: number, version: number | null])[],
];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["ai.onnx", "ScatterND", [[10, null], [11, 11], [12, 11], [13, 13], [15, 13], [16, 16], [17, 16], [18, 18]]],
  ["ai.onnx", "ScatterElements", [[10, null], [11, 11], [12, 11], [13, 13], [16, 16], [18, 18], [28, 18]]],
  ["ai.onnx", "Scatter", [[8, null], [9, 9], [10, 9], [11, 11], [18, 11]]],
  ["ai.onnx", "GatherND", [[10, null], [11, 11], [12, 12], [13, 13], [28, 13]]],
  ["ai.onnx", "GatherElements", [[10, null], [11, 11], [12, 11], [13, 13]]],
  ["ai.onnx", "Gather", [[0, null], [1, 1], [10, 1], [11, 11], [12, 11], [13, 13]]],
  ["ai.onnx", "TensorScatter", [[23, null], [24, 24], [28, 24]]],
  ["openvino", "ScatterNDUpdate", [[2, null], [3, 3], [14, 3], [15, 15], [16, 15]]],
  ["openvino", "ScatterElementsUpdate", [[2, null], [3, 3], [11, 3], [12, 12]]],
  ["openvino", "ScatterUpdate", [[2, null], [3, 3], [15, 3]]],
  ["openvino", "Gather", [[0, null], [1, 1], [6, 1], [7, 7], [8, 8], [15, 8]]],
  ["openvino", "GatherND", [[4, null], [5, 5], [7, 5], [8, 8]]],
  ["openvino", "GatherElements", [[5, null], [6, 6]]],
  // No domain and "" mean ai.onnx; names belong to their domain, and case counts.
  [undefined, "ScatterND", [[18, 18]]],
  ["", "Gather", [[12, 11]]],
  ["openvino", "ScatterND", [[15, null]]],
  ["ai.onnx", "ScatterNDUpdate", [[15, null]]],
  ["ai.onnx", "scatternd", [[18, null]]],
  ["ai.onnx.ml", "Gather", [[13, null]]],
];

for (const [domain, op, versions] of ROWS) {
  test(`${op} of ${JSON.stringify(domain)}: the greatest version not above the opset`, () => {
    for (const [opset, expected] of versions) {
      const id = { domain, op, opset };
      const found = findVersion(id);
      assert.deepEqual(found && found.sinceVersion, expected, `opset ${opset}`);
      if (found !== null) {
        assert.deepEqual([found.name, found.domain], [op, domain || "ai.onnx"]);
        assert.equal(resolve(id), found);
      } else {
        assert.throws(
          () => resolve(id),
          (error) => isTensorError(error, "unknown-operator"),
        );
      }
    }
  });
}

test("every operator of the registry has a row, at the opset before its first version too", () => {
  for (const { domain, name, sinceVersion } of operators()) {
    const row = ROWS.find(([home, op]) => home === domain && op === name);
    assert.ok(row, `${name} of ${domain}`);
    const [, , versions] = row;
    assert.ok(versions.some(([opset, version]) => opset === sinceVersion && version === opset));
    assert.ok(versions.some(([, version]) => version === null));
  }
});

test("an operator with updates is a scatter, and one without is a gather", () => {
  for (const { domain, name: op, sinceVersion: opset, inputs } of operators()) {
    const hasUpdates = inputs.some((input) => roleOf(input) === "updates");
    const { kind } = lookUp({ domain, op, opset }).operator;
    assert.equal(kind, hasUpdates ? "scatter" : "gather", op);
  }
});

test("the versions of an operator stand together, oldest first", () => {
  const rows = operators();
  for (const [position, { name, domain, sinceVersion }] of rows.entries()) {
    const first = rows.findIndex((row) => row.name === name && row.domain === domain);
    const older = rows.slice(first, position);
    assert.ok(older.every((row) => row.name === name && row.domain === domain));
    assert.ok(older.every((row) => row.sinceVersion < sinceVersion));
  }
});

test("no version came after the newest opset of its domain", () => {
  for (const { domain, name, sinceVersion, opset = sinceVersion } of operators()) {
    assert.ok(opset <= NEWEST_OPSETS[domain], `${name}-${sinceVersion} of ${domain}`);
  }
});

test("rows cannot be changed", () => {
  for (const version of operators()) {
    const inner = [version.attributes, version.inputs, version.outputs, version.typeConstraints];
    for (const part of [version, ...inner, ...inner.flat()]) assert.ok(Object.isFrozen(part));
  }
  const [scatterND] = operators();
  assert.throws(
    () => Object.assign(scatterND, { sinceVersion: 1 }),
    (error) => error instanceof TypeError,
  );
});
