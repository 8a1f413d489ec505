/** The figures of a plan are upper bounds: random jobs on files take no more memory and disk space. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import { contiguousChunks, Grid } from "../../src/arrays/boxes/grid.ts";
import { resolveCall, type JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { createJob, planJob } from "../../src/arrays/chunked/job/create-job.ts";
import { jobFailure, jobOf, openContext } from "../../src/arrays/chunked/job/job.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { memoryOf, shareOf } from "../../src/arrays/chunked/stages/budget.ts";
import type { JobContext } from "../../src/arrays/chunked/stages/context.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { chooseExecutor } from "../../src/core/engines/choice.ts";
import type { Executor } from "../../src/core/engines/executor.ts";
import { reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import {
  createArray,
  createPending,
  openArray,
  type ChunkedArray,
  type CreateOptions,
} from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome, MEMORY } from "../support/job-files.ts";
import { withLimits } from "../support/limits.ts";
import {
  arbitraryShape,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  scatterElementsCase,
  scatterNDCase,
  specOf,
  type Case,
  type Shapes,
} from "../support/random-calls.ts";
import { type Random, seedOf } from "../support/random.ts";

const seed = seedOf("chunked-plan");
const home = makeHome();
let jobs = 0;

const CODECS: readonly (readonly CreateOptions["codecs"][])[] = [
  [[]],
  [["gzip"], ["zstd"], ["blosc"], ["crc32c"], ["gzip", "crc32c"], ["blosc", "zstd"]],
];

const pick = <T>(random: Random, all: readonly T[]): T => all[random(all.length)];

/** Codecs of an array, now and then with its axes in another order. */
function codecsOf(rank: number, random: Random): NonNullable<CreateOptions["codecs"]> {
  const codecs = pick(random, CODECS[random(2)]) ?? [];
  if (rank < 2 || random(4) > 0) return codecs;
  const order = Array.from({ length: rank }, (_, axis) => axis).reverse();
  return [{ name: "transpose", configuration: { order } }, ...codecs];
}

/** Maximum elements of a chunk or shard. An empty array with axes of 18 would otherwise have shards of gigabytes. */
const MOST_IN_CHUNK = 2 ** 14;

/** At most 16 chunks: more find nothing more, and each is a file that is synced. */
function chunksOf(shape: readonly number[], random: Random): number[] {
  const chunks = shape.map((dim) =>
    random(3) === 0 ? Math.max(1, dim) : 1 + random(Math.max(1, dim) + 1),
  );
  for (let d = 0; new Grid(shape, chunks).size > 16; d++) chunks[d] = Math.max(1, shape[d]);
  for (let d = 0; product(chunks) > MOST_IN_CHUNK; d++) chunks[d] = 1;
  return chunks;
}

/** Chunks and shards, of a few chunks each or none. */
function divisionOf(
  shape: readonly number[],
  random: Random,
): Pick<CreateOptions, "chunkShape" | "shards"> {
  const chunkShape = chunksOf(shape, random);
  if (random(3) > 0) return { chunkShape };
  const shards = chunkShape.map((dim) => dim * (1 + random(3)));
  return product(shards) > MOST_IN_CHUNK ? { chunkShape } : { chunkShape, shards };
}

