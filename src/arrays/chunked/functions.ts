/**
 * Scatters and gathers chunked arrays of any size. The document `docs/arrays/chunked.md` explains how jobs work.
 *
 * The files of a job's code, by the question that each file answers:
 *
 *     job/request.ts, describe.ts, spec.ts                              what is the job of a request?
 *     job/divide.ts, bounds.ts, disk.ts, stages/budget.ts               which tasks, and how much memory and disk space?
 *     job/create-job.ts, begin-output.ts                                how does a job begin, and how is it resumed?
 *     job/spec-file.ts                                                  which job does a folder hold, and is it complete?
 *     job/job.ts, find-jobs.ts, workers.ts                              what is done, and who is at work?
 *     stages/address.ts, locate.ts, entries.ts                          which chunk and row does each position lead to?
 *     stages/partition.ts, merge.ts, apply.ts, place.ts, job/finish.ts  what does each task do?
 *     stages/fragments.ts, task-files.ts                                which files do stages leave for later stages?
 *     stages/publish.ts, marks.ts                                       how does a chunk get into the output once?
 *     job/claim.ts                                                      which job owns an array, and what has changed?
 *     run/run-job.ts, sharing.ts, pool.ts, worker.ts, tasks.ts          who runs tasks in this process?
 */

import * as path from "node:path";
import { availableParallelism } from "node:os";
import type { NodeSpec } from "../../core/call/call.ts";
import { factOf, objectOf, printValue, wrongOption } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import type { ArrayLocation, ChunkedArray } from "../boxes/array.ts";
import { checkOpened } from "../boxes/checks.ts";
import { isUrl } from "../boxes/file.ts";
import type { CreateOptions } from "../zarr/create.ts";
import { openArray } from "../zarr/open.ts";
import {
  checkPath,
  checkRunOptions,
  checkCall,
  type CallSpec,
  type JobRequest,
} from "./job/request.ts";
import { gatherInMemory } from "./gather-in-memory.ts";
import { beginJob } from "./job/create-job.ts";
import { OWN_FOLDER, removeJob } from "./job/job-folder.ts";
import { isBadIndex } from "./job/job.ts";
import { openLocated } from "./job/open-arrays.ts";
import type { BegunJob } from "./job/spec-file.ts";
import { DEFAULT_MEMORY } from "./run/pool.ts";
import { runBegun, type RunJobOptions } from "./run/run-job.ts";

/** Options of a chunked call: a plain function and its options, or a node; and limits for the job. */
export interface ChunkedOptions extends RunJobOptions {
  /** The path of the new array (`.npy` or Zarr), or `data` itself to change data in place. */
  readonly out: string | ChunkedArray;
  /** The name of the plain function; by default, `scatterND` or `gatherND`. */
  readonly function?: string | undefined;
  /** The attributes of a node, instead of a plain function. */
  readonly node?: NodeSpec | undefined;
  /** The axis, if it is an input of the node. */
  readonly axis?: number | undefined;
  /**
   * The job's folder, which is kept after the call, so that an interrupted call can be resumed. By default, a temporary
   * folder next to the output is used; then an in-place call that is killed at its end, and repeated, applies its
   * updates twice.
   */
  readonly job?: string | undefined;
  /**
   * The codecs of a new Zarr array, in the format of `createArray`, such as `["zstd"]`. By default, the new array has
   * data's codecs, which must be writable.
   */
  readonly codecs?: CreateOptions["codecs"] | undefined;
  /**
   * The chunk shape of a new Zarr array; with `shards`, the shape of the chunks inside a shard. By default, a scatter
   * uses data's chunk shape, and a gather uses the largest chunk shape that memory allows.
   */
  readonly chunkShape?: CreateOptions["chunkShape"] | undefined;
  /** The shard shape of a new Zarr array, a multiple of `chunkShape`. */
  readonly shards?: CreateOptions["shards"] | undefined;
  readonly reduction?: string | undefined;
  readonly batchDims?: number | undefined;
  readonly bounds?: string | undefined;
  readonly negative?: string | undefined;
  readonly duplicates?: string | undefined;
  readonly includeSelf?: boolean | undefined;
}

/** Names of options that only chunked functions have. */
const OWN: ReadonlySet<string> = new Set([
  "out",
  "function",
  "node",
  "codecs",
  "chunkShape",
  "shards",
  "job",
  "memory",
  "threads",
  "signal",
  "onProgress",
  "onNote",
]);

/**
 * Applies updates to data, in a new array or in place. The result is bit-identical to that of `scatterND` in memory.
 * All indices are checked before anything is written, so a bad index leaves all arrays unchanged.
 *
 * @param data an array of any size and any data type except string
 * @param indices an array of any size, with a data type and shape that the function or node accepts
 * @param updates an array of any size, with the data type of `data` and a shape that the function or node accepts
 * @param options the required `out`, the options of the plain function, and limits
 * @returns the opened output
 * @throws TensorError the errors of the function or node. `too-large` for a chunk that does not fit in memory, or
 *   results that do not fit on the disk. `overlap` or `attribute` for an output that is an input or exists. If the
 *   signal aborts, its reason is thrown
 * @see ScatterND-18 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * const [data, indices, updates] = await Promise.all([
 *   openArray("table.zarr"),
 *   openArray("ids.npy"),
 *   openArray("rows.npy"),
 * ]);
 * const sums = await scatterChunked(data, indices, updates, { reduction: "add", out: "sums.zarr", threads: 0 });
 * console.log((await sums.read()).toArray()); // [[0, 0], [6, 8], [0, 0], [3, 4]]
 * ```
 */
