/** Makes the folder of a job, or finds out that it is there already. Everything but the indices is checked here. */

import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { ArrayLocation, ArrayType, ChunkedArray } from "../arrays/array.ts";
import { isUrl, withFile } from "../arrays/file.ts";
import { Grid } from "../arrays/grid.ts";
import { isTensorError, TensorError } from "../errors.ts";
import { DTYPES } from "../tensor/dtype.ts";
import { part, product } from "../tensor/shape.ts";
import { addressOf, type Address } from "./address.ts";
import { blockShapeFor, chunksFor, leastOf, shareOf, threadsFor } from "./budget.ts";
import { refusesDuplicates, resolveCall, type CallSpec } from "./call-spec.ts";
import { claim, claimOf } from "./claim.ts";
import { checkDisk } from "./disk.ts";
import { fileOf } from "./context.ts";
import { FOLDERS, isMissing, isThere, readSpec, stagesOf } from "./job.ts";
import { createOutput, openLocated, openOutput } from "./open-arrays.ts";
import { printSpec, type JobSpec } from "./spec.ts";

export interface JobRequest {
  readonly folder: string;
  readonly call: CallSpec;
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates?: ChunkedArray | undefined;
  /** Where the new array goes; null where data is changed in place. */
  readonly out: Pick<ArrayLocation, "format" | "path"> | null;
  readonly memory: number;
  readonly threads: number;
  /** The shape of a block of positions, by default as large as the memory allows. */
  readonly blockShape?: readonly number[] | undefined;
}

/**
 * Makes the job, and its output where that is a new array; or resumes the same request.
 * @throws TensorError as `run`, up to the shapes; `too-large` for chunks that the memory, or results that the disk does not
 * hold; `attribute` for a folder with another job
 */
export async function createJob(request: JobRequest): Promise<JobSpec> {
  const { folder } = request;
  const asked = hashOf(request);
  if (await isThere(fileOf.spec(folder))) {
    const known = await readSpec(folder);
    if (known.request !== asked) {
      const sentence =
        `${folder} holds another job, or one whose inputs have changed since; remove the folder, ` +
        "or give another one";
      throw new TensorError("attribute", sentence);
    }
    if (!(await isThere(fileOf.done(folder)))) await beginOutput(known);
    return known;
  }
  const spec = await specOf(request, asked);
  // The folders are made here and nowhere else: when the job has ended, tasks that run late find none.
  for (const stage of Object.values(FOLDERS)) {
    await fs.mkdir(fileOf.stage(folder, stage), { recursive: true });
  }
  await writeSpec(folder, spec);
  await beginOutput(spec);
  return spec;
}

/** What makes two requests the same. The memory and the threads do not. */
function hashOf({ call, data, indices, updates, out }: JobRequest): string {
  const inputs = [data, indices, updates].map((array) =>
    // An array that is changed in place is known by its metadata; these are all that a Zarr array's fingerprint has.
    array === undefined ? null : [array.location.format, array.location.path, array.fingerprint],
  );
  const text = JSON.stringify({ call, inputs, out });
  return createHash("sha256").update(text).digest("hex");
}

async function specOf(request: JobRequest, asked: string): Promise<JobSpec> {
  const { call, indices, updates, memory, folder, out } = request;
  for (const array of [request.data, indices, updates]) {
    if (array?.dtype !== "string") continue;
    throw new TensorError("dtype", `${array.location.path} holds text, which has no chunked calls`);
  }
  const { bytes } = DTYPES[request.data.dtype];
  const { data, threads } = await divided(request, bytes);
  const resolved = resolveCall(call, { data, indices, updates });
  const { shape, layout } = resolved;
  const address = addressOf(layout, data.shape, data.chunkShape);
  const blockShape =
    request.blockShape ??
    blockShapeFor(
      address.positions,
      product(address.pieces.chunkShape) * bytes,
      DTYPES[indices.dtype].bytes * Math.max(1, address.tuple.length),
      shareOf(memory, threads),
    );
  const { size: blocks } = new Grid(address.positions, blockShape);
  const spec: JobSpec = {
    version: 1,
    id: randomBytes(8).toString("hex"),
    request: asked,
    call,
    data: data.location,
    indices: indices.location,
    updates: updates?.location,
    out:
      out === null
        ? data.location
        : { ...out, chunkShape: outChunks(out, address, blockShape, data, updates) },
    inPlace: out === null,
    blockShape,
    stages: stagesOf({
      partition: blocks,
      check: refusesDuplicates(resolved) ? address.leads.size : null,
      apply: new Grid(data.shape, data.chunkShape).size,
      place: updates === undefined ? blocks : null,
    }),
  };
  await checkOutput(spec, [data, indices, updates]);
  const shuffled = product(address.positions) * (product(address.slice) * bytes + 8);
  const isOnDisk = out !== null && !isUrl(out.path);
  await checkDisk([
    { folder: path.resolve(folder), bytes: shuffled },
    ...(isOnDisk ? [{ folder: path.dirname(out.path), bytes: product(shape) * bytes }] : []),
  ]);
  return spec;
}

