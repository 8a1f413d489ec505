/** zarrita, in this process, which answers the requests of the peers in Python. */

import * as fs from "node:fs";
import * as path from "node:path";
import * as zarrita from "zarrita";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import type { ArrayCase, Box } from "./array-cases.ts";
import type { Answer } from "./peer.ts";
import type { WireTensor } from "./tensors.ts";

interface Request extends Pick<ArrayCase, "format" | "metadata" | "boxes"> {
  readonly do: string;
  readonly path: string;
  readonly data: string;
}

const storeIn = (folder: string) => {
  const get = (key: string): Uint8Array | undefined => {
    const file = path.join(folder, key);
    return fs.existsSync(file) ? new Uint8Array(fs.readFileSync(file)) : undefined;
  };
  return {
    get: async (key: zarrita.AbsolutePath) => get(key),
    getRange: async (key: zarrita.AbsolutePath, range: zarrita.RangeQuery) =>
      "suffixLength" in range
        ? get(key)?.slice(-range.suffixLength)
        : get(key)?.slice(range.offset, range.offset + range.length),
    set: async (key: zarrita.AbsolutePath, bytes: Uint8Array) => {
      const file = path.join(folder, key);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, bytes);
    },
  };
};

/** Writes metadata as they are, because zarrita prints few of them, and the boxes; then reads the array. */
export async function askZarrita(request: object): Promise<Answer<WireTensor>> {
  const { do: what, path: folder, format, metadata, boxes, data } = request as Request;
  try {
    if (what === "create") {
      fs.mkdirSync(folder);
      fs.writeFileSync(path.join(folder, format === 3 ? "zarr.json" : ".zarray"), metadata);
      const array = await open(folder);
      for (const box of boxes) await set(array, box, data);
    }
    return await read(await open(folder));
  } catch (error) {
    return { error: String(error instanceof Error && error.cause ? error.cause : error) };
  }
}

const open = (folder: string) => zarrita.open(storeIn(folder), { kind: "array" });

type Theirs = Awaited<ReturnType<typeof open>>;

async function set(array: Theirs, [start, shape]: Box, data: string): Promise<void> {
  if (data === "") return;
  const stride = array.shape.map((_, axis) => product(array.shape, axis + 1));
  const offset = start.reduce((sum, at, axis) => sum + at * stride[axis], 0);
  const make = CLASSES[array.dtype as keyof typeof CLASSES];
  const { buffer } = Uint8Array.from(Buffer.from(data, "base64"));
  const values = Reflect.construct(make, [buffer, offset * DTYPES[array.dtype as DType].bytes]);
  if (shape.length === 0) return zarrita.set(array, null, values.get?.(0) ?? values[0]);
  const slices = shape.map((length, axis) => zarrita.slice(start[axis], start[axis] + length));
  await zarrita.set(array, slices, { data: values, shape: [...shape], stride } as never);
}

const CLASSES = {
  ...{ int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array },
  ...{ uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array },
  ...{ float32: Float32Array, float64: Float64Array, bool: zarrita.BoolArray },
};

/** Elements in row-major order: zarrita leaves transposed chunks as they are. */
async function read(array: Theirs): Promise<WireTensor> {
  // A scalar is returned as a value, and its chunk as an array.
  const isScalar = array.shape.length === 0;
  const { data, shape, stride } = isScalar ? await array.getChunk([]) : await zarrita.get(array);
  const all: unknown = data;
  const bytes = ArrayBuffer.isView(all)
    ? new Uint8Array(all.buffer, all.byteOffset, all.byteLength)
    : Uint8Array.from(all as Iterable<boolean>, Number);
  const size = product(shape);
  const width = size === 0 ? 1 : bytes.length / size;
  const rows = new Uint8Array(bytes.length);
  for (let position = 0; position < size; position++) {
    const from = shape.reduce(
      (sum, dim, axis) =>
        sum + (Math.floor(position / product(shape, axis + 1)) % dim) * stride[axis],
      0,
    );
    rows.set(bytes.subarray(from * width, (from + 1) * width), position * width);
  }
  return { dtype: array.dtype as DType, shape, data: Buffer.from(rows).toString("base64") };
}
