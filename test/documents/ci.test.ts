/** What CI counts, prints again and stops, and the seed of a run. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Report {
  countsOf(output: string, status: number | null): Counts;
  failuresOf(output: string, status: number | null): readonly string[];
  table(results: readonly object[]): { readonly last: string; readonly failed: number };
}

interface Ended {
  readonly output: string;
  readonly status: number | null;
  readonly wall: number;
  readonly processor: number;
}

interface Runner {
  run(row: object, log: string): Promise<Ended>;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { countsOf, failuresOf, table }: Report = await import(
  path.join(root, "scripts/ci/report.js")
);
const { run }: Runner = await import(path.join(root, "scripts/ci/run.js"));
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-ci-"));
after(() => fs.rmSync(home, { recursive: true, force: true }));
const log = path.join(home, "log");

const OURS = `failure: Node: core/dtype
✖ failing tests:
one
end of failure
passed: Bun 1.4.5: 3 tests passed, 0 failed, 1 skipped, in 2 s
failed: Deno 2.9.6: 2 tests passed, 1 failed, 0 skipped, in 2 s
`;
const OF_NODE =
  "ok 1 - a\nnot ok 2 - b\n  ---\n  error: c\n  ...\n# pass 1\n# fail 1\n# skipped 4\n";

test("tests are counted in the output of our runners and of Node's", () => {
  assert.deepEqual(countsOf(OURS, 1), { passed: 5, failed: 1, skipped: 1 });
  assert.deepEqual(countsOf(OF_NODE, 1), { passed: 1, failed: 1, skipped: 4 });
  assert.deepEqual(countsOf("ℹ pass 7\nℹ fail 0\n", 0), { passed: 7, failed: 0, skipped: 0 });
});

test("a part that fails or is stopped without a failed test counts as one", () => {
  assert.deepEqual(countsOf("", 0), { passed: 0, failed: 0, skipped: 0 });
  for (const status of [1, null]) {
    assert.deepEqual(countsOf("ℹ pass 7\n", status), { passed: 7, failed: 1, skipped: 0 });
    assert.deepEqual(failuresOf("a\nb\n", status), ["a", "b"]);
  }
});

test("failures are printed again, and nothing else", () => {
  const [, , one] = OURS.split("\n");
  assert.ok(failuresOf(OURS, 1).includes(one));
  assert.ok(!failuresOf(OURS, 1).some((line) => line.startsWith("passed: ")));
  assert.deepEqual(failuresOf(OF_NODE, 1).slice(0, 3), ["not ok 2 - b", "  ---", "  error: c"]);
  assert.deepEqual(failuresOf("Chromium, a page: FAILED: a\nb", 1), [
    "Chromium, a page: FAILED: a",
    "b",
  ]);
});

test("the last line is the sum of all parts", () => {
  const counts = { passed: 2, failed: 1, skipped: 3 };
  const part = { name: "a", wall: 60, processor: 30, counts };
  const { last, failed } = table([part, part]);
  assert.equal(last, "4 passed, 2 failed, 6 skipped");
  assert.equal(failed, 2);
});

test("a command is stopped at its limit, with what it started", async () => {
  const inner = 'trap "echo its own too; exit" TERM; sleep 60 & wait';
  const command = ["sh", "-c", `(${inner}) & echo begun; wait`];
  const { output, status } = await run({ command, limit: 0.5 }, log);
  assert.equal(status, null);
  assert.match(output, /^begun\n\nstopped: it did not end in 0.5 s\n/);
  assert.ok(output.includes("its own too"), output);
  assert.equal(fs.readFileSync(log, "utf8"), output);
});

test("a command's status, both streams and processor time are known", async () => {
  const busy = "let n = 0; for (const end = Date.now() + 300; Date.now() < end;) n++;";
  const program = `console.log("out"); console.error("err"); ${busy} process.exitCode = 3;`;
  const { output, status, processor } = await run(
    { command: [process.execPath, "-e", program], limit: 60 },
    log,
  );
  assert.equal(status, 3);
  assert.match(output, /^out\nerr\n/);
  assert.ok(processor > 0.01, `${processor}`);
});

const seedBy = (env: NodeJS.ProcessEnv, also: string): string => {
  const module = JSON.stringify(path.join(root, "scripts/seed.js"));
  const program = `(await import(${module})).announceSeed("npm test", ${JSON.stringify(also)});`;
  const args = ["--input-type=module", "-e", program];
  const { SEED: _, ...others } = process.env;
  return spawnSync(process.execPath, args, { env: { ...others, ...env }, encoding: "utf8" }).stdout;
};

test("the seed of a run follows from the commit, differs by night, and is repeated by SEED", () => {
  const first = seedBy({}, "");
  assert.match(first, /^seed (\d+): SEED=\1 .*npm test repeats it\n$/);
  assert.equal(seedBy({}, ""), first);
  assert.notEqual(seedBy({}, "tonight"), first);
  assert.match(seedBy({ SEED: "7", LIMITS: "8" }, ""), /^seed 7: SEED=7 LIMITS=8 npm test /);
});

test("each tier lists its parts, and a part that does not exist is named", () => {
  const ci = (...words: string[]) =>
    spawnSync(process.execPath, [path.join(root, "scripts/ci.js"), ...words], { encoding: "utf8" });
  const parts = (tier: string): string[] =>
    ci(tier, "--list")
      .stdout.trim()
      .split("\n")
      .map((line) => line.split(" ")[0]);
  const nightly = parts("nightly");
  assert.ok(["slow", "browsers", "seeds"].every((name) => nightly.includes(name)));
  assert.deepEqual(
    parts("commit").filter((name) => !nightly.includes(name)),
    [],
  );
  const { status, stderr } = ci("commit", "slow");
  assert.equal(status, 1);
  assert.match(stderr, /no part is named slow; the parts are build, lint, test/);
});
