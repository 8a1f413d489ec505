/** `ndscatter run` on arrays that are done chunk by chunk, and `ndscatter job`. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { before, test } from "node:test";
import { equals, gatherND, scatterND, tensor } from "../../src/entries/index.ts";
import type { CLI } from "../../src/core/limits.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { checkResult, makeFolder, prints, fails } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";
import { setLimits } from "../support/limits.ts";

const ADD = "run ScatterND --attr reduction=add";

const folder = makeFolder();
const { at, json, ndscatter, save } = folder;

const ROWS = 40;
const data = tensor(
  "float32",
  [ROWS, 6],
  Float32Array.from({ length: 6 * ROWS }, (_, one) => one / 7),
);
const indices = tensor(
  "int64",
  [30, 1],
  BigInt64Array.from({ length: 30 }, (_, one) => BigInt((one * 7) % 20)),
);
const updates = tensor(
  "float32",
  [30, 6],
  Float32Array.from({ length: 180 }, (_, one) => 0.1 * one),
);
const sums = scatterND(data, indices, updates, { reduction: "add" });

const makeTable = async (name: string): Promise<void> => {
  const { dtype, shape } = data;
  const table = await createArray(at(name), {
    dtype,
    shape,
    chunkShape: [8, 4],
    codecs: ["gzip"],
    dimensionNames: ["row", "column"],
  });
  await table.write(data);
};

before(async () => {
  save("d.npy", data);
  save("i.npy", indices);
  save("u.npy", updates);
  save("bad.npy", tensor("int64", [30, 1], [...Array(29).fill(3), ROWS]));
  save("f.npy", tensor("float32", [30, 1], new Float32Array(30)));
  fs.writeFileSync(at("i.pb"), "");
  fs.mkdirSync(at("other"));
  fs.mkdirSync(at("group"));
  fs.writeFileSync(at("group/.zgroup"), '{"zarr_format": 2}');
  for (const name of ["t.zarr", "place.zarr", "part.zarr", "mine.zarr"]) await makeTable(name);
  await makeTable("started.zarr");
  const line = `${ADD} started.zarr i.npy u.npy --in-place --job started --slurm`;
  for (const one of [line, "job task started partition 0", "job task started apply 0"]) {
    checkResult(await ndscatter(one), prints(one, /^/, null));
  }
  fs.mkdirSync(at("mine.zarr/.ndscatter"));
  fs.writeFileSync(at("mine.zarr/.ndscatter/job"), "0123456789abcdef");
});

/** Rows of a table, read without a slice. */
const openTable = async (name: string, [from, to]: readonly [number, number]) =>
  (await openArray(at(name))).read([from, 0], [to - from, 6]);

/** A sentence of which this is a part. */
const part = (text: string): RegExp => new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));

testTranscript(folder, "chunked", "Chunked runs");

test("a stage that took long has a line with its time", async () => {
  const linesOf = async (name: string, values: Partial<typeof CLI>): Promise<string[]> => {
    const restore = setLimits({ CLI: values });
    try {
      return (await ndscatter(`${ADD} t.zarr i.npy u.npy -o ${name}`)).stdout.split("\n");
    } finally {
      restore();
    }
  };
  const head = (name: string): string[] => ["output: float32[40, 6]", `  written to ${name}`];
  const quick = await linesOf("new.zarr", { stage: Infinity });
  assert.deepEqual(quick, [...head("new.zarr"), ""]);
  const slow = await linesOf("slow.zarr", { stage: 0 });
  assert.deepEqual(slow.slice(0, 2), head("slow.zarr"));
  assert.deepEqual(
    slow.slice(2).map((line) => line.replace(/in [\d.]+ s/, "in T")),
    ["  partition: 1 task in T", "  apply: 10 tasks in T", ""],
  );
});

test("what chunked runs write is what a call in memory gives", async () => {
  // After the rows above, which are tests of their own.
  assert.ok(equals(await (await openArray(at("new.zarr"))).read(), sums));
  assert.ok(equals(folder.load("new.npy"), sums));
  assert.ok(equals(folder.load("rows.npy"), gatherND(data, indices)));
  assert.deepEqual(folder.load("elements.npy").toArray(), [
    [data.data[1]],
    [data.data[61]],
    [data.data[1]],
  ]);
  const whole = await openArray(at("part.zarr"));
  const part = scatterND(await openTable("t.zarr", [5, 25]), indices, updates, {
    reduction: "add",
  });
  assert.ok(equals(await whole.read([5, 0], [20, 6]), part));
  assert.ok(equals(await whole.read([0, 0], [5, 6]), await openTable("t.zarr", [0, 5])));
  assert.ok(equals(await whole.read([25, 0], [15, 6]), await openTable("t.zarr", [25, 40])));
  const rows = await openTable("t.zarr", [5, 30]);
  const four = tensor("int64", [4, 1], indices.data.slice(0, 4));
  assert.ok(equals(folder.load("four.npy"), gatherND(rows, four)));
  for (const name of [
    "new.zarr.job",
    "new.npy.job",
    "bad.zarr",
    "bad.zarr.job",
    "x.zarr",
    "x.zarr.job",
  ]) {
    assert.ok(!fs.existsSync(at(name)), name);
  }
  assert.deepEqual(fs.readdirSync(at("new.zarr")).sort(), ["c", "zarr.json"]);
  assert.deepEqual(fs.readdirSync(at("kept")).sort(), ["done", "job.json"]);
});

