/** What the command does to the files that it writes: links, permissions, temporary files, all or none. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals, tensor } from "../../src/entries/index.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { checkResult, fails, prints, refuses } from "../support/cli.ts";

const { at, home, load, ndscatter, save } = makeCliFolder();

fs.mkdirSync(at("deep/inner"), { recursive: true });
fs.symlinkSync("deep/inner", at("shortcut"));
save("nul.pb", tensor("string", [1], ["ends in NUL\0"]));

const ADD = "run add.onnx d.npy i.npy u.npy -o";
const written = (name: string): string => `y: float32[4, 2]\n  written to ${name}\n`;

/** All files of the folder, those of its folders too. */
const files = (): string[] =>
  fs
    .readdirSync(home, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
    .sort();

const temporary = (): string[] => files().filter((name) => name.endsWith(".tmp"));

interface LinkRow {
  readonly link: string;
  readonly leadsTo: string;
  /** The file that is made. */
  readonly place: string;
}

// None of these files exists before.
const LINKS: readonly LinkRow[] = [
  { link: "dangling.npy", leadsTo: "deep/made.npy", place: "deep/made.npy" },
  { link: "absolute.npy", leadsTo: at("deep/absolute.npy"), place: "deep/absolute.npy" },
  { link: "chain.npy", leadsTo: "middle.npy", place: "deep/end.npy" },
  // Relative to the real folder of the link, not to the folder's other name.
  { link: "shortcut/up.npy", leadsTo: "../up.npy", place: "deep/up.npy" },
];
fs.symlinkSync("deep/end.npy", at("middle.npy"));

for (const { link, leadsTo, place } of LINKS) {
  test(`a link to no file yet, ${link}, is followed`, async () => {
    fs.symlinkSync(leadsTo, at(link));
    const line = `${ADD} ${link}`;
    checkResult(await ndscatter(line), prints(line, written(link)));
    assert.equal(fs.readlinkSync(at(link)), leadsTo);
    assert.ok(equals(load(place), ADDED));
    assert.ok(fs.lstatSync(at(place)).isFile());
  });
}

test("a link that leads into no folder, or in a circle, is refused and stays", async () => {
  fs.symlinkSync("nowhere/x.npy", at("lost.npy"));
  fs.symlinkSync("circle2.npy", at("circle.npy"));
  fs.symlinkSync("circle.npy", at("circle2.npy"));
  const rows = [
    fails(`${ADD} lost.npy`, "lost.npy: no such file or directory; create the folder first"),
    fails(`${ADD} circle.npy`, "circle.npy: too many symbolic links encountered"),
  ];
  for (const row of rows) checkResult(await ndscatter(row.line), row);
  assert.equal(fs.readlinkSync(at("lost.npy")), "nowhere/x.npy");
  assert.equal(fs.readlinkSync(at("circle.npy")), "circle2.npy");
});

test("two names of one place are one output, whether or not there is a file", async () => {
  fs.symlinkSync("deep/once.npy", at("once.npy"));
  const copy = "run copy.onnx d.npy u.npy -o";
  const both = (one: string, other: string): string => `${copy} y=${one} -o z=${other}`;
  const rows = [
    refuses(
      both("a.npy", "./a.npy"),
      "two outputs have the same file ./a.npy; give a file for each output",
    ),
    refuses(
      both("deep/once.npy", "once.npy"),
      "two outputs have the same file once.npy; give a file for each output",
    ),
    refuses(
      both("deep/inner/new.npy", "shortcut/new.npy"),
      "two outputs have the same file shortcut/new.npy; give a file for each output",
    ),
    refuses(
      `${copy} y=y.npy --expect y=deep/../y.npy`,
      "the output y.npy is a file that the command reads; give another output",
    ),
  ];
  const before = files();
  for (const row of rows) checkResult(await ndscatter(row.line), row);
  assert.deepEqual(files(), before);
});

test("two hard links count as one file", async () => {
  save("expected.npy", ADDED);
  fs.linkSync(at("expected.npy"), at("again.npy"));
  const row = refuses(
    `${ADD} again.npy --expect expected.npy`,
    "the output again.npy is a file that the command reads; give another output",
  );
  checkResult(await ndscatter(row.line), row);
  // Two files that are equal count as two.
  save("other.npy", ADDED);
  const line = `${ADD} other.npy --expect expected.npy`;
  assert.equal((await ndscatter(line)).status, 0);
});

test("the other hard links of a file keep the old contents, and a note says so", async () => {
  save("first.npy", DATA);
  fs.linkSync(at("first.npy"), at("second.npy"));
  const note = "note: other hard links to first.npy keep the old contents";
  const row = prints(`${ADD} first.npy`, written("first.npy"), note);
  checkResult(await ndscatter(row.line), row);
  assert.ok(equals(load("first.npy"), ADDED));
  assert.ok(equals(load("second.npy"), DATA));
  // The file has a name of its own now.
  checkResult(await ndscatter(row.line), prints(row.line, written("first.npy")));
});

test("a file that is replaced keeps its permissions, whatever the umask", async () => {
  const before = process.umask(0o077);
  try {
    save("shared.npy", DATA);
    for (const mode of [0o664, 0o600, 0o646]) {
      fs.chmodSync(at("shared.npy"), mode);
      assert.equal((await ndscatter(`${ADD} shared.npy`)).status, 0);
      assert.equal(fs.statSync(at("shared.npy")).mode & 0o777, mode);
    }
    assert.equal((await ndscatter(`${ADD} fresh.npy`)).status, 0);
    assert.equal(fs.statSync(at("fresh.npy")).mode & 0o777, 0o600);
  } finally {
    process.umask(before);
  }
});

test("a name may be as long as the system takes", async () => {
  const name = `${"n".repeat(251)}.npy`;
  checkResult(await ndscatter(`${ADD} ${name}`), prints("", written(name)));
});

test("nothing is written where one of two outputs cannot be", async () => {
  const rows = [
    fails(
      "run copy.onnx d.npy u.npy -o y=left.npy -o z=no/two.npy",
      "no/two.npy: no such file or directory; create the folder first",
    ),
    fails(
      "run copy.onnx d.npy u.npy -o y=left.npy -o z=f.npy",
      "f.npy must be a file, got a folder; name a file",
    ),
    // Readers of NumPy's format drop a NUL at the end of text.
    fails("run copy-text.onnx d.npy nul.pb -o y=left.npy -o z=right.npy", /^right\.npy: /),
  ];
  fs.mkdirSync(at("f.npy"));
  const before = files();
  for (const row of rows) checkResult(await ndscatter(row.line), row);
  assert.deepEqual(files(), before);
});

test("a rename that fails leaves no temporary file", async () => {
  const line = `${ADD} late.npy`;
  const onSignal = () => {
    // Runs when the first bytes are on their way.
    queueMicrotask(() => fs.mkdirSync(at("late.npy")));
    return () => {};
  };
  checkResult(
    await ndscatter(line, { onSignal }),
    fails(line, "late.npy: illegal operation on a directory"),
  );
  assert.deepEqual(temporary(), []);
});

test("signals are answered only while temporary files may be there", async () => {
  const calls: string[] = [];
  const onSignal = (cleanup: () => void) => {
    calls.push("request");
    assert.deepEqual(temporary(), []);
    return () => {
      assert.deepEqual(temporary(), []);
      cleanup();
      calls.push("release");
    };
  };
  assert.equal((await ndscatter(`${ADD} answered.npy`, { onSignal })).status, 0);
  assert.deepEqual(calls, ["request", "release"]);
  assert.ok(equals(load("answered.npy"), ADDED));
  assert.equal(
    (await ndscatter("run add.onnx d.npy far.npy u.npy -o none.npy", { onSignal })).status,
    1,
  );
  assert.deepEqual(calls, ["request", "release"]);
});
