/**
 * Arrays of Zarr and Debian's python3-zarr: it writes v2, which is read here; and its numcodecs, which are C, decode the
 * chunks that are written here.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { equals } from "../../src/core/tensor/tensor.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import type { Io } from "../../src/cli/io.ts";
import { openPart } from "../../src/cli/input/places.ts";
import {
  append,
  createArray,
  openArray,
  openGroup,
  resize,
  type Codec,
  type ZarrArray,
} from "../../src/entries/zarr.ts";
import { hasPython, runPython } from "../support/python.ts";
import { randomFrom, randomTensor } from "../support/random.ts";

const skip = hasPython("zarr") ? false : "there is no python3-zarr";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-python-"));
after(() => fs.rmSync(home, { recursive: true }));

/** Writes an array of Zarr v2 for each way to write one, and what it holds as NPY. */
const WRITE = `
import sys, itertools, numpy as np, zarr
from numcodecs import Blosc, Zstd, GZip, Zlib
home = sys.argv[1]
rng = np.random.default_rng(5)
compressors = [None, Zlib(1), GZip(9), Zstd(3)] + [
    Blosc(cname=c, clevel=5, shuffle=s, blocksize=b)
    for c in ("lz4", "lz4hc", "blosclz", "zstd", "zlib") for s in (-1, 0, 1, 2) for b in (0, 600)]
types = ["|b1", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", "<u8", "<f2", ">f4", "<f8", "<c8", ">c16"]
for n, compressor in enumerate(compressors):
    for m, name in enumerate(types):
        if n > 3 and (n + m) % 3: continue
        shape = (37, 23, 2)[: 1 + (n + m) % 3]
        a = rng.integers(0, 2 if name == "|b1" else 100, shape).cumsum(axis=0).astype(name)
        place = f"{home}/{n}-{m}"
        z = zarr.open(place + ".zarr", mode="w", shape=a.shape, dtype=a.dtype, chunks=(10, 7, 1)[: a.ndim],
                      compressor=compressor, order="CF"[n % 2], dimension_separator="./"[m % 2], fill_value=1)
        z[...] = a
        np.save(place + ".npy", a)
        print(f"{n}-{m}")
`;

test("arrays that zarr-python writes are read", { skip }, async () => {
  const names = runPython(WRITE, [home]).trim().split("\n");
  assert.ok(names.length > 200, `${names.length} arrays`);
  for (const name of names) {
    const expected = readNpy(new Uint8Array(fs.readFileSync(path.join(home, `${name}.npy`))));
    const array = await openArray(path.join(home, `${name}.zarr`));
    assert.ok(equals(await array.read(), expected), name);
  }
});

/** Compares arrays of Zarr v2 with NPY files of the same names. */
const COMPARE = `
import sys, numpy as np, zarr
home = sys.argv[1]
for name in sys.argv[2:]:
    a, expected = zarr.open(f"{home}/{name}.zarr", mode="r")[...], np.load(f"{home}/{name}.npy")
    assert a.shape == expected.shape and a.astype(expected.dtype).tobytes() == expected.tobytes(), name
print(len(sys.argv) - 2)
`;

test(
  "what is written into arrays of zarr-python, and appended, is what it reads",
  { skip },
  async () => {
    const names = runPython(WRITE, [home]).trim().split("\n");
    const written: string[] = [];
    for (const [number, name] of names.entries()) {
      const array = (await openArray(path.join(home, `${name}.zarr`))) as ZarrArray;
      const { configuration } = array.codecs.find((codec) => codec.name === "blosc") ?? {};
      if (configuration?.["cname"] === "blosclz") continue;
      const random = randomFrom(number);
      const start = array.shape.map((dim) => random(dim));
      await array.write(
        randomTensor(
          array.dtype,
          start.map((from, axis) => array.shape[axis] - from),
          random,
        ),
        start,
      );
      const more = randomTensor(array.dtype, [1 + random(25), ...array.shape.slice(1)], random);
      const longer = number % 2 === 0 ? array : await append(array, more);
      const values = await longer.read();
      if (longer !== array) assert.ok(equals(await longer.slice([array.shape[0]]).read(), more));
      fs.writeFileSync(path.join(home, `${name}.npy`), writeNpy(values));
      written.push(name);
    }
    assert.ok(written.length > 150, `${written.length} arrays`);
    assert.equal(runPython(COMPARE, [home, ...written]), `${written.length}\n`);
  },
);

/** Prints what parts of an array have, by expressions as they are typed. */
const PARTS = `
import sys, json, numpy as np, zarr
a = zarr.open(sys.argv[1], mode="r")[...]
parts = [eval(f"a[{text}]", {"a": a}) for text in sys.argv[2:]]
print(json.dumps([[list(part.shape), np.ravel(part).tolist()] for part in parts]))
`;

