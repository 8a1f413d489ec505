/** `ndscatter array`. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { before, test } from "node:test";
import { equals, tensor } from "../../src/entries/index.ts";
import { createArray, openArray, type Codec, type ZarrArray } from "../../src/entries/zarr.ts";
import { checkResult, makeFolder, prints } from "../support/cli.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { writeGroup } from "../support/groups.ts";
import { testTranscript } from "../support/transcripts.ts";
import { setLimits } from "../support/limits.ts";
import { makeZip } from "../support/zip.ts";
import { writtenCodecs } from "../support/zarr-cases.ts";

const folder = makeFolder();
const { at, json, ndscatter, save } = folder;

const SHAPE = [50, 6] as const;
const VALUES = tensor(
  "float32",
  SHAPE,
  Float32Array.from({ length: 300 }, (_, one) => one % 7),
);

before(async () => {
  save("a.npy", VALUES);
  const array = await createArray(at("a.zarr"), {
    dtype: "float32",
    shape: SHAPE,
    chunkShape: [10, 3],
    shards: [20, 6],
    codecs: ["zstd", "crc32c"],
    fillValue: -1,
    attributes: { unit: "m" },
    dimensionNames: ["row", "\u001b[31m"],
  });
  await array.write(tensor("float32", [20, 6], VALUES.data.slice(120, 240)), [20, 0]);
  const ids = tensor("int64", [2, 1], [3, 1]);
  const members = Object.entries({ rows: VALUES, ids }).map(([name, one]) => ({
    name: `${name}.npy`,
    data: writeNpy(one),
    isDeflated: true,
  }));
  fs.writeFileSync(at("saved.npz"), makeZip(members).bytes);
  writeReferences(at("refs.json"));
  fs.mkdirSync(at("broken.zarr"));
  fs.writeFileSync(at("broken.zarr/zarr.json"), "{");
  fs.mkdirSync(at("folder"));
  fs.writeFileSync(at("text.npy"), "text");
  writeGroup(at("group.zarr"), { title: "t" });
  writeGroup(at("group.zarr/in"));
  await createArray(at("group.zarr/in/a"), { dtype: "int8", shape: [2], chunkShape: [2] });
  await createArray(at("group.zarr/x"), { dtype: "int8", shape: [3], chunkShape: [2] });
  await createArray(at("there.zarr"), { like: array });
  fs.mkdirSync(at("hostile.zarr"));
  const list = { kind: "inline", metadata: { "..": { node_type: "array" } } };
  const hostile = { zarr_format: 3, node_type: "group", consolidated_metadata: list };
  fs.writeFileSync(at("hostile.zarr/zarr.json"), JSON.stringify(hostile));
  save("part.npy", tensor("float32", [20], new Float32Array(20).fill(-1)));
  await createArray(at("part.zarr"), { like: array, shape: [20, 9], fillValue: -1 });
  const short = await createArray(at("short.zarr"), { dtype: "int8", shape: [9], chunkShape: [3] });
  await short.write(tensor("int8", [9], [1, 2, 3, 4, 5, 6, 7, 8, 9]));
  fs.truncateSync(at("short.zarr/c/1"), 2);
});

/** Writes references to a group with the array `ids`, [3, 1], whose elements are in a file. */
function writeReferences(file: string): void {
  fs.writeFileSync(at("ids.bin"), new BigInt64Array([3n, 1n]));
  const layout = { shape: [2, 1], chunks: [2, 1], order: "C", compressor: null, filters: null };
  const metadata = { zarr_format: 2, dtype: "<i8", fill_value: 0, ...layout };
  const refs = { ".zgroup": '{"zarr_format": 2}', "ids/.zarray": metadata, "ids/0.0": ["ids.bin"] };
  fs.writeFileSync(file, JSON.stringify({ version: 1, refs }));
}

testTranscript(folder, "array", "ndscatter array");

test("what was begun is removed where it fails, and a wrong ending begins nothing", () => {
  const isLeft = (one: string): boolean => /^(b\.|y\.txt|z\.)/.test(one);
  assert.deepEqual(fs.readdirSync(folder.home).filter(isLeft), []);
});

