/** Parts of arrays: what they read and write is what a list of coordinates says, also when a job changes them in place. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { AxisRange, ChunkedArray } from "../../src/arrays/boxes/array.ts";
import { Grid } from "../../src/arrays/boxes/grid.ts";
import { exclusive } from "../../src/arrays/boxes/slice.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { openContext, openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runJob, type JobProgress } from "../../src/arrays/chunked/run/run-job.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { coordinatesOf, product } from "../../src/core/tensor/shape.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { gatherChunked, scatterChunked } from "../../src/entries/chunked.ts";
import { gatherND, scatterND } from "../../src/entries/index.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, createPending, openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome, MEMORY } from "../support/job-files.ts";
import { MemoryArray } from "../support/memory-array.ts";
import { arrayInMemory } from "../support/memory-store.ts";
import { npyOf, ORDERS } from "../support/npy-file.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { fixedRandom, randomFrom, type Random } from "../support/random.ts";
import { assertRejected, assertRefused } from "../support/refusal.ts";

const upTo = (dim: number): number[] => [...Array(dim).keys()];

/** The coordinates that a range takes: JavaScript's own `slice` counts and clips as Python's does. */
function coordinates(range: AxisRange, dim: number): number[] {
  if (typeof range === "number") return [upTo(dim).at(range) ?? assert.fail()];
  const [start, stop, step] = range ?? [];
  return upTo(dim)
    .slice(start ?? undefined, stop ?? undefined)
    .filter((_, i) => i % (step ?? 1) === 0);
}

/** The numbers of the elements that ranges take, row-major. */
function places(shape: readonly number[], ranges: readonly AxisRange[]): number[] {
  return shape.reduce<number[]>(
    (before, dim, axis) =>
      before.flatMap((at) => coordinates(ranges[axis] ?? null, dim).map((one) => at * dim + one)),
    [0],
  );
}

const shapeAfter = (shape: readonly number[], ranges: readonly AxisRange[]): number[] =>
  shape.flatMap((dim, axis) =>
    typeof ranges[axis] === "number" ? [] : [coordinates(ranges[axis] ?? null, dim).length],
  );

const ints = (shape: readonly number[], values: readonly number[]): Tensor =>
  tensor("int32", shape, Int32Array.from(values));

const numbered = (shape: readonly number[]): Tensor => ints(shape, upTo(product(shape)));

const end = fc.option(fc.integer({ min: -15, max: 15 }), { nil: null });
const step = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null });
const range = fc.record({
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  ends: fc.tuple(end, end, step),
  kind: fc.nat(6),
});

/** Arrays and what is taken of them. Half of the coordinates count from the end. */
const cases = fc
  .array(fc.record({ dim: fc.nat(12), chunk: fc.integer({ min: 1, max: 6 }), range }), {
    maxLength: 3,
  })
  .map((axes) => ({
    shape: axes.map(({ dim }) => dim),
    chunkShape: axes.map(({ chunk }) => chunk),
    ranges: axes.map(({ dim, range: { at, ends, kind } }): AxisRange => {
      if (kind === 0) return null;
      if (kind === 1 && dim > 0) return Math.floor(at * dim) - (at > 0.5 ? dim : 0);
      return ends.slice(0, kind % 4);
    }),
  }));

async function arrayOf(
  values: Tensor,
  chunkShape: readonly number[],
  isZarr: boolean,
): Promise<ChunkedArray> {
  if (!isZarr) return new MemoryArray(values, chunkShape);
  const { shape } = values;
  const { array } = arrayInMemory({ dtype: "int32", shape, chunkShape, codecs: ["crc32c"] });
  await array.write(values);
  return array;
}

const numbers = ({ data }: Tensor): number[] => [...data] as number[];

