/** Chunked calls, task by task and in memory arrays: any chunks, any blocks, any order, tasks that run again. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import assert from "node:assert/strict";
import fc from "fast-check";
import { after, test } from "node:test";
import { contiguousChunks, Grid } from "../../src/arrays/boxes/grid.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { run } from "../../src/core/functions.ts";
import {
  refusesDuplicates,
  resolveCall,
  type CallSpec,
} from "../../src/arrays/chunked/job/request.ts";
import { addressOf } from "../../src/arrays/chunked/stages/address.ts";
import { contextOf, type JobContext } from "../../src/arrays/chunked/stages/context.ts";
import { FOLDERS } from "../../src/arrays/chunked/stages/task-files.ts";
import { jobFailure, jobOf, remainingTasks, stagesOf } from "../../src/arrays/chunked/job/job.ts";
import { specFile } from "../../src/arrays/chunked/job/spec-file.ts";
import { printSpec, type JobSpec } from "../../src/arrays/chunked/job/spec.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { isTensorError, type TensorError } from "../../src/core/errors.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { DTYPE_NAMES, reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount, caseList } from "../support/cases.ts";
import { withLimits } from "../support/limits.ts";
import { MemoryArray } from "../support/memory-array.ts";
import {
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  openvinoCases,
  rulesOf,
  scatterElementsCase,
  scatterNDCase,
  shapesOf,
  specOf,
  type Case,
} from "../support/random-calls.ts";
import { randomFrom, randomTensor, seedOf, type Random } from "../support/random.ts";

const seed = seedOf("chunked");
const root = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-chunked-"));
after(() => fs.rmSync(root, { recursive: true, force: true }));
let folders = 0;

interface Divided {
  readonly chunkShape: readonly number[];
  readonly blockShape: readonly number[];
  readonly inPlace: boolean;
  /** 1 by default. */
  readonly chunksPerTask?: number;
  /** True if fragments are merged, or updates kept in memory, where the call allows it. */
  readonly isMerged?: boolean;
  readonly isFew?: boolean;
}

/** A job whose arrays are in memory. */
function jobFor(call: CallSpec, inputs: readonly Tensor[], divided: Divided): JobContext {
  const [data, indices, updates] = inputs;
  const { chunkShape, blockShape, inPlace, chunksPerTask = 1 } = divided;
  const memory = { format: "zarr", path: "memory" } as const;
  const spec: JobSpec = {
    version: 1,
    id: "0123456789abcdef",
    request: "",
    call,
    data: memory,
    indices: memory,
    updates: memory,
    out: inPlace ? memory : { format: "zarr", path: "out" },
    inPlace,
    blockShape,
    chunks: new Grid(data.shape, chunkShape).size,
    chunksPerTask,
    stages: [],
  };
  const resolved = resolveCall(call, { data, indices, updates });
  const { shape, layout } = resolved;
  const own = new MemoryArray(data, chunkShape);
  const outChunks =
    updates === undefined ? [...blockShape, ...chunkShape.slice(layout.addressed)] : chunkShape;
  const out = inPlace ? own : new MemoryArray(zeros(data.dtype, shape), outChunks);
  const folder = path.join(root, String(folders++));
  for (const stage of Object.values(FOLDERS)) {
    fs.mkdirSync(path.join(folder, stage), { recursive: true });
  }
  const arrays = {
    data: own,
    indices: new MemoryArray(
      indices,
      indices.shape.map(() => 1),
    ),
    updates:
      updates &&
      new MemoryArray(
        updates,
        updates.shape.map(() => 1),
      ),
    out,
  };
  const { address, blocks, chunks, merge, refusesRepeats } = contextOf(folder, spec, arrays);
  const isScatter = updates !== undefined && !refusesRepeats;
  const isFew = divided.isFew === true && isScatter && blocks.size === 1;
  const isMerged = divided.isMerged === true && isScatter && !isFew;
  const stages = stagesOf({
    partition: blocks.size,
    merge: isMerged ? merge.tasks : null,
    check: refusesDuplicates(resolved) ? address.leads.size : null,
    apply: Math.ceil(chunks.size / chunksPerTask),
    place: updates === undefined ? blocks.size : null,
  });
  const staged: JobSpec = { ...spec, stages, ...(isFew && { isFew }) };
  fs.writeFileSync(specFile(folder), printSpec(staged));
  return contextOf(folder, staged, arrays);
}

