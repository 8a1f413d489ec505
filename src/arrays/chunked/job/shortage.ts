/**
 * Detects jobs that are slow because of too little memory. With little memory, blocks are small, so tasks read many
 * small parts of blocks, and read some chunks several times.
 */

import { DTYPES } from "../../../core/tensor/dtype.ts";
import { wrongOption } from "../../../core/foreign.ts";
import { product } from "../../../core/tensor/shape.ts";
import { printMemory } from "../stages/budget.ts";
import type { Division } from "./division.ts";
import { mostBytes, sumOf } from "./most-bytes.ts";
import { isShortage, type Shortage, type Stage } from "./spec.ts";

/**
 * The durations, in s, of starting the threads, of a task, and of moving and combining a byte. These durations were
 * fitted to seven jobs of 70 to 200 MB on two threads.
 */
export const START = 0.35;
export const TASK = 0.002;
export const MOVE = 2e-9;

/**
 * The duration, in s, of finding the part of a block's file that a task needs: 0.1 to 0.4 ms, measured with 169 blocks.
 */
const PART = 0.0002;

/** The duration, in s, of decoding a stored byte, because zstd, gzip and blosc decode 100 to 400 MB per second. */
const DECODE = 5e-9;

/** Memory counts as short if more memory would make the job this many times as fast and save this many seconds. */
const TIMES = 2;
const LONGER = 2;

/** Memory counts as sensible if the job takes at most this many times as long as with more memory. */
const SENSIBLE = 1.25;

/** The maximum memory that a note recommends, in bytes. */
const MOST = 2 ** 40;

const tasksOf = (stages: readonly Stage[]): number =>
  stages.reduce((sum, { tasks }) => sum + tasks, 0);

/**
 * Returns the overhead of a job's tasks, in s on one thread, without the time for moving and coding bytes. `task` is
 * the overhead per task, in s.
 */
export function taskSeconds(stages: readonly Stage[], task: number): number {
  const count = (name: Stage["name"]): number =>
    stages.find((stage) => stage.name === name)?.tasks ?? 0;
  // In a gather, every block also searches the file of every task for its slices.
  const passes = stages.some(({ name }) => name === "place") ? 2 : 1;
  return tasksOf(stages) * task + passes * count("partition") * count("apply") * PART;
}

/** Returns the time that a job would take on one thread, in s, if the disk were infinitely fast. */
function workOf({ parts, blockShape, threads, stages }: Division): number {
  const { data, indices, updates, resolved } = parts;
  const figures = { ...parts, blockShape, threads, isChecked: false, out: NO_OUTPUT };
  const { read, written } = mostBytes(figures);
  const output = product(resolved.shape) * DTYPES[data.dtype].bytes;
  const encoded =
    (indices.held.read > 0 ? read.indices : 0) +
    (updates !== undefined && updates.held.read > 0 ? read.updates : 0);
  const moved = sumOf(read) + written.shuffle + output;
  return START + moved * MOVE + encoded * DECODE + taskSeconds(stages, TASK);
}

/** The size of the output does not depend on memory. */
const NO_OUTPUT = {
  read: 0,
  written: 0,
  files: 0,
  isNpy: false,
  inPlace: false,
  folders: 0,
  texts: 0,
};

/**
 * Returns a note if memory is short, or null if more memory would not make the job faster. `divided` divides the job
 * again with more memory.
 */
export async function shortageOf(
  memory: number,
  division: Division,
  divided: (memory: number) => Promise<Division>,
): Promise<Shortage | null> {
  const work = workOf(division);
  if (work < LONGER) return null;
  const found: { readonly memory: number; readonly work: number; readonly tasks: number }[] = [];
  for (let more = 2 ** Math.floor(Math.log2(memory) + 1); more <= MOST; more *= 2) {
    // oxlint-disable-next-line no-await-in-loop -- ends when more memory no longer helps
    const other = await divided(more);
    const one = { memory: more, work: workOf(other), tasks: tasksOf(other.stages) };
    if (one.work === found.at(-1)?.work) break;
    found.push(one);
  }
  const best = Math.min(work, ...found.map((one) => one.work));
  const sensible = found.find((one) => one.work <= SENSIBLE * best);
  if (work < TIMES * best || work < best + LONGER || sensible === undefined) return null;
  return {
    memory,
    sensible: sensible.memory,
    times: work / sensible.work,
    threads: division.threads,
    tasks: tasksOf(division.stages),
    sensibleTasks: sensible.tasks,
  };
}

/**
 * Prints the note for a job whose memory is short.
 *
 * @param shortage the `shortage` of a plan
 *
 * @example
 * ```ts
 * import { printShortage } from "ndscatter/chunked";
 *
 * const sizes = { memory: 2 ** 27, sensible: 2 ** 28 };
 * const note = printShortage({ ...sizes, times: 3, threads: 1, tasks: 366, sensibleTasks: 40 });
 * console.log(note.split("; ")[1]); // allow at least 256 MiB (memory)
 * ```
 */
export function printShortage(shortage: Shortage): string {
  if (!isShortage(shortage)) {
    throw wrongOption("shortage", "the shortage of a plan that is not null", shortage);
  }
  const { memory, sensible, times, threads, tasks, sensibleTasks } = shortage;
  const [own, more] = [memory, sensible].map((bytes) => printMemory(bytes));
  return (
    `with ${own} of memory, the job has ${tasks} tasks and takes about ${times.toFixed(1)} times as long as with ` +
    `${more}, where it has ${sensibleTasks} tasks; allow at least ${more} (memory)${threads > 1 ? ", or run fewer threads" : ""}`
  );
}
