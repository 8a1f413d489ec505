import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEngine } from "../../src/core/create-engine.ts";
import { isNumericStorage } from "../../src/core/tensor/dtype.ts";
import { isTensorError } from "../../src/core/errors.ts";
import * as reference from "../support/reference.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, randomIndices, randomTensor } from "../support/random.ts";

const engine = createEngine({ kind: "wasm", threads: 2 });
const random = randomFrom(11);
const data = randomTensor("float32", [500, 64], random);
const indices = randomIndices("int64", [900, 1], () => 500, random);
const updates = randomTensor("float32", [900, 64], random);
const expected = reference.scatterND(data, indices, updates, "add");

after(() => engine.dispose());

const resident = <T extends Tensor>(one: T): T => {
  const there: Tensor = engine.alloc(one.dtype, one.shape);
  copy(one.data, there.data);
  return there as T;
};

test("asynchronous calls run on threads and give the same bits", async () => {
  // A page that is not isolated has no shared memory.
  assert.equal(engine.async.threads, typeof SharedArrayBuffer === "function" ? 2 : 1);
  const options = { reduction: "add" } as const;
  const fresh = await engine.async.scatterND(data, indices, updates, options);
  assert.ok(equals(fresh, expected));
  assert.ok(isNumericStorage(fresh.data) && fresh.data.buffer instanceof ArrayBuffer);
  const inputs = [data, indices, updates].map(resident);
  const out = engine.alloc("float32", [500, 64]);
  const result = await engine.async.scatterND(inputs[0], inputs[1], inputs[2], { ...options, out });
  assert.equal(result, out);
  assert.ok(equals(out, expected));
  const gathered = await engine.async.gatherND(inputs[0], inputs[1]);
  assert.ok(equals(gathered, reference.gatherND(data, indices, 0)));
});

test("asynchronous calls that are not waited for are done in their order, beside synchronous ones", async () => {
  const target = resident(data);
  const [where, what] = [resident(indices), resident(updates)];
  const options = { reduction: "add", out: target } as const;
  const both = [1, 2].map(() => engine.async.scatterND(target, where, what, options));
  assert.ok(equals(engine.scatterND(data, indices, updates, { reduction: "add" }), expected));
  what.dispose();
  await Promise.all(both);
  assert.ok(equals(target, reference.scatterND(expected, indices, updates, "add")));
});

test("small work, text and bad input are settled without threads", async () => {
  const small = await engine.async.scatterND(zeros("int32", [4]), [[1], [3]], [5, 6]);
  assert.deepEqual(small.toArray(), [0, 5, 0, 6]);
  const text = await engine.async.gatherElements(tensor("string", [2], ["a", "b"]), [1, 0]);
  assert.deepEqual(text.toArray(), ["b", "a"]);
  const error: unknown = await engine.async
    .gatherND(data, [[500]])
    .catch((cause: unknown) => cause);
  assert.ok(isTensorError(error, "index-out-of-range"));
});

test("workers that have started in a browser serve synchronous calls from then on", async () => {
  const inputs = [data, indices, updates].map(resident);
  for (let round = 0; round < 2; round++) {
    const result = engine.scatterND(inputs[0], inputs[1], inputs[2], { reduction: "add" });
    assert.ok(equals(result, expected));
    // oxlint-disable-next-line no-await-in-loop -- they start while nothing else runs
    await new Promise((resolve) => void setTimeout(resolve, 100));
  }
});

for (const kind of ["js", "wasm"] as const) {
  test(`without threads the promise is that of work done, on ${kind}`, async () => {
    const plain = createEngine({ kind });
    assert.equal(plain.async.threads, 1);
    const result = await plain.async.scatterND(data, indices, updates, { reduction: "add" });
    assert.ok(equals(result, expected));
  });
}