test("a part of an array that is written has the elements, and the rest stays", async () => {
  const rows = VALUES.toArray() as number[][];
  const line = Array.from({ length: 20 }, () => -1);
  for (let i = 0; i < 7; i++) line[3 + 2 * i] = rows[i][1];
  assert.deepEqual([...folder.load("part.npy").data], line);
  const table = Array.from({ length: 20 }, () => Array.from({ length: 9 }, () => -1));
  for (let i = 0; i < 9; i++) for (let j = 0; j < 3; j++) table[10 + i][1 + 3 * j] = rows[i][2 * j];
  assert.deepEqual((await (await openArray(at("part.zarr"))).read()).toArray(), table);
});

test("a folder of Zarr may have no ending", async () => {
  assert.equal((await ndscatter("array a.npy -o plain")).status, 0);
  assert.ok(equals(await (await openArray(at("plain"))).read(), VALUES));
});

test("--json prints what an array is for programs", async () => {
  const facts = (await json("array a.zarr")) as Record<string, unknown>;
  assert.deepEqual(
    { ...facts, bytes: null, codecs: null },
    {
      path: "a.zarr",
      format: "zarr",
      version: 3,
      dtype: "float32",
      shape: [50, 6],
      chunks: [10, 3],
      shards: [20, 6],
      codecs: null,
      fillValue: -1,
      dimensionNames: ["row", "\u001b[31m"],
      attributes: { unit: "m" },
      stored: { count: 1, of: 3 },
      bytes: null,
    },
  );
  assert.deepEqual(await json("array a.npy"), {
    path: "a.npy",
    format: "npy",
    dtype: "float32",
    shape: [50, 6],
    bytes: { stored: 1328, elements: 1200 },
  });
});

const read = async (name: string) => (await openArray(at(name))).read();

test("an array is copied between formats, and back", async () => {
  const copies = [
    [
      "array a.npy -o one.zarr --chunks 7,6 --codec zstd:3",
      "one.zarr: float32 [50, 6], 8 chunks\n",
    ],
    [
      "array one.zarr -o two.zarr --chunks 5,2 --shards 10,6 --codec gzip --codec crc32c",
      "two.zarr: float32 [50, 6], 5 chunks\n",
    ],
    ["array two.zarr -o three.zarr", "three.zarr: float32 [50, 6], 5 chunks\n"],
    ["array three.zarr -o four.zarr --codec bytes", "four.zarr: float32 [50, 6], 5 chunks\n"],
    ["array four.zarr -o five.npy", "five.npy: float32 [50, 6], 1 chunk\n"],
    ["array two.zarr -o six.npy --chunks 11,6", "six.npy: float32 [50, 6], 5 chunks\n"],
  ];
  for (const [line, stdout] of copies) {
    checkResult(await ndscatter(line), prints(line, stdout));
    const [, output] = /-o (\S+)/.exec(line) ?? [];
    assert.ok(equals(await read(output), VALUES), line);
  }
  assert.deepEqual(fs.readFileSync(at("five.npy")), fs.readFileSync(at("a.npy")));
  assert.deepEqual(fs.readFileSync(at("six.npy")), fs.readFileSync(at("a.npy")));
  assert.deepEqual(fs.readdirSync(at("two.zarr")).toSorted(), ["c", "zarr.json"]);
  // Without another encoding chunks are copied as they are stored.
  assert.deepEqual(fs.readFileSync(at("three.zarr/c/1/0")), fs.readFileSync(at("two.zarr/c/1/0")));
});

test("the codecs of a copy are those that were given, in their order and with their levels", async () => {
  for (const [output, options, expected] of [
    ["codecs1.zarr", "--codec gzip:9 --codec crc32c", [["gzip", { level: 9 }], ["crc32c"]]],
    ["codecs2.zarr", "--codec crc32c --codec gzip:1", [["crc32c"], ["gzip", { level: 1 }]]],
  ] as const) {
    await ndscatter(`array a.npy -o ${output} ${options}`);
    const { codecs } = (await json(`array ${output}`)) as { codecs: Codec[] };
    const [first, ...others] = codecs.map(({ name, configuration }) =>
      configuration === undefined ? [name] : [name, configuration],
    );
    assert.equal(first[0], "bytes");
    assert.deepEqual(others, expected);
    assert.ok(equals(await read(output), VALUES));
  }
});