/** Makes an array of Zarr v3 one of v2, whose chunks have the same bytes. */
function makeOld(folder: string): void {
  const file = path.join(folder, "zarr.json");
  const {
    shape,
    chunk_grid: grid,
    codecs,
    data_type: name,
  } = JSON.parse(fs.readFileSync(file, "utf8"));
  const dtype = { float32: "<f4", int32: "<i4", int64: "<i8" }[String(name)];
  const isGzip = codecs.some((codec: { name: string }) => codec.name === "gzip");
  const isOther = codecs.some(
    ({ name: one }: { name: string }) => one !== "bytes" && one !== "gzip",
  );
  if (dtype === undefined || isOther || shape.length === 0) return;
  const { chunk_shape: chunks } = grid.configuration;
  const compressor = isGzip ? { id: "gzip", level: 5 } : null;
  const old = {
    zarr_format: 2,
    shape,
    chunks,
    dtype,
    compressor,
    fill_value: 0,
    order: "C",
    filters: null,
  };
  const root = path.join(folder, "c");
  for (const key of fs.existsSync(root)
    ? fs.readdirSync(root, { recursive: true, encoding: "utf8" })
    : []) {
    const from = path.join(root, key);
    if (fs.statSync(from).isFile())
      fs.renameSync(from, path.join(folder, key.split(path.sep).join(".")));
  }
  fs.rmSync(root, { recursive: true, force: true });
  fs.writeFileSync(path.join(folder, ".zarray"), JSON.stringify(old));
  fs.rmSync(file);
}

/** Stores a tensor in any format, or as a part of a larger array. */
async function storeAny(file: string, values: Tensor, random: Random): Promise<ChunkedArray> {
  const { dtype, shape } = values;
  const isPart = shape.length > 0 && random(4) === 0;
  const step = 1 + random(3);
  const whole = isPart ? shape.map((dim) => 1 + dim * step) : shape;
  const isNpy = random(4) === 0;
  const place = file + (isNpy ? ".npy" : ".zarr");
  const options = isNpy
    ? { dtype, shape: whole }
    : { dtype, shape: whole, ...divisionOf(whole, random), codecs: codecsOf(whole.length, random) };
  const pending = isNpy ? await createPending(place, options) : null;
  const made = pending ?? (await createArray(place, options));
  const ranges = shape.map((dim) => [1, 1 + dim * step, step] as const);
  const target = isPart ? made.slice(...ranges) : made;
  await target.write(values);
  if (pending !== null) await pending.publish();
  else if (random(3) === 0) makeOld(place);
  const array = await openArray(place);
  return isPart ? array.slice(...ranges) : array;
}

/** Bytes that files and folders take. */
function diskOf(place: string): number {
  const stat = fs.lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  const inside = stat.isDirectory()
    ? fs.readdirSync(place).map((name) => diskOf(path.join(place, name)))
    : [];
  return inside.reduce((sum, one) => sum + one, 512 * stat.blocks);
}

interface Taken {
  disk: number;
  memory: number;
}

