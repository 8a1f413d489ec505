/** `ndscatter array`. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { before, test } from "node:test";
import { equals, tensor } from "../../src/entries/index.ts";
import {
  createArray,
  createGroup,
  openArray,
  type Codec,
  type ZarrArray,
} from "../../src/entries/zarr.ts";
import {
  checkResult,
  fails,
  inOrder,
  makeFolder,
  prints,
  refuses,
  testRows,
} from "../support/cli.ts";
import { setLimits } from "../support/limits.ts";
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
  fs.mkdirSync(at("broken.zarr"));
  fs.writeFileSync(at("broken.zarr/zarr.json"), "{");
  fs.mkdirSync(at("folder"));
  fs.writeFileSync(at("text.npy"), "text");
  await createArray(at("long.zarr"), { like: array });
  await createGroup(at("group.zarr"), { attributes: { title: "t" } });
  await createGroup(at("group.zarr/in"));
  await createArray(at("group.zarr/in/a"), { dtype: "int8", shape: [2], chunkShape: [2] });
  await createArray(at("group.zarr/x"), { dtype: "int8", shape: [3], chunkShape: [2] });
  await (await openArray(at("long.zarr"))).write(VALUES);
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

testRows(folder, [
  prints(
    "array a.npy",
    /^a\.npy: NPY, float32 \[50, 6\]\n  bytes  1,328, 0\.90 times as many in memory\n$/,
  ),
  prints(
    "array a.zarr",
    inOrder(
      /^a\.zarr: Zarr v3, float32 \[50, 6\]\n/,
      /axes +row, \\u001b\[31m\n/,
      /chunks +\[10, 3\]\n/,
      /shards +\[20, 6\]\n/,
      /codecs +bytes \(little\), zstd \(0\), crc32c\n/,
      /fill value +-1\n/,
      /stored +1 of 3 shards\n/,
      /bytes +\d+, \d+\.\d\d times as many in memory\n/,
      /attributes +unit\n$/,
    ),
  ),
  prints("help array", /array a\.npy -o a\.zarr --chunks 1000,128 --codec zstd/),
  refuses("array", /missing required argument/),
  refuses("array a.npy --chunks 10,6", "--chunks needs -o"),
  refuses("array a.npy --codec zstd", "--codec needs -o"),
  refuses("array a.npy -o b.zarr --json", /--json cannot be used with -o/),
  refuses(
    "array a.npy -o b.zarr --chunks 10,x",
    'a shape must be positive integers, such as 1000,128, got "10,x"',
  ),
  refuses("array a.npy -o b.zarr --chunks 10,0", /positive integers/),
  refuses("array a.npy -o b.zarr --chunks 10", /\[10\], but the array has \[50, 6\]$/),
  refuses(
    "array a.npy -o b.zarr --chunks 10,6 --shards 15,6",
    /do not divide its shards \[15, 6\]$/,
  ),
  refuses("array a.npy -o b.zarr --codec lzma", /^the codec "lzma" of b\.zarr is not supported/),
  refuses("array a.npy -o b.zarr --codec zstd:99", /level of zstd .* -131072 to 22, got 99/),
  refuses("array a.npy -o b.zarr --codec zstd:x", /a codec must be a name or NAME:LEVEL/),
  refuses("array a.npy -o b.npy --codec zstd", /^NPY files have no shards and no codecs/),
  refuses("array a.npy -o y.txt", /^y\.txt must end in \.npy or \.zarr.* got "\.txt"$/),
  refuses("array a.npy -o z.onnx", /^z\.onnx must end in \.npy or \.zarr/),
  refuses("array a.zarr -o z.pb --force", /^z\.pb must end in \.npy or \.zarr/),
  refuses("array a.npy -o ./a.npy", "the output ./a.npy is also the input; give another output"),
  refuses(
    "array a.npy -o there.zarr",
    "there.zarr already exists; replace it with --force, or give another output",
  ),
  refuses(
    "array a.zarr -o a.npy",
    "a.npy already exists; replace it with --force, or give another output",
  ),
  prints("array a.zarr[10:20,::2]", /^a\.zarr\[10:20,::2\]: a part of Zarr, float32 \[10, 3\]\n/),
  prints("array a.npy[3]", /^a\.npy\[3\]: a part of NPY, float32 \[6\]\n/),
  prints("array long.zarr --append a.npy", "long.zarr: float32 [100, 6], 3 chunks written\n"),
  prints(
    "array long.zarr --append long.zarr[:,:2] --axis -1",
    "long.zarr: float32 [100, 8], 5 chunks written\n",
  ),
  fails(
    "array long.zarr --append a.npy --axis depth",
    /the axis of long\.zarr must be from -2 to 1, or a name, got "depth"$/,
  ),
  prints("array long.zarr --resize 60,8", "long.zarr: float32 [60, 8]\n"),
  fails(
    "array long.zarr --append a.npy",
    /^long\.zarr: the values must have the shape of the array, \[60, 8\], except along axis 0, got \[50, 6\]/,
  ),
  fails("array a.npy --resize 3,3", /^only a whole Zarr array can change its shape, got a\.npy$/),
  refuses("array long.zarr --resize 3,x", /^a shape must be integers of 0 or more/),
  refuses(
    "array long.zarr --append a.npy --resize 3,3",
    /^--append and --resize cannot be used together/,
  ),
  refuses("array long.zarr --axis 0", /^--axis is only used with --append/),
  refuses(
    "array long.zarr --append a.npy -o b.zarr",
    "--append and --resize cannot be used with --output; leave --output out",
  ),
  refuses(
    "array a.npy[60]",
    "a.npy[60]: a coordinate of axis 0 must be from -50 to 49, got 60; check the indices against the size of that axis",
  ),
  refuses("array a.npy[]", /^a range must be .*, got ""$/),
  refuses("array a.npy[...,...]", /^a range must be .*, got "\.\.\."$/),
  refuses("array a.npy[1] -o a.npy", "the output a.npy is also the input; give another output"),
  fails(
    "array no.npy[1]",
    "no.npy[1]: no such file or directory; the .npy files in its folder are a.npy, part.npy, text.npy",
  ),
  prints(
    "array group.zarr",
    inOrder(
      /^group\.zarr: group of Zarr v3, 3 members\n/,
      / +in +group\n/,
      / +in\/a +int8 \[2\]\n/,
      / +x +int8 \[3\]\n/,
      /attributes +title\n$/,
    ),
  ),
  prints("array group.zarr --consolidate", "group.zarr: 3 members in the metadata\n"),
  prints("array group.zarr", /^group\.zarr: group of Zarr v3, 3 members, consolidated\n/),
  prints("array group.zarr --json", /"name": "in\/a",\n *"kind": "array",\n *"dtype": "int8"/),
  prints("array group.zarr/in/a", /^group\.zarr\/in\/a: Zarr v3, int8 \[2\]\n/),
  refuses(
    "array group.zarr --consolidate --force",
    "--consolidate cannot be used with --force; leave --force out",
  ),
  refuses(
    "array group.zarr --consolidate --json",
    "--consolidate cannot be used with --json; leave --json out",
  ),
  refuses(
    "array group.zarr --consolidate -o b",
    "--consolidate cannot be used with --output; leave --output out",
  ),
  fails(
    "array hostile.zarr",
    /^the consolidated metadata of hostile\.zarr must name members of the group, got "\.\."; write the array again$/,
  ),
  prints("array a.npy[:7,1] -o part.npy[3:17:2]", "part.npy[3:17:2]: float32 [7] written\n"),
  prints(
    "array a.npy[:9,::2] -o part.zarr[-10:-1,1:9:3]",
    "part.zarr[-10:-1,1:9:3]: float32 [9, 3] written\n",
  ),
  fails(
    "array a.npy -o part.zarr[1:3]",
    "a.npy is float32 [50, 6], but part.zarr[1:3] is float32 [2, 9]; the data type and the shape must be the same",
  ),
  refuses(
    "array part.zarr[:2] -o part.zarr[1:3]",
    /^part\.zarr\[:2\] and part\.zarr\[1:3\] are parts of the same array/,
  ),
  refuses(
    "array a.npy -o part.zarr[1:3] --codec zstd",
    /^--codec needs a new array, but part\.zarr/,
  ),
  fails("array a.npy -o no.zarr[1:3]", /^no\.zarr\[1:3\] must be a Zarr array/),
  fails(
    "array a.zarr --consolidate",
    /^a\.zarr must be a group, got "array"; name the group around it$/,
  ),
  fails(
    "array no.npy",
    "no.npy: no such file or directory; the .npy files in its folder are a.npy, part.npy, text.npy",
  ),
  fails(
    "array no.zarr",
    "no.zarr must be a Zarr array, but has neither zarr.json nor .zarray; check the name and the folder",
  ),
  fails("array folder", /^folder must be a Zarr array/),
  fails("array broken.zarr", /^zarr\.json of broken\.zarr must be JSON/),
  fails("array text.npy", /^text\.npy: the file must be an NPY file/),
  fails(
    "array short.zarr -o b.zarr --codec gzip",
    /^the chunk c\/1 of short\.zarr has 2 bytes, but its elements take 3; write the array again$/,
  ),
  fails("array a.npy -o folder/x/../../a.npy/b.zarr", /^a\.npy\/b\.zarr|b\.zarr: /),
]);

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

test("an array that was appended to and cut has what it was given", async () => {
  const long = await (await openArray(at("long.zarr"))).read();
  const twice = VALUES.toArray().map((row) => [...row, row[0], row[1]]);
  assert.deepEqual(long.toArray(), [...twice, ...twice.slice(0, 10)]);
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
