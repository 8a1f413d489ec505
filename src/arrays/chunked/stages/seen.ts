/**
 * What a task has seen of its inputs: a hash of names, sizes and times, or of ETags, of all chunks that it reads. Each task
 * leaves it beside its own file before it reads, so that a job that goes on later notices an input that changed meanwhile:
 * its result would be half of the old values and half of the new.
 */

import { createHash, randomBytes } from "node:crypto";
import * as path from "node:path";
import { malformed, TensorError } from "../../../core/errors.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { ChunkedArray } from "../../boxes/array.ts";
import type { Box } from "../../boxes/grid.ts";
import { findText, withFile } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import { checkOwner } from "../job/owner.ts";
import { indexBox } from "./address.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";

type SeenStage = "partition" | "apply";

const FOLDERS: Readonly<Record<SeenStage, string>> = { partition: "shuffle", apply: "applied" };

/** A part of an input that a task reads. */
interface Part {
  readonly name: "data" | "indices" | "updates";
  readonly array: ChunkedArray;
  readonly box: Box;
}

const seenFile = (folder: string, stage: SeenStage, task: number): string =>
  `${fileOf.task(folder, FOLDERS[stage], task)}.seen`;

/** What a task reads; of data that the job changes in place, nothing, because it changes. */
function partsOf(job: JobContext, stage: SeenStage, task: number): readonly Part[] {
  const { address, blocks, chunks, data, indices, spec, updates } = job;
  if (stage === "apply") {
    if (spec.inPlace) return [];
    return chunksOfTask(job, task).map((chunk) => ({
      name: "data",
      array: data,
      box: chunks.box(chunk),
    }));
  }
  const box = blocks.box(task);
  const hasTuples = indices.shape.length > address.indexAxes.length;
  const own = indexBox(address, box, hasTuples ? address.tuple.length : null);
  const read: Part[] = [{ name: "indices", array: indices, box: own }];
  if (updates === undefined) return read;
  const whole = {
    start: [...box.start, ...address.slice.map(() => 0)],
    shape: [...box.shape, ...address.slice],
  };
  // Some versions take one element of any rank where updates should be a scalar.
  const isOther = whole.start.length !== updates.shape.length;
  const ones = updates.shape.map(() => 1);
  const part = isOther ? { start: ones.map(() => 0), shape: ones } : whole;
  return [...read, { name: "updates", array: updates, box: part }];
}

/** What is there of each input that a task reads, by the input's name. */
async function lookAt(
  job: JobContext,
  stage: SeenStage,
  task: number,
): Promise<Readonly<Record<string, string>>> {
  const hashes = new Map<string, ReturnType<typeof createHash>>();
  for (const { name, array, box } of partsOf(job, stage, task)) {
    const hash = hashes.get(name) ?? createHash("sha256");
    hashes.set(name, hash);
    // oxlint-disable-next-line no-await-in-loop -- the order is part of the hash
    if (product(box.shape) > 0) hash.update(`${await array.stateOf(box.start, box.shape)}\n`);
  }
  return Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest("hex")]));
}

/**
 * Notes what a task is about to read.
 * @throws TensorError `engine` where another job has the folder or the output
 */
export async function noteSeen(job: JobContext, stage: SeenStage, task: number): Promise<void> {
  const seen = await lookAt(job, stage, task);
  if (Object.keys(seen).length === 0) return;
  const file = seenFile(job.folder, stage, task);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(JSON.stringify(seen));
      await handle.datasync();
    });
    await checkOwner(job);
    await files.rename(temporary, file);
  } catch (error) {
    await files.rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Compares the inputs with what tasks that are done have seen of them.
 * @param done numbers of tasks
 * @throws TensorError `attribute` for an input that has changed
 */
export async function checkSeen(
  job: JobContext,
  stage: SeenStage,
  done: readonly number[],
): Promise<void> {
  await inGroups(done, async (task) => {
    const before = await readSeen(seenFile(job.folder, stage, task));
    const now = before === null ? {} : await lookAt(job, stage, task);
    const name = Object.keys(now).find((one) => now[one] !== before?.[one]);
    if (name !== undefined) throw changed(job, name);
  });
}

function changed({ folder, spec }: JobContext, name: string): TensorError {
  const { [name as "data" | "indices" | "updates"]: input } = spec;
  const advice = spec.inPlace
    ? "bring the old values back, or give the job up, which leaves the array changed in part"
    : "bring the old values back, or give the job up";
  const sentence =
    `${name} (${input?.path}) has changed since the job in ${folder} read a part of it; ` +
    `${advice} (ndscatter job remove ${folder})`;
  return new TensorError("attribute", sentence, { input: name });
}

async function readSeen(file: string): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await findText(file);
  // The task has not begun, or read nothing that could change.
  if (text === null) return null;
  try {
    const seen: unknown = JSON.parse(text);
    if (typeof seen === "object" && seen !== null) return { ...seen };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw malformed(
    `${path.basename(path.dirname(file))}/${path.basename(file)} is not what a task wrote`,
  );
}
