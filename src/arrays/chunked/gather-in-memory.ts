/**
 * Gathers without a job, if the result fits in memory. All indices are checked, then each chunk of data that they
 * address is read once, and its slices are copied to their positions. The new array is written under a temporary name
 * and renamed when it is complete, so an interrupted call leaves nothing under the name of the output.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { chooseExecutor } from "../../core/engines/choice.ts";
import { TensorError } from "../../core/errors.ts";
import { namesOf, optionsOf, type Signal } from "../../core/foreign.ts";
import { CHUNKED } from "../../core/limits.ts";
import { DTYPES } from "../../core/tensor/dtype.ts";
import { MAX_SIZE, product } from "../../core/tensor/shape.ts";
import type { ArrayLocation, ChunkedArray, PendingArray } from "../boxes/array.ts";
import { isCode, isUrl, makeFolders, placeError, syncFolder } from "../boxes/file.ts";
import { Grid, type Box } from "../boxes/grid.ts";
import { createPendingNpy } from "../npy/files.ts";
import { inParallel } from "../boxes/parallel.ts";
import { createPending } from "../zarr/open.ts";
import { checkRunOptions, checkRequest, type JobRequest } from "./job/request.ts";
import { checkDisk } from "./job/disk.ts";
import { describe, type Described } from "./job/describe.ts";
import { typeOf } from "./job/divide.ts";
import { costsOfOutput, encodingOf, openLocated, outputExists } from "./job/open-arrays.ts";
import type { JobSpec } from "./job/spec.ts";
import { findSpec } from "./job/spec-file.ts";
import { removeLeft, temporaryOf } from "./job/temporary.ts";
import type { RunJobOptions } from "./run/run-job.ts";
import { shareOf, type JobParts } from "./stages/budget.ts";
import { renumber } from "./stages/chunk-task.ts";
import { bytesOfPieces, contextOf } from "./stages/context.ts";
import { sortEntries, type SortedEntries } from "./stages/entries.ts";
import { inGroups } from "./stages/fragments.ts";
import { readWanted } from "./stages/gather-chunks.ts";
import { elementsOf, placeSlices, toOffsets } from "./stages/move.ts";
import { writeBlock } from "./stages/place.ts";
import { Workspace } from "./stages/workspace.ts";

export type GatherOptions = Pick<RunJobOptions, "signal" | "onProgress">;

const OPTIONS = namesOf<GatherOptions>({ signal: true, onProgress: true });

/** Reports the progress of a stage. */
type Report = (stage: "apply" | "place", done: number, tasks: number) => void;

/**
 * Gathers into a new array without a job's folder, if the result fits in memory.
 *
 * @param request the same as for `createJob`
 * @param options a signal, and a function that receives the progress of the stages `apply` and `place`
 * @returns false if the request needs a job: the result does not fit in memory, updates are given, the output is data
 *   itself or is not a path, or the folder contains a job
 * @throws TensorError the errors of `createJob`, `index-out-of-range`, and `attribute` if an input changes while it is
 *   read. If the signal aborts, its reason is thrown. After an error, no output is left
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * const [data, indices] = await Promise.all([openArray("rows.npy"), openArray("ids.npy")]);
 * const request = {
 *   folder: "job",
 *   call: { function: "gatherND", options: { bounds: "clip" } },
 *   data,
 *   indices,
 *   out: { format: "npy", path: "taken.npy" },
 *   memory: 2 ** 28,
 *   threads: 1,
 * } as const;
 * if (!(await gatherInMemory(request))) await createJob(request).then(() => runJob("job"));
 * console.log((await openArray("taken.npy")).shape); // [3, 2]
 * ```
 */
export async function gatherInMemory(
  request: JobRequest,
  options: GatherOptions = {},
): Promise<boolean> {
  const { signal, onProgress } = optionsOf(options, OPTIONS, {}) as GatherOptions;
  checkRunOptions({ signal, onProgress });
  checkRequest(request);
  const { updates } = request;
  const out = request.out && { ...request.out, path: placeOf(request.out.path) };
  if (updates !== undefined || out === null || isUrl(out.path)) return false;
  let begin = performance.now();
  const report: Report = (stage, done, tasks) => {
    if (done === 0) begin = performance.now();
    const seconds = (performance.now() - begin) / 1000;
    onProgress?.({ stage, done, tasks, seconds, before: 0 });
  };
  try {
    const own = { ...request, out };
    if ((await findSpec(own.folder)) !== null) return false;
    const planned = await describe(own);
    const lanes = lanesOf(own, planned);
    if (lanes === 0) return false;
    const sizes = planned.spec.planned?.disk ?? [];
    await checkDisk([
      { folder: path.dirname(out.path), bytes: sizes.reduce((sum, [, bytes]) => sum + bytes, 0) },
    ]);
    const { data, indices } = planned.parts;
    await gather(planned, new Seen({ data, indices }), { lanes, signal, report });
    return true;
  } catch (error) {
    // An earlier call may have been interrupted between publishing the output and removing the temporary file.
    await removeLeft(path.dirname(out.path), path.basename(out.path));
    throw placeError(error);
  }
}