export const scatterChunked = (
  data: ChunkedArray,
  indices: ChunkedArray,
  updates: ChunkedArray,
  options: ChunkedOptions,
): Promise<ChunkedArray> => run("scatterND", data, indices, updates, options);

/**
 * Gathers the elements or slices of `data` that the indices address into a new array. The result is bit-identical to
 * that of `gatherND` in memory.
 *
 * @param data an array of any data type but string and of any size
 * @param indices an array of any size
 * @param options the required `out`, the options of the plain function, and limits
 * @throws TensorError like `scatterChunked`
 * @see GatherND-13 of ai.onnx, Summary
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * const [data, indices] = await Promise.all([openArray("rows.npy"), openArray("ids.npy")]);
 * const taken = await gatherChunked(data, indices, { out: "taken.npy", threads: 0, bounds: "clip" });
 * console.log(taken.shape); // [3, 2]
 * ```
 */
export const gatherChunked = (
  data: ChunkedArray,
  indices: ChunkedArray,
  options: ChunkedOptions,
): Promise<ChunkedArray> => run("gatherND", data, indices, undefined, options);

/**
 * Begins a job in a folder of this package. After an error, removes what an earlier call left that was interrupted while
 * it removed the folder.
 */
const beginOwn = (request: JobRequest): Promise<BegunJob> =>
  beginJob(request).catch(async (error: unknown) => {
    await removeJob(request.folder, NO_JOB).catch(() => {});
    throw error;
  });

/** An id that no job has. */
const NO_JOB = "";

async function run(
  name: string,
  data: ChunkedArray,
  indices: ChunkedArray,
  updates: ChunkedArray | undefined,
  options: ChunkedOptions,
): Promise<ChunkedArray> {
  if (options === undefined) {
    throw wrongOption("options", 'an object such as { out: "rows.npy" }', options);
  }
  const given = objectOf("options", options, {});
  const call = callOf(name, given);
  const { memory = DEFAULT_MEMORY, threads = availableParallelism(), job } = options;
  checkOpened("data", data);
  checkOpened("indices", indices);
  if (updates !== undefined) checkOpened("updates", updates);
  checkCall(call);
  if (given.job !== undefined) checkPath(given.job, "job");
  checkRunOptions(given);
  const out = outOf(data, given.out);
  const place = out?.path ?? data.location.path;
  if (job === undefined && isUrl(place)) {
    throw new TensorError(
      "attribute",
      `a job for ${place} needs a folder on this machine; set job`,
      { key: "job", file: place },
    );
  }
  const folder = path.resolve(job ?? place + OWN_FOLDER);
  const { codecs, chunkShape, shards } = given as Partial<ChunkedOptions>;
  const encoding = { codecs, chunkShape, shards };
  const request = { folder, call, data, indices, updates, out, ...encoding, memory, threads };
  const { signal, onProgress } = options;
  if (
    updates === undefined &&
    job === undefined &&
    (await gatherInMemory(request, { signal, onProgress }))
  )
    return openArray(place);
  const file = await (job === undefined ? beginOwn(request) : beginJob(request));
  const { id, out: made } = file.spec;
  const end = async (): Promise<void> => {
    if (job === undefined) await removeJob(folder, id);
  };
  try {
    await runBegun(file, options);
  } catch (error) {
    if (isBadIndex(error)) await end();
    throw error;
  } finally {
    await file.close();
  }
  await end();
  if (out === null) return openLocated(made);
  // The output is opened without a chunk shape, because the chunks that the job chose for an NPY file do not concern
  // the caller.
  return openArray(made.path);
}

function callOf(name: string, given: Readonly<Record<string, unknown>>): CallSpec {
  if (given.node !== undefined) {
    const { node, axis, duplicates } = given;
    const other = Object.keys(given).find(
      (key) =>
        given[key] !== undefined &&
        (key === "function" || !(OWN.has(key) || key === "axis" || key === "duplicates")),
    );
    if (other !== undefined) {
      const sentence = `${other} cannot be combined with node; put it into the attributes of node`;
      throw new TensorError("attribute", sentence, { key: other });
    }
    return { node, axis, duplicates } as CallSpec;
  }
  const own = Object.entries(given).filter(([key, value]) => !OWN.has(key) && value !== undefined);
  return { function: String(given.function ?? name), options: Object.fromEntries(own) };
}

function outOf(data: ChunkedArray, out: unknown): Pick<ArrayLocation, "format" | "path"> | null {
  if (out === data) return null;
  if (typeof out === "string" && out !== "" && !out.includes("\0")) {
    const format = out.toLowerCase().endsWith(".npy") ? "npy" : "zarr";
    return { format, path: isUrl(out) ? out : path.resolve(out) };
  }
  const sentence = `out must be the path of a new array, or data itself, got ${printValue(out)}`;
  throw new TensorError("attribute", sentence, { input: "out", key: "out", got: factOf(out) });
}
