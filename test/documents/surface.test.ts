/**
 * The public surface of the package: the exported names and their declarations, as reviewed. `UPDATE=1 npm test --
 * documents/surface` rewrites the file, and the difference is what a reviewer reads.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { read, ROOT } from "../support/documents.ts";
import { readSurface } from "../support/surface.ts";

const surface = readSurface();
const FILE = "test/fixtures/surface.txt";

test("the declarations of the entries are those that were reviewed", () => {
  const { text } = surface;
  if (process.env["UPDATE"] !== undefined) fs.writeFileSync(path.join(ROOT, FILE), text);
  assert.equal(text, read(FILE), `UPDATE=1 npm test -- documents/surface rewrites ${FILE}`);
});

for (const { name, file, values } of surface.entries) {
  test(`${name} exports the values that its declarations promise`, async () => {
    const exported: object = await import(file);
    assert.deepEqual(Object.keys(exported).toSorted(), values);
  });
}

test("the package has ten entries", () => assert.equal(surface.entries.length, 10));
