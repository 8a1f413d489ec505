/** Arrays in folders: made, opened, overwritten, made step by step; and NPY files by the same entry. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import type { ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import {
  createArray,
  createPending,
  openArray,
  openPending,
  type CreateOptions,
  type ZarrArray,
} from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { setLimits, withLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";
import { checkBoxes, zarrCases } from "../support/zarr-cases.ts";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-zarr-"));
after(() => fs.rmSync(home, { recursive: true }));
const at = (name: string): string => path.join(home, name);

const OPTIONS: CreateOptions = {
  dtype: "int32",
  shape: [5, 3],
  chunkShape: [2, 3],
  codecs: ["zstd"],
};
const VALUES = tensor(
  "int32",
  [5, 3],
  Array.from({ length: 15 }, (_, one) => one),
);

/** The files of an array. */
const filesOf = (name: string): string[] =>
  fs
    .readdirSync(at(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(at(name), path.join(entry.parentPath ?? entry.path, entry.name)))
    .toSorted();

test("an array is made, written, opened and read", async () => {
  const array = await createArray(at("made.zarr"), OPTIONS);
  assert.deepEqual(array.location, { format: "zarr", path: at("made.zarr") });
  await array.write(VALUES);
  assert.deepEqual(filesOf("made.zarr"), ["c/0/0", "c/1/0", "c/2/0", "zarr.json"]);
  const opened = await openArray(at("made.zarr"));
  assert.ok(equals(await opened.read(), VALUES));
  assert.equal(opened.fingerprint, array.fingerprint);
  assert.deepEqual(await array.stored(), {
    chunks: 3,
    bytes: ["0", "1", "2"].reduce(
      (sum, row) => sum + fs.statSync(at(`made.zarr/c/${row}/0`)).size,
      0,
    ),
  });
});

test("boxes that are written into files and read are those of a plain array", async () => {
  let count = 0;
  const make = (options: CreateOptions): Promise<ZarrArray> =>
    createArray(at(`random-${count++}.zarr`), options);
  await fc.assert(
    fc.asyncProperty(zarrCases, (one) => withLimits(one.seed, () => checkBoxes(one, make))),
    { numRuns: caseCount(200) },
  );
});

test("a relative path is that of the working directory", async () => {
  await createArray(path.relative(process.cwd(), at("relative.zarr")), OPTIONS);
  assert.deepEqual(filesOf("relative.zarr"), ["zarr.json"]);
});

test("an array that is there stays, unless it may be overwritten", async () => {
  const first = await createArray(at("again.zarr"), OPTIONS);
  await first.write(VALUES);
  const files = filesOf("again.zarr");
  for (const create of [createArray, createPending]) {
    await assertRejected("attribute", {}, () => create(at("again.zarr"), OPTIONS));
  }
  assert.deepEqual(filesOf("again.zarr"), files);
  fs.writeFileSync(at("again.zarr/notes.txt"), "mine");
  const second = await createArray(at("again.zarr"), { ...OPTIONS, fillValue: 9, overwrite: true });
  assert.deepEqual(filesOf("again.zarr"), ["notes.txt", "zarr.json"]);
  assert.ok(equals(await second.read(), full("int32", [5, 3], 9)));
  assert.notEqual(second.fingerprint, first.fingerprint);
});

test("an array of Zarr v2 is overwritten too, and a group is not", async () => {
  fs.mkdirSync(at("old.zarr"));
  for (const [name, text] of Object.entries({
    ".zarray": "{}",
    ".zattrs": "{}",
    "0.0": "x",
    "12": "x",
  })) {
    fs.writeFileSync(at(`old.zarr/${name}`), text);
  }
  await assertRejected("attribute", {}, () => createArray(at("old.zarr"), OPTIONS));
  await createArray(at("old.zarr"), { ...OPTIONS, overwrite: true });
  assert.deepEqual(filesOf("old.zarr"), ["zarr.json"]);
  for (const [name, text] of [
    ["zarr.json", '{"zarr_format": 3, "node_type": "group"}'],
    [".zgroup", "{}"],
  ]) {
    fs.mkdirSync(at(`${name}.d`));
    fs.writeFileSync(at(`${name}.d/${name}`), text);
    await assertRejected("attribute", {}, () =>
      createArray(at(`${name}.d`), { ...OPTIONS, overwrite: true }),
    );
    assert.deepEqual(filesOf(`${name}.d`), [name]);
  }
});

test("nobody sees a pending array before it is published", async () => {
  const pending = await createPending(at("pending.zarr"), OPTIONS);
  assert.deepEqual(filesOf("pending.zarr"), [".ndscatter/zarr.json"]);
  await assertRejected("malformed-file", {}, () => openArray(at("pending.zarr")));
  const other = await openPending(at("pending.zarr"));
  assert.equal(other.fingerprint, pending.fingerprint);
  const chunk = new Uint8Array(Int32Array.of(1, 2, 3, 4, 5, 6).buffer);
  await other.stageChunk([0, 0], chunk, "one-1");
  assert.equal(await pending.publishChunk([0, 0], "one-1"), true);
  assert.equal(await pending.publishChunk([0, 0], "one-1"), false);
  await pending.stageChunk([1, 0], chunk, "left");
  await other.publish();
  await other.publish();
  await pending.publish();
  const published = await openArray(at("pending.zarr"));
  assert.equal(published.fingerprint, pending.fingerprint);
  assert.deepEqual([...(await published.read()).data], [1, 2, 3, 4, 5, 6, ...new Uint8Array(9)]);
  const late = await openPending(at("pending.zarr"));
  assert.equal(late.fingerprint, pending.fingerprint);
  await late.endStaging();
  await late.endStaging();
  assert.deepEqual(filesOf("pending.zarr"), ["c/0/0", "zarr.json"]);
});

test("the same pending array is made once, and another one is refused", async () => {
  const first = await createPending(at("twice.zarr"), OPTIONS);
  await first.stageChunk([0, 0], new Uint8Array(24), "kept");
  const second = await createPending(at("twice.zarr"), OPTIONS);
  assert.equal(second.fingerprint, first.fingerprint);
  assert.deepEqual(filesOf("twice.zarr"), [".ndscatter/kept", ".ndscatter/zarr.json"]);
  const other = { ...OPTIONS, fillValue: 3 };
  await assertRejected("attribute", {}, () => createPending(at("twice.zarr"), other));
  await createPending(at("twice.zarr"), { ...other, overwrite: true });
  assert.deepEqual(filesOf("twice.zarr"), [".ndscatter/zarr.json"]);
});

test("of several makers of one array one is the first", async () => {
  for (const create of [createArray, createPending]) {
    const place = at(`first-${create.name}.zarr`);
    const makers = [0, 1, 2, 3, 4, 5].map((fillValue) => create(place, { ...OPTIONS, fillValue }));
    const results = await Promise.allSettled(makers);
    const made = results.filter(({ status }) => status === "fulfilled");
    assert.equal(made.length, 1);
    const opened = await openPending(place);
    assert.ok(
      made.every(
        (one) => one.status === "fulfilled" && one.value.fingerprint === opened.fingerprint,
      ),
    );
  }
});

test(
  "where a file system has no links, one of several makers of an array is the first too",
  { skip: WITHOUT_NODE_ITSELF },
  async () => {
    const { link } = fs.promises;
    const failsWith = (code: string): void => {
      const fail = (): Promise<void> => Promise.reject(Object.assign(new Error(code), { code }));
      Object.assign(fs.promises, { link: fail });
      syncBuiltinESMExports();
    };
    try {
      for (const code of ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EXDEV"]) {
        failsWith(code);
        const array = await createArray(at(`${code}.zarr`), OPTIONS);
        assert.equal((await openArray(at(`${code}.zarr`))).fingerprint, array.fingerprint);
        await assertRejected("attribute", {}, () => createArray(at(`${code}.zarr`), OPTIONS));
        const place = at(`${code}-first.zarr`);
        const makers = [0, 1, 2].map((fillValue) => createArray(place, { ...OPTIONS, fillValue }));
        const results = await Promise.allSettled(makers);
        assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
        assert.deepEqual(filesOf(`${code}-first.zarr`), ["zarr.json"]);
      }
      failsWith("EIO");
      await assert.rejects(createArray(at("EIO.zarr"), OPTIONS), { code: "EIO" });
      assert.deepEqual(filesOf("EIO.zarr"), []);
    } finally {
      Object.assign(fs.promises, { link });
      syncBuiltinESMExports();
    }
  },
);

test("a pending array without metadata cannot be published or opened", async () => {
  const pending = await createPending(at("lost.zarr"), OPTIONS);
  await pending.endStaging();
  await assertRejected("engine", {}, () => pending.publish());
  await assertRejected("malformed-file", {}, () => openPending(at("lost.zarr")));
});

test("a chunk is copied as it is stored", async () => {
  const from = await createArray(at("from.zarr"), OPTIONS);
  await from.write(VALUES);
  const into = await createPending(at("into.zarr"), { like: from });
  assert.equal(await into.stageCopy(from, [1, 0], "copy"), true);
  assert.equal(await into.publishChunk([1, 0], "copy"), true);
  assert.deepEqual(fs.readFileSync(at("into.zarr/c/1/0")), fs.readFileSync(at("from.zarr/c/1/0")));
  fs.rmSync(at("from.zarr/c/0/0"));
  assert.equal(await into.stageCopy(from, [0, 0], "none"), false);
  // Whoever fails to stage a chunk discards what may be there.
  await into.discard("none");
});

test("a chunk that cannot be written leaves nothing behind", async () => {
  const array = await createArray(at("full.zarr"), { ...OPTIONS, codecs: [] });
  await array.write(VALUES);
  // A folder in the place of a chunk cannot be replaced by a file.
  fs.rmSync(at("full.zarr/c/1/0"));
  fs.mkdirSync(at("full.zarr/c/1/0"));
  fs.writeFileSync(at("full.zarr/c/1/0/file"), "");
  await assert.rejects(() => array.writeChunk([1, 0], new Uint8Array(24)));
  assert.deepEqual(fs.readdirSync(at("full.zarr/c/1")), ["0"]);
  await assertRejected("malformed-file", {}, () => array.read());
});

test("writers of one chunk do not meet: one of them is last, and the chunk is whole", async () => {
  const array = await createArray(at("race.zarr"), {
    ...OPTIONS,
    dtype: "uint8",
    chunkShape: [5, 3],
  });
  await Promise.all(
    Array.from({ length: 20 }, (_, one) => array.writeChunk([0, 0], new Uint8Array(15).fill(one))),
  );
  const { data } = await array.read();
  assert.ok([...data].every((byte) => byte === data[0]));
  assert.deepEqual(filesOf("race.zarr"), ["c/0/0", "zarr.json"]);
});

test("an array of Zarr v2 is read, written and copied", async () => {
  fs.mkdirSync(at("v2.zarr"));
  const json = {
    zarr_format: 2,
    shape: [4],
    chunks: [2],
    dtype: ">i2",
    compressor: null,
    order: "C",
  };
  const text = { ...json, fill_value: 7, filters: null };
  fs.writeFileSync(at("v2.zarr/.zarray"), JSON.stringify(text));
  fs.writeFileSync(at("v2.zarr/.zattrs"), '{"unit": "m"}');
  fs.writeFileSync(at("v2.zarr/1"), Uint8Array.of(1, 2, 0xff, 0xfe));
  const array = (await openArray(at("v2.zarr"))) as ZarrArray;
  assert.deepEqual([...(await array.read()).data], [7, 7, 0x102, -2]);
  assert.equal(array.attributes["unit"], "m");
  await array.write(tensor("int16", [1], [5]), [1]);
  assert.deepEqual([...fs.readFileSync(at("v2.zarr/0"))], [0, 7, 0, 5]);
  assert.deepEqual(filesOf("v2.zarr"), [".zarray", ".zattrs", "0", "1"]);
  const copy = await createArray(at("v3.zarr"), { like: array });
  await copy.write(await array.read());
  assert.ok(equals(await copy.read(), await array.read()));
  assert.deepEqual(fs.readFileSync(at("v3.zarr/c/1")).toString("hex"), "0102fffe");
});

test("what is no array is refused", async () => {
  fs.mkdirSync(at("empty"));
  fs.writeFileSync(at("file"), "");

  await assertRejected("malformed-file", {}, () => openArray(at("empty")));
  await assertRejected("malformed-file", {}, () => openArray(at("nowhere")));
  await assertRejected("malformed-file", {}, () => openArray(at("file")));
  await assertRejected("attribute", {}, () => openArray("ftp://host/a.zarr"));
  for (const location of ["", "a\0b", 4 as never, undefined as never]) {
    await assertRejected("attribute", {}, () => openArray(location));
  }
  await createArray(at("chunks.zarr"), OPTIONS);
  await assertRejected("attribute", {}, () => openArray(at("chunks.zarr"), { chunkShape: [1, 3] }));
  await assertRejected("attribute", {}, () => openArray(at("chunks.zarr"), { chunks: 1 } as never));
});

test("metadata of 17 MB are not read", async () => {
  fs.mkdirSync(at("large.zarr"));
  fs.writeFileSync(at("large.zarr/zarr.json"), "");
  fs.truncateSync(at("large.zarr/zarr.json"), 17 * 2 ** 20);
  await assertRejected("unsupported-file", {}, () => openArray(at("large.zarr")));
});

/** The beginning of a ZIP archive whose first file has this name. */
function zipped(name: string): number[] {
  const head = `PK\u0003\u0004${"\0".repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}`;
  return Array.from(head, (one) => one.charCodeAt(0));
}

/** What is at a path that is no array, and the kind that the error names. */
const OTHERS: readonly (readonly [name: string, bytes: readonly number[], kind: string])[] = [
  ["arrays.data", zipped("weights.npy"), "an .npz archive"],
  ["b.zarr", zipped(".zarray"), "a ZIP archive"],
  ["d.h5", [0x89, 0x48, 0x44, 0x46, 13, 10, 26, 10], "an HDF5 file"],
  ["e.nc", [0x43, 0x44, 0x46, 1, 0, 0], "a NetCDF file"],
  ["f.array", [...writeNpy(VALUES)], "an NPY file"],
  ["g.npy", zipped("arr_0.npy"), "an .npz archive"],
];

for (const [name, bytes, got] of OTHERS) {
  test(`${name} is named as ${got}`, async () => {
    fs.writeFileSync(at(name), Uint8Array.from(bytes));
    await assertRejected("unsupported-file", { got }, () => openArray(at(name)));
  });
}

test("an NPY file that is missing, or is a folder, is an error of the package", async () => {
  fs.mkdirSync(at("folder.npy"));
  for (const name of ["none.npy", "none/none.npy", "folder.npy"]) {
    const facts = { file: at(name), expected: "array" };
    const error = await assertRejected("malformed-file", facts, () => openArray(at(name)));
    assert.ok(error.cause !== undefined);
  }
});

test("chunks of Zarr v2 in folders need a separator in the metadata", async () => {
  const metadata = { zarr_format: 2, shape: [2, 2], chunks: [1, 2], dtype: "|u1", order: "C" };
  const rest = { compressor: null, filters: null, fill_value: 0 };
  const make = (name: string, more: object, key: string): string => {
    fs.mkdirSync(path.dirname(at(`${name}/${key}`)), { recursive: true });
    fs.writeFileSync(at(`${name}/.zarray`), JSON.stringify({ ...metadata, ...rest, ...more }));
    fs.writeFileSync(at(`${name}/${key}`), Uint8Array.of(5, 6));
    return at(name);
  };
  const nested = await openArray(make("nested", {}, "1/0"));
  // The first chunk is not stored, so nothing is known yet.
  assert.deepEqual((await nested.read([0, 0], [1, 2])).toArray(), [[0, 0]]);
  const facts = { key: "dimension_separator", got: "1/0", expected: "1.0" };
  await assertRejected("malformed-file", facts, () => nested.read());
  for (const [name, more, key] of [
    ["slashes", { dimension_separator: "/" }, "1/0"],
    ["dots", {}, "1.0"],
    ["said", { dimension_separator: "." }, "1.0"],
  ] as const) {
    const array = await openArray(make(name, more, key));
    assert.deepEqual((await array.read()).toArray(), [
      [0, 0],
      [5, 6],
    ]);
  }
});

test("NPY files are opened and made by the same functions", async () => {
  fs.writeFileSync(at("a.npy"), writeNpy(VALUES));
  const npy = await openArray(at("a.npy"), { chunkShape: [2, 3] });
  assert.deepEqual(npy.chunkShape, [2, 3]);
  const zarr = await createArray(at("of-npy.zarr"), { like: npy });
  await zarr.write(await npy.read());
  const pending = await createPending(at("b.npy"), { like: zarr, chunkShape: [2, 3] });
  for (const row of [0, 1, 2]) {
    const bytes = new Uint8Array(row === 2 ? 12 : 24);
    await zarr.readChunk([row, 0], bytes);
    await pending.stageChunk([row, 0], bytes, "x");
  }
  await pending.publish();
  assert.ok(equals(await (await openArray(at("b.npy"))).read(), VALUES));
  await assertRejected("attribute", {}, () => createPending(at("b.npy"), { like: zarr }));
  await assertRejected("attribute", {}, () =>
    createPending(at("c.npy"), { like: zarr, codecs: [] }),
  );
  await assertRejected("attribute", {}, () => createArray(at("c.npy"), OPTIONS));
});

test("a new NPY file has chunks of a size, unless they are given", async () => {
  // Of rows of 12 bytes none fits into 8.
  const restore = setLimits({ ARRAYS: { chunk: 8 } });
  try {
    const options = { dtype: "int32", shape: [5, 3] } as const;
    const chosen = await createPending(at("chosen.npy"), options as CreateOptions);
    assert.deepEqual(chosen.chunkShape, [1, 2]);
    const given = await createPending(at("given.npy"), { ...options, chunkShape: [4, 3] });
    assert.deepEqual(given.chunkShape, [4, 3]);
    assert.deepEqual([given.dtype, given.shape], ["int32", [5, 3]]);
  } finally {
    restore();
  }
});

test("an unfinished NPY file stays, unless it may be overwritten", async () => {
  const file = at("unfinished.npy");
  const options = { dtype: "int8", shape: [2], chunkShape: [2] } as const;
  const first = await createPending(file, { ...options, overwrite: true });
  await first.write(tensor("int8", [2], [1, 2]));
  await assert.rejects(createPending(file, options), { code: "EEXIST" });
  assert.deepEqual([...(await (await openPending(file)).read()).data], [1, 2]);
  await first.publish();
  await assertRejected("attribute", {}, () => createPending(file, options));
  const second = await createPending(file, { ...options, overwrite: true });
  assert.deepEqual([...(await second.read()).data], [0, 0]);
  const third = await createPending(file, { ...options, overwrite: true });
  assert.deepEqual([...(await (await openArray(file)).read()).data], [1, 2]);
  await third.publish();
  assert.deepEqual([...(await (await openArray(file)).read()).data], [0, 0]);
});

// prettier-ignore
const WRONG_NPY: readonly (readonly [object, ErrorCode])[] = [
  [{ shape: [2] }, "dtype"],
  [{ dtype: "int8" }, "attribute"],
  [{ dtype: "int8", shape: Array.from({ length: 65 }, () => 1) }, "attribute"],
  [{ dtype: "int8", shape: [-1] }, "shape-mismatch"],
  [{ dtype: "int4", shape: [1] }, "dtype"],
  [{ dtype: "string", shape: [1] }, "dtype"],
];

for (const [options, code] of WRONG_NPY) {
  test(`a new NPY file with ${JSON.stringify(options).slice(0, 40)} is refused`, async () => {
    await assertRejected(code, {}, () => createPending(at("wrong.npy"), options as never));
    assert.ok(!fs.existsSync(at("wrong.npy.part")));
  });
}
