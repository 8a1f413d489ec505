/**
 * Runs the first stage, `partition`, in which each task reads and checks the indices of one block. Each task finds the
 * chunk of every position, and writes rows and updates sorted by chunk.
 *
 * Few updates are kept in memory instead. Each thread then reads indices and updates once, instead of writing them to a
 * fragment file and reading a part of this file for each chunk. The file of the stage contains only a record of the
 * inputs, so that every thread reads the same updates.
 */

import { combined, permute, readUpdates, sortEntries, type KeptEntries } from "./entries.ts";
import { fileOf } from "./task-files.ts";
import type { JobContext, FewUpdates } from "./context.ts";
import { writeFragments, readStageFile } from "./fragments.ts";
import { Workspace } from "./workspace.ts";
import { chooseExecutor } from "../../../core/engines/choice.ts";
import { readText } from "../../boxes/file.ts";
import { mark, checkRecord, parseSeen, recordOf } from "./marks.ts";

/**
 * `reading` is the maximum memory for reading, in bytes, in addition to one chunk. `check` is called after all reads,
 * and throws if the job has lost its folder or if an input has changed. Throws an `index-out-of-range` error for the
 * block's first bad index, with coordinates in the whole indices.
 */
export async function partition(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
): Promise<void> {
  if (job.spec.isFew === true) return keepUpdates(job, check);
  const box = job.blocks.box(block);
  const pending =
    job.updates === undefined ? undefined : readUpdates(job, box, 0, memory, reading / 2);
  // The code that writes the updates handles rejections of this promise.
  const settled = pending?.catch(() => {});
  try {
    await sortBlock(job, block, memory, reading, check, pending);
  } finally {
    // After an error, the pending read must also end, because the next task receives the same memory.
    await settled;
  }
}

/** `pending` is the first piece of the block's updates, which is read concurrently. */
async function sortBlock(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
  pending: Promise<Uint8Array> | undefined,
): Promise<void> {
  const { shuffle } = job;
  const box = job.blocks.box(block);
  const sorted = await sortEntries(job, box, memory, reading / 2);
  const entries = combined(job, sorted);
  const columns = [entries.rows];
  if (job.merged !== null) columns.push(leadsOf(job, entries));
  else if (shuffle.columns === 2) columns.push(entries.positions);
  const starts = job.merged === null ? entries.starts : startsOfGroups(job, entries);
  const file = fileOf.task(job, "shuffle", block);
  await writeFragments(file, shuffle, starts, columns, check, async (write) => {
    for (let piece = 0; piece < job.pieceBytes.length; piece++) {
      if (pending === undefined) return;
      const updates = await (piece === 0 ? pending : readUpdates(job, box, piece, memory, reading));
      const slices = permute(job, updates, entries, piece, memory);
      await write(slices, shuffle.columns + piece, 0);
    }
  });
}

/** Returns the lead of each entry, counted from the first lead of its group. */
function leadsOf({ merge }: JobContext, { rows, starts }: KeptEntries): Uint32Array {
  const leads = new Uint32Array(rows.length);
  for (let lead = 0; lead + 1 < starts.length; lead++)
    leads.fill(lead % merge.leads, starts[lead], starts[lead + 1]);
  return leads;
}

const startsOfGroups = ({ merge }: JobContext, { starts }: KeptEntries): Uint32Array =>
  Uint32Array.from(
    { length: merge.groups + 1 },
    (_, group) => starts[Math.min(group * merge.leads, starts.length - 1)],
  );

/**
 * Runs the only task of the stage, if updates are few. `check` is called after all reads, and throws if the job has lost
 * its folder or if an input has changed. Throws an `index-out-of-range` error for the first bad index.
 */
export async function keepUpdates(job: JobContext, check: () => Promise<void>): Promise<void> {
  const record = await recordOf(job, "partition", 0);
  const updates = await readAll(job);
  await check();
  job.few.kept = { ...updates, record };
  await mark(job, "shuffle", 0, record);
}

/**
 * Returns the updates that the stage `partition` has checked, and reads them again on another thread. Throws an
 * `attribute` error if an input has changed, or a `malformed-file` error for a missing or damaged record.
 */
export async function keptUpdates(job: JobContext): Promise<FewUpdates> {
  const file = fileOf.task(job, "shuffle", 0);
  const record = await readStageFile(file, async (handle) => {
    const text = await readText(handle, file);
    parseSeen(text, file);
    return text;
  });
  if (job.few.kept?.record === record) return job.few.kept;
  job.few.kept = null;
  const updates = await readAll(job);
  await checkRecord(job, "partition", 0, record, file);
  job.few.kept = { ...updates, record };
  return job.few.kept;
}

async function readAll(job: JobContext): Promise<Omit<FewUpdates, "record">> {
  // Few updates move as fast in JavaScript as in WebAssembly, whose memory would outlive the job.
  const memory = new Workspace(chooseExecutor("js").executor);
  const box = job.blocks.box(0);
  const entries = combined(job, await sortEntries(job, box, memory, 0));
  const pieces: Uint8Array[] = [];
  for (let piece = 0; piece < job.pieceBytes.length; piece++) {
    // The pieces share a buffer.
    const updates = await readUpdates(job, box, piece, memory, 0);
    pieces.push(permute(job, updates, entries, piece, memory.lane(piece)));
  }
  return { starts: entries.starts, rows: entries.rows, pieces };
}
