/** Jobs whose machine loses power: after each crash the same request is made again, and the result has the right bits. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { gatherND, scatterND } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { add, makeHome, MEMORY, store } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { Disk } from "../support/power-loss.ts";
import { randomFrom, SEED, seedOf } from "../support/random.ts";

const seed = seedOf("power-loss");
const CRASHES = Number(process.env["CRASHES"] ?? 150);
/** Crashes of a job before another one begins: after the first, each comes while the job goes on. */
const IN_A_ROW = 4;

const random = randomFrom(seed);
const [ROWS, COLUMNS, UPDATES] = [24, 4, 30];
const floats = (size: number): Float32Array =>
  Float32Array.from({ length: size }, () => (random(2000) - 1000) * 10 ** (random(9) - 4));
const data = tensor("float32", [ROWS, COLUMNS], floats(ROWS * COLUMNS));
const updates = tensor("float32", [UPDATES, COLUMNS], floats(UPDATES * COLUMNS));
const rows = Array.from({ length: UPDATES }, () => random(ROWS));
const indices = tensor("int64", [UPDATES, 1], rows);
const SUMS = scatterND(data, indices, updates, { reduction: "add" });

type Kind = "new" | "in place" | "gather";
const EXPECTED: Readonly<Record<Kind, Tensor>> = {
  new: SUMS,
  "in place": SUMS,
  gather: gatherND(data, indices),
};

async function requestOf(home: string, kind: Kind): Promise<JobRequest> {
  const at = (name: string): string => path.join(home, name);
  return {
    folder: at("job"),
    call: kind === "gather" ? { function: "gatherND", options: {} } : add,
    data: await openArray(at("data.zarr")),
    indices: await openArray(at("indices.zarr")),
    updates: kind === "gather" ? undefined : await openArray(at("updates.zarr")),
    out: kind === "in place" ? null : { format: "zarr", path: at("out.zarr") },
    memory: MEMORY,
    threads: 1,
    // Without a block shape, the updates are few.
    ...(random(3) > 0 && { blockShape: [10] }),
  };
}

async function run(home: string, kind: Kind): Promise<void> {
  const request = await requestOf(home, kind);
  await createJob(request);
  await runJob(request.folder, { threads: 0, memory: MEMORY });
}

test(`${CRASHES} crashes of the machine: every job goes on, and ends with the right bits`, async () => {
  const kinds: readonly Kind[] = ["new", "in place", "gather"];
  let crashes = 0;
  for (let job = 0; crashes < CRASHES; job++) {
    const kind = kinds[job % kinds.length];
    const home = makeHome();
    await store(path.join(home, "data.zarr"), data, [3, 4]);
    await store(path.join(home, "indices.zarr"), indices, [UPDATES, 1]);
    await store(path.join(home, "updates.zarr"), updates, [UPDATES, COLUMNS]);
    const disk = new Disk(home);
    const restore = setLimits({
      CHUNKED: { groups: 1, group: 1 + random(4), pairs: 1e6 * random(2) },
    });
    try {
      await disk.record(() => run(home, kind));
      for (let i = 0; i < IN_A_ROW; i++, crashes++) {
        const step = random(disk.steps + 1);
        disk.crash(step, random);
        const where = `SEED=${SEED}, job ${job} (${kind}), crash ${i} after step ${step} of ${disk.steps}`;
        await disk
          .record(() => run(home, kind))
          .catch((cause: unknown) => {
            throw new Error(where, { cause });
          });
        const out = path.join(home, kind === "in place" ? "data.zarr" : "out.zarr");
        const result = await (await openArray(out)).read();
        assert.ok(equals(result, EXPECTED[kind]), `${where}: the bits differ\n${result}`);
      }
    } finally {
      restore();
      fs.rmSync(home, { recursive: true });
    }
  }
});
