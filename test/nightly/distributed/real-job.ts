/**
 * A job on NPY files, and what must come out of it: sums of floats, in the order of the updates, so that a task that is
 * lost, or done twice, or in another order changes bits. The expectation is a loop of its own.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { openNpyArray } from "../../../src/arrays/npy/files.ts";
import { createJob } from "../../../src/arrays/chunked/job/create-job.ts";
import { writeNpy } from "../../../src/entries/npy.ts";
import { tensor } from "../../../src/core/tensor/tensor.ts";
import { randomFrom } from "../../support/random.ts";

const ROWS = 32_768;
const COLUMNS = 256;
const UPDATES = 20_000;

export const STAGES = { partition: 32, apply: 64, finish: 1 } as const;

export interface RealJob {
  readonly folder: string;
  /** Data, indices and updates, for another job with the same result. */
  readonly files: readonly string[];
  /** Whether an output, that of the job by default, has the bits that it must have. */
  isRight(output?: string): boolean;
}

export interface RealJobOptions {
  /** The position of an update whose index is beyond the data. */
  readonly bad?: number;
}

export async function makeRealJob(
  home: string,
  seed: number,
  { bad }: RealJobOptions = {},
): Promise<RealJob> {
  const random = randomFrom(seed);
  const floats = (size: number): Float32Array =>
    Float32Array.from({ length: size }, () => random(2 ** 24) / 1000 - 5000);
  const data = floats(ROWS * COLUMNS);
  const updates = floats(UPDATES * COLUMNS);
  // Half of the updates meet few rows, so that these have many.
  const rows = Array.from({ length: UPDATES }, (_, at) => random(at % 2 === 0 ? 100 : ROWS));
  if (bad !== undefined) rows[bad] = ROWS;
  const files = ["data", "indices", "updates"].map((name) =>
    path.join(home, `${name}-${seed}.npy`),
  );
  const [dataFile = "", indicesFile = "", updatesFile = ""] = files;
  fs.writeFileSync(dataFile, writeNpy(tensor("float32", [ROWS, COLUMNS], data)));
  const indices = BigInt64Array.from(rows, BigInt);
  fs.writeFileSync(indicesFile, writeNpy(tensor("int64", [UPDATES, 1], indices)));
  fs.writeFileSync(updatesFile, writeNpy(tensor("float32", [UPDATES, COLUMNS], updates)));
  const folder = path.join(home, `job-${seed}`);
  const out = path.join(home, `out-${seed}.npy`);
  await createJob({
    folder,
    call: { function: "scatterND", options: { reduction: "add" } },
    data: await openNpyArray(dataFile, [ROWS / STAGES.apply, COLUMNS]),
    indices: await openNpyArray(indicesFile),
    updates: await openNpyArray(updatesFile),
    out: { format: "npy", path: out },
    memory: 2 ** 28,
    threads: 1,
    blockShape: [UPDATES / STAGES.partition],
  });
  for (const [at, row] of rows.entries()) {
    for (let column = 0; column < COLUMNS; column++) {
      const cell = row * COLUMNS + column;
      data[cell] = (data[cell] ?? 0) + (updates[at * COLUMNS + column] ?? 0);
    }
  }
  const expected = Buffer.from(data.buffer);
  return {
    folder,
    files,
    isRight: (file = out) =>
      fs.existsSync(file) && fs.readFileSync(file).subarray(-expected.length).equals(expected),
  };
}
