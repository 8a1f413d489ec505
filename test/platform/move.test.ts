/** Moves of slices in JavaScript, as words and with prefetching, compared with one element at a time. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherMove, scatterMove } from "../../src/core/kernels/move.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { DTYPES, viewOf, type DType, type NumericStorage } from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { setLimits } from "../support/limits.ts";

/** Bytes of the random side: just enough to be prefetched, of which slices are prefetched in several groups. */
const FAR = 2 ** 14;
const COUNT = 150;

/** An array whose bytes are all sorts, and which begins `skipped` bytes into its buffer. */
function arrayOf(dtype: DType, bytes: number, skipped: number, shared: boolean): NumericStorage {
  const Buffer = shared ? SharedArrayBuffer : ArrayBuffer;
  const buffer = new Buffer(skipped + bytes);
  const words = new Uint8Array(buffer);
  for (let p = 0; p < words.length; p++) words[p] = Math.imul(p + 1, 0x9e3779b1) >>> 24;
  const { bytes: width, lanes } = DTYPES[dtype];
  return viewOf(dtype, buffer, skipped, (bytes / width) * lanes) as NumericStorage;
}

/** Slices of some elements, some of them twice: two batches, or a source and slices that begin after their first element. */
function planOf(slice: number, size: number, hasSource: boolean): Plan {
  const batches = hasSource ? 1 : 2;
  const span = Math.floor(size / batches);
  const first = hasSource ? 1 : 0;
  const places = Math.floor((span - first) / slice);
  const offsets = Uint32Array.from(
    { length: COUNT },
    (_, p) => first + slice * ((Math.imul(p % 140, 7919) >>> 0) % places),
  );
  const plan = { offsets, slice, count: COUNT / batches, size, batches, span };
  return hasSource ? { ...plan, source: offsets.map((_, p) => COUNT - 1 - p) } : plan;
}

/** Where each slice lies on both sides, in bytes. */
function* slicesOf({ offsets, slice, count, span, source }: Plan, bytes: number) {
  for (let p = 0; p < offsets.length; p++) {
    const random = (Math.floor(p / count) * span + offsets[p]) * bytes;
    yield { random, sequential: (source?.[p] ?? p) * slice * bytes };
  }
}

// prettier-ignore
const ROWS: readonly { dtype: DType, slices: readonly number[], skipped: number }[] = [
  { dtype: "uint8", slices: [63, 64, 65, 511, 513], skipped: 3 },
  { dtype: "bfloat16", slices: [1, 31, 33, 47, 48, 255, 257], skipped: 2 },
  { dtype: "float32", slices: [1, 3, 15, 16, 17, 47, 48, 49, 127, 129], skipped: 4 },
  { dtype: "uint8", slices: [64, 72, 80, 100, 128, 512, 520], skipped: 8 },
  { dtype: "bfloat16", slices: [32, 36, 44, 256], skipped: 0 },
  { dtype: "float32", slices: [16, 17, 18, 20, 32, 46, 64, 128], skipped: 8 },
  { dtype: "int64", slices: [7, 8, 23, 24, 25, 64], skipped: 8 },
  { dtype: "complex128", slices: [1, 3, 4, 11, 12, 33], skipped: 8 },
];

for (const { dtype, slices, skipped } of ROWS) {
  const sharing = typeof SharedArrayBuffer === "function" ? [false, true] : [false];
  for (const [shared, far] of sharing.flatMap(
    (each) =>
      [
        [each, FAR],
        [each, 2 * FAR],
      ] as const,
  )) {
    test(`${dtype} at byte ${skipped}${far === FAR ? ", far" : ""}${shared ? ", shared" : ""}`, () => {
      const restore = setLimits({ MOVE: { far, large: 0 } });
      const { bytes } = DTYPES[dtype];
      for (const slice of slices) {
        for (const hasSource of [false, true]) {
          const plan = planOf(slice, FAR / bytes, hasSource);
          const length = slice * bytes;
          const random = arrayOf(dtype, FAR, skipped, shared);
          const sequential = arrayOf(dtype, COUNT * length, skipped, shared);
          bytesOf(sequential).reverse();

          const gathered = bytesOf(sequential).slice();
          for (const at of slicesOf(plan, bytes)) {
            gathered.set(bytesOf(random).subarray(at.random, at.random + length), at.sequential);
          }
          const updates = sequential.slice();
          gatherMove(plan, random, sequential);
          assert.ok(areEqual(bytesOf(sequential), gathered), `gather of slices of ${slice}`);

          const scattered = bytesOf(random).slice();
          for (const at of slicesOf(plan, bytes)) {
            const update = bytesOf(updates).subarray(at.sequential, at.sequential + length);
            scattered.set(update, at.random);
          }
          scatterMove(plan, updates, random);
          assert.ok(areEqual(bytesOf(random), scattered), `scatter of slices of ${slice}`);
        }
      }
      restore();
    });
  }
}

test("a navigator that throws ends no move", () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const restore = setLimits({ MOVE: { large: 0 } });
  const get = (): never => {
    throw new Error("no navigator here");
  };
  try {
    for (const value of [
      {},
      null,
      { userAgent: Symbol("agent") },
      Object.defineProperty({}, "userAgent", { get }),
    ]) {
      Object.defineProperty(globalThis, "navigator", { configurable: true, value });
      const sequential = arrayOf("float32", 128, 0, false);
      const plan = {
        offsets: Uint32Array.of(0),
        slice: 32,
        count: 1,
        size: 64,
        batches: 1,
        span: 64,
      };
      gatherMove(
        { ...plan, source: Uint32Array.of(0) },
        arrayOf("float32", 256, 0, false),
        sequential,
      );
      assert.equal(sequential.at(31), arrayOf("float32", 256, 0, false).at(31));
    }
  } finally {
    restore();
    if (own === undefined) Reflect.deleteProperty(globalThis, "navigator");
    else Object.defineProperty(globalThis, "navigator", own);
  }
});

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  for (let p = 0; p < a.length; p++) if (a[p] !== b[p]) return false;
  return a.length === b.length;
}