/** One for all tasks, as a thread has it, so that a task finds what an earlier one of another job has left. */
const workspace = new Workspace();

/** Runs all tasks, each stage in any order, some of them again, and gives what is in the output. */
async function runAll(job: JobContext, random: Random, allowance = 2 ** 20): Promise<Tensor> {
  const memory = { workspace, allowance };
  for (const { name, tasks } of jobOf(job).stages) {
    const order = Array.from({ length: tasks }, (_, task) => task).sort(() => random(3) - 1);
    const again = order.filter(() => random(4) === 0);
    for (const task of [...order, ...again]) await runTask(job, name, task, memory);
    const failure = await jobFailure(jobOf(job));
    if (failure !== null) throw failure;
    assert.deepEqual(await remainingTasks(jobOf(job), name), []);
  }
  const out = job.out as MemoryArray;
  assert.equal(out.staged.size, 0);
  return out.tensor;
}

/** Chunks of a case, and blocks of one that is divided evenly. */
const MOST_TASKS = 8;

function divide(one: Case): Divided {
  const { inputs, operator, random } = one;
  const [data, indices, updates] = inputs;
  const chunkShape = data.shape.map((dim) => 1 + random(Math.max(1, dim)));
  // More tasks find nothing more, and each writes files.
  for (let d = 0; new Grid(data.shape, chunkShape).size > MOST_TASKS; d++) {
    chunkShape[d] = Math.max(1, data.shape[d]);
  }
  const { layout } = resolveCall(specOf(one), { data, indices, updates });
  const count = product(layout.positions);
  const most = Math.max(Math.ceil(count / MOST_TASKS), 1 + random(Math.max(1, count)));
  const blockShape =
    product(layout.positions) === 0
      ? layout.positions.map(() => 1)
      : contiguousChunks(layout.positions, most);
  const isScatter = operator.kind === "scatter";
  // A task of a gather has a single chunk, or whole slices.
  const together = isScatter ? 1 : addressOf(layout, data.shape, chunkShape).pieces.size;
  return {
    chunkShape,
    blockShape,
    inPlace: isScatter && random(2) === 0,
    chunksPerTask: together === 0 || random(3) === 0 ? 1 : together * (1 + random(4)),
    isMerged: random(2) === 0,
    isFew: random(2) === 0,
  };
}

/** @param turn which limits are drawn */
async function check(one: Case, turn: number): Promise<void> {
  const { inputs, expected, random } = one;
  const divided = divide(one);
  const job = jobFor(specOf(one), inputs, divided);
  // So few bytes at once that most chunks take their updates in parts.
  const allowance = random(2) === 0 ? 1 : 200;
  const result = await withLimits(turn, () => runAll(job, random, allowance));
  if (equals(result, expected)) return;
  assert.fail(`${JSON.stringify(divided)}: ${result} is not ${expected}`);
}

const numeric = DTYPE_NAMES.filter(
  (dtype): dtype is Exclude<DType, "string"> => dtype !== "string",
);

/** A job writes files for each block, so large shapes are rare. */
const SHAPES = shapesOf(79);

/** Each property has a seed of its own: of one seed the first shapes are the same. */
let properties = 0;

