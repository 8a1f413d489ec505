/** What inspecting one node finds: a row for each id and for each thing that it takes to tell them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FINDINGS, inspectModel, type Finding } from "../../src/entries/onnx.ts";
import { FINDING_ROWS } from "../fixtures/findings.ts";
import { INDEX_ROWS } from "../fixtures/findings-of-indices.ts";
import { reportSentence } from "../support/sentences.ts";

const ROWS = [...FINDING_ROWS, ...INDEX_ROWS];

for (const [position, { ids, of, fields = {} }] of ROWS.entries()) {
  const [{ op }] = of.graph.nodes;
  test(`row ${position}: ${op} has ${ids.join(", ") || "nothing"}`, () => {
    const report = inspectModel(of);
    const [{ findings }] = report.nodes;
    const sentences = findings.map(({ sentence }) => sentence).join("\n");
    assert.deepEqual(
      findings.map(({ id }) => id),
      ids,
      sentences,
    );
    for (const { id, severity, sentence } of findings) {
      assert.equal(severity, FINDINGS[id].severity);
      reportSentence(`finding ${id}`, sentence);
    }
    assert.deepEqual(report.findings, []);
    for (const [field, value] of Object.entries(fields)) {
      assert.deepEqual(findings[0][field as keyof Finding], value, field);
    }
  });
}

test("every id has a row", () => {
  const ids = new Set<string>(ROWS.flatMap((row) => row.ids));
  assert.deepEqual(
    Object.keys(FINDINGS).filter((id) => !ids.has(id)),
    [
      "repeats-lost",
      "mean-lost",
      "indices-flattened",
      "value-repeated",
      "node-name-repeated",
      "initializer-repeated",
      "domain-repeated",
      "opset-not-known",
      "graph-too-deep",
    ],
  );
});
