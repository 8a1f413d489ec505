/**
 * How work is split among threads, as data: which way, and that the shares together write each place once. What the
 * threads then compute is in `splits.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../../src/core/engines/wasm/calls.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import type { Slices } from "../../src/core/engines/wasm/kernel-memory.ts";
import { areEqualOrDisjoint, type Work } from "../../src/core/engines/wasm/plan-work.ts";
import {
  blockOf,
  copyWork,
  partitionWork,
  shares,
  splitWork,
  wholeOf,
  type Split,
} from "../../src/core/engines/wasm/split-work.ts";
import { WITHOUT_THREADS } from "../support/platform.ts";

const [RANDOM, SEQUENTIAL, OFFSETS] = [1000, 2_000_000, 4_000_000];

const slicesOf = (slice: number, count: number, lanes = 1, offsets = OFFSETS): Slices => ({
  offsets,
  slice,
  count,
  lanes,
});

/** Work on float32, of one batch and one slice of one element unless `parts` say otherwise. */
const workOf = (parts: Partial<Work>): Work => ({
  kernel: 5,
  isGather: false,
  bytes: 4,
  random: RANDOM,
  sequential: SEQUENTIAL,
  slices: slicesOf(1, 1),
  unmerged: null,
  batches: 1,
  span: 10_000,
  sharesOffsets: false,
  ...parts,
});

interface Row {
  readonly what: string;
  readonly work: Partial<Work>;
  readonly threads: number;
  /** Whether no two of the merged slices overlap in part; absent where nobody must ask. */
  readonly areApart?: boolean;
  readonly by: Split | null;
  /** How many threads have a share; all of them if absent. */
  readonly busy?: number;
  /** Elements from each slice to the next: of merged slices where these are used. */
  readonly pitch?: number;
}

// prettier-ignore
const ROWS: readonly Row[] = [
  { what: "as many batches as threads", work: { batches: 3, slices: slicesOf(2, 5) }, threads: 3, by: "batches", pitch: 2 },
  { what: "batches that share offsets", work: { batches: 7, slices: slicesOf(2, 5), sharesOffsets: true }, threads: 3,
    by: "batches", pitch: 2 },
  { what: "a batch less than threads", work: { batches: 2, slices: slicesOf(2, 5) }, threads: 3, by: null },
  { what: "two slices of 128 bytes", work: { slices: slicesOf(32, 2) }, threads: 2, by: "columns", pitch: 32 },
  { what: "slices of less than a line a thread", work: { slices: slicesOf(31, 2) }, threads: 2, by: null },
  { what: "columns in two batches", work: { batches: 2, slices: slicesOf(100, 4) }, threads: 3, by: "columns", pitch: 100 },
  { what: "columns in batches that share offsets", work: { batches: 2, slices: slicesOf(100, 4), sharesOffsets: true },
    threads: 3, by: "columns", pitch: 100 },
  { what: "a gather of many positions", work: { isGather: true, slices: slicesOf(100, 3) }, threads: 3, by: "positions",
    pitch: 100 },
  { what: "positions in two batches", work: { isGather: true, batches: 2, slices: slicesOf(3, 50) }, threads: 3,
    by: "positions", pitch: 3 },
  { what: "a gather of few long slices", work: { isGather: true, slices: slicesOf(100, 2) }, threads: 3, by: "columns",
    pitch: 100 },
  { what: "a gather of few short slices", work: { isGather: true, slices: slicesOf(4, 2) }, threads: 3, by: "positions", busy: 2,
    pitch: 4 },
  { what: "lanes of 128 bytes", work: { slices: slicesOf(1, 96, 32) }, threads: 2, by: "lanes", pitch: 1 },
  { what: "lanes of less", work: { slices: slicesOf(1, 93, 31) }, threads: 2, by: null },
  { what: "lanes in two batches", work: { batches: 2, slices: slicesOf(1, 96, 32) }, threads: 3, by: null },
  { what: "lanes of slices", work: { slices: slicesOf(2, 96, 64) }, threads: 2, by: null },
  { what: "long slices in merged runs that are apart", threads: 2, areApart: true, by: "columns", pitch: 64,
    work: { slices: slicesOf(64, 3), unmerged: slicesOf(32, 6) } },
  { what: "long slices in merged runs that overlap", threads: 2, areApart: false, by: "columns", pitch: 32,
    work: { slices: slicesOf(64, 3), unmerged: slicesOf(32, 6) } },
  { what: "short slices in merged runs that are apart", threads: 2, areApart: true, by: "columns", pitch: 64,
    work: { slices: slicesOf(64, 3), unmerged: slicesOf(1, 192) } },
  { what: "short slices in merged runs that overlap", threads: 2, areApart: false, by: null,
    work: { slices: slicesOf(64, 3), unmerged: slicesOf(1, 192) } },
  { what: "short merged runs", threads: 2, by: null, work: { slices: slicesOf(31, 3), unmerged: slicesOf(1, 93) } },
  { what: "lanes that were merged", threads: 2, by: "lanes", pitch: 1,
    work: { slices: slicesOf(32, 3), unmerged: slicesOf(1, 96, 32) } },
  { what: "merged runs of a gather", work: { isGather: true, slices: slicesOf(100, 2), unmerged: slicesOf(1, 200) },
    threads: 3, by: "columns", pitch: 100 },
];