/** An executor that counts the bytes that are allocated and not recycled. */
function counting(counts: { now: number; most: number }): Executor {
  const { executor } = chooseExecutor("wasm");
  const own: Partial<Executor> = {
    alloc(dtype, size) {
      const memory = executor.alloc(dtype, size);
      counts.now += (memory as Uint8Array).byteLength;
      counts.most = Math.max(counts.most, counts.now);
      return memory;
    },
    recycle(memory) {
      counts.now -= (memory as Uint8Array).byteLength;
      executor.recycle(memory);
    },
  };
  return new Proxy(executor, {
    get: (target, name) => {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Runs all tasks of a job in this thread, and says what they took. */
async function take(job: JobContext, places: readonly string[], before: number): Promise<Taken> {
  const counts = { now: 0, most: 0 };
  const workspace = new Workspace(counting(counts));
  const { sizes, held, block } = job.needs;
  const share = shareOf(MEMORY, 1);
  const memory = {
    workspace,
    allowance: share - sizes.chunk - held,
    reading: share - block - held,
  };
  const taken: Taken = { disk: 0, memory: 0 };
  for (const { name, tasks } of job.spec.stages) {
    for (let task = 0; task < tasks; task++) {
      workspace.clear();
      if (name === "finish")
        taken.disk = Math.max(
          taken.disk,
          places.reduce((sum, one) => sum + diskOf(one), -before),
        );
      await runTask(job, name, task, memory);
    }
    if ((await jobFailure(jobOf(job)).catch(() => null)) !== null) break;
  }
  taken.memory = counts.most;
  return taken;
}

/** Asserts that a job takes at most what its plan says. */
async function runPlanned(request: JobRequest, places: readonly string[]): Promise<void> {
  const plan = await planJob(request);
  const before = places.reduce((sum, one) => sum + diskOf(one), 0);
  const spec = await createJob(request);
  const job = await openContext(request.folder, spec);
  const taken = await take(job, places, before);
  const planned = {
    disk: plan.disk,
    memory: plan.memory - memoryOf(1, 0),
  };
  for (const [name, most] of Object.entries(planned)) {
    const got = taken[name as keyof Taken];
    assert.ok(got <= most, `${name}: ${got} is more than planned, ${most}`);
  }
}

/** Elements of the largest tensor of a case. With the least limits each may be a read: 1,728 updates took four minutes. */
const MOST_ELEMENTS = 300;

async function check(one: Case, turn: number): Promise<void> {
  const { inputs, random } = one;
  fc.pre(inputs.every(({ size }) => size <= MOST_ELEMENTS));
  const folder = path.join(home, String(jobs++));
  fs.mkdirSync(folder);
  const [data, indices, updates] = await Promise.all(
    inputs.map((input, i) => storeAny(path.join(folder, String(i)), input, random)),
  );
  const call = specOf(one);
  if (
    "options" in call &&
    random(4) === 0 &&
    updates !== undefined &&
    call.options.reduction === "none"
  )
    Object.assign(call.options, { duplicates: "error" });
  const { layout, shape } = resolveCall(call, { data, indices, updates });
  const { positions } = layout;
  const blockShape =
    product(positions) === 0
      ? positions.map(() => 1)
      : contiguousChunks(
          positions,
          Math.max(Math.ceil(product(positions) / 16), 1 + random(product(positions))),
        );
  const inPlace = updates !== undefined && data.location.format === "zarr" && random(2) === 0;
  const isNpy = random(3) === 0;
  const out = {
    format: isNpy ? "npy" : "zarr",
    path: path.join(folder, isNpy ? "out.npy" : "out.zarr"),
  } as const;
  const isDivided = !inPlace && !isNpy && random(2) === 0;
  const division = isDivided ? divisionOf(shape, random) : {};
  // Without a block shape, the updates of a scatter are few. A new shape of a gather's chunks needs its own blocks.
  const isGiven = updates === undefined ? !isDivided : random(3) > 0;
  const request: JobRequest = {
    folder: path.join(folder, "job"),
    call,
    data,
    indices,
    updates,
    out: inPlace ? null : out,
    ...(isDivided && { ...division, codecs: codecsOf(shape.length, random) }),
    ...(isGiven && { blockShape }),
    memory: MEMORY,
    threads: 1,
  };
  try {
    await withLimits(turn, () =>
      // An array that is changed in place may grow beyond the plan.
      runPlanned(request, [
        request.folder,
        inPlace ? path.join(data.location.path, ".ndscatter") : out.path,
      ]),
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const DTYPES: readonly DType[] = ["float32", "int64", "bool"];
let properties = 0;

for (const dtype of DTYPES) {
  test(`jobs on ${dtype} take at most what is planned`, async () => {
    const property = (run: (shapes: Shapes) => Case, numRuns: number) =>
      fc.assert(
        fc.asyncProperty(arbitraryShape, (shapes) => check(run(shapes), shapes.seed)),
        {
          seed: seed + properties++,
          numRuns: caseCount(numRuns, 8),
          includeErrorInReport: true,
          endOnFailure: true,
        },
      );
    for (const reduction of reductionsOf(dtype)) {
      await property((shapes) => scatterNDCase(dtype, reduction, "int64", shapes), 2);
      await property((shapes) => scatterElementsCase(dtype, reduction, "int32", shapes), 2);
    }
    await property((shapes) => gatherNDCase(dtype, "int32", shapes), 4);
    await property((shapes) => gatherElementsCase(dtype, "int64", shapes), 4);
    await property((shapes) => gatherCase(dtype, "int64", shapes), 4);
  });
}
