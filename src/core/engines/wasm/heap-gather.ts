/**
 * Gathers on several threads if data or the result is on the heap. Only the caller can access the heap, so data is
 * copied into shared memory, and the result passes through two windows there. While workers gather a piece into one
 * window, the caller copies the previous piece out of the other window, and then helps with the current piece.
 */

import type { WasmLimits } from "../../limits.ts";
import type { Plan } from "../../plan/plan.ts";
import type { NumericStorage } from "../../tensor/dtype.ts";
import type { Arena } from "./arena.ts";
import type { Call } from "./calls.ts";
import { workOf, type KernelJob, type Work } from "./plan-work.ts";
import { part, shares } from "./split-work.ts";
import { piecesOf, Window, type Piece } from "./windows.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Number of parts in a piece, which measure the caller's share. */
const PARTS = 16;

/**
 * Gathers with the workers of a pool.
 * @param pool a pool whose workers are ready
 * @throws TensorError `too-large` before anything is written; `engine` if a worker dies, which leaves the result partly
 *   written
 */
export function gatherFromHeap(
  arena: Arena,
  pool: WorkerPool,
  limits: WasmLimits,
  plan: Plan,
  job: KernelJob,
): void {
  const work = workOf(arena, plan, job);
  const { batches, slices, span, bytes } = work;
  const sliceBytes = slices.slice * bytes;
  const data = new Groups(arena, job.random, batches, span * bytes, limits.shared);
  const { group } = data;
  const most = Math.max(Math.floor(limits.shared / sliceBytes), 1);
  const pieces = Array.from({ length: Math.ceil(batches / group) }, (_, g) =>
    piecesOf(slices.count, g * group, Math.min((g + 1) * group, batches), most),
  ).flat();
  const groupOf = ({ batch }: Piece): number => Math.floor(batch / group);
  const bytesOf = ({ batches: some, positions }: Piece): number => some * positions * sliceBytes;
  // A call with all pieces as arguments would overflow the stack.
  const window = pieces.reduce((longest, piece) => Math.max(longest, bytesOf(piece)), 0);
  const windows = new Window(arena, job.sequential, window, 2);
  const beginOf = ({ batch, position }: Piece): number =>
    (batch * slices.count + position) * sliceBytes;
  const store = (p: number): void => windows.store(beginOf(pieces[p]), bytesOf(pieces[p]), p);
  // The caller's share shrinks after a piece that the workers finished first and grows otherwise, up to the whole piece
  // if other programs occupy the cores. The bits do not depend on which thread gathers.
  let own = Math.floor(PARTS / (2 * pool.size));
  for (const [p, piece] of pieces.entries()) {
    const begin = beginOf(piece);
    data.load(groupOf(piece));
    const here = {
      ...work,
      random: data.addressOf(groupOf(piece)),
      sequential: windows.at(begin, p) - begin,
    };
    pool.run(listsOf(here, piece, pool.size, own), () => {
      if (p > 0) store(p - 1);
      if (p + 1 < pieces.length) data.loadAhead(groupOf(pieces[p + 1]), groupOf(piece));
      own = pool.isRoundOver ? Math.max(own - 1, 0) : Math.min(own + 1, PARTS);
    });
  }
  store(pieces.length - 1);
}

/**
 * Returns the calls of each thread for a piece. The caller, which is first, gets `own` of `PARTS` parts; workers
 * share the rest equally.
 */
function listsOf(work: Work, piece: Piece, threads: number, own: number): readonly Call[][] {
  const { batch, batches, position, positions } = piece;
  const isByBatch = batches >= threads;
  const count = isByBatch ? batches : positions;
  const first = Math.floor((count * own) / PARTS);
  const listOf = (begin: number, some: number): Call[] =>
    isByBatch
      ? [part(work, batch + begin, some, position, positions)]
      : [part(work, batch, batches, position + begin, some)];
  const others = shares(count - first, threads - 1);
  return [
    first === 0 ? [] : listOf(0, first),
    ...others.map(([begin, some]) => listOf(first + begin, some)),
  ];
}

/** Gives access to data in shared memory; data that is elsewhere is copied there a few batches at a time. */
class Groups {
  /** Number of batches in a group. */
  readonly group: number;
  /** Groups are copied to one or two windows. */
  readonly #window: Window;
  /** True if the next group can be copied while another is in use, because each has its own window. */
  readonly #isDouble: boolean;
  /** Size of a group, in bytes. */
  readonly #bytes: number;
  readonly #all: number;
  /** Number of the group that was copied last; -1 before the first copy. */
  #loaded = -1;

  constructor(
    arena: Arena,
    data: NumericStorage,
    batches: number,
    batchBytes: number,
    window: number,
  ) {
    const fitting = Math.max(Math.floor(window / batchBytes), 1);
    this.group = arena.memory.has(data) ? batches : Math.min(fitting, batches);
    this.#bytes = this.group * batchBytes;
    this.#all = batches * batchBytes;
    // Two copies of a batch that is larger than a window could take more memory than data.
    this.#isDouble = this.group < batches && batchBytes <= window;
    this.#window = new Window(arena, data, this.#bytes, this.#isDouble ? 2 : 1);
  }

  /** Returns the address that batch 0 would have if all batches were contiguous with those of the group. */
  addressOf(group: number): number {
    const begin = group * this.#bytes;
    return this.#window.at(begin, group) - begin;
  }

  /** Copies a group unless it is already loaded. */
  load(group: number): void {
    if (group === this.#loaded) return;
    const begin = group * this.#bytes;
    this.#window.load(begin, Math.min(this.#bytes, this.#all - begin), group);
    this.#loaded = group;
  }

  /** Copies the next group while another is in use, if each has its own window. */
  loadAhead(group: number, used: number): void {
    if (group !== used && this.#isDouble) this.load(group);
  }
}
