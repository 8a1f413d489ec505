/**
 * Runs the stage `merge`, which divides fragments of a group of leads by lead (`mergeShape`). Each task reads the
 * group's fragments of a batch of blocks, and writes a file with a fragment for each lead of the group. The entries of a
 * fragment stay in the order of the updates. The memory of a task is limited even if all updates address one group.
 */

import { malformed } from "../../../core/errors.ts";
import { fileOf } from "./task-files.ts";
import { LEADS, ROWS, type JobContext } from "./context.ts";
import { findFragment, inGroups, readEntries, writeFragments } from "./fragments.ts";
import { elementsOf, gatherSlices, toOffsets } from "./move.ts";
import { partsOf, type Part } from "./fragment-layout.ts";
import { sortByKey } from "./entries.ts";
import type { Workspace } from "./workspace.ts";

/** `allowance` is the maximum memory in bytes. `check` throws if the job has lost its folder. */
export async function mergeTask(
  job: JobContext,
  task: number,
  memory: Workspace,
  allowance: number,
  check: () => Promise<void>,
): Promise<void> {
  const { blocks, merge, merged, pieceBytes, shuffle } = job;
  if (merged === null) return;
  const group = Math.floor(task / merge.batches);
  const first = (task % merge.batches) * merge.blocks;
  const { length } = Array.from({ length: Math.min(merge.blocks, blocks.size - first) });
  const fragments = await inGroups([...Array(length).keys()], (i) =>
    findFragment(fileOf.task(job, "shuffle", first + i), shuffle, group),
  );
  // A batch has two numbers per entry, and a section twice.
  const most = Math.max(1, Math.floor(allowance / (16 + 2 * job.needs.sizes.entry)));
  const batches = [...partsOf(fragments, most)];
  const starts = new Uint32Array(merge.leads + 1);
  for (const batch of batches) {
    for (const lead of await readLeads(job, batch, memory)) starts[lead + 1]++;
  }
  for (let lead = 0; lead < merge.leads; lead++) starts[lead + 1] += starts[lead];
  const file = fileOf.task(job, "merged", task);
  await writeFragments(file, merged, starts, [], check, async (write) => {
    for (const [piece, width] of [4, ...pieceBytes].entries()) {
      const next = starts.slice(0, merge.leads);
      for (const batch of batches) {
        const { bytes, own } = await sortSection(job, batch, piece - 1, width, memory);
        await writeRuns(own, next, (from, to, entry) =>
          write(bytes.subarray(from * width, to * width), piece, entry),
        );
      }
    }
  });
}

const sizeOf = (batch: readonly Part[]): number => batch.reduce((sum, { count }) => sum + count, 0);

/** Reads the leads of a batch's entries, and checks that they belong to the group. */
async function readLeads(
  { folder, merge, shuffle }: JobContext,
  batch: readonly Part[],
  memory: Workspace,
): Promise<Uint32Array> {
  const leads = memory.words("leads", sizeOf(batch));
  let at = 0;
  for (const { fragment, from, count } of batch) {
    // Entries of a fragment are read in order.
    await readEntries([fragment], shuffle, LEADS, from, leads.subarray(at, (at += count)));
  }
  const wrong = leads.find((lead) => lead >= merge.leads);
  if (wrong === undefined) return leads;
  throw malformed(`${folder} has lead ${wrong} in a group of ${merge.leads}`, {
    file: folder,
    got: wrong,
    limit: merge.leads,
  });
}

/** Reads the rows, or a piece of the slices, of a batch, and sorts them by lead. */
async function sortSection(
  job: JobContext,
  batch: readonly Part[],
  piece: number,
  width: number,
  memory: Workspace,
): Promise<{ bytes: Uint8Array; own: Uint32Array }> {
  const { data, elementBytes, merge, resolved, shuffle } = job;
  const leads = await readLeads(job, batch, memory);
  const own = memory.words("starts", merge.leads + 1);
  const order = memory.words("order", leads.length);
  sortByKey(leads, merge.leads, own, order);
  const read = memory.bytes("read", leads.length * width);
  const section = piece === -1 ? ROWS : shuffle.columns + piece;
  let at = 0;
  for (const { fragment, from, count } of batch) {
    const into = read.subarray(at, (at += count * width));
    // Entries of a fragment are read in order.
    await readEntries([fragment], shuffle, section, from, into);
  }
  const bytes = memory.bytes("sorted", read.length);
  if (read.length === 0) return { bytes, own };
  const dtype = piece === -1 ? "uint32" : data.dtype;
  const slice = piece === -1 ? 1 : width / elementBytes;
  const [from, to] = [elementsOf(dtype, read), elementsOf(dtype, bytes)];
  gatherSlices(
    memory.executor,
    dtype,
    toOffsets(order, slice),
    slice,
    from,
    to,
    resolved.call.fields,
  );
  return { bytes, own };
}

/**
 * Passes sorted entries to `write` in runs that are consecutive in the file. `own` contains the first entry of each lead
 * in the batch, and `next` the lead's next entry in the file.
 */
async function writeRuns(
  own: Uint32Array,
  next: Uint32Array,
  write: (from: number, to: number, entry: number) => Promise<void>,
): Promise<void> {
  let [first, entry] = [0, 0];
  for (let lead = 0; lead < next.length; lead++) {
    const [from, to] = [own[lead], own[lead + 1]];
    if (from === to) continue;
    if (next[lead] !== entry + from - first) {
      await write(first, from, entry);
      [first, entry] = [from, next[lead]];
    }
    next[lead] += to - from;
  }
  await write(first, own[next.length], entry);
}