test("a part reads and writes the elements that its ranges take", async () => {
  await fc.assert(
    fc.asyncProperty(cases, fc.boolean(), fc.nat(), async (one, isZarr, seed) => {
      const { shape, chunkShape, ranges } = one;
      const values = numbered(shape);
      const array = await arrayOf(values, chunkShape, isZarr);
      const part = array.slice(...ranges);
      const own = places(shape, ranges);
      assert.deepEqual(part.shape, shapeAfter(shape, ranges));
      assert.deepEqual(numbers(await part.read()), own);
      // A box of the part.
      const random = randomFrom(seed);
      const start = part.shape.map((dim) => random(dim + 1));
      const box = part.shape.map((dim, axis) => random(dim - start[axis] + 1));
      const inner = places(
        part.shape,
        start.map((from, axis) => [from, from + box[axis]]),
      ).map((at) => own[at]);
      assert.deepEqual(numbers(await part.read(start, box)), inner);
      // A part of the part.
      const odd = box.map((): AxisRange => [1, null, 2]);
      const halves = places(part.shape, odd).map((at) => own[at]);
      assert.deepEqual(numbers(await part.slice(...odd).read()), halves);
      assert.equal(part.slice(...odd).source, array);
      // What is written changes nothing else.
      const model = numbers(values);
      await part.write(
        ints(
          box,
          inner.map((at) => -1 - at),
        ),
        start,
      );
      for (const at of inner) model[at] = -1 - at;
      assert.deepEqual(numbers(await array.read()), model);
    }),
    { numRuns: caseCount(1000) },
  );
});

test("each chunk of an exclusive part is in chunks of the array that no other has", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ shape, chunkShape, ranges }) => {
      const array = new MemoryArray(numbered(shape), chunkShape);
      const own = exclusive(array.slice(...ranges));
      const taken = new Map<string, string>();
      const model = numbers(array.tensor);
      const all = places(shape, ranges);
      const grid = new Grid(own.shape, own.chunkShape);
      for (const number of upTo(grid.size)) {
        const at = grid.at(number);
        const { start, shape: box } = grid.boxAt(at);
        const ends = start.map((from, axis): AxisRange => [from, from + box[axis]]);
        const inner = places(own.shape, ends).map((place) => all[place]);
        for (const place of inner) {
          const chunk = coordinatesOf(place, shape)
            .map((coordinate, axis) => Math.floor(coordinate / chunkShape[axis]))
            .join();
          assert.equal(taken.get(chunk) ?? String(at), String(at), `chunk ${chunk}`);
          taken.set(chunk, String(at));
        }
        const fresh = Int32Array.from(inner, (place) => -1 - place);
        await own.stageChunk(at, new Uint8Array(fresh.buffer), `name${number}`);
        assert.deepEqual(numbers(array.tensor), model, "nothing is seen before it is published");
        assert.equal(await own.publishChunk(at, `name${number}`), true);
        for (const place of inner) model[place] = -1 - place;
        assert.deepEqual(numbers(array.tensor), model);
      }
      assert.equal(array.staged.size, 0);
    }),
    { numRuns: caseCount(800) },
  );
});

test("what is discarded leaves nothing staged, and what is published in part is published again", async () => {
  const array = new MemoryArray(numbered([20]), [4]);
  const part = exclusive(array.slice([2, 15]));
  assert.deepEqual(part.chunkShape, [13]);
  const bytes = new Uint8Array(Int32Array.from(upTo(13), (at) => -at).buffer);
  await part.stageChunk([0], bytes, "a");
  assert.equal(array.staged.size, 4);
  await part.discard("a");
  assert.equal(array.staged.size, 0);
  await part.stageChunk([0], bytes, "b");
  // A process that ends in the middle has published the first of four chunks; another one goes on.
  await array.publishChunk([0], "b");
  const other = exclusive(array.slice([2, 15]));
  assert.equal(await other.publishChunk([0], "b"), true);
  assert.equal(await other.publishChunk([0], "b"), false);
  const expected = [0, 1, ...upTo(13).map((at) => (at === 0 ? 0 : -at)), ...upTo(20).slice(15)];
  assert.deepEqual([...array.tensor.data], expected);
});

