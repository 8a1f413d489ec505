/**
 * Detects inputs that change during a job, because such an input would mix old and new values. Each task hashes the
 * names, sizes and modification times, or the ETags, of all chunks that it reads. The hash is recorded before reading
 * and compared after reading, and the last stage compares all records again. After a change in place, a task records
 * the new state of its chunks, so that later writes are also detected.
 */

import { createHash, randomBytes } from "node:crypto";
import * as path from "node:path";
import { isError, malformed, TensorError } from "../../../core/errors.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ChunkedArray } from "../../boxes/array.ts";
import type { Box } from "../../boxes/grid.ts";
import { findText, withFile } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import { checkOwner } from "../job/owner.ts";
import type { JobSpec } from "../job/spec.ts";
import { indexBox } from "./address.ts";
import { chunksOfTask, fileOf, type JobContext } from "./context.ts";
import { inGroups } from "./fragments.ts";
import { readMark } from "./marks.ts";
import { FOLDERS, type TaskFolder } from "./task-files.ts";

export type SeenStage = "partition" | "apply";

/** The hashes of inputs, by input name. */
export type Seen = Readonly<Record<string, string>>;

/** The part of an input that a task reads. */
interface Part {
  readonly name: "data" | "indices" | "updates";
  readonly array: ChunkedArray;
  readonly box: Box;
}

export const seenFile = (job: TaskFolder, stage: SeenStage, task: number): string =>
  `${fileOf.task(job, FOLDERS[stage], task)}.seen`;

/**
 * Returns the parts of inputs that a task reads or, in data that is changed in place, the part that the task has
 * changed.
 */
async function partsOf(job: JobContext, stage: SeenStage, task: number): Promise<readonly Part[]> {
  const { address, blocks, chunks, data, indices, spec, updates } = job;
  if (stage === "apply") {
    const numbers = spec.inPlace
      ? ((await readMark(job, task)) ?? []).map(({ chunk }) => chunk)
      : chunksOfTask(job, task);
    return numbers.map((chunk) => ({ name: "data", array: data, box: chunks.box(chunk) }));
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
  // Some operator versions accept a single element of any rank for scalar updates.
  const isOther = whole.start.length !== updates.shape.length;
  const ones = updates.shape.map(() => 1);
  const part = isOther ? { start: ones.map(() => 0), shape: ones } : whole;
  return [...read, { name: "updates", array: updates, box: part }];
}

/** Computes the current hash of each input that a task reads, by input name. */
async function lookAt(job: JobContext, stage: SeenStage, task: number): Promise<Seen> {
  const hashes = new Map<string, ReturnType<typeof createHash>>();
  for (const { name, array, box } of await partsOf(job, stage, task)) {
    const hash = hashes.get(name) ?? createHash("sha256");
    hashes.set(name, hash);
    // oxlint-disable-next-line no-await-in-loop -- the order is part of the hash
    if (product(box.shape) > 0) hash.update(`${await array.stateOf(box.start, box.shape)}\n`);
  }
  return Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest("hex")]));
}

/**
 * Records the state of inputs before a task reads them, or after it has changed them in place. Throws an `engine` error
 * if another job owns the folder or the output.
 */
export async function noteSeen(job: JobContext, stage: SeenStage, task: number): Promise<Seen> {
  const seen = await lookAt(job, stage, task);
  if (Object.keys(seen).length === 0) return seen;
  const file = seenFile(job, stage, task);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(JSON.stringify(seen));
      await handle.datasync();
    });
    await checkOwner(job);
    await files.rename(temporary, file);
    return seen;
  } catch (error) {
    await files.rm(temporary, { force: true });
    throw error;
  }
}

/** Returns a record of the inputs of a task as text. */
export const recordOf = async (job: JobContext, stage: SeenStage, task: number): Promise<string> =>
  JSON.stringify(await lookAt(job, stage, task));

/**
 * Compares the inputs of a task with the record in a file. Throws an `attribute` error if an input has changed, or a
 * `malformed-file` error for a damaged record.
 */
