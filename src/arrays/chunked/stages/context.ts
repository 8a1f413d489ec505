/** A job with its arrays open, and everything that its tasks derive from them. */

import * as path from "node:path";
import type { ChunkedArray, PendingArray, StagedArray } from "../../boxes/array.ts";
import { areContiguous, areWhole, Grid } from "../../boxes/grid.ts";
import { malformed } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, product, sameShape } from "../../../core/tensor/shape.ts";
import { addressOf, type Address } from "./address.ts";
import { heldBy, neededBytes, taskBytes, type TaskBytes } from "./budget.ts";
import { refusesDuplicates, resolveCall, type ResolvedCall } from "../job/call-spec.ts";
import type { FragmentLayout } from "./fragments.ts";
import type { JobSpec, StageName } from "../job/spec.ts";

export interface JobArrays {
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates: ChunkedArray | undefined;
  /** Pending where the job makes a new array. */
  readonly out: StagedArray | PendingArray;
}

export interface JobContext extends JobArrays {
  readonly folder: string;
  readonly spec: JobSpec;
  readonly resolved: ResolvedCall;
  readonly isGather: boolean;
  /** Whether blocks of a gather are cut into the chunks of the output, because these were asked for. */
  readonly isCut: boolean;
  /** Whether two updates of one target are an error. */
  readonly refusesRepeats: boolean;
  readonly address: Address;
  /** The blocks of positions. */
  readonly blocks: Grid;
  /** The chunks of data, numbered as `lead * pieces + piece`. */
  readonly chunks: Grid;
  /** Bytes of one element, and of the part of a slice that each piece holds. */
  readonly elementBytes: number;
  readonly pieceBytes: readonly number[];
  /** Files in `shuffle/`, one a block. A scatter keeps the updates there. */
  readonly shuffle: FragmentLayout;
  /** Files in `applied/` of a gather, one a chunk: for each block the slices that it gets. */
  readonly gathered: (piece: number) => FragmentLayout;
}

/** The files of a job. */
export const fileOf = {
  done: (folder: string): string => path.join(folder, "done"),
  stage: (folder: string, stage: string): string => path.join(folder, stage),
  task: (folder: string, stage: string, task: number): string =>
    path.join(folder, stage, String(task)),
} as const;

export function contextOf(folder: string, spec: JobSpec, arrays: JobArrays): JobContext {
  const { data, indices, updates, out } = arrays;
  const resolved = resolveCall(spec.call, { data, indices, updates });
  const address = addressOf(resolved.layout, data.shape, data.chunkShape);
  const isGather = updates === undefined;
  const refusesRepeats = refusesDuplicates(resolved);
  const elementBytes = DTYPES[data.dtype].bytes;
  const { pieces } = address;
  const pieceBytes = Array.from(
    { length: pieces.size },
    (_, piece) => product(pieces.box(piece).shape) * elementBytes,
  );
  if (!areContiguous(spec.blockShape, address.positions)) {
    throw malformed(
      "the blocks in job.json must be runs of the positions in row-major order, and are not",
    );
  }
  const blocks = new Grid(address.positions, spec.blockShape);
  const chunks = new Grid(data.shape, data.chunkShape);
  const isCut =
    isGather &&
    out.location.format === "zarr" &&
    !sameShape(out.chunkShape, [...spec.blockShape, ...pieces.chunkShape]);
  if (isCut && !areWhole(spec.blockShape, address.positions, out.chunkShape))
    throw malformed("the blocks in job.json must have whole chunks of the output, and do not");
  if (!isGather && !sameShape(out.chunkShape, data.chunkShape))
    throw malformed("the chunks of the output must be those in which job.json reads data");
  if (isGather && spec.chunksPerTask !== 1)
    throw malformed("job.json gives a task of a gather several chunks, but it takes one");
  if (spec.chunks !== chunks.size)
    throw malformed(`job.json says ${spec.chunks} chunks, but the array has ${chunks.size}`);
  checkStages(spec, {
    partition: blocks.size,
    check: address.leads.size,
    apply: Math.ceil(chunks.size / spec.chunksPerTask),
    place: blocks.size,
    finish: 1,
  });
  return {
    ...arrays,
    folder,
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
      fragments: address.leads.size,
      // The rows; and the positions in the block, where a later stage needs them.
      columns: isGather || refusesRepeats ? 2 : 1,
      pieceBytes: isGather ? pieceBytes.map(() => 0) : pieceBytes,
    },
    gathered: (piece) => ({
      fragments: blocks.size,
      columns: 0,
      pieceBytes: [pieceBytes[piece]],
    }),
  };
}

/** The numbers of the chunks that a task of `apply` takes. */
export function chunksOfTask({ chunks, spec }: JobContext, task: number): number[] {
  const first = task * spec.chunksPerTask;
  const count = Math.min(spec.chunksPerTask, chunks.size - first);
  return Array.from({ length: count }, (_, i) => first + i);
}

/** Nobody but the job itself says how many tasks it has. */
function checkStages({ stages }: JobSpec, tasks: Readonly<Record<StageName, number>>): void {
  const wrong = stages.find((stage) => stage.tasks !== tasks[stage.name]);
  if (wrong === undefined) return;
  const sentence = `job.json says ${wrong.tasks} tasks of ${wrong.name}, but its arrays have ${tasks[wrong.name]}`;
  throw malformed(sentence);
}

/** Bytes of memory that the tasks of a job take. */
export interface JobNeeds {
  readonly sizes: TaskBytes;
  /** For reading and writing chunks. */
  readonly held: number;
  /** For the largest task. */
  readonly needed: number;
  /** For a task that partitions, without `held`. */
  readonly block: number;
}

export function needsOf(job: JobContext): JobNeeds {
  const { out, isCut } = job;
  const sizes = taskBytes(job, out.location.format === "npy" || isCut);
  const buffer = isCut ? product(out.chunkShape) * job.elementBytes : 0;
  const held = heldBy(job, { ...out.held, write: out.held.write + buffer });
  const positions = product(job.spec.blockShape);
  return {
    sizes,
    held,
    needed: neededBytes(sizes, held, positions, job.isGather),
    block: positions * sizes.position + sizes.table,
  };
}

/** The columns of a file in `shuffle/`. */
export const ROWS = 0;
export const POSITIONS = 1;

/** The shape of an array's chunk in the addressed axes only, and of the axes of a slice. */
export const splitShape = (
  shape: readonly number[],
  addressed: number,
): { lead: number[]; slice: number[] } => ({
  lead: part(shape, 0, addressed),
  slice: part(shape, addressed),
});