test("ranges that are none are refused", () => {
  const array = new MemoryArray(numbered([4, 3]), [2, 2]);
  const refuse = (code: ErrorCode, ...ranges: unknown[]): void => {
    assertRefused(code, {}, () => array.slice(...(ranges as AxisRange[])));
  };
  refuse("rank", null, null, null);
  refuse("index-out-of-range", 4);
  refuse("index-out-of-range", null, -4);
  refuse("index-out-of-range", 0.5);
  for (const range of [[0, 2, 0], [0, 2, -1], [0, 1, 1, 1], [0.5], "0:2", {}, ["0"], [undefined]]) {
    refuse("attribute", range);
  }
});

const JOBS = { skip: WITHOUT_NODE_ITSELF };

/** Writes a tensor to an NPY file, and opens the file. */
function stored(home: string, name: string, values: Tensor): Promise<ChunkedArray> {
  fs.writeFileSync(path.join(home, name), writeNpy(values));
  return openArray(path.join(home, name));
}

const floats = (shape: readonly number[], random: Random): Tensor =>
  tensor(
    "float32",
    shape,
    Float32Array.from(upTo(product(shape)), () => random(9)),
  );

/** Data, indices and updates in files, a part of data, and what is in the part. */
async function makeCall(home: string, random: Random) {
  const shape = [5 + random(8), 4 + random(8)];
  const chunkShape = [1 + random(5), 1 + random(5)];
  const ranges: AxisRange[] = shape.map((dim) => {
    const start = random(dim - 1);
    return [start, start + 1 + random(dim - start), 1 + random(3)];
  });
  const values = floats(shape, random);
  const own = { attributes: { unit: "m" }, dimensionNames: ["y", "x"] };
  const options = { dtype: "float32", shape, chunkShape, ...own } as const;
  const data = await createArray(path.join(home, "data.zarr"), options);
  await data.write(values);
  const part = data.slice(...ranges);
  const [rows, columns] = part.shape;
  const ids = upTo(6).map(() => random(2 * rows) - rows);
  const indices = tensor("int64", [6, 1], ids);
  const updates = floats([6, columns], random);
  const taken = places(shape, ranges);
  return {
    values,
    taken,
    data,
    part,
    old: tensor(
      "float32",
      part.shape,
      Float32Array.from(taken, (at) => Number(values.data[at])),
    ),
    indices: { tensor: indices, array: await stored(home, "i.npy", indices) },
    updates: { tensor: updates, array: await stored(home, "u.npy", updates) },
  };
}

/** The memory of a process with one thread and small tasks. */
const LEAST = 128 * 2 ** 20;

const OPTIONS = { memory: MEMORY, threads: 0 };

test(
  "a part that a job changes in place becomes what a scatter makes of it, and the rest stays",
  JOBS,
  async () => {
    for (const seed of upTo(12)) {
      const home = makeHome();
      const { values, taken, data, part, old, indices, updates } = await makeCall(
        home,
        randomFrom(seed),
      );
      const expected = scatterND(old, indices.tensor, updates.tensor, { reduction: "add" });
      const options = { ...OPTIONS, out: part, reduction: "add" };
      const made = await scatterChunked(part, indices.array, updates.array, options);
      assert.deepEqual(numbers(await made.read()), numbers(expected), `seed ${seed}`);
      const model = numbers(values);
      for (const [i, at] of taken.entries()) model[at] = numbers(expected)[i];
      assert.deepEqual(numbers(await data.read()), model, `seed ${seed}`);
      assert.ok(!fs.existsSync(path.join(home, "data.zarr", ".ndscatter")));
    }
  },
);

