/** What is sent on: links to comparisons, three outputs beside each other, frames and Markdown. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, suffixIn, toHash } from "../../src/document/hash.ts";
import { explainState, readState } from "../../src/document/read-state.ts";
import { f32 } from "../support/values.ts";
import { compareActual, compareShape, fitActual } from "../../src/why/actual.ts";
import { printCompared, readCompared } from "../../src/why/compared-link.ts";
import { rulesOf } from "../../src/why/dialect-view.ts";
import { sideBySide, type SideBySide } from "../../src/why/side-by-side.ts";
import { sideScene } from "../../src/why/side-picture.ts";
import { asMarkdown } from "../../src/writing/as-markdown.ts";
import { embedCode, linkRemark } from "../../src/writing/link.ts";
import { toSVG } from "../../src/writing/svg.ts";
import { stateOf } from "../support/states.ts";

/** Exactly [1, 30, 20, 4]. */
const STATE = stateOf("ai.onnx/ScatterND/18;float32:4:1,2,3,4;int64:3,1:1,2,1;float32:3:10,20,30");
const YOURS = f32([1, 10, 20, 4]);

test("a link holds what is compared, and its state is read as before", () => {
  const compared = {
    text: YOURS,
    rounding: { decimals: 4, isScientific: true },
    beside: "jax",
  } as const;
  const suffix = printCompared(compared);
  assert.equal(suffix, "!float32:4:1,10,20,4;digits=4e;beside=jax");
  assert.deepEqual(readCompared(suffix), compared);
  const hash = `#${toHash(STATE)}${suffix}`;
  assert.deepEqual(fromHash(hash), { state: STATE });
  assert.equal(suffixIn(hash), suffix);
  assert.equal(suffixIn(`#${toHash(STATE)}`), "");
  assert.equal(readCompared("!nonsense"), null);
  assert.equal(readCompared("!float32:4:1,10,20,4;beside=toString")?.beside, null);
});

test("three outputs, each cell that differs with both values, the reason and its evidence", () => {
  const { node, inputs } = readState(STATE);
  const { explanation } = explainState(STATE);
  const rules = rulesOf(node, inputs);
  const actual = fitActual(YOURS, { dtype: "float32", shape: [4] });
  assert.ok("text" in actual);
  const comparison = compareActual(explainState(STATE), actual, rules);
  assert.ok("texts" in comparison);
  const side = sideBySide({ state: STATE, explanation, comparison, rules, beside: "jax" });
  assert.deepEqual(
    side.columns.map(({ name, texts }) => [name, texts?.[1]]),
    [
      ["Yours", "10"],
      ["Exact", "30"],
      ["JAX", "30"],
    ],
  );
  assert.equal(side.columns[2].mark(1), "open");
  assert.match(side.reason, /^The first update of each repeated target was kept/);
  assert.deepEqual(side.evidence, [
    "ONNX keeps any one of the repeated updates: 1 cell may differ.",
    "output[1] is 10 in yours; the exact value is 30. Data holds 2; the cell receives 10, then 30.",
  ]);
  // Of several results that ONNX allows, the page does not call one the specification's.
  assert.equal(side.columns[1].note, "one result that ONNX allows");
  for (const room of [324, 700, 1200]) {
    const svg = toSVG(sideScene(side, room), "dark");
    for (const part of ["exact 30", "yours 10", "may differ"]) assert.ok(svg.includes(part), part);
  }
});

test("of a large output, the picture shows the part around the first cell that differs", () => {
  const texts = Array.from({ length: 12_000 }, (_, cell) => String(cell));
  const side: SideBySide = {
    ...{ title: "T", shape: [300, 40], verdict: "1 cell differs.", reason: "", evidence: [] },
    columns: [
      {
        ...{ name: "Yours", note: "differs in 1 cell", texts: texts.with(9999, "-5") },
        mark: (cell) => (cell === 9999 ? "differs" : "same"),
      },
      { name: "Exact", note: "by the specification", texts, mark: () => "same" },
      { name: "JAX", note: "refuses the call", texts: null, mark: () => "same" },
    ],
    differing: [9999],
  };
  for (const room of [324, 700, 1200]) {
    const svg = toSVG(sideScene(side, room), "light");
    for (const part of ["-5", "exact 9999", "yours -5", "9998", "refuses the call"])
      assert.ok(svg.includes(`>${part}<`), `${room}: ${part}`);
    assert.ok((svg.match(/<rect/g) ?? []).length < 2 * 40 * 12, `${room}`);
  }
});

test("a system that agrees in this call is not said to do what others do", () => {
  const { node, inputs } = readState(STATE);
  const rules = rulesOf(node, inputs);
  assert.ok("choices" in rules);
  const agreeing = rules.choices.filter(({ agrees }) => agrees).flatMap(({ rows }) => rows);
  assert.ok(agreeing.length > 0);
  const actual = fitActual(YOURS, { dtype: "float32", shape: [4] });
  assert.ok("text" in actual);
  const comparison = compareActual(explainState(STATE), actual, rules);
  assert.ok("texts" in comparison);
  for (const { dialects } of comparison.causes)
    for (const { id } of agreeing) assert.ok(!dialects.includes(id), id);
});

test("another axis of a gather is named by its shape", () => {
  const state = stateOf("ai.onnx/Gather/13;float32:2,3:0,1,2,3,4,5;int64:2:1,0");
  const call = explainState(state);
  const type = { dtype: "float32", shape: [2, 3] } as const;
  const compared = (values: readonly string[]) =>
    compareShape(call, { ...type, shape: [2, 2], values }, type, rulesOf(call.node, call.inputs));
  const found = compared(["1", "0", "4", "3"]);
  assert.deepEqual(found?.sentences, ["Yours has the shape [2, 2]; the exact output has [2, 3]."]);
  assert.match(found?.causes[0].sentence ?? "", /^the axis was 1, not 0/);
  assert.equal(compared(["1", "0", "4", "9"]), null);
});

test("links, frames and Markdown", () => {
  assert.equal(linkRemark("x".repeat(8000)), "This link has 8,000 characters.");
  assert.match(
    linkRemark("x".repeat(8001)),
    /Many chats and mail programs cut links after 8,000 characters/,
  );
  assert.match(embedCode('a"b', "T"), /src="a&quot;b" title="T in ndscatter" width="720"/);
  assert.equal(
    asMarkdown(STATE, "http://a/#b(c)"),
    "**[ScatterND-18](http://a/#b%28c%29)**\n\n```text\ndata = float32 [4] [1, 2, 3, 4]\n" +
      "indices = int64 [3, 1] [[1], [2], [1]]\nupdates = float32 [3] [10, 20, 30]\n" +
      "output = float32 [4] [1, 30, 20, 4]\n```\n",
  );
});