/**
 * What calls do: of each element on the sequential side, where its offset is and from where the offset counts. Sorted, so
 * that it does not matter which thread does what.
 */
function steps(calls: readonly Call[], work: Work): string[] {
  const found: string[] = [];
  for (const { args, repeat = 1, steps: [a, b, c] = [0, 0, 0] } of calls) {
    const [random, sequential, offsets, count, slice, pitch] = args;
    for (let i = 0; i < repeat * count * slice; i++) {
      const round = Math.floor(i / (count * slice));
      const position = Math.floor(i / slice) % count;
      const byte = sequential + round * b + (position * pitch + (i % slice)) * work.bytes;
      const offset = offsets + round * c + 4 * position;
      const base = random + round * a + (i % slice) * work.bytes;
      found.push([(byte - SEQUENTIAL) / work.bytes, offset, base].join());
    }
  }
  return found.sort();
}

for (const { what, work: parts, threads, areApart, by, busy = threads, pitch } of ROWS) {
  test(`${what} on ${threads} threads: ${by ?? "not split"}`, () => {
    const work = workOf(parts);
    const ask = (): boolean => areApart ?? assert.fail("nobody must ask");
    const split = splitWork(work, threads, ask);
    assert.equal(split?.by ?? null, by);
    if (split === null) return;
    const calls = split.lists.flat();
    assert.equal(split.lists.length, busy);
    for (const { kernel, args } of calls) assert.deepEqual([kernel, args[5]], [work.kernel, pitch]);
    const slices =
      [work.slices, work.unmerged].find((one) => one?.slice === pitch) ?? assert.fail();
    const whole = wholeOf({ ...work, slices });
    assert.deepEqual(steps(calls, work), steps([whole], work));
    // Kernels hear of everything that their batches reach.
    const perBatch = work.span * (by === "batches" ? 1 : work.batches);
    for (const { args, repeat = 1 } of calls) {
      assert.equal(args[6], by === "batches" ? work.span * repeat : perBatch);
    }
  });
}

// prettier-ignore
const OVERLAPS: readonly (readonly [says: string, offsets: number[], slice: number, count: number, areApart: boolean])[] = [
  ["in one element", [0, 7, 20], 8, 3, false],
  ["in one element, out of order", [20, 7, 0], 8, 3, false],
  ["in all elements", [5, 0, 5], 4, 3, true],
  ["in none, one beside the other", [0, 8, 17], 8, 3, true],
  ["in all but one element", [1, 0, 9], 8, 3, false],
  ["in the second batch alone", [0, 8, 3, 10], 8, 2, false],
  ["only with those of another batch", [0, 8, 3, 11], 8, 2, true],
];