for (const [turn, dtype] of numeric.entries()) {
  test(`chunked calls of ${dtype} have the bits of the definition`, async () => {
    const property = (run: (shapes: Parameters<typeof gatherNDCase>[2]) => Case, numRuns: number) =>
      fc.assert(
        fc.asyncProperty(SHAPES, (shapes) => check(run(shapes), shapes.seed)),
        { seed: seed + properties++, numRuns: caseCount(numRuns), includeErrorInReport: true },
      );
    // Half of the reductions by each scatter.
    for (const reduction of caseList(reductionsOf(dtype), turn, 2))
      await property((shapes) => scatterNDCase(dtype, reduction, "int64", shapes), 2);
    for (const reduction of caseList(reductionsOf(dtype), turn + 1, 2))
      await property((shapes) => scatterElementsCase(dtype, reduction, "int32", shapes), 2);
    for (const reduction of ["max", "min"] as const) {
      for (const stays of rulesOf(dtype, reduction)) {
        if (stays === undefined) continue;
        await property((shapes) => openvinoCases[stays](dtype, reduction, shapes), 4);
      }
    }
    const gathers: Parameters<typeof property>[] = [
      [(shapes) => gatherNDCase(dtype, "int32", shapes), 3],
      [(shapes) => gatherElementsCase(dtype, "int64", shapes), 2],
      [(shapes) => gatherCase(dtype, "int64", shapes), 3],
    ];
    for (const gather of caseList(gathers, turn, 3)) await property(...gather);
  });
}

test("updates of a max that keeps an operand are not combined before they are written", async () => {
  // 1 stays beside NaN, and 2 is greater; of NaN and 2 alone, NaN would stay.
  const values = Array.from({ length: 16 }, (_, p) => (p === 0 ? NaN : 2));
  const inputs = [
    tensor("float32", [2], [1, 1]),
    tensor(
      "int64",
      [16, 1],
      values.map(() => 0),
    ),
    tensor("float32", [16], values),
  ];
  const node = {
    ...{ domain: "openvino", op: "ScatterNDUpdate", opset: 15 },
    attributes: { reduction: "max" },
  };
  const divided = { chunkShape: [2], blockShape: [16], inPlace: false };
  const job = jobFor({ node }, inputs, divided);
  assert.deepEqual((await runAll(job, randomFrom(seed))).toArray(), [2, 1]);
});

/** The error of a call in memory, or that of a job. */
async function errorOf(action: () => unknown): Promise<TensorError> {
  try {
    await action();
  } catch (error) {
    if (isTensorError(error)) return error;
    throw error;
  }
  return assert.fail("there was no error");
}

const factsOf = (error: TensorError): unknown => ({ ...error, message: error.message });

test("the first bad index of all blocks is the error, with its place in all indices", async () => {
  const random = randomFrom(seed);
  for (let round = 0; round < caseCount(60); round++) {
    const data = zeros("float32", [7, 5, 2]);
    const values = Array.from({ length: 24 }, () => random(5) - 2);
    for (let bad = 1 + random(4); bad > 0; bad--) values[random(24)] = random(2) === 0 ? 7 : -8;
    const indices = tensor("int64", [3, 4, 2], values);
    const updates = zeros("float32", [3, 4, 2]);
    const options = { negative: random(2) === 0 ? "wrap" : "error" };
    const expected = await errorOf(() =>
      runPlain(defaultExecutor(), FUNCTIONS.scatterND, [data, indices, updates], options),
    );
    const blockShape = contiguousChunks([3, 4], 1 + random(12));
    const job = jobFor({ function: "scatterND", options }, [data, indices, updates], {
      chunkShape: [3, 2, 1],
      blockShape,
      inPlace: true,
    });
    const error = await errorOf(() => runAll(job, random));
    assert.deepEqual(factsOf(error), factsOf(expected));
    assert.equal((job.out as MemoryArray).published, 0);
  }
});

