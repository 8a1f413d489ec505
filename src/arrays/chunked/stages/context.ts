/** Opens a job's arrays, and derives the values that tasks need. */

import { printCount } from "../../../core/foreign.ts";
import { malformed } from "../../../core/errors.ts";
import type { ChunkedArray, PendingArray, StagedArray } from "../../boxes/array.ts";
import { areContiguous, areWhole, Grid } from "../../boxes/grid.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, product, sameShape } from "../../../core/tensor/shape.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { addressOf, type Address } from "./address.ts";
import { needsFor, type JobNeeds } from "./budget.ts";
import { refusesDuplicates, resolveCall, type ResolvedCall } from "../job/request.ts";
import { type FragmentLayout, mergeShape, type MergeShape } from "./fragment-layout.ts";
import type { JobSpec, StageName } from "../job/spec.ts";
import { type TaskFolder, fileOf } from "./task-files.ts";

export interface JobInputs {
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates: ChunkedArray | undefined;
}

export interface JobArrays extends JobInputs {
  /** The output, which is a pending array if the job creates a new array. */
  readonly out: StagedArray | PendingArray;
}

export interface JobContext extends JobArrays, TaskFolder {
  readonly spec: JobSpec;
  readonly resolved: ResolvedCall;
  readonly isGather: boolean;
  /** True if a gather divides its blocks into output chunks of a requested shape. */
  readonly isCut: boolean;
  /** True if repeated targets are an error. */
  readonly refusesRepeats: boolean;
  readonly address: Address;
  /** The blocks of positions. */
  readonly blocks: Grid;
  /** The chunks of data, whose numbers are `lead * pieces + piece`. */
  readonly chunks: Grid;
  /** The sizes, in bytes, of an element and of each piece of a slice. */
  readonly elementBytes: number;
  readonly pieceBytes: readonly number[];
  /**
   * The layout of files in `shuffle/`, of which every block has one. The files of a scatter also contain the updates.
   */
  readonly shuffle: FragmentLayout;
  /** The layout of files in `merged/`, which has one column, or null if blocks are partitioned in one level. */
  readonly merged: FragmentLayout | null;
  readonly merge: MergeShape;
  /**
   * Returns the layout of a task's file in `applied/`, where a gather stores slices or pieces of slices for each block.
   */
  readonly gathered: (task: number) => FragmentLayout;
  /** The updates that this thread keeps, if they are few and the thread has read them. */
  readonly few: { kept: FewUpdates | null };
  readonly needs: JobNeeds;
}

/** All updates of a scatter, sorted by lead. */
export interface FewUpdates {
  /** The record of the inputs, which identifies their state. */
  readonly record: string;
  /** The first entry of each lead, and the number of entries. */
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
  /** For each piece of a slice, the updates of all entries. */
  readonly pieces: readonly Uint8Array[];
}

export const bytesOfPieces = ({ pieces }: Address, elementBytes: number): readonly number[] =>
  Array.from({ length: pieces.size }, (_, i) => product(pieces.box(i).shape) * elementBytes);