test(
  "a job gathers and scatters from a part into a new array, which has its attributes",
  JOBS,
  async () => {
    for (const seed of [20, 21, 22]) {
      const home = makeHome();
      const { part, old, indices, updates } = await makeCall(home, randomFrom(seed));
      const out = path.join(home, "out.zarr");
      const options = { ...OPTIONS, out };
      const gathered = await gatherChunked(part, indices.array, options);
      assert.deepEqual(numbers(await gathered.read()), numbers(gatherND(old, indices.tensor)));
      fs.rmSync(out, { recursive: true });
      const reduced = { ...options, reduction: "max" };
      const made = await scatterChunked(part, indices.array, updates.array, reduced);
      const expected = scatterND(old, indices.tensor, updates.tensor, { reduction: "max" });
      assert.deepEqual(numbers(await made.read()), numbers(expected));
      const { attributes, dimensionNames } = made as Awaited<ReturnType<typeof createArray>>;
      assert.deepEqual([{ ...attributes }, dimensionNames], [{ unit: "m" }, ["y", "x"]]);
    }
  },
);

/** A request to change a part in place. */
const inPlace = (
  folder: string,
  data: ChunkedArray,
  indices: ChunkedArray,
  updates: ChunkedArray,
) => ({
  folder,
  call: { function: "scatterND", options: { reduction: "add" } },
  data,
  indices,
  updates,
  out: null,
  ...OPTIONS,
});

const createInts = async (
  place: string,
  shape: readonly number[],
  chunkShape: readonly number[],
) => {
  const data = await createArray(place, { dtype: "int32", shape, chunkShape });
  await data.write(numbered(shape));
  return data;
};

/** Opens a job, and runs its first task. */
async function begin(folder: string) {
  const memory = { workspace: new Workspace(), allowance: 2 ** 20 };
  const job = await openContext(folder, await readSpec(folder));
  await runTask(job, "partition", 0, memory);
  return { job, apply: (number: number) => runTask(job, "apply", number, memory) };
}

test(
  "a task of a part in place that is run again after it was marked changes nothing twice",
  JOBS,
  async () => {
    const home = makeHome();
    const data = await createInts(path.join(home, "d.zarr"), [12], [4]);
    const folder = path.join(home, "job");
    const indices = await stored(home, "i.npy", tensor("int64", [10, 1], upTo(10)));
    const updates = await stored(home, "u.npy", ints([10], Array(10).fill(100)));
    await createJob(inPlace(folder, data.slice([1, 11]), indices, updates));
    const { job, apply } = await begin(folder);
    // The first run of the task is cut off when it has published the first chunk of the array.
    const publishChunk = job.out.publishChunk.bind(job.out);
    const cut = new Error("cut off");
    job.out.publishChunk = async (_, name) => {
      await data.publishChunk([0], name);
      throw cut;
    };
    await assert.rejects(() => apply(0), cut);
    job.out.publishChunk = publishChunk;
    assert.deepEqual(await remainingTasks(await openJob(folder), "finish"), [0]);
    await runJob(folder, OPTIONS);
    const expected = upTo(12).map((at) => (at >= 1 && at < 11 ? at + 100 : at));
    assert.deepEqual(numbers(await data.read()), expected);
  },
);

test(
  "a part in place may get updates of another part of its array, also when the job goes on",
  JOBS,
  async () => {
    const home = makeHome();
    const data = await createInts(path.join(home, "d.zarr"), [12, 2], [4, 2]);
    const indices = await stored(home, "i.npy", tensor("int64", [4, 1], [5, 0, 3, 4]));
    const folder = path.join(home, "job");
    for (const [part, updates] of [
      [data.slice([0, 6]), data.slice([5, 9])],
      [data.slice([0, 6]), data.slice([2, 6])],
      [data.slice([0, 12, 2]), data.slice([1, 9, 2])],
      [data, data.slice([0, 4])],
    ] as const) {
      const request = inPlace(folder, part, indices, updates);
      await assertRejected("overlap", {}, () => createJob(request));
    }
    // Elements 4 to 7 are one chunk, of which the job changes the first half and reads the other.
    const request = inPlace(folder, data.slice([0, 6]), indices, data.slice([6, 10]));
    await createJob(request);
    await (await begin(folder)).apply(1);
    await createJob(request);
    await runJob(folder, OPTIONS);
    const expected = upTo(24);
    for (const [i, row] of [5, 0, 3, 4].entries())
      for (const column of [0, 1]) expected[2 * row + column] += 2 * (6 + i) + column;
    assert.deepEqual(numbers(await data.read()), expected);
  },
);