test("a part that is typed has the elements that NumPy takes", { skip }, async () => {
  const place = path.join(home, "typed.zarr");
  const shape = [7, 1, 5];
  const create =
    "import sys, zarr, numpy as np; zarr.save(sys.argv[1], np.arange(35).reshape(7, 1, 5))";
  runPython(create, [place]);
  const random = randomFrom(11);
  const end = (dim: number): string => (random(4) === 0 ? "" : `${random(2 * dim + 7) - dim - 3}`);
  const range = (dim: number): string => {
    const kind = random(6);
    if (kind === 0) return `${random(2 * dim) - dim}`;
    const step = kind === 1 ? "" : `:${random(4) === 0 ? "" : 1 + random(4)}`;
    return `${end(dim)}:${end(dim)}${step}`;
  };
  const texts = Array.from({ length: 300 }, () => {
    const words = shape.map(range).slice(0, 1 + random(3));
    if (random(3) === 0) words.splice(random(words.length + 1), random(2), "...");
    return words.length > shape.length
      ? words.filter((word) => word !== "...").join()
      : words.join(", ");
  });
  const expected = JSON.parse(runPython(PARTS, [place, ...texts])) as unknown[];
  for (const [i, text] of texts.entries()) {
    const part = await openPart({ cwd: home } as Io, `typed.zarr[${text}]`);
    const values = await part.read();
    assert.deepEqual([part.shape, Array.from(values.data, Number)], expected[i], text);
  }
});

/** Makes a group, or says what its consolidated metadata list. */
const GROUP = `
import sys, json, math, zarr
what, place = sys.argv[1:]
if what == "make":
    g = zarr.open_group(place, mode="w")
    g.attrs["odd"] = [1.0, float("nan"), 2**70, "ü😀"]
    x = g.create_group("a b").create_dataset("x", shape=(4,), chunks=(3,), dtype="i4")
    x.attrs["odd"] = g.attrs["odd"]
    zarr.consolidate_metadata(place)
g = zarr.open_consolidated(place)
odd = [g.attrs["odd"], g["a b/x"].attrs["odd"]]
assert all(type(one[0]) is float and math.isnan(one[1]) and one[2] == 2**70 for one in odd), odd
print(json.dumps([odd[0][3], odd[1][3], list(g["a b/x"].shape), sorted(g), sorted(g["a b"])]))
`;

test(
  "zarr-python opens the groups that are consolidated here, with the attributes as they were",
  { skip },
  async () => {
    const place = path.join(home, "group.zarr");
    const listed = (shape: number): unknown => ["ü😀", "ü😀", [shape], ["a b"], ["x"]];
    assert.deepEqual(JSON.parse(runPython(GROUP, ["make", place])), listed(4));
    const group = await openGroup(place);
    assert.deepEqual(
      [group.isConsolidated, (await group.members()).map(({ name }) => name)],
      [true, ["a b", "a b/x"]],
    );
    await resize(await group.open("a b/x"), [9]);
    assert.deepEqual(
      JSON.parse(runPython(GROUP, ["read", place])),
      listed(4),
      "the list is a copy",
    );
    await group.consolidate();
    assert.deepEqual(JSON.parse(runPython(GROUP, ["read", place])), listed(9));
  },
);

/** Decodes the one chunk of an array by numcodecs, and compares it with an NPY file. */
const DECODE = `
import sys, json, zlib, numpy as np, numcodecs
place = sys.argv[1]
meta = json.load(open(place + ".zarr/zarr.json"))
expected = np.load(place + ".npy")
chunk = open(place + ".zarr/c" + "/0" * expected.ndim, "rb").read()
order = None
for codec in reversed(meta["codecs"]):
    name, c = codec["name"], codec.get("configuration", {})
    if name == "crc32c": chunk = chunk[:-4]
    elif name in ("gzip", "zstd"): chunk = numcodecs.get_codec({"id": name}).decode(chunk)
    elif name == "blosc":
        chunk = numcodecs.Blosc().decode(chunk)
    elif name == "bytes":
        dtype = expected.dtype.newbyteorder(">" if c.get("endian") == "big" else "<")
    elif name == "transpose": order = c["order"]
shape = meta["chunk_grid"]["configuration"]["chunk_shape"]
a = np.frombuffer(bytes(chunk), dtype)
a = a.reshape(shape if order is None else [shape[i] for i in order])
if order is not None: a = a.transpose(np.argsort(order))
assert a.shape == expected.shape and a.tobytes() == expected.astype(dtype).tobytes(), (a, expected)
print("same")
`;

const bytesOf = (endian: string): Codec => ({ name: "bytes", configuration: { endian } });
const blosc = (cname: string, shuffle: string): Codec => ({
  name: "blosc",
  configuration: { cname, shuffle },
});

const CODECS: readonly (readonly (string | Codec)[])[] = [
  [],
  [bytesOf("big")],
  ["gzip"],
  ["zstd", "crc32c"],
  [{ name: "transpose", configuration: { order: [2, 0, 1] } }, bytesOf("big"), "gzip"],
  ...["lz4", "lz4hc", "zstd", "zlib"].flatMap((cname) =>
    ["noshuffle", "shuffle", "bitshuffle"].map((shuffle) => [blosc(cname, shuffle)]),
  ),
];

test("chunks that are written are what numcodecs decodes", { skip }, async () => {
  const types: readonly DType[] = ["bool", "int16", "uint32", "int64", "float32", "complex128"];
  for (const [at, codecs] of CODECS.entries()) {
    const dtype = types[at % types.length];
    const shape = [40, 25, 12];
    const values = randomTensor(dtype, shape, randomFrom(at));
    const place = path.join(home, `ours-${at}`);
    fs.writeFileSync(`${place}.npy`, writeNpy(values));
    const array = await createArray(`${place}.zarr`, { dtype, shape, chunkShape: shape, codecs });
    await array.write(values);
    assert.equal(runPython(DECODE, [place]), "same\n", JSON.stringify(codecs));
  }
});