export function contextOf(
  folder: string,
  spec: JobSpec,
  arrays: JobArrays,
  isFlat = false,
): JobContext {
  const { data, indices, updates, out } = arrays;
  const resolved = resolveCall(spec.call, { data, indices, updates });
  const address = addressOf(resolved.layout, data.shape, data.chunkShape);
  const isGather = updates === undefined;
  const most = product(spec.blockShape);
  const refusesRepeats = refusesDuplicates(resolved);
  const elementBytes = DTYPES[data.dtype].bytes;
  const pieceBytes = bytesOfPieces(address, elementBytes);
  const blocks = new Grid(address.positions, spec.blockShape);
  const chunks = new Grid(data.shape, data.chunkShape);
  const merge = mergeShape(address.leads.size, blocks.size, most, spec.chunksPerTask);
  const takesWhole = takesWholeSlices({ address, spec });
  const isMerged = spec.stages.some(({ name }) => name === "merge");
  const isCut =
    isGather &&
    out.location.format === "zarr" &&
    !sameShape(out.chunkShape, [...spec.blockShape, ...address.pieces.chunkShape]);
  const context: JobContext = {
    ...arrays,
    folder,
    isFlat,
    spec,
    resolved,
    isGather,
    isCut,
    refusesRepeats,
    address,
    blocks,
    chunks,
    elementBytes,
    pieceBytes,
    shuffle: {
      fragments: isMerged ? merge.groups : address.leads.size,
      // The first column contains rows; the second contains positions in the block, or leads of a group.
      columns: isGather || refusesRepeats || isMerged ? 2 : 1,
      pieceBytes: isGather ? pieceBytes.map(() => 0) : pieceBytes,
      most,
    },
    merged: isMerged
      ? { fragments: merge.leads, columns: 1, pieceBytes, most: merge.blocks * most }
      : null,
    merge,
    gathered: (task) => ({
      fragments: blocks.size,
      columns: 0,
      pieceBytes: takesWhole ? pieceBytes : [pieceBytes[task % address.pieces.size]],
      most,
    }),
    few: { kept: null },
    needs: needsOf({ ...arrays, resolved, address }, spec, isCut),
  };
  checkDivision(context);
  return context;
}

function needsOf(
  parts: JobArrays & Pick<JobContext, "resolved" | "address">,
  { blockShape, chunksPerTask, isFew }: JobSpec,
  isCut: boolean,
): JobNeeds {
  const { data, out } = parts;
  const cut = isCut ? product(out.chunkShape) * DTYPES[data.dtype].bytes : null;
  const sizes = { ...parts, chunksPerTask, isFew: isFew === true };
  return needsFor(sizes, product(blockShape), out.held, cut, out.location.format === "npy");
}

/** Checks that the blocks and chunks in `job.json` match the arrays. Throws a `malformed-file` error otherwise. */
function checkDivision(job: JobContext): void {
  const { address, blocks, chunks, data, isCut, isGather, out, refusesRepeats, spec } = job;
  if (!areContiguous(spec.blockShape, address.positions)) {
    throw malformed(
      "the blocks in job.json must be runs of positions in row-major order, but are not",
    );
  }
  if (isCut && !areWhole(spec.blockShape, address.positions, out.chunkShape))
    throw malformed("the blocks in job.json must cover whole chunks of the output, but do not");
  if (!isGather && !sameShape(out.chunkShape, data.chunkShape))
    throw malformed("the chunks of the output must be those in which job.json reads data");
  if (isGather && spec.chunksPerTask !== 1 && !takesWholeSlices(job)) {
    const sentence = `job.json gives each task of a gather ${spec.chunksPerTask} chunks, but a slice lies in ${address.pieces.size}`;
    throw malformed(`${sentence}, and a task with several chunks must take whole slices`);
  }
  if (spec.isFew === true && (isGather || refusesRepeats || blocks.size !== 1))
    throw malformed("job.json must divide the updates into blocks, but keeps them in memory");
  if (job.merged !== null && (isGather || refusesRepeats || spec.isFew === true))
    throw malformed(
      "job.json must merge fragments only of a scatter that accepts repeated targets",
    );
  if (spec.chunks !== chunks.size)
    throw malformed(`job.json has ${printCount(spec.chunks, "chunk")}, the array ${chunks.size}`);
}

/** Returns true if the chunks of an `apply` task contain all pieces of their slices. */
const takesWholeSlices = ({ address, spec }: Pick<JobContext, "address" | "spec">): boolean =>
  spec.chunksPerTask % address.pieces.size === 0;

/**
 * Returns the `apply` tasks that write a given piece in a gather, in chunk order, and the piece's number in their
 * files.
 */
export function tasksOfPiece(job: JobContext, piece: number): { tasks: number[]; number: number } {
  const { address, chunks, spec } = job;
  const { leads, pieces } = address;
  if (!takesWholeSlices(job)) {
    return {
      tasks: Array.from({ length: leads.size }, (_, i) => i * pieces.size + piece),
      number: 0,
    };
  }
  const length = Math.ceil(chunks.size / spec.chunksPerTask);
  return { tasks: Array.from({ length }, (_, task) => task), number: piece };
}

