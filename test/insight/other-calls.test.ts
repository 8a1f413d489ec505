import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { otherCalls } from "../../src/insight/diagnose/other-calls.ts";

// GatherElements needs indices with the rank of data. Its planner does not return for a scalar index, so hypotheses
// about another operator must check shapes before they plan.
test("other calls of a gather with a scalar index end", () => {
  const node = { op: "Gather", opset: 13, attributes: { axis: 1 } };
  const inputs = [tensor("float32", [3, 2], [0, 1, 2, 3, 4, 5]), tensor("int64", [], [0n])];
  const ids = new Set(Array.from(otherCalls(node, inputs), ({ id }) => id));
  assert.ok(ids.has("indices-from-one"));
});
