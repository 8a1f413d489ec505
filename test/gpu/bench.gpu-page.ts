/**
 * The GPU benchmark as a command, on three small rows: `npm run test:nightly -- webgpu-pages`, with `dist/` built and the packages of
 * `bench/` installed. How long anything takes is not judged.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

// This runs in build/test/gpu.

const run = (...options: string[]) =>
  spawnSync(process.execPath, [path.join(ROOT, "bench/gpu/main.js"), ...options], {
    encoding: "utf8",
    timeout: 240_000,
  });

interface Result {
  readonly name: string;
  readonly wrong: number;
  readonly variants: number;
  readonly ms: number;
  readonly rate: number;
  readonly work?: { readonly dispatches: number; readonly bytes: number };
}

test("bench:gpu measures, says who is right, writes the record and ends", (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bench-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const out = path.join(folder, "results.json");
  const rows = ["--only", "gather rows", "--only", "scalars add"];
  const { status, stdout, stderr } = run(
    ...rows,
    "--scale",
    "0.005",
    "--samples",
    "1",
    "--out",
    out,
  );
  assert.equal(status, 0, stdout + stderr);
  const names = ["gather rows", "scatter scalars add int32", "scatter scalars add"];
  const parties = ["ndscatter", "ndscatter, kept plan", "onnxruntime-web", "tfjs"];
  const record = JSON.parse(fs.readFileSync(out, "utf8"));
  assert.deepEqual(record.findings, []);
  assert.ok(record.copy.buffer > 0 && record.copy.kernel > 0);
  assert.deepEqual(
    record.rows.map(({ name }: { name: string }) => name),
    names,
  );
  for (const { name, least, results } of record.rows) {
    const list = results as readonly Result[];
    assert.deepEqual(
      list.map((one) => one.name),
      parties,
      name,
    );
    for (const { ms, rate } of list) assert.ok(ms > 0 && rate > 0, name);
    for (const { wrong, variants } of list.slice(0, 2)) assert.deepEqual([wrong, variants], [0, 1]);
    // A call moves no less than it has to; a kept plan has read its indices before.
    const [call, plan, ...peers] = list.map(({ work }) => work);
    assert.ok(call !== undefined && call.bytes >= least && call.dispatches >= 2, name);
    assert.ok(plan !== undefined && plan.bytes < call.bytes && plan.dispatches >= 1, name);
    assert.deepEqual(peers, [undefined, undefined], name);
  }
  assert.match(stdout, /^ndscatter: 3 of 3 rows right, 3 with one result in 5 runs$/m);
});

test("bench:gpu refuses options that are wrong", () => {
  for (const [options, sentence] of [
    [["--nonsense"], "Unknown option '--nonsense'"],
    [["--scale", "0"], "--scale must be a positive number, got 0"],
    [["--only", "nothing"], "--only: the rows are gather rows, "],
  ] as const) {
    const { status, stderr } = run(...options);
    assert.equal(status, 2);
    assert.ok(stderr.startsWith(sentence), stderr);
  }
});