/** Returns the chunk numbers of an `apply` task. */
export function chunksOfTask({ chunks, spec }: JobContext, task: number): number[] {
  const first = task * spec.chunksPerTask;
  const count = Math.min(spec.chunksPerTask, chunks.size - first);
  return Array.from({ length: count }, (_, i) => first + i);
}

/** Returns the number of tasks of each stage, or null for a stage that a job does not have. */
export const tasksOf = (job: {
  readonly blocks: number;
  readonly chunks: number;
  readonly chunksPerTask: number;
  readonly leads: number;
  readonly merges: number | null;
  readonly isGather: boolean;
  readonly refusesRepeats: boolean;
}): Readonly<Record<Exclude<StageName, "finish">, number | null>> => ({
  partition: job.blocks,
  merge: job.merges,
  check: job.refusesRepeats ? job.leads : null,
  apply: Math.ceil(job.chunks / job.chunksPerTask),
  place: job.isGather ? job.blocks : null,
});

/**
 * Checks that the stages in `job.json` match the arrays, because a missing stage would change the result. Throws a
 * `malformed-file` error if the stages differ.
 */
export function checkStages(job: JobContext): void {
  const { address, blocks, chunks, isGather, merge, merged, refusesRepeats, spec } = job;
  const merges = merged === null ? null : merge.tasks;
  const sizes = { blocks: blocks.size, chunks: chunks.size, leads: address.leads.size, merges };
  const tasks = { ...tasksOf({ ...spec, ...sizes, isGather, refusesRepeats }), finish: 1 };
  const said = new Map(spec.stages.map((stage) => [stage.name, stage.tasks]));
  for (const [name, expected] of Object.entries(tasks) as [StageName, number | null][]) {
    const count = said.get(name) ?? null;
    if (count === expected) continue;
    const stated = count === null ? "no tasks" : printCount(count, "task");
    const sentence = `job.json states ${stated} of ${name}, but its arrays require ${expected ?? "none"}`;
    throw malformed(sentence);
  }
}

/** Decoding and encoding a byte takes about as long as copying this many bytes. */
const CODEC = 8;

/** Returns true if starting threads takes longer than they save, because few updates change few chunks. */
export function isBrief({ address, chunks, data, elementBytes, spec }: JobContext): boolean {
  const touched = Math.min(product(address.positions) * address.pieces.size, chunks.size);
  const count = spec.inPlace ? touched : chunks.size;
  const bytes = count * product(data.chunkShape) * elementBytes;
  return spec.isFew === true && bytes * (data.held.read > 0 ? CODEC : 1) <= CHUNKED.alone;
}

/** The columns of a file in `shuffle/`, of which the second contains positions or leads. */
export const ROWS = 0;
export const POSITIONS = 1;
export const LEADS = 1;

/** The files with the entries of a lead, in order, and the lead's fragment in each of them. */
export interface Sources {
  readonly files: readonly string[];
  readonly layout: FragmentLayout;
  readonly number: number;
}

export function sourcesOf(job: JobContext, lead: number): Sources {
  const { blocks, merge, merged, shuffle } = job;
  const filesIn = (stage: string, first: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => fileOf.task(job, stage, first + i));
  if (merged === null)
    return { files: filesIn("shuffle", 0, blocks.size), layout: shuffle, number: lead };
  const group = Math.floor(lead / merge.leads);
  const files = filesIn("merged", group * merge.batches, merge.batches);
  return { files, layout: merged, number: lead - group * merge.leads };
}

/** Splits a chunk shape into the addressed axes and the axes of slices. */
export const splitShape = (
  shape: readonly number[],
  addressed: number,
): { lead: number[]; slice: number[] } => ({
  lead: part(shape, 0, addressed),
  slice: part(shape, addressed),
});
