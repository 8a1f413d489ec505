/** The executable in processes of its own: statuses, streams, the environment and signals. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals, tensor } from "../../src/entries/index.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { checkResult, fails, MAIN, prints, refuses, startCommand, words } from "../support/cli.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { at, home, load, ndscatter, save } = folder;

const ND = newestTitle("ScatterND");

const ROWS = [
  prints("--version", /^\d+\.\d+\.\d+\n$/),
  refuses("rum", "unknown command 'rum'; did you mean run? --help lists the commands"),
  fails("inspect --strict risky.onnx", null, /0 wrong, 1 risky\n$/),
  fails(
    "run ScatterND --debug d.npy far.npy u.npy",
    new RegExp(String.raw`^${ND}: .*\nTensorError: `),
  ),
  prints("run add.onnx d.npy i.npy u.npy -o out.npy", "y: float32[4, 2]\n  written to out.npy\n"),
];

for (const row of ROWS) {
  test(`ndscatter ${row.line}`, () => checkResult(startCommand(home, words(row.line)), row));
}

test("the folder of the process is that of its files", () => {
  assert.ok(equals(load("out.npy"), ADDED));
});

test("the environment decides on colours", async () => {
  const line = "explain ScatterND d.npy twice.npy u3.npy";
  const coloured = startCommand(home, words(line), { FORCE_COLOR: "1" });
  assert.ok(coloured.stdout.includes("\u001b[32m"));
  assert.equal(startCommand(home, words(line)).stdout, (await ndscatter(line)).stdout);
});

test("a reader that goes away ends the command quietly", async () => {
  const args = words("run --json ScatterND big.npy none.npy empty.npy");
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: home });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = await once(child, "close");
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

const FULL = "/dev/full";
const withFull = { skip: !fs.existsSync(FULL) && `${FULL} is not there` };

test("a standard output that takes nothing is an error", withFull, () => {
  const sink = fs.openSync(FULL, "w");
  try {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, "ops"], {
      encoding: "utf8",
      stdio: ["ignore", sink, "pipe"],
    });
    assert.equal(stderr, "ndscatter: the standard output: no space left on device\n");
    assert.equal(status, 1);
  } finally {
    fs.closeSync(sink);
  }
});

test("a long explanation reaches a slow reader in full", async () => {
  const line = "explain --json ScatterND big.npy every.npy big.npy";
  save(
    "every.npy",
    tensor(
      "int64",
      [300, 1],
      Array.from({ length: 300 }, (_, row) => row),
    ),
  );
  const child = spawn(process.execPath, [MAIN, ...words(line)], { cwd: home });
  const parts: Buffer[] = [];
  for await (const part of child.stdout) parts.push(part as Buffer);
  assert.equal(Buffer.concat(parts).toString(), (await ndscatter(line)).stdout);
  assert.ok(parts.length > 10);
});

const temporary = (): string[] => fs.readdirSync(home).filter((name) => name.endsWith(".tmp"));

test("a disk that is full leaves neither a part of a file nor a temporary one", () => {
  save("right.npy", DATA);
  // 512 bytes a block: less than the second output needs.
  const script = `ulimit -f 100; exec "$@"`;
  const line = "run copy.onnx d.npy big.npy -o y=left.npy -o z=right.npy";
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", script, "sh", process.execPath, MAIN, ...words(line)],
    { cwd: home, encoding: "utf8" },
  );
  assert.equal(stderr, "ndscatter: right.npy: file too large\n");
  assert.equal(status, 1);
  assert.deepEqual(temporary(), []);
  assert.ok(!fs.existsSync(at("left.npy")));
  assert.ok(equals(load("right.npy"), DATA));
});

// Root may write everything, so another user tries, who need not see the folder of this package.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const isSeen = [
  spawnSync("test", ["-r", MAIN], nobody),
  spawnSync(process.execPath, ["--version"], nobody),
].every(({ status }) => status === 0);
const ifSeen = { skip: !isSeen && "the command is not readable for other users" };

test("a file that may not be written is not replaced, although its folder may", ifSeen, () => {
  save("read-only.npy", DATA);
  fs.chmodSync(at("read-only.npy"), 0o444);
  fs.chmodSync(home, 0o777);
  const line = "run add.onnx d.npy i.npy u.npy -o read-only.npy";
  const args = [MAIN, ...words(line)];
  const result = spawnSync(process.execPath, args, { cwd: home, encoding: "utf8", ...nobody });
  checkResult(
    result,
    fails(line, "read-only.npy: permission denied; check the file's permissions"),
  );
  assert.ok(equals(load("read-only.npy"), DATA));
});

/** Makes every write take for ever, and says when one begins. */
const NEVER_WRITTEN = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  fs.write = () => {
    setInterval(() => {}, 2 ** 30);
    process.stderr.write("writing");
  };
  syncBuiltinESMExports();`;

for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
  test(`${signal} ends the process, and no temporary file is left`, async () => {
    save("kept.npy", DATA);
    const args = [
      "--import",
      `data:text/javascript,${encodeURIComponent(NEVER_WRITTEN)}`,
      MAIN,
      ...words("run add.onnx d.npy i.npy u.npy -o kept.npy"),
    ];
    const child = spawn(process.execPath, args, { cwd: home });
    const ended = once(child, "close");
    const [said] = await Promise.race([once(child.stderr, "data"), ended]);
    assert.equal(String(said), "writing");
    assert.equal(temporary().length, 1);
    child.kill(signal);
    // A shell reports this as 128 and the number of the signal.
    assert.deepEqual(await ended, [null, signal]);
    assert.deepEqual(temporary(), []);
    assert.ok(equals(load("kept.npy"), DATA));
  });
}

test("a program that Node gets as text runs jobs on threads", () => {
  const entry = (name: string): string =>
    JSON.stringify(new URL(`../../src/entries/${name}.js`, import.meta.url).href);
  const program = `
    import { gatherChunked } from ${entry("chunked")};
    import { openArray } from ${entry("zarr")};
    const [data, indices] = await Promise.all([openArray("d.npy"), openArray("i.npy")]);
    await gatherChunked(data, indices, { out: "rows.npy", job: "text.job", threads: 1 });`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { cwd: home, encoding: "utf8" },
  );
  assert.deepEqual([status, stderr], [0, ""]);
});