for (const [says, offsets, slice, count, areApart] of OVERLAPS) {
  test(`slices that overlap ${says}`, () =>
    assert.equal(areEqualOrDisjoint(Uint32Array.from(offsets), { slice, count }), areApart));
}

test("slices and lanes are split at whole cache lines", () => {
  for (const work of [
    workOf({ slices: slicesOf(100, 2) }),
    workOf({ slices: slicesOf(1, 300, 100) }),
  ]) {
    const { lists } = splitWork(work, 3, () => true) ?? assert.fail();
    // 7 lines of 16 elements, the last of them not whole.
    const begins = lists.map(([{ args }]) => (args[1] - SEQUENTIAL) / 4);
    assert.deepEqual(begins, [0, 32, 64]);
  }
});

test("single updates are partitioned in blocks by ranges of targets", () => {
  const count = 2 ** 14 + 5;
  const work = workOf({ slices: slicesOf(1, count), span: 100 });
  const buffers = [
    [8, 16],
    [24, 32],
    [40, 48],
  ] as const;
  const { by, lists } = partitionWork(work, 9, buffers);
  assert.equal(by, "partition");
  for (const [thread, list] of lists.entries()) {
    const [targets, values] = buffers[thread];
    const [low, some] = [
      [0, 33],
      [33, 33],
      [66, 34],
    ][thread];
    const select = (first: number, size: number): Call => ({
      kernel: 9,
      args: [OFFSETS + 4 * first, SEQUENTIAL + 4 * first, size, low, some, targets, values],
    });
    const apply: Call = { kernel: 5, args: [RANDOM, values, targets, 0, 1, 1, 100], previous: 3 };
    assert.deepEqual(list, [select(0, 2 ** 14), apply, select(2 ** 14, 5), apply]);
  }
});

test("blocks are larger where the calls would be too many", () => {
  assert.deepEqual([1, 2 ** 22, 2 ** 22 + 1, 2 ** 24].map(blockOf), [
    2 ** 14,
    2 ** 14,
    2 ** 14 + 1,
    2 ** 16,
  ]);
});

test("a copy is split into whole lines", () => {
  assert.deepEqual(
    copyWork(3, 10, 5000, 130, 2).map(([{ kernel, args }]) => [kernel, ...args]),
    [
      [3, 10, 5000, 64],
      [3, 74, 5064, 66],
    ],
  );
});

test("shares are equal, and none is empty", () => {
  assert.deepEqual(shares(7, 3), [
    [0, 2],
    [2, 2],
    [4, 3],
  ]);
  assert.deepEqual(shares(1, 3), [[0, 1]]);
  assert.deepEqual(shares(0, 3), []);
});

test(
  "calls have as many arguments as their kernels have parameters",
  { skip: WITHOUT_THREADS },
  () => {
    const kernels = new WasmPlatform().sharedMemory().kernels();
    const lengthOf = (kernel: number): number =>
      (kernels.all[kernel] as { length?: number }).length ?? -1;
    const work = workOf({ slices: slicesOf(1, 1) });
    for (const kernel of [
      kernels.find("gather", 4),
      kernels.find("scatter", 2),
      kernels.of("float32", "add") ?? -1,
    ]) {
      assert.equal(wholeOf(work).args.length, lengthOf(kernel));
    }
    const [[select]] = partitionWork(work, kernels.find("partition", 4), [[0, 0]]).lists;
    assert.equal(select.args.length, lengthOf(select.kernel));
    const [[copy]] = copyWork(kernels.find("copy_bytes"), 0, 0, 64, 1);
    assert.equal(copy.args.length, lengthOf(copy.kernel));
  },
);