const placeOf = (out: string): string => (isUrl(out) ? out : path.resolve(out));

async function gather(
  { parts, spec }: Described,
  seen: Seen,
  how: Pick<Gathering, "lanes" | "signal" | "report">,
): Promise<void> {
  // JavaScript moves slices as fast as WebAssembly, whose memory would outlive the call.
  const memory = new Workspace(chooseExecutor("js").executor);
  try {
    const { address, indices } = parts;
    const whole = { start: address.positions.map(() => 0), shape: address.positions };
    await seen.note("indices", { start: indices.shape.map(() => 0), shape: indices.shape });
    const entries = await sortEntries(parts, whole, memory, 0);
    const slices = await gatherAll(parts, entries, { ...how, memory, seen });
    await seen.check();
    await writeAll(spec, parts, slices, { ...how, memory });
  } finally {
    memory.clear();
  }
}

/** Returns the number of chunks to read at the same time, or 0 if the gather does not fit in memory. */
function lanesOf({ memory }: JobRequest, { spec, parts }: Described): number {
  const { data, indices, resolved, address } = parts;
  const { bytes } = DTYPES[data.dtype];
  const { format, chunkShape = [] } = spec.out;
  const result = product(resolved.shape) * bytes;
  const index = product(indices.shape) * DTYPES[indices.dtype].bytes;
  const positions = product(address.positions);
  // Larger buffers cannot be created everywhere, or counted in 32 bits.
  if (Math.max(result, index, 4 * positions, 4 * address.leads.size) > MAX_SIZE) return 0;
  const touched = Math.min(address.leads.size, positions) * address.pieces.size;
  const numbers = 16 * positions + 4 * address.leads.size + 2 * index + CHUNK_STATE * touched;
  const block = product(spec.blockShape) * product(address.slice) * bytes;
  const isCut = spec.chunking !== undefined;
  // A block's slices that are joined from pieces, and a chunk of the output with its encoded form.
  const writing =
    (address.pieces.size > 1 && (isCut || format === "npy") ? block : 0) +
    (isCut ? product(chunkShape) * bytes : 0) +
    costsOfOutput(format, typeOf(parts, chunkShape), data, spec).write;
  const spare = shareOf(memory, 1) - result - numbers - Math.max(indices.held.read, writing);
  const reading = product(data.chunkShape) * bytes + data.held.read;
  // Memory for more chunks costs more time than it saves: a file in chunks of 64 MB takes 0.18 s of processor time two
  // at a time, and 0.31 s eight at a time.
  const useful = Math.max(2, Math.min(CHUNKED.reads, Math.floor(CHUNKED.together / reading)));
  return Math.max(0, Math.min(useful, Math.floor(spare / reading)));
}

/** The memory for the state of a chunk, in bytes. */
const CHUNK_STATE = 600;

/** Detects inputs that change while they are read. Records the state of each input before it is read. */
class Seen {
  readonly #inputs: Readonly<Record<InputName, ChunkedArray>>;
  readonly #states: { name: InputName; box: Box; state: string }[] = [];

  constructor(inputs: Readonly<Record<InputName, ChunkedArray>>) {
    this.#inputs = inputs;
  }

