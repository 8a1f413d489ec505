/** The folders of the page are layers, as `docs/architecture.md` draws them. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const REPOSITORY = path.join(import.meta.dirname, "..", "..", "..");
const SOURCES = path.join(REPOSITORY, "playground", "src");

const [, drawn = ""] =
  /Folders are layers[^`]*```text\n([^`]*)```/.exec(
    fs.readFileSync(path.join(REPOSITORY, "docs", "architecture.md"), "utf8"),
  ) ?? [];
const lines = drawn.trim().split("\n");
const levels = new Map(
  lines.flatMap((line, above) => line.split(/ +/).map((folder) => [folder, lines.length - above])),
);

const files = fs
  .readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && file.includes(path.sep));

/** Returns the folders that a file imports from, except its own. */
function importedBy(file: string): string[] {
  const text = fs.readFileSync(path.join(SOURCES, file), "utf8");
  const [own] = file.split(path.sep);
  return [...text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)]
    .map(([, name]) => path.join(path.dirname(file), name).split(path.sep)[0])
    .filter((folder) => folder !== own);
}

test("every folder of the page is a layer, and imports only from lower layers", () => {
  assert.ok(files.length > 100);
  const wrong: string[] = [];
  let count = 0;
  for (const file of files) {
    const [own] = file.split(path.sep);
    const level = levels.get(own);
    if (level === undefined) wrong.push(`${own} is not in docs/architecture.md`);
    for (const folder of importedBy(file)) {
      count++;
      const other = levels.get(folder);
      const isLower = level !== undefined && other !== undefined && other < level;
      if (!isLower) wrong.push(`${file} imports from ${folder}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(count > 200);
});
