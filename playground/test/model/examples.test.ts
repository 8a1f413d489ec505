/** Examples are found by their questions, and by all other words that say what they are. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { foundExamples } from "../../src/gallery/examples-dialog.tsx";
import { EXAMPLES } from "../../src/examples/presets.ts";

const ids = (words: string): string[] => foundExamples(words).map(({ id }) => id);

test("every example has a question of its own in its group, which fits a card", () => {
  const seen = new Set<string>();
  for (const { id, group, question } of EXAMPLES) {
    assert.match(question, /^[A-Z].*\?$/, id);
    assert.ok(question.length <= 56, `${id}: ${question}`);
    assert.ok(!seen.has(`${group}: ${question}`), id);
    seen.add(`${group}: ${question}`);
  }
});

test("an example is found by its question, by its name in a document, and by its attributes", () => {
  assert.equal(
    ids("only one update SURVIVE")[0],
    "classic-confusions-duplicates-without-a-reduction-the-last-one-wins",
  );
  assert.deepEqual(ids("with_negative_indices"), ["scatterelements-with-negative-indices"]);
  assert.ok(ids("mode circular").includes("tensorscatter-circular-positions-wrap"));
  assert.ok(ids("gathernd-13 batch_dims 1").includes("start-batches"));
  assert.deepEqual(ids("xyzzy"), []);
  assert.equal(ids("").length, EXAMPLES.length);
});

test("a question with the words comes before a note with them", () => {
  const found = foundExamples("rounded");
  const first = found.findIndex(({ question }) => !/rounded/i.test(question));
  assert.ok(first > 0);
  assert.ok(found.slice(first).every(({ question }) => !/rounded/i.test(question)));
  assert.ok(first < found.length);
});

test("a question in the user's own words finds the examples that answer it", () => {
  assert.ok(
    ids("repeated").includes("classic-confusions-duplicates-without-a-reduction-the-last-one-wins"),
  );
  assert.match(ids("Why did only one of my updates survive?")[0], /duplicates-without-a-reduction/);
  assert.equal(ids("where did my row go")[0], "first");
  assert.match(ids("What happens with duplicates?")[0], /^classic-confusions-.*duplicates/);
  assert.deepEqual(ids("zebra xyzzy"), []);
});
