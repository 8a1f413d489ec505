/**
 * Runs the stage `check` of a call that rejects duplicates: each task searches the chunks of one lead for repeated
 * targets, before any chunk is written.
 */

import { coordinatesOf, product } from "../../../core/tensor/shape.ts";
import { duplicateError } from "../../../core/call/check.ts";
import type { TensorError } from "../../../core/errors.ts";
import { fileOf } from "./task-files.ts";
import { POSITIONS, ROWS, type JobContext } from "./context.ts";
import { findFragment, readEntries } from "./fragments.ts";
import type { Workspace } from "./workspace.ts";

/** A position in a block. */
interface Place {
  readonly block: number;
  readonly position: number;
}

/** The first repeated target in the chunks of a lead. */
export interface FirstRepeat extends Place {
  readonly error: TensorError;
}

export async function checkLead(
  job: JobContext,
  lead: number,
  memory: Workspace,
): Promise<FirstRepeat | null> {
  const { address, blocks } = job;
  // Empty slices have no elements, so nothing is written twice.
  if (product(address.slice) === 0) return null;
  const seen = memory.bytes("seen", product(address.leads.chunkShape));
  seen.fill(0);
  for (let block = 0; block < blocks.size; block++) {
    const { rows, positions } = await entriesOf(job, lead, block, memory);
    const repeat = firstSeen(rows, seen);
    if (repeat === -1) continue;
    const place = { block, position: positions[repeat] };
    const row = rows[repeat];
    const earlier = await firstWith(job, lead, row, memory);
    return { ...place, error: errorOf(job, lead, row, place, earlier) };
  }
  return null;
}

/**
 * Marks rows in order until a row is already marked. Returns the number of the repeated entry, or -1 without repeats.
 */
function firstSeen(rows: Uint32Array, seen: Uint8Array): number {
  for (let entry = 0; entry < rows.length; entry++) {
    if (seen[rows[entry]] === 1) return entry;
    seen[rows[entry]] = 1;
  }
  return -1;
}

/** Returns the first position with a given row, which must exist. */
async function firstWith(
  job: JobContext,
  lead: number,
  row: number,
  memory: Workspace,
): Promise<Place> {
  for (let block = 0; ; block++) {
    const { rows, positions } = await entriesOf(job, lead, block, memory);
    const entry = rows.indexOf(row);
    if (entry !== -1) return { block, position: positions[entry] };
  }
}

async function entriesOf(
  job: JobContext,
  lead: number,
  block: number,
  memory: Workspace,
): Promise<{ rows: Uint32Array; positions: Uint32Array }> {
  const fragment = await findFragment(fileOf.task(job, "shuffle", block), job.shuffle, lead);
  const rows = memory.words("rows", fragment.count);
  const positions = memory.words("positions", fragment.count);
  await readEntries([fragment], job.shuffle, ROWS, 0, rows);
  await readEntries([fragment], job.shuffle, POSITIONS, 0, positions);
  return { rows, positions };
}

function errorOf(
  job: JobContext,
  lead: number,
  row: number,
  repeat: Place,
  earlier: Place,
): TensorError {
  const { address, blocks, resolved } = job;
  const { indexAt } = resolved.layout;
  const indexOf = ({ block, position }: Place): readonly number[] => {
    const { start, shape } = blocks.box(block);
    return indexAt(coordinatesOf(position, shape).map((at, d) => start[d] + at));
  };
  const { start } = address.leads.box(lead);
  const cell = coordinatesOf(row, address.leads.chunkShape).map((at, d) => start[d] + at);
  return duplicateError(indexOf(repeat), indexOf(earlier), cell, resolved.call.fields);
}