  async note(name: InputName, { start, shape }: Box): Promise<void> {
    // The fingerprint of an NPY file contains the file's state.
    if (product(shape) === 0 || this.#inputs[name].location.format === "npy") return;
    const state = await this.#inputs[name].stateOf(start, shape);
    this.#states.push({ name, box: { start, shape }, state });
  }

  /** Throws an `attribute` error if an input has changed since its state was recorded. */
  async check(): Promise<void> {
    for (const [name, { location, fingerprint }] of Object.entries(this.#inputs))
      if ((await openLocated(location)).fingerprint !== fingerprint) throw changed(name, location);
    await inGroups(this.#states, async ({ name, box: { start, shape }, state }) => {
      const array = this.#inputs[name];
      if ((await array.stateOf(start, shape)) !== state) throw changed(name, array.location);
    });
  }
}

type InputName = "data" | "indices";

const changed = (name: string, { path: file }: ArrayLocation): TensorError =>
  new TensorError(
    "attribute",
    `${name} (${file}) changed while it was read; gather again when no program writes to the file`,
    { input: name, key: name, file },
  );

interface Gathering {
  readonly lanes: number;
  readonly memory: Workspace;
  readonly seen: Seen;
  readonly signal: Signal | undefined;
  readonly report: Report;
}

/** Returns each piece of all slices, in position order. Slices for skipped indices are zeros. */
async function gatherAll(
  parts: JobParts,
  { starts, positions, rows }: SortedEntries,
  { lanes, memory, seen, signal, report }: Gathering,
): Promise<Uint8Array[]> {
  const { address, data, resolved } = parts;
  const elementBytes = DTYPES[data.dtype].bytes;
  const count = product(address.positions);
  const chunks = new Grid(data.shape, data.chunkShape);
  const touched = nonEmpty(starts);
  const pieces = bytesOfPieces(address, elementBytes);
  const tasks = touched.length * pieces.length;
  let done = 0;
  report("apply", done, tasks);
  const results: Uint8Array[] = [];
  for (const [piece, bytes] of pieces.entries()) {
    const slices = memory.bytes(`slices ${piece}`, count * bytes);
    if (positions.length < count) slices.fill(0);
    results.push(slices);
    const slice = bytes / elementBytes;
    await inParallel(touched, lanes, async (lead, lane) => {
      signal?.throwIfAborted();
      const [from, to] = [starts[lead], starts[lead + 1]];
      const chunk = lead * pieces.length + piece;
      const box = chunks.box(chunk);
      const own = rows.slice(from, to);
      await seen.note("data", box);
      renumber(own, parts, box);
      const task = { at: chunks.at(chunk), box, entries: to - from };
      const wanted = await readWanted(parts, task, async (wants) => wants(own), memory.lane(lane));
      wanted.moveRows(own);
      placeSlices(
        memory.executor,
        data.dtype,
        toOffsets(positions.slice(from, to), slice),
        slice,
        elementsOf(data.dtype, wanted.bytes),
        elementsOf(data.dtype, slices),
        resolved.call.fields,
        own,
      );
      report("apply", ++done, tasks);
    });
  }
  return results;
}

/** Returns the leads that have entries. */
function nonEmpty(starts: Uint32Array): Uint32Array {
  let count = 0;
  for (let lead = 1; lead < starts.length; lead++) if (starts[lead] > starts[lead - 1]) count++;
  const leads = new Uint32Array(count);
  for (let lead = 1, at = 0; at < count; lead++)
    if (starts[lead] > starts[lead - 1]) leads[at++] = lead - 1;
  return leads;
}

/** Writes the new array under a temporary name, then renames it. */
async function writeAll(
  spec: JobSpec,
  parts: JobParts,
  slices: readonly Uint8Array[],
  { memory, signal, report }: Pick<Gathering, "memory" | "signal" | "report">,
): Promise<void> {
  const { out } = spec;
  const folder = path.dirname(out.path);
  await makeFolders(folder);
  await removeLeft(folder, path.basename(out.path));
  const begun = temporaryOf(out.path);
  try {
    const array = await createBegun(spec, parts, begun);
    const job = contextOf(begun, spec, { ...parts, updates: undefined, out: array });
    const { blocks } = job;
    let position = 0;
    for (let block = 0; block < blocks.size; block++) {
      report("place", block, blocks.size);
      signal?.throwIfAborted();
      const end = position + product(blocks.box(block).shape);
      const bytesOf = (piece: number): Uint8Array =>
        slices[piece].subarray(position * job.pieceBytes[piece], end * job.pieceBytes[piece]);
      await writeBlock(job, block, async (piece) => bytesOf(piece), memory);
      position = end;
    }
    report("place", blocks.size, blocks.size);
    signal?.throwIfAborted();
    await publish(spec, array, begun);
  } finally {
    await fs.rm(begun, { recursive: true, force: true });
  }
}

function createBegun(spec: JobSpec, parts: JobParts, begun: string): Promise<PendingArray> {
  const { format, path: file, chunkShape = [] } = spec.out;
  const type = typeOf(parts, chunkShape);
  return format === "npy"
    ? createPendingNpy(file, type, begun)
    : createPending(begun, encodingOf(type, parts.data, spec));
}

/** Renames a complete array. Throws an `attribute` error if the output exists. */
async function publish({ out }: JobSpec, array: PendingArray, begun: string): Promise<void> {
  try {
    if (out.format === "npy") await fs.link(begun, out.path);
    else {
      await array.publish();
      await array.endStaging();
      await fs.rename(begun, out.path);
    }
  } catch (error) {
    throw isCode(error, "EEXIST", "ENOTEMPTY", "ENOTDIR") ? outputExists(out.path) : error;
  }
  await syncFolder(path.dirname(out.path));
}
