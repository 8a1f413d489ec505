/** Arrays that zarr-python, TensorStore and NumPy have written: `written/write.py` recorded the files and the values. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { isTensorError } from "../../src/core/errors.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { full } from "../../src/core/tensor/tensor.ts";
import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { openArray } from "../../src/arrays/zarr/open.ts";
import { boxOf } from "../support/boxes.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome } from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { randomFrom } from "../support/random.ts";
import { assertRejectedCode } from "../support/refusal.ts";
import { ROOT } from "../support/root.ts";
import { elements, mutate } from "../support/zarr-cases.ts";

interface Written {
  readonly name: string;
  /** Metadata as text, and other files in base64. */
  readonly files: Readonly<Record<string, string>>;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: string;
  readonly fill?: string;
}

const FILES = { skip: WITHOUT_NODE_ITSELF };
const FOLDER = path.join(ROOT, "test/arrays/written");
const PROGRAMS = ["zarr-python", "zarr-python-2", "tensorstore", "numpy"];
const WRITTEN = FILES.skip
  ? []
  : PROGRAMS.flatMap((program) =>
      fs
        .readFileSync(path.join(FOLDER, `${program}.jsonl`), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Written)
        .map((one) => ({ ...one, name: `${program}: ${one.name}` })),
    );

const decoded = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"));

/** Names of TensorStore's types that differ here. */
const dtypeOf = (name: string): DType =>
  name.replace(/^(float\d)_(e\dm\d)(fnuz|fnu|fn)?$/, (_, type, bits, end) =>
    ["e2m1", "e8m0"].includes(bits) ? type + bits : type + bits + (end ?? ""),
  ) as DType;

const isChunk = (key: string): boolean => !/zarr\.json$|\.z\w+$/.test(key);

/** The files of an array in a new folder, and the path to open. */
function unpacked({ files }: Written): { readonly place: string; readonly chunks: string[] } {
  const folder = makeHome();
  const keys = Object.keys(files);
  for (const [key, content] of Object.entries(files)) {
    const file = path.join(folder, key);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, isChunk(key) ? decoded(content) : content);
  }
  const chunks = keys.filter(isChunk);
  const isNpy = keys[0].endsWith(".npy");
  return {
    place: isNpy ? path.join(folder, keys[0]) : folder,
    chunks: chunks.map((key) => path.join(folder, key)),
  };
}

for (const one of WRITTEN) {
  test(`an array of ${one.name} is read`, async () => {
    const { place, chunks } = unpacked(one);
    const { shape } = one;
    const array = await openArray(place);
    const expected = decoded(one.bytes);
    const width = DTYPES[array.dtype].bytes;
    assert.deepEqual([array.dtype, array.shape], [dtypeOf(one.dtype), shape]);
    assert.deepEqual(elements(await array.read()), expected);
    const start = shape.map((dim) => Math.min(1, dim));
    const box = shape.map((dim, axis) => Math.min(2, dim - start[axis]));
    assert.deepEqual(
      [...elements(await array.read(start, box))],
      boxOf(expected, shape, start, box, width),
    );
    if (!(array instanceof ZarrArray)) return;
    const bytes = chunks.reduce((sum, file) => sum + fs.statSync(file).size, 0);
    assert.deepEqual(await array.stored(), { chunks: chunks.length, bytes });
    for (const file of chunks) fs.rmSync(file);
    const fill = full(array.dtype, shape, array.fillValue as never);
    assert.deepEqual(elements(await array.read()), elements(fill));
    if (one.fill === undefined) return;
    assert.deepEqual(array.metadata.fill, decoded(one.fill), "the fill value");
  });
}

/** Arrays with codecs that lose values, or with codecs that are only read. */
const ONLY_READ =
  / (?:fixed|quantize|bitround|astype|filters|blosc (?:blosclz|snappy))|delta.* as|delta (?:roots|big|as|<f)/;

/** Node before 22.15 writes no checksums of zstd. */
const HAS_ZSTD = Object.hasOwn(zlib, "zstdCompress");

test(
  "arrays of other programs are written back, unless their codecs lose values",
  FILES,
  async () => {
    for (const one of WRITTEN) {
      const { place, chunks } = unpacked(one);
      const array = await openArray(place);
      const values = await array.read();
      const isOnlyRead = !HAS_ZSTD && one.name.endsWith("zstd checksum");
      if (isOnlyRead || ONLY_READ.test(one.name)) {
        await assertRejectedCode("attribute", { key: "codecs" }, () => array.write(values));
        continue;
      }
      if (array instanceof ZarrArray) for (const file of chunks) fs.rmSync(file);
      await array.write(values);
      assert.ok(
        chunks.every((file) => fs.existsSync(file)),
        one.name,
      );
      assert.deepEqual(elements(await array.read()), elements(values), one.name);
    }
  },
);

test("damaged files of other programs are refused, or have other values", FILES, async () => {
  const random = randomFrom(3);
  let refused = 0;
  for (const one of WRITTEN) {
    const { place } = unpacked(one);
    const files = Object.keys(one.files).map((key) =>
      place.endsWith(".npy") ? place : path.join(place, key),
    );
    for (let turn = 0; turn < caseCount(20, 4); turn++) {
      const file = files[random(files.length)];
      const before = fs.readFileSync(file);
      fs.writeFileSync(file, mutate(before, random));
      try {
        const array = await openArray(place);
        await array.read(
          array.shape.map(() => 0),
          array.shape.map((dim) => Math.min(dim, 20)),
        );
      } catch (error) {
        if (!isTensorError(error)) throw error;
        refused++;
      }
      fs.writeFileSync(file, before);
    }
  }
  assert.ok(refused > WRITTEN.length, `${refused} refused`);
});
