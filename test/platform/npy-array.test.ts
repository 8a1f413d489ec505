/** NPY files as arrays of chunks: boxes and chunks are those of a plain array, in any order of bytes and axes. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { openPendingNpy } from "../../src/arrays/npy/files.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { DTYPES, dtypesWhere, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { full, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createPending, openArray } from "../../src/entries/zarr.ts";
import { boxOf, replaceBox } from "../support/boxes.ts";
import { caseCount } from "../support/cases.ts";
import { withLimits } from "../support/limits.ts";
import { npyDictionary, npyFile, npyOf } from "../support/npy-file.ts";
import { randomFrom, randomTensor, ROWS } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-npy-"));
after(() => fs.rmSync(home, { recursive: true }));
const at = (name: string): string => path.join(home, name);

const elements = ({ data }: Tensor): Uint8Array =>
  isNumericStorage(data) ? bytesOf(data) : assert.fail();

const NPY_TYPES = dtypesWhere(({ npy }, name) => npy !== undefined && name !== "string");

const cases = fc.record({
  dtype: fc.constantFrom(...NPY_TYPES),
  shape: fc.oneof(
    { weight: 7, arbitrary: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...ROWS), { minLength: 1, maxLength: 2 }) },
  ),
  order: fc.record({ isBigEndian: fc.boolean(), isFortran: fc.boolean() }),
  skew: fc.integer({ min: 0, max: 3 }),
  seed: fc.nat(),
});

test("boxes and chunks that are written and read are those of a plain array", async () => {
  await fc.assert(
    fc.asyncProperty(cases, (one) => withLimits(one.seed, () => checkBoxes(one))),
    { numRuns: caseCount(500) },
  );
});

type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never;

async function checkBoxes({ dtype, shape, order, skew, seed }: Case): Promise<void> {
  const file = at("random.npy");
  const random = randomFrom(seed);
  const first = randomTensor(dtype, shape, random);
  fs.writeFileSync(file, npyOf(first, order));
  const slowest = order.isFortran ? shape.length - 1 : 0;
  const rows = shape.map((dim, axis) => (axis === slowest ? 1 + random(3) : Math.max(1, dim)));
  const array = await openArray(file, random(2) === 0 ? {} : { chunkShape: rows });
  const { chunkShape } = array;
  const { bytes: width } = DTYPES[dtype];
  const model = elements(first).slice();
  // Boxes without elements are rare, so that most cases move some.
  const least = random(8) === 0 ? 0 : 1;
  const start = shape.map((dim) => random(Math.max(1, dim + 1 - least)));
  const box = shape.map((dim, axis) =>
    Math.min(dim - start[axis], least + random(dim - start[axis])),
  );
  const values = randomTensor(dtype, box, random);
  await array.write(values, start);
  replaceBox(model, shape, start, box, elements(values), width);
  // Memory that begins anywhere: an address of a file's part need not be a multiple of an element.
  const into = new Uint8Array(new ArrayBuffer(skew + product(box) * width), skew);
  await array.readBytes(start, box, into);
  assert.deepEqual([...into], [...elements(values)]);
  if (!shape.includes(0)) {
    const chunk = shape.map((dim, axis) => random(Math.ceil(dim / chunkShape[axis])));
    const from = chunk.map((one, axis) => one * chunkShape[axis]);
    const part = shape.map((dim, axis) => Math.min(chunkShape[axis], dim - from[axis]));
    const bytes = new Uint8Array(new ArrayBuffer(skew + product(part) * width), skew);
    assert.equal(await array.readChunk(chunk, bytes), true);
    assert.deepEqual([...bytes], boxOf(model, shape, from, part, width));
    const other = randomTensor(dtype, part, random);
    bytes.set(elements(other));
    await array.writeChunk(chunk, bytes);
    assert.deepEqual([...bytes], [...elements(other)], "the caller's memory stays");
    replaceBox(model, shape, from, part, bytes, width);
  }
  assert.deepEqual([...elements(await array.read())], [...model]);
  assert.deepEqual([...elements(readNpy(fs.readFileSync(file)))], [...model]);
}

for (const [order, held] of [
  [{}, { read: 0, write: 0 }],
  // Elements in another order are copied.
  [{ isBigEndian: true }, { read: 0, write: 8 }],
  [{ isFortran: true }, { read: 8, write: 8 }],
  [
    { isBigEndian: true, isFortran: true },
    { read: 8, write: 8 },
  ],
] as const) {
  test(`chunks of a file are written in its own order: ${JSON.stringify(order)}`, async () => {
    const file = npyOf(tensor("float32", [2, 2], [1, 2, 3, 4]), order);
    fs.writeFileSync(at("order.npy"), file);
    const chunkShape = "isFortran" in order ? [2, 1] : [1, 2];
    const array = await openArray(at("order.npy"), { chunkShape });
    assert.deepEqual(array.held, held);
    const chunk = new Uint8Array(8);
    for (const one of [0, 1]) {
      const place = "isFortran" in order ? [0, one] : [one, 0];
      await array.readChunk(place, chunk);
      await array.writeChunk(place, chunk);
    }
    assert.deepEqual(fs.readFileSync(at("order.npy")), Buffer.from(file));
    await array.write(tensor("float32", [1, 2], [5, 6]), [1, 0]);
    const expected = npyOf(tensor("float32", [2, 2], [1, 2, 5, 6]), order);
    assert.deepEqual(fs.readFileSync(at("order.npy")), Buffer.from(expected));
  });
}

test("arguments are checked before a file is read or changed", async () => {
  const file = at("checked.npy");
  fs.writeFileSync(file, writeNpy(full("float32", [10, 4], 1)));
  const before = fs.readFileSync(file);
  const array = await openArray(file, { chunkShape: [4, 4] });
  const bytes = new Uint8Array(64);
  const wide = full("float32", [1, 4], 0);
  for (const [code, call] of [
    ["index-out-of-range", () => array.write(wide, [0, 1])],
    ["index-out-of-range", () => array.read([9, 0], [2, 1])],
    ["index-out-of-range", () => array.readBytes([11, 0], [0, 4], bytes)],
    ["index-out-of-range", () => array.readChunk([3, 0], bytes)],
    ["index-out-of-range", () => array.writeChunk([3, 0], bytes)],
    ["shape-mismatch", () => array.read([-1, 0])],
    ["shape-mismatch", () => array.writeChunk([0, 0], bytes.subarray(1))],
    ["shape-mismatch", () => array.readChunk([0, 0], bytes.subarray(1))],
    ["rank", () => array.readChunk([0], bytes)],
    ["rank", () => array.write(full("float32", [4], 0))],
    ["dtype", () => array.write(full("int32", [1, 4], 0))],
  ] as const) {
    await assertRejected(code, {}, call);
  }
  assert.deepEqual(fs.readFileSync(file), before);
});

test("what is not read in parts is refused", async () => {
  const chunkShape = [1, 3];
  for (const [name, file, sentence] of [
    [
      "text",
      writeNpy(tensor("string", [1], ["a"])),
      /text\.npy must hold numbers to be read in parts, got text/,
    ],
    ["cut", npyFile(npyDictionary("<i2", "(2, 3)"), new Uint8Array(11)), /./],
  ] as const) {
    fs.writeFileSync(at(`${name}.npy`), file);
    await assert.rejects(openArray(at(`${name}.npy`)), { message: sentence });
  }
  fs.writeFileSync(at("bool.npy"), npyFile(npyDictionary("|b1", "(2, 3)"), [0, 1, 1, 0, 2, 0]));
  const bools = await openArray(at("bool.npy"), { chunkShape });
  assert.deepEqual([...(await bools.read([0, 0], [1, 3])).data], [0, 1, 1]);
  await assertRejected("malformed-file", {}, () => bools.read());
  const bad = { at: [1, 1], got: 2 };
  await assertRejected("malformed-file", bad, () => bools.read([1, 1], [1, 1]));
  fs.writeFileSync(at("fortran.npy"), npyOf(full("bool", [2, 3], 1), { isFortran: true }));
  for (const [name, wrong] of [
    ["bool", [2, 2]],
    ["bool", [3]],
    ["bool", [0, 3]],
    ["bool", [1.5, 3]],
    ["fortran", [1, 3]],
    ["fortran", [2]],
  ] as const) {
    const open = () => openArray(at(`${name}.npy`), { chunkShape: wrong });
    await assertRejected("shape-mismatch", { key: "chunkShape" }, open);
  }
});

test("a header with 64 dimensions is read in parts", async () => {
  const shape = [...Array<number>(63).fill(1), 2];
  const tuple = `(${shape.map((dim) => `${" ".repeat(30)}${dim}`).join(",")})`;
  fs.writeFileSync(at("many.npy"), npyFile(npyDictionary("|u1", tuple), [7, 8]));
  const array = await openArray(at("many.npy"));
  assert.deepEqual(array.shape, shape);
  assert.deepEqual([...(await array.read()).data], [7, 8]);
});

test("a file that was cut after it was opened is not written", async () => {
  fs.writeFileSync(at("short.npy"), writeNpy(full("uint8", [4], 1)));
  const array = await openArray(at("short.npy"));
  fs.truncateSync(at("short.npy"), 130);
  await assertRejected("malformed-file", { got: 130, expected: 132 }, () =>
    array.write(full("uint8", [4], 2)),
  );
  assert.equal(fs.statSync(at("short.npy")).size, 130);
});

test("the header of a file in parts has at most 2^20 bytes", async () => {
  for (const [bytes, isTaken] of [
    [2 ** 20, true],
    [2 ** 20 + 1, false],
  ] as const) {
    // 12 bytes stand before the header, which is filled up with blanks.
    const header = npyDictionary("|u1", "(2,)").padEnd(bytes - 12);
    fs.writeFileSync(at("header.npy"), npyFile(header, [7, 8], 2));
    const read = async () => (await openArray(at("header.npy"))).read();
    if (isTaken) assert.deepEqual([...(await read()).data], [7, 8]);
    else await assertRejected("unsupported-file", {}, read);
  }
});

test("a fingerprint changes with a file's header, length and time, and with nothing else", async () => {
  const file = at("fingerprint.npy");
  const fingerprintOf = async (bytes: Uint8Array, seconds: number): Promise<string> => {
    fs.writeFileSync(file, bytes);
    fs.utimesSync(file, seconds, seconds);
    return (await openArray(file)).fingerprint;
  };
  const values = full("int16", [3], 5);
  const first = await fingerprintOf(writeNpy(values), 1000);
  assert.equal(await fingerprintOf(writeNpy(values), 1000), first);
  assert.notEqual(await fingerprintOf(writeNpy(values), 1001), first, "another time");
  const longer = Uint8Array.from([...writeNpy(values), 0]);
  assert.notEqual(await fingerprintOf(longer, 1000), first, "another length");
  const other = writeNpy(full("uint16", [3], 5));
  assert.notEqual(await fingerprintOf(other, 1000), first, "another header");
});

test("a pending file is read and changed where it lies, and the file in its place is not", async () => {
  const file = at("pending.npy");
  const old = writeNpy(full("int16", [3], 9));
  fs.writeFileSync(file, old);
  const options = { dtype: "int16" as DType, shape: [3], chunkShape: [2], overwrite: true };
  const pending = await createPending(file, options);
  await pending.write(tensor("int16", [3], [1, 2, 3]));
  await pending.stageChunk([1], Uint8Array.of(7, 0), "any");
  assert.deepEqual([...(await pending.read()).data], [1, 2, 7]);
  assert.deepEqual(fs.readFileSync(file), Buffer.from(old));
  await pending.publish();
  await pending.publish();
  assert.deepEqual([...(await pending.read()).data], [1, 2, 7]);
  // A task that is late must not change what was published.
  await assert.rejects(pending.stageChunk([0], new Uint8Array(4), "late"), { code: "ENOENT" });
  assert.deepEqual([...(await (await openArray(file)).read()).data], [1, 2, 7]);
});

test("a file that cannot take its place says so", async () => {
  const file = at("taken.npy");
  const pending = await createPending(file, { dtype: "int8", shape: [1], chunkShape: [1] });
  fs.mkdirSync(file);
  await assert.rejects(pending.publish(), { code: "EISDIR" });
  fs.rmdirSync(file);
  const other = await openPendingNpy(file);
  await other.endStaging();
  await assert.rejects(pending.publish(), { code: "ENOENT" });
});
