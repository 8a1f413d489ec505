/** Small jobs on Zarr arrays in a separate folder: updates of 5 are added to rows of ones. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import type { CallSpec, JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { StageName } from "../../src/arrays/chunked/job/spec.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";

export const ROWS = 4;

/** The memory of a job: enough for its process and one thread. */
export const MEMORY = 2 ** 28;

export const add: CallSpec = { function: "scatterND", options: { reduction: "add" } };
export const max: CallSpec = { function: "scatterND", options: { reduction: "max" } };

/** An empty folder, which is removed after the tests. */
export function makeHome(): string {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-job-"));
  after(() => fs.rmSync(home, { recursive: true, force: true }));
  return home;
}

export const readAll = async (file: string): Promise<number[]> =>
  [...(await (await openArray(file, { onNote: () => {} })).read()).data] as number[];

export async function store(
  file: string,
  values: Tensor,
  chunkShape: readonly number[],
  codecs: readonly string[] = [],
): Promise<void> {
  const { dtype, shape } = values;
  const array = await createArray(file, { dtype, shape, chunkShape, codecs });
  await array.write(values);
}

/** Arrays `data.zarr` in chunks of a row, `indices.zarr` of every row, and `updates.zarr`. */
export async function storeInputs(home: string): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  const data = tensor("float32", [ROWS], new Float32Array(ROWS).fill(1));
  await store(path.join(home, "data.zarr"), data, [1]);
  await store(path.join(home, "indices.zarr"), tensor("int64", [ROWS, 1], rows), [ROWS, 1]);
  const updates = tensor("float32", [ROWS], new Float32Array(ROWS).fill(5));
  await store(path.join(home, "updates.zarr"), updates, [ROWS]);
}

/** The request of a call on these arrays; by default a new array, `out.zarr`, by a job in `job`. */
export async function requestIn(
  home: string,
  call: CallSpec,
  more: Partial<JobRequest> = {},
): Promise<JobRequest> {
  const open = (name: string) => openArray(path.join(home, name));
  return {
    folder: path.join(home, "job"),
    call,
    data: await open("data.zarr"),
    indices: await open("indices.zarr"),
    updates: await open("updates.zarr"),
    out: { format: "zarr", path: path.join(home, "out.zarr") },
    memory: MEMORY,
    threads: 1,
    ...more,
  };
}

export const makeJob = async (
  home: string,
  call: CallSpec,
  more: Partial<JobRequest> = {},
): Promise<string> => {
  const request = await requestIn(home, call, more);
  await createJob(request);
  return request.folder;
};

/** Runs a job's remaining tasks in this thread. */
export const runHere = (folder: string): Promise<void> =>
  runJob(folder, { threads: 0, memory: MEMORY });

/** Runs tasks of a job in this thread, one after the other. */
export async function runTasks(
  folder: string,
  ...tasks: readonly (readonly [stage: StageName, ...numbers: readonly number[]])[]
): Promise<void> {
  const pool = startPool({ threads: 0, memory: MEMORY });
  try {
    for (const [stage, ...numbers] of tasks)
      for (const task of numbers) await pool.run(folder, stage, task);
  } finally {
    await pool.end();
  }
}
