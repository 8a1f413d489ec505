import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../src/core/create-engine.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { gatherND, scatterND, run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { assertRefused } from "../support/refusal.ts";

const data = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const isDisposed = (error: unknown) => isTensorError(error, "disposed");

test("an engine has the functions of the package and says what runs", () => {
  const engine = createEngine({ kind: "js" });
  assert.deepEqual([engine.kind, engine.threads], ["js", 1]);
  assert.deepEqual(engine.gatherND(data, [[3]]).toArray(), [[7, 8]]);
  assert.deepEqual(engine.gatherElements(data, [[1, -1]]).toArray(), [[3, 8]]);
  assert.deepEqual(engine.scatterND(data, [[0, 0]], [9]).data[0], 9);
  assert.deepEqual(engine.scatterElements(data, [[3, 0]], [[8, 9]]).data[1], 9);
  const [output] = run({ op: "GatherND", opset: 13 }, [data, tensor("int64", [1], [1])], {
    engine,
  });
  assert.deepEqual(output.toArray(), [3, 4]);
  engine.dispose();
  assert.equal(engine.gatherND(data, [[0]]).size, 2);
});

test("options that there are not are an error", () => {
  for (const options of [{ kind: "gpu" }, { thread: 2 }, null, 5]) {
    assert.throws(
      () => createEngine(options as object),
      (error) => isTensorError(error, "attribute"),
    );
  }
});

test("an engine's function that is called with too little says what the plain one says", () => {
  const engine = createEngine();
  const scatter = (it: { scatterND: unknown }) => () =>
    (it.scatterND as (...args: unknown[]) => unknown)(data, [[0]]);
  for (const it of [engine, { scatterND }]) {
    assertRefused("dtype", { op: "ScatterND", input: "updates" }, scatter(it));
  }
});

test("a disposed result's memory serves the next of its length, and its views are empty", () => {
  const engine = createEngine();
  const wide = full("float32", [4, 512], 3);
  const { data: view } = engine.gatherND(wide, [[0], [1]]);
  assert.equal(view.length, 1024);
  const kept = engine.gatherND(wide, [[2], [3]]);
  const { data: old } = kept;
  kept.dispose();
  assert.equal(old.length, 0);
  // Not what was there before: all of it is written.
  const next = engine.gatherND(zeros("float32", [4, 512]), [[0], [1]]);
  assert.ok(next.data.every((value) => value === 0));
  assert.deepEqual([old.length, view.length, view[7]], [0, 1024, 3]);
});

test("a disposed result cannot be used, however small", () => {
  const engine = createEngine();
  const first = engine.gatherND(data, [[0], [1]]);
  first.dispose();
  first.dispose();
  assert.ok(first.isDisposed);
  assert.throws(() => first.toArray(), isDisposed);
  assert.throws(() => engine.gatherND(first, [[0]]), isDisposed);
  assert.match(String(first), /disposed/);
  const second = engine.gatherND(data, [[2], [3]]);
  assert.deepEqual(second.toArray(), [
    [5, 6],
    [7, 8],
  ]);
  assert.ok(
    equals(engine.scatterND(second, [[0]], [[1, 1]]), tensor("float32", [2, 2], [1, 1, 7, 8])),
  );
});

test("memory that the caller supplied is never taken", () => {
  const own = new Float32Array(2);
  const out = tensor("float32", [2], own);
  gatherND(data, [1], { out }).dispose();
  assert.deepEqual([...own], [3, 4]);
  assert.throws(() => out.toArray(), isDisposed);
  const result = gatherND(data, [1]);
  const moved = structuredClone(result.data.buffer, {
    transfer: [result.data.buffer as ArrayBuffer],
  });
  result.dispose();
  assert.equal(moved.byteLength, 8);
});

test("tensors of an engine's own memory start as zeros, are used in place, and are freed", () => {
  const engine = createEngine({ kind: "wasm" });
  const cache = engine.alloc("float32", [2, 3]);
  assert.deepEqual(cache.toArray(), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
  assert.equal(engine.scatterND(cache, [[1]], [[1, 2, 3]], { out: cache }), cache);
  assert.deepEqual(cache.toArray(), [
    [0, 0, 0],
    [1, 2, 3],
  ]);
  cache.dispose();
  assert.throws(() => cache.toArray(), isDisposed);
  const next = engine.alloc("float32", [2, 3]);
  assert.deepEqual(next.toArray(), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
  assert.equal(engine.alloc("string", [1]).toArray()[0], "");
  // 64 GiB: more than an engine has, and more than a browser gives.
  assert.throws(
    () => engine.alloc("complex128", [2 ** 32 - 1]),
    (error) => isTensorError(error, "too-large"),
  );
});

test("text and empty results are disposed of too", () => {
  const results = [
    gatherND(tensor("string", [1], ["a"]), [0]),
    zeros("float32", [0]),
    gatherND(zeros("float32", [0, 2]), zeros("int64", [0, 1])),
  ];
  for (const result of results) {
    result.dispose();
    assert.ok(result.isDisposed);
    assert.throws(() => result.toArray(), isDisposed);
  }
});
