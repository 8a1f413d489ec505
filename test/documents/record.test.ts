/** The record of what the package does: a difference is found, a call is drawn again, and a folder is put back. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { inFolder, ROOT } from "../support/documents.ts";
import { WatchedFolder } from "../support/folder-contents.ts";

interface Difference {
  readonly kind: string;
  readonly id: string;
}

const {
  differences,
  printDifferences,
}: {
  differences: (a: string, b: string) => Difference[];
  printDifferences: (found: readonly Difference[]) => string;
} = await import(path.join(ROOT, "scripts/record/compare.js"));

const lines = (...cases: readonly object[]): string =>
  cases.map((one) => `${JSON.stringify(one)}\n`).join("");

const REFUSED = {
  code: "axis",
  fields: { axis: 2 },
  sentence: "the axis is 2, but must be 0 or 1",
};

const BEFORE = lines(
  { id: "call/js/1", values: "a" },
  { id: "call/wasm/1", values: "a" },
  { id: "call/js/2", ...REFUSED },
  { id: "call/js/3", ...REFUSED, sentence: "the axis is 7, but must be 0 or 1" },
  { id: "command/cli/run/x", line: "run", status: 0, printed: "p" },
  { id: "model/gone", values: "m" },
);

test("equal records do not differ", () => {
  assert.deepEqual(differences(BEFORE, BEFORE), []);
  assert.equal(printDifferences([]), "nothing differs\n");
});

test("each kind of difference is reported, with a line to see the case again", () => {
  const other = { code: "rank", fields: { axis: 3 }, sentence: "the axis is 2, not 0 or 1" };
  const after = lines(
    { id: "call/js/1", values: "b" },
    { id: "call/wasm/1", values: "b" },
    { id: "call/js/2", ...other },
    { id: "call/js/3", ...REFUSED, sentence: "the axis is 7, not 0 or 1" },
    { id: "command/cli/run/x", line: "run", status: 1, printed: "q" },
    { id: "model/new", values: "m" },
  );
  const found = differences(BEFORE, after);
  assert.deepEqual(found.map(({ kind, id }) => `${kind}: ${id}`).toSorted(), [
    "error code: call/js/2",
    "fields: call/js/2",
    "missing: model/gone",
    "new: model/new",
    "printed text: command/cli/run/x",
    "sentence: call/js/2",
    "sentence: call/js/3",
    "status: command/cli/run/x",
    "values: call/js/1",
    "values: call/wasm/1",
  ]);
  const text = printDifferences(found);
  // The engines' results are one difference, and so is a sentence with other numbers.
  assert.match(
    text,
    /^values: 2 cases\n {2}2 like this: node scripts\/record\.js --only call\/js\/1 /,
  );
  assert.match(text, /^sentence: 2 cases\n {2}2 like this: .*--only call\/js\/2 --show\n/m);
  assert.match(text, /^ {4}before: the axis is 2, but must.*\n {4}after: {2}the axis is 2, not/m);
});

test("a number always draws the same call, and others draw others", async () => {
  const {
    drawCall,
    titleOf,
  }: { drawCall: (number: number) => never; titleOf: (call: never) => string } = await import(
    path.join(ROOT, "scripts/record/draw.js")
  );
  const draw = (): string[] => Array.from({ length: 40 }, (_, number) => titleOf(drawCall(number)));
  const titles = draw();
  assert.deepEqual(draw(), titles);
  assert.equal(new Set(titles).size, titles.length);
});

test("a folder gets back the files that it had, and no others", () =>
  inFolder((home) => {
    const [folder, store] = ["folder", "store"].map((name) => path.join(home, name));
    for (const made of [folder, store]) fs.mkdirSync(made);
    fs.mkdirSync(path.join(folder, "inner/empty"), { recursive: true });
    fs.writeFileSync(path.join(folder, "inner/a"), "first");
    fs.writeFileSync(path.join(folder, "b"), "second");
    const watched = new WatchedFolder(folder, store);
    const contents = watched.contents();
    assert.deepEqual(Object.keys(contents).toSorted(), ["b", "inner", "inner/a", "inner/empty"]);
    fs.rmSync(path.join(folder, "inner"), { recursive: true });
    fs.writeFileSync(path.join(folder, "b"), "another");
    fs.writeFileSync(path.join(folder, "c"), "more");
    assert.notDeepEqual(watched.contents(), contents);
    watched.restore(contents);
    assert.deepEqual(watched.contents(), contents);
    assert.equal(fs.readFileSync(path.join(folder, "inner/a"), "utf8"), "first");
    assert.equal(fs.readFileSync(path.join(folder, "b"), "utf8"), "second");
  }));