/** Calls whose positions are read in all ways: one index or a tuple, with and without axes of data of their own. */
// prettier-ignore
const ADDRESSES: readonly (readonly [string, keyof typeof FUNCTIONS, object, data: number[], indices: number[], values: number[], Pick<Divided, "chunkShape" | "blockShape">])[] = [
  ["a tuple for each batch", "gatherND", { batchDims: 1 }, [5, 3, 2], [5, 2], [0, 1, 2, 0, -1, -2, 1, 1, 2, 1], { chunkShape: [2, 2, 1], blockShape: [3] }],
  ["tuples in two batch axes", "gatherND", { batchDims: 2 }, [2, 3, 2, 3], [2, 3, 2], [0, 1, 1, 0, 0, 2, 1, 1, 0, 0, 1, 2], { chunkShape: [1, 2, 1, 2], blockShape: [1, 2] }],
  ["an index for each batch", "gatherND", { batchDims: 1 }, [5, 3], [5, 1], [2, 0, -1, 1, -3], { chunkShape: [3, 2], blockShape: [2] }],
  ["indices clipped at both ends", "scatterND", { bounds: "clip" }, [7, 2], [6, 1], [-9, -8, 7, 8, 3, -7], { chunkShape: [2, 1], blockShape: [4] }],
  ["tuples clipped at both ends", "scatterND", { bounds: "clip" }, [3, 4], [6, 2], [-4, 0, 2, 4, 3, -5, -9, 9, 0, 3, 2, 1], { chunkShape: [2, 3], blockShape: [4] }],
  ["elements clipped at both ends", "scatterElements", { axis: 1, bounds: "clip" }, [3, 4], [3, 4], [-5, 4, 1, 2, -4, 3, 9, -9, 0, 1, 2, 3], { chunkShape: [2, 3], blockShape: [1, 3] }],
  ["indices left out", "scatterND", { bounds: "drop" }, [7, 2], [6, 1], [-8, 7, 6, -7, 0, 9], { chunkShape: [2, 1], blockShape: [4] }],
  ["tuples left out", "scatterND", { bounds: "drop" }, [3, 4], [5, 2], [3, 0, 0, 4, -4, 1, 1, -5, 2, 3], { chunkShape: [2, 3], blockShape: [3] }],
  ["indices filled", "gather", { axis: 0, bounds: "fill" }, [3, 4], [5], [3, 0, -4, 2, -3], { chunkShape: [2, 3], blockShape: [3] }],
  ["tuples filled", "gatherND", { bounds: "fill" }, [3, 4, 3], [4, 2], [3, 0, 0, 4, -4, 1, 2, 3], { chunkShape: [2, 3, 2], blockShape: [3] }],
  ["a clipped index that may not be negative", "scatterND", { bounds: "clip", negative: "error" }, [7, 2], [3, 1], [8, 0, -1], { chunkShape: [2, 1], blockShape: [4] }],
  ["a clipped tuple that may not be negative", "scatterND", { bounds: "clip", negative: "error" }, [7, 2], [2, 2], [8, 0, 1, -1], { chunkShape: [2, 1], blockShape: [4] }],
  ["an index left out that may not be negative", "scatterND", { bounds: "drop", negative: "error" }, [7, 2], [3, 1], [8, 0, -1], { chunkShape: [2, 1], blockShape: [4] }],
  ["a clipped index of an axis without places", "scatterND", { bounds: "clip" }, [0, 2], [2, 1], [0, 1], { chunkShape: [1, 2], blockShape: [2] }],
  ["indices left out of an axis without places", "scatterND", { bounds: "drop" }, [0, 2], [2, 1], [0, 1], { chunkShape: [1, 2], blockShape: [2] }],
  ["an index beyond its axis", "gatherND", {}, [3, 4], [2, 1], [0, 3], { chunkShape: [2, 2], blockShape: [1] }],
];