test("an array that is changed in place is changed once, however often the command runs", async () => {
  for (const note of [null, /this job is already finished/]) {
    const line = `${ADD} place.zarr i.npy u.npy --in-place --job place`;
    checkResult(await ndscatter(line), prints(line, /written to place\.zarr/, note));
    assert.ok(equals(await (await openArray(at("place.zarr"))).read(), sums));
  }
});

test("a scheduler's tasks do the job, and late ones nothing", async () => {
  for (const tasks of ["partition 0-15", "apply 0-3", "apply 2-63", "finish 0", "apply 3"]) {
    const line = `job task slurm ${tasks} --memory 300M`;
    checkResult(await ndscatter(line), prints(line, ""));
    if (tasks !== "apply 0-3") continue;
    const { stages } = (await json("job status slurm")) as {
      stages: readonly { name: string; done: number; rate: number | null; left: number | null }[];
    };
    const apply = stages.find(({ name }) => name === "apply");
    assert.equal(apply?.done, 4);
    // Six tasks are left.
    assert.ok(Math.abs(Number(apply.rate) * Number(apply.left) - 6) < 1e-6);
  }
  assert.ok(equals(await (await openArray(at("s.zarr"))).read(), sums));
});

// Without a job, a gather reads only the chunks that its indices address.
for (const [out, job, before, chunks] of [
  ["json.npy", "", [], 6],
  ["job.npy", " --job gathered", [["partition", 1]], 10],
] as const) {
  test(`--json gives the result and the stages of a gather into ${out}`, async () => {
    const { outputs, stages } = (await json(`run GatherND t.zarr i.npy -o ${out}${job}`)) as {
      outputs: unknown;
      stages: readonly { stage: string; tasks: number }[];
    };
    assert.deepEqual(outputs, [{ name: "output", dtype: "float32", shape: [30, 6], file: out }]);
    assert.deepEqual(
      stages.map(({ stage, tasks }) => [stage, tasks]),
      [...before, ["apply", chunks], ["place", 1]],
    );
    assert.ok(equals(folder.load(out), gatherND(data, indices)));
  });
}

test("job resume does what is left, and job remove takes the rest away", async () => {
  await makeTable("half.zarr");
  const line = `${ADD} half.zarr i.npy u.npy --in-place --job half`;
  checkResult(await ndscatter(`${line} --slurm`), prints(`${line} --slurm`, /^#!\/bin\/sh/));
  for (const tasks of ["partition 0", "apply 0-3"]) {
    assert.equal((await ndscatter(`job task half ${tasks}`)).status, 0);
  }
  const status = await ndscatter("job status half");
  checkResult(
    status,
    prints("job status half", /half\.zarr: 4 of 10 chunks are changed\nat apply;/),
  );
  const facts = (await json("job status half")) as Record<string, unknown>;
  assert.deepEqual(
    [facts.call, facts.inPlace, facts.chunks, facts.changed],
    ["ScatterND", true, 10, 4],
  );
  const other = "run GatherND half.zarr i.npy -o x.npy";
  checkResult(await ndscatter(other), fails(other, part("4 of 10 chunks are changed; finish it")));
  checkResult(await ndscatter("job resume half"), prints("job resume half", "half: done\n"));
  checkResult(await ndscatter(line), prints(line, /written to half\.zarr/, /is already finished/));
  checkResult(await ndscatter("job remove half"), prints("job remove half", "half: removed\n"));
  assert.ok(equals(await (await openArray(at("half.zarr"))).read(), sums));
  for (const command of ["resume", "remove"]) {
    const gone = `job ${command} half`;
    checkResult(await ndscatter(gone), fails(gone, part("half must be a job's folder")));
  }
});

test("Ctrl-C ends a run, which says how it goes on", async () => {
  const line = `${ADD} t.zarr i.npy u.npy -o stopped.zarr --threads 1`;
  const stopped = await ndscatter(line, {
    onInterrupt(stop) {
      stop();
      return () => {};
    },
  });
  assert.equal(stopped.status, 1);
  assert.match(
    stopped.stderr,
    /stopped; the finished tasks are kept in stopped\.zarr\.job; run the same command again/,
  );
  assert.ok(!fs.existsSync(at("stopped.zarr/zarr.json")));
  checkResult(await ndscatter(line), prints(line, /written to stopped\.zarr/));
  assert.ok(equals(await (await openArray(at("stopped.zarr"))).read(), sums));
});