/** Data in chunks that fit in the memory. A file without chunks of its own is divided anew. */
async function divided(
  { data, memory, threads: wanted }: JobRequest,
  bytes: number,
): Promise<{ data: ChunkedArray; threads: number }> {
  const least = leastOf(product(data.chunkShape) * bytes, !data.isPlain);
  if (data.location.format === "zarr" || data.location.chunkShape !== undefined) {
    return { data, threads: threadsFor(memory, wanted, least, data.chunkShape) };
  }
  const share = shareOf(memory, wanted);
  const chunkShape = chunksFor(data.shape, bytes, share);
  const own = leastOf(product(chunkShape) * bytes, false);
  const threads = threadsFor(memory, wanted, own, chunkShape);
  return { data: await openLocated({ ...data.location, chunkShape }), threads };
}

/** The chunks of the new array: those of data, or for a gather a block each, so that each is written by one task. */
function outChunks(
  { format }: Pick<ArrayLocation, "format">,
  { addressed, slice }: Address,
  blockShape: readonly number[],
  data: ChunkedArray,
  updates: ChunkedArray | undefined,
): readonly number[] {
  if (updates !== undefined) return data.chunkShape;
  const pieces =
    format === "npy" ? slice.map((dim) => Math.max(1, dim)) : part(data.chunkShape, addressed);
  return [...blockShape, ...pieces];
}

async function checkOutput(
  { out, inPlace }: JobSpec,
  inputs: readonly (ChunkedArray | undefined)[],
): Promise<void> {
  if (inPlace) {
    if (out.format === "zarr" && !isUrl(out.path)) return;
    if (isUrl(out.path)) {
      const why = "object storage cannot replace a chunk and say that it did";
      throw new TensorError("attribute", `${out.path} is not changed in place: ${why}`);
    }
    const sentence =
      "an NPY file is not changed in place, because a part of a file cannot be replaced at once";
    throw new TensorError("attribute", `${sentence}; give another file, or copy it to Zarr`);
  }
  if (inputs.some((input) => input?.location.path === out.path)) {
    const sentence = `the output ${out.path} is an input; only data can be changed, in place`;
    throw new TensorError("overlap", sentence, { input: "out" });
  }
  // In object storage, whoever begins the array finds out.
  if (isUrl(out.path) || !(await isThere(out.path))) return;
  throw new TensorError("attribute", `${out.path} exists; remove it, or give another output`);
}

async function writeSpec(folder: string, spec: JobSpec): Promise<void> {
  const temporary = `${fileOf.spec(folder)}.${spec.id}.tmp`;
  await withFile(temporary, "wx", async (handle) => {
    await handle.writeFile(printSpec(spec));
    await handle.sync();
  });
  await fs.rename(temporary, fileOf.spec(folder));
}

/** Makes the new array where it is not there yet; or takes the array that is changed in place for this job alone. */
async function beginOutput(spec: JobSpec): Promise<void> {
  const { call, data: from, indices, updates, out, inPlace } = spec;
  if (inPlace) return claim(claimOf(spec));
  if (await isBegun(out)) return;
  const data = await openLocated(from);
  const types = {
    data,
    indices: await openLocated(indices),
    updates: updates === undefined ? undefined : await openLocated(updates),
  };
  const { shape } = resolveCall(call, types);
  const type: ArrayType = { dtype: data.dtype, shape, chunkShape: out.chunkShape ?? shape };
  await createOutput(out, type, data);
}

async function isBegun(out: ArrayLocation): Promise<boolean> {
  try {
    await openOutput(out);
    return true;
  } catch (error) {
    if (isMissing(error) || isTensorError(error, "malformed-file")) return false;
    throw error;
  }
}