export async function checkRecord(
  job: JobContext,
  stage: SeenStage,
  task: number,
  record: string,
  file: string,
): Promise<void> {
  const before = parseSeen(record, file);
  const name = firstOther(before, await lookAt(job, stage, task));
  if (name !== undefined && !isOwnChange(job, stage, name)) throw changedSince(job, name);
}

/** Compares a task's inputs with their recorded state. Throws an `attribute` error if an input has changed. */
export async function checkStill(
  job: JobContext,
  stage: SeenStage,
  task: number,
  seen: Seen,
): Promise<void> {
  if (Object.keys(seen).length === 0) return;
  const name = firstOther(seen, await lookAt(job, stage, task));
  if (name !== undefined) throw changedWhileRead(job, name);
}

/** Compares the inputs with the records of finished tasks. Throws an `attribute` error if an input has changed. */
export async function checkSeen(
  job: JobContext,
  stage: SeenStage,
  done: readonly number[],
): Promise<void> {
  await inGroups(done, (task) => compare(job, stage, task));
}

/**
 * Compares chunks that a task has changed in place with their recorded state. Returns false unless the task has
 * recorded the change of all its chunks. Throws an `attribute` error if a chunk has changed again.
 */
export const checkChanged = (job: JobContext, task: number): Promise<boolean> =>
  compare(job, "apply", task);

/** The result is false for a task without a record. */
async function compare(job: JobContext, stage: SeenStage, task: number): Promise<boolean> {
  const file = seenFile(job, stage, task);
  const record = await findText(file);
  // A task has no record before it begins, or if none of its inputs can change.
  if (record === null) return false;
  await checkRecord(job, stage, task, record, file);
  return true;
}

const firstOther = (before: Readonly<Record<string, unknown>>, now: Seen): string | undefined =>
  Object.keys(now).find((one) => now[one] !== before[one]);

/**
 * Returns true if an input of the first stage lies in the array that the job changes in place. Changes by the job
 * itself are allowed, because they begin after the first stage has read the whole input.
 */
const isOwnChange = ({ spec }: JobContext, stage: SeenStage, name: string): boolean =>
  stage === "partition" && spec.inPlace && inputOf(spec, name)?.path === spec.out.path;

const inputOf = (spec: JobSpec, name: string): ArrayLocation | undefined =>
  spec[name as Part["name"]];

/** Returns the error for an input that changed after a task had read part of it. */
export function changedSince({ folder, spec }: JobContext, name: string): TensorError {
  const advice = spec.inPlace
    ? "restore the old values, or abandon the job, which leaves the array partly changed"
    : "restore the old values, or abandon the job";
  const sentence =
    `${name} (${inputOf(spec, name)?.path}) has changed since the job in ${folder} read a part of it; ` +
    `${advice} (ndscatter job remove ${folder})`;
  return new TensorError("attribute", sentence, {
    input: name,
    key: name,
    file: inputOf(spec, name)?.path,
  });
}

/**
 * Returns the error for an input that changed while a task was reading it. In this case, the task has written nothing
 * and can be repeated.
 */
export function changedWhileRead({ folder, spec }: JobContext, name: string): TensorError {
  const sentence =
    `${name} (${inputOf(spec, name)?.path}) changed while the job in ${folder} read it; ` +
    `when nothing writes to it anymore, finish the job (ndscatter job resume ${folder})`;
  return new TensorError("attribute", sentence, {
    input: name,
    key: name,
    file: inputOf(spec, name)?.path,
  });
}

/** Parses a record of inputs. Throws a `malformed-file` error for other text. */
export function parseSeen(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const seen: unknown = JSON.parse(text);
    if (typeof seen === "object" && seen !== null) return { ...seen };
  } catch (error) {
    if (!isError(error, "SyntaxError")) throw error;
  }
  throw malformed(
    `${path.basename(path.dirname(file))}/${path.basename(file)} must be a file that a task wrote, but is not`,
    { file },
  );
}