test("an array without axes, or without elements, is copied to NPY", async () => {
  const [one, none] = [tensor("float32", [], [5]), tensor("float32", [0, 3], [])];
  for (const [name, value, copied] of [
    ["scalar", one, "float32 []"],
    ["empty", none, "float32 [0, 3]"],
  ] as const) {
    save(`${name}.npy`, value);
    await ndscatter(`array ${name}.npy -o ${name}.zarr`);
    const { status, stdout } = await ndscatter(`array ${name}.zarr -o ${name}-again.npy`);
    assert.equal(status, 0);
    assert.ok(stdout.startsWith(`${name}-again.npy: ${copied}, `));
    assert.ok(equals(await read(`${name}-again.npy`), value));
  }
});

test("chunks of an NPY file are whole rows: so many of the chunks that are read as a limit of bytes has", async () => {
  await ndscatter("array a.npy -o threes.zarr --chunks 3,2");
  // A row has 24 bytes, the rows of a chunk have 72.
  for (const [npy, chunks] of [
    [1000, "2 chunks"],
    [215, "9 chunks"],
    [216, "6 chunks"],
    [71, "17 chunks"],
    [18, "17 chunks"],
    // A chunk that is read has more than four times as many bytes.
    [17, "1 chunk"],
  ] as const) {
    const restore = setLimits({ CLI: { npy } });
    const { stdout } = await ndscatter("array threes.zarr -o threes.npy --force");
    restore();
    assert.equal(stdout, `threes.npy: float32 [50, 6], ${chunks}\n`, `${npy} bytes`);
    assert.ok(equals(await read("threes.npy"), VALUES));
  }
});

test("chunks that are not stored are not stored in the copy, and are written to NPY", async () => {
  const expected = await read("a.zarr");
  for (const line of ["array a.zarr -o sparse.zarr", "array a.zarr -o sparse2.zarr --codec gzip"]) {
    const { stdout } = await ndscatter(line);
    assert.match(stdout, /1 chunk\n$/);
    const [, output] = /-o (\S+)/.exec(line) ?? [];
    const copy = (await openArray(at(output))) as ZarrArray;
    assert.ok(equals(await copy.read(), expected));
    assert.equal((await copy.stored()).chunks, 1);
    assert.deepEqual([copy.fillValue, copy.attributes["unit"]], [-1, "m"]);
    assert.deepEqual(copy.dimensionNames, ["row", "\u001b[31m"]);
  }
  await ndscatter("array a.zarr -o sparse.npy --chunks 20,6");
  assert.ok(equals(await read("sparse.npy"), expected));
});

test("--force replaces an array, of either format", async () => {
  await ndscatter("array a.npy -o force.zarr --chunks 10,6");
  const line = "array a.npy -o force.zarr --chunks 25,6 --force";
  checkResult(await ndscatter(line), prints(line, "force.zarr: float32 [50, 6], 2 chunks\n"));
  assert.deepEqual(fs.readdirSync(at("force.zarr/c")), ["0", "1"]);
  await ndscatter("array a.zarr -o force.npy");
  await ndscatter("array a.npy -o force.npy --force");
  assert.deepEqual(fs.readFileSync(at("force.npy")), fs.readFileSync(at("a.npy")));
});

test("the help of array names every codec that needs no configuration", async () => {
  const { stdout } = await ndscatter("array --help");
  const about = stdout.slice(stdout.indexOf("\n--codec "), stdout.indexOf("\nExamples:"));
  for (const codec of writtenCodecs()) assert.match(about, new RegExp(`\\b${codec}\\b`));
});

test("a signal removes what was begun", async () => {
  const seen: boolean[] = [];
  await ndscatter("array a.npy -o signal.zarr", {
    onSignal(cleanup) {
      seen.push(fs.existsSync(at("signal.zarr/.ndscatter/zarr.json")));
      cleanup();
      seen.push(fs.existsSync(at("signal.zarr")));
      return () => {};
    },
  });
  assert.deepEqual(seen, [true, false]);
});