test(
  "a job's file that names a part beyond its array is refused, and so is another part in place",
  JOBS,
  async () => {
    const home = makeHome();
    // Sentences of the errors contain the shape.
    const { part, indices, updates } = await makeCall(home, fixedRandom(3));
    const folder = path.join(home, "job");
    await createJob(inPlace(folder, part, indices.array, updates.array));
    const file = path.join(folder, "job.json");
    const spec = JSON.parse(fs.readFileSync(file, "utf8"));
    for (const [slice, code] of [
      [[[0, 1, 9999], 0], "index-out-of-range"],
      [[0], "rank"],
      [[[0, 0, 1], 0], "index-out-of-range"],
      [[-1, [0, 1, 1]], "index-out-of-range"],
      ["x", "malformed-file"],
      [[null], "malformed-file"],
    ] as const) {
      fs.writeFileSync(file, JSON.stringify({ ...spec, data: { ...spec.data, slice } }));
      await assertRejected(code, {}, async () => openContext(folder, await readSpec(folder)));
    }
    fs.writeFileSync(file, JSON.stringify({ ...spec, out: { ...spec.out, slice: undefined } }));
    assert.deepEqual((await readSpec(folder)).out, spec.data);
  },
);

test("jobs read arrays in any order of bytes and axes, in several chunks", JOBS, async () => {
  const home = makeHome();
  const random = randomFrom(7);
  // Chunks of data have at least 1 MiB.
  const values = floats([600, 1000], random);
  const ids = tensor(
    "int64",
    [50, 1],
    upTo(50).map(() => random(600)),
  );
  const own = floats([50, 1000], random);
  for (const [turn, order] of ORDERS.entries()) {
    for (const [name, one] of Object.entries({ d: values, i: ids, u: own }))
      fs.writeFileSync(path.join(home, `${name}.npy`), npyOf(one, order));
    const [data, indices, updates] = await Promise.all(
      ["d", "i", "u"].map((name) => openArray(path.join(home, `${name}.npy`))),
    );
    const out = path.join(home, `${turn}.npy`);
    const tasks = new Map<string, number>();
    const onProgress = ({ stage, tasks: count }: JobProgress): void => void tasks.set(stage, count);
    const options = { threads: 0, memory: LEAST, out, onProgress, reduction: "add" };
    const made = await scatterChunked(data, indices, updates, options);
    const expected = scatterND(values, ids, own, { reduction: "add" });
    assert.ok(equals(await made.read(), expected), JSON.stringify(order));
    assert.ok((tasks.get("apply") ?? 0) > 1, `${tasks.get("apply")} tasks`);
  }
});

test("a copy of a part is an array of its own, of one axis less too", JOBS, async () => {
  const home = makeHome();
  const data = await createArray(path.join(home, "d.zarr"), {
    dtype: "int32",
    shape: [4, 6],
    chunkShape: [2, 3],
    codecs: [{ name: "transpose", configuration: { order: [1, 0] } }, "zstd"],
    fillValue: 7,
    dimensionNames: ["y", "x"],
  });
  await data.write(numbered([4, 6]));
  const copy = await createPending(path.join(home, "c.zarr"), { like: data.slice(1) });
  const { shape, chunkShape, codecs, fillValue, dimensionNames } = copy as typeof data;
  assert.deepEqual([shape, chunkShape, fillValue, dimensionNames], [[6], [3], 7, ["x"]]);
  assert.deepEqual(
    codecs.map(({ name }) => name),
    ["bytes", "zstd"],
  );
});