for (const [name, called, options, shape, dims, values, divided] of ADDRESSES) {
  test(`${name}: a chunked call does what a call in memory does`, async () => {
    for (const dtype of ["int32", "int64"] as const) {
      const random = randomFrom(seed);
      const data = randomTensor("float32", shape, random);
      const indices = tensor(dtype, dims, values);
      const spec = { function: called, options: { ...options } };
      const operator = FUNCTIONS[called];
      const lead = called === "scatterElements" ? dims : dims.slice(0, -1);
      const slice = called === "scatterElements" ? [] : shape.slice(dims.at(-1));
      const updates = randomTensor("float32", [...lead, ...slice], random);
      const inputs = operator.kind === "gather" ? [data, indices] : [data, indices, updates];
      const job = jobFor(spec, inputs, { ...divided, inPlace: false });
      let expected: Tensor | TensorError;
      try {
        expected = runPlain(defaultExecutor(), operator, inputs, { ...options });
      } catch (error) {
        expected = error as TensorError;
      }
      const run = () => runAll(job, random);
      if (!isTensorError(expected)) assert.ok(equals(await run(), expected));
      else assert.deepEqual(factsOf(await errorOf(run)), factsOf(expected));
    }
  });
}

test("the first repeated target of all blocks is the error, before anything is written", async () => {
  const random = randomFrom(seed + 1);
  let errors = 0;
  for (let round = 0; round < 60; round++) {
    const data = zeros("float32", [11, 4]);
    const indices = tensor(
      "int32",
      [6, 1],
      Array.from({ length: 6 }, () => random(22) - 11),
    );
    const inputs = [data, indices, zeros("float32", [6, 4])];
    const options = { duplicates: "error" };
    const run = () => runPlain(defaultExecutor(), FUNCTIONS.scatterND, inputs, options);
    const divided = {
      chunkShape: [1 + random(11), 1 + random(4)],
      blockShape: [1 + random(6)],
      inPlace: true,
    };
    const job = jobFor({ function: "scatterND", options }, inputs, divided);
    let expected: TensorError | null = null;
    try {
      run();
    } catch (error) {
      expected = error as TensorError;
    }
    if (expected === null) {
      await runAll(job, random);
      continue;
    }
    errors++;
    const error = await errorOf(() => runAll(job, random));
    assert.deepEqual(factsOf(error), factsOf(expected));
    assert.equal((job.out as MemoryArray).published, 0);
  }
  assert.ok(errors > 20 && errors < 60, `${errors} of 60 had a repeated target`);
});

test("one element of any rank stands for updates that are a scalar", async () => {
  const node = { op: "ScatterNDUpdate", domain: "openvino", opset: 15 };
  const data = randomTensor("float32", [3, 4], randomFrom(seed));
  const inputs = [data, tensor("int64", [2], [2, 1]), tensor("float32", [1, 1], [9])];
  const divided = { chunkShape: [2, 3], blockShape: [], inPlace: false };
  const result = await runAll(jobFor({ node }, inputs, divided), randomFrom(seed));
  assert.ok(equals(result, run(node, inputs)[0]));
  assert.equal(result.data[9], 9);
});

test("indices and updates that are read at once share what reading may hold", async () => {
  const inputs = [zeros("int8", [4, 4]), zeros("int64", [4, 1]), zeros("int8", [4, 4])];
  const divided = { chunkShape: [2, 2], blockShape: [4], inPlace: false };
  const job = jobFor({ function: "scatterND", options: {} }, inputs, divided);
  const allowed: unknown[] = [];
  for (const [array, read] of [
    [job.indices, 7],
    [job.updates ?? job.data, 9],
  ] as const) {
    const readBytes = array.readBytes.bind(array);
    Object.assign(array, {
      held: { read, write: 0 },
      async readBytes(...args: Parameters<typeof readBytes>) {
        allowed.push([read, args[3]]);
        await readBytes(...args);
      },
    });
  }
  await runTask(job, "partition", 0, { workspace, allowance: 2 ** 20, reading: 1000 });
  // The second piece of the updates is read alone. A single chunk is not counted.
  assert.deepEqual(allowed.toSorted(), [
    [7, 7 + 500],
    [9, 9 + 1000],
    [9, 9 + 500],
  ]);
});

