/**
 * Keeps all updates of a scatter in memory, sorted by chunk, if they are few. Each thread then reads indices and updates
 * once, instead of writing them to a fragment file and reading a part of this file for each chunk. The file of the stage
 * `partition` contains only a record of the inputs, so that every thread reads the same updates.
 */

import { chooseExecutor } from "../../../core/engines/choice.ts";
import { readText } from "../../boxes/file.ts";
import { fileOf, type FewUpdates, type JobContext } from "./context.ts";
import { combined, permute, readUpdates, sortEntries } from "./entries.ts";
import { readStageFile } from "./fragments.ts";
import { mark } from "./marks.ts";
import { checkRecord, parseSeen, recordOf } from "./seen.ts";
import { Workspace } from "./workspace.ts";

/**
 * Runs the only task of the stage `partition`. `check` is called after all reads, and throws if the job has lost its
 * folder or if an input has changed. Throws an `index-out-of-range` error for the first bad index.
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
    // oxlint-disable-next-line no-await-in-loop -- the pieces share a buffer
    const updates = await readUpdates(job, box, piece, memory, 0);
    pieces.push(permute(job, updates, entries, piece, memory.lane(piece)));
  }
  return { starts: entries.starts, rows: entries.rows, pieces };
}
