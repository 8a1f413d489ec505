/** Codecs and data types that files may ask for, and that are not supported here: each is named by its own code. */

import { test } from "node:test";
import { openArray } from "../../src/entries/zarr.ts";
import { readNpy } from "../../src/entries/npy.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { latin1, npyDictionary, npyFile } from "../support/npy-file.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";

const V2 = {
  ...{ zarr_format: 2, shape: [4], chunks: [2], dtype: "<i4", fill_value: null, order: "C" },
  ...{ filters: null as unknown, compressor: null as unknown },
};

const V3 = {
  ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "int32" as unknown },
  ...{ chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } } },
  ...{ chunk_key_encoding: { name: "default" }, fill_value: 0 as unknown },
};

const LITTLE = { name: "bytes", configuration: { endian: "little" } };
const v2 = (more: object): object => ({ ...V2, ...more });
const v3 = (...codecs: readonly unknown[]): object => ({ ...V3, codecs });
const typed = (data_type: unknown, fill_value: unknown): object => ({
  ...{ ...v3(LITTLE), data_type, fill_value },
});
const npy = (descr: string): string => npyDictionary("", "(2,)").replace("''", descr);

const CODEC: ErrorCode = "unsupported-codec";
const DTYPE: ErrorCode = "unsupported-dtype";
const BROKEN: ErrorCode = "malformed-file";

/** Metadata of Zarr v2 and v3, and headers of NPY files. */
// prettier-ignore
const ROWS: readonly (readonly [what: string, file: object | string, code: ErrorCode])[] = [
  ["a compressor of v2", v2({ compressor: { id: "lzma", format: 1 } }), CODEC],
  ["a filter of v2", v2({ filters: [{ id: "vlen-utf8" }] }), CODEC],
  ["a filter of v2 for other elements", v2({ filters: [{ id: "packbits" }] }), CODEC],
  ["a filter of v2 in another byte order", v2({ filters: [{ id: "delta", dtype: ">i4" }] }), CODEC],
  ["a codec of v3", v3(LITTLE, "zfp"), CODEC],
  ["a codec of v3 instead of bytes", v3({ name: "vlen-utf8" }), CODEC],
  ["a codec of numcodecs", v3(LITTLE, { name: "numcodecs.bz2", configuration: { level: 1 } }), CODEC],
  ["a part of the bits", v3({ name: "packbits", configuration: { first_bit: 1 } }), CODEC],
  ["an unknown setting", v3({ name: "cast_value", configuration: { data_type: "int8", speed: 1 } }, LITTLE), CODEC],
  ["a cast to bool", v3({ name: "cast_value", configuration: { data_type: "bool" } }, LITTLE), CODEC],
  ["a codec that is no codec", v3(LITTLE, 5), BROKEN],
  ["a setting that is wrong", v3(LITTLE, { name: "gzip", configuration: { level: 99 } }), BROKEN],
  ["text of v2", v2({ dtype: "<U8" }), DTYPE],
  ["bytes of v2", v2({ dtype: "|S4", fill_value: "" }), DTYPE],
  ["objects of v2", v2({ dtype: "|O", filters: [{ id: "vlen-utf8" }] }), DTYPE],
  ["dates of v2", v2({ dtype: "<M8[ns]" }), DTYPE],
  ["float128 of v2", v2({ dtype: "<f16" }), DTYPE],
  ["fields of v2", v2({ dtype: [["a", "<i4"]] }), DTYPE],
  ["fields of v2 as text", v2({ dtype: "<i4,<i4" }), DTYPE],
  ["a filter of text", v2({ filters: [{ id: "delta", dtype: "<U4" }] }), DTYPE],
  ["a data type of v2 that is a number", v2({ dtype: 4 }), BROKEN],
  ["text of v3", typed("string", ""), DTYPE],
  ["text of a length", typed({ name: "fixed_length_utf32", configuration: { length_bytes: 16 } }, ""), DTYPE],
  ["raw bits", typed("r16", [0, 0]), DTYPE],
  ["dates of v3", typed({ name: "numpy.datetime64", configuration: { unit: "s", scale_factor: 1 } }, 0), DTYPE],
  ["fields of v3", typed({ name: "struct", configuration: { fields: [] } }, ""), DTYPE],
  ["a data type of v3 that is a number", typed(4, 0), BROKEN],
  ["objects of NPY", npy("'|O'"), DTYPE],
  ["bytes of NPY", npy("'|S3'"), DTYPE],
  ["dates of NPY", npy("'<M8[ns]'"), DTYPE],
  ["float128 of NPY", npy("'<f16'"), DTYPE],
  ["fields of NPY", npy("[('a', '<i4')]"), DTYPE],
  ["fields of NPY as text", npy("'<i4,<i4'"), DTYPE],
  ["text of NPY, in parts", npy("'<U1'"), DTYPE],
  ["a data type that NumPy lacks", npy("'<i3'"), BROKEN],
];

for (const [what, file, code] of ROWS) {
  test(`${what}: ${code}`, async () => {
    const isNpy = typeof file === "string";
    const bytes = isNpy ? npyFile(file, new Uint8Array(32)) : latin1(JSON.stringify(file));
    const key = isNpy
      ? "a.npy"
      : "zarr_format" in file && file.zarr_format === 2
        ? ".zarray"
        : "zarr.json";
    const path = isNpy ? key : "";
    await assertRejected(code, {}, () => openArray(new Map([[key, bytes]]), { path }));
    if (isNpy && !file.includes("U1")) assertRefused(code, {}, () => readNpy(bytes));
  });
}