test("many updates of one target are kept as one, but not sums of floats", async () => {
  const sizeOf = async (dtype: DType, reduction: string): Promise<number> => {
    const inputs = [
      zeros(dtype, [10, 4]),
      tensor("int64", [500, 1], new BigInt64Array(500)),
      zeros(dtype, [500, 4]),
    ];
    const job = jobFor({ function: "scatterND", options: { reduction } }, inputs, {
      chunkShape: [5, 4],
      blockShape: [500],
      inPlace: false,
    });
    await runTask(job, "partition", 0, { workspace, allowance: 2 ** 20 });
    return fs.statSync(path.join(job.folder, "shuffle", "0")).size;
  };
  for (const [dtype, reduction] of [
    ["int32", "add"],
    ["int32", "mul"],
    ["float32", "none"],
    ["float32", "max"],
  ] as const) {
    assert.ok((await sizeOf(dtype, reduction)) < 100, `${reduction} of ${dtype}`);
  }
  assert.ok((await sizeOf("float32", "add")) > 500 * 16);
  assert.ok((await sizeOf("float32", "mean")) > 500 * 16);
});

test("200 factors of one float are rounded one after the other, however they are divided", async () => {
  const random = randomFrom(seed + 3);
  for (const [dtype, parts] of [
    ["float32", [200]],
    ["float64", [7]],
    ["float16", [3, 64]],
    ["bfloat16", [33]],
  ] as const) {
    // Near 1, so that the product neither overflows nor vanishes; the sixth part hits another row.
    const factors = Array.from({ length: 200 }, () => 0.9 + random(2 ** 20) / 2 ** 20 / 5);
    const rows = factors.map(() => (random(6) === 0 ? 0 : 3));
    const inputs = [
      tensor(dtype, [5], [1, 1, 1, 1.5, 1]),
      tensor("int64", [200, 1], rows),
      tensor(dtype, [200], factors),
    ];
    const rounded = (value: number): number => tensor(dtype, [1], [value]).toArray()[0] as number;
    const expected = [1, 1, 1, 1.5, 1];
    const exact = inputs[2].toArray() as number[];
    for (const [p, row] of rows.entries()) expected[row] = rounded(expected[row] * exact[p]);
    for (const block of parts) {
      for (const inPlace of [false, true]) {
        const options = { reduction: "mul" };
        const divided = { chunkShape: [2], blockShape: [block], inPlace };
        const job = jobFor({ function: "scatterND", options }, inputs, divided);
        const result = await runAll(job, random, 1 + random(300));
        assert.deepEqual(result.toArray(), expected, `${dtype} in blocks of ${block}`);
      }
    }
  }
});

test("repeated updates of slices in several chunks are combined once for each chunk", async () => {
  const random = randomFrom(seed + 2);
  for (const [dtype, reduction] of [
    ["int32", "add"],
    ["int64", "mul"],
    ["float32", "max"],
    ["float16", "none"],
    ["float32", "add"],
    ["float32", "mean"],
  ] as const) {
    for (let round = 0; round < 4; round++) {
      const rows = 1 + random(3);
      const values = Array.from({ length: 7 }, () => random(rows));
      const inputs = [
        randomTensor(dtype, [rows, 6], random),
        tensor("int64", [7, 1], values),
        randomTensor(dtype, [7, 6], random),
      ];
      const options = { reduction };
      const expected = runPlain(defaultExecutor(), FUNCTIONS.scatterND, inputs, options);
      const divided = {
        chunkShape: [1 + random(2), 2 + random(2)],
        blockShape: [3 + random(5)],
        inPlace: random(2) === 0,
        // Chunks of one task read the same updates in parts, at the same time.
        chunksPerTask: 1 + (round % 3),
      };
      const job = jobFor({ function: "scatterND", options }, inputs, divided);
      const run = () => runAll(job, random, 1 + random(60));
      // With the package's own limits every block of these is combined.
      const result = await (round % 2 === 0 ? run() : withLimits(round, run));
      if (!equals(result, expected))
        assert.fail(`${reduction} of ${dtype}: ${result}, not ${expected}`);
    }
  }
});
