/** Random Zarr arrays: their metadata as JSON, their values, and the properties of the format that they have. */

import { printDataType, printFillValue } from "../../src/arrays/zarr/data-types.ts";
import { printJson, type Json, type JsonObject } from "../../src/arrays/zarr/json.ts";
import type { Codec } from "../../src/arrays/zarr/metadata.ts";
import { isNumericStorage, rowOf, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomTensor, type Random } from "../support/random.ts";

/** The arrays that a peer supports. */
export interface Abilities {
  readonly types: Readonly<Record<2 | 3, readonly DType[]>>;
  /** Codecs of Zarr 3, "zstd with a checksum" and "shards" among them, and compressors of Zarr 2. */
  readonly codecs: readonly string[];
  readonly compressors: readonly string[];
  readonly cnames: readonly string[];
  /** The shuffles of blosc in Zarr 2; -1 leaves the choice to the encoder. */
  readonly shuffles: readonly number[];
  /** True if float32 is copied as a number, so that its signalling NaNs become quiet. */
  readonly isQuiet: boolean;
}

/** A start and a shape. */
export type Box = readonly [start: readonly number[], shape: readonly number[]];

export type ArrayCase = ReturnType<typeof arrayCase>;

/** Draws an item of a list, and records it. */
type Pick = <T>(what: string, list: readonly T[]) => T;

export const one = <T>(list: readonly T[], random: Random): T => list[random(list.length)];

export const elementsOf = ({ data }: Tensor): Uint8Array =>
  isNumericStorage(data) ? bytesOf(data) : Uint8Array.of();

/** Returns a box within an array, which is empty only if the array is. */
export function boxIn(shape: readonly number[], random: Random): Box {
  const start = shape.map((dim) => random(dim));
  return [start, shape.map((dim, axis) => Math.min(dim, 1 + random(dim - start[axis])))];
}

/** Returns random values, half of the time with repetitions, which codecs can compress. */
export function valuesOf(
  dtype: DType,
  shape: readonly number[],
  { isQuiet }: Abilities,
  random: Random,
): Tensor {
  const values = randomTensor(dtype, shape, random);
  const bytes = elementsOf(values);
  if (random(2) === 0) bytes.forEach((_, at) => (bytes[at] = bytes[at % (7 * rowOf(dtype).bytes)]));
  if (!isQuiet || dtype !== "float32") return values;
  const words = new Uint32Array(bytes.buffer);
  words.forEach((bits, at) => (words[at] |= (bits & 0x7fffffff) > 0x7f800000 ? 0x400000 : 0));
  return values;
}

const ENDIANS = ["little", "big"];
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"];

function codecsOf(able: Abilities, dtype: DType, rank: number, pick: Pick, random: Random) {
  const { bytes, lanes } = rowOf(dtype);
  const order = Array.from({ length: rank }, (_, axis) => axis);
  for (const axis of order.keys()) order.push(...order.splice(random(rank - axis), 1));
  const canTurn = rank > 0 && able.codecs.includes("transpose");
  const isTurned = canTurn && pick("transpose", [true, false]);
  const endian = bytes > lanes ? { configuration: { endian: pick("endian", ENDIANS) } } : {};
  // blosc is drawn more often, because its code has the most branches.
  const names = [...able.codecs.filter((name) => !/transpose|shards/.test(name)), "blosc", "blosc"];
  const byteCodec = (): Codec => {
    const name = pick("codec", names);
    const level = random(10);
    if (name === "crc32c") return { name };
    if (name === "gzip") return { name, configuration: { level } };
    const checksum = name !== "zstd";
    if (name !== "blosc") return { name: "zstd", configuration: { level, checksum } };
    const blosc = { cname: pick("blosc", able.cnames), shuffle: pick("shuffle", SHUFFLES) };
    const typesize = one([bytes, bytes, 1, 3], random);
    const blocksize = one([0, 0, 256, 1000], random);
    return { name, configuration: { ...blosc, clevel: level, typesize, blocksize } };
  };
  return [
    ...(isTurned ? [{ name: "transpose", configuration: { order } }] : []),
    { name: "bytes", ...endian },
    ...Array.from({ length: random(3) }, byteCodec),
  ];
}

const jsonOf = (codecs: readonly Codec[]): JsonObject[] => codecs.map((codec) => ({ ...codec }));

function shardsOf(chunkShape: readonly number[], codecs: readonly Codec[], pick: Pick): Codec {
  const bytes = { name: "bytes", configuration: { endian: pick("index", ENDIANS) } };
  const isChecked = pick("index with a checksum", [true, false]);
  const configuration = {
    ...{ chunk_shape: chunkShape, codecs: jsonOf(codecs) },
    index_codecs: jsonOf(isChecked ? [bytes, { name: "crc32c" }] : [bytes]),
    index_location: pick("index at the", ["start", "end"]),
  };
  return { name: "sharding_indexed", configuration };
}

function compressorOf(able: Abilities, pick: Pick, random: Random): Json {
  const id = pick("compressor", [...able.compressors, "blosc"]);
  const level = random(10);
  if (id !== "blosc") return id === "none" ? null : { id, level };
  const shuffle = pick("shuffle of Zarr 2", able.shuffles);
  const blocksize = one([0, 256, 1000], random);
  return { id, cname: pick("blosc", able.cnames), clevel: level, shuffle, blocksize };
}

const SPECIAL = [NaN, NaN, Infinity, -Infinity, -0];

/** Returns a fill value: the bytes of an element, its JSON text, and a word for the form of the text. */
function fillOf(format: 2 | 3, dtype: DType, random: Random) {
  const { family, lanes } = rowOf(dtype);
  const part = family !== "complex" ? dtype : dtype === "complex64" ? "float32" : "float64";
  const isFloat = family === "float" || family === "half" || family === "complex";
  const bytes = elementsOf(randomTensor(dtype, [1], random));
  if (dtype === "float8e8m0") bytes[0] = random(255);
  if (isFloat && random(2) === 0) {
    bytes.set(elementsOf(tensor(part, [], one(SPECIAL, random) as never)));
    bytes[0] |= random(2);
  }
  const plain = printJson(printFillValue(dtype, bytes));
  const isLoaded = isFloat && /"0x(?!80+")/.test(plain);
  // Zarr 2 has one NaN for each type, and no numbers in hexadecimal, which the package prints for -0.
  if (format === 2 && (isLoaded || random(3) === 0)) {
    return { bytes: bytes.fill(0), text: "null", kind: "null" };
  }
  const hex = Array.from({ length: lanes }, (_, lane) => {
    const bits = bytes.slice((lane * bytes.length) / lanes, ((lane + 1) * bytes.length) / lanes);
    return `0x${Buffer.from(bits.reverse()).toString("hex")}`;
  });
  const isHex = format === 3 && isFloat && random(4) === 0;
  const text = isHex ? JSON.stringify(lanes === 2 ? hex : hex[0]) : plain;
  const isLarge = dtype.includes("int64") && Math.abs(Number(text)) > 2 ** 53;
  const kind = isLarge ? "beyond 2^53" : (/NaN|-?Infinity|0x/.exec(text)?.[0] ?? "a number");
  return {
    ...{ bytes, kind: isLoaded ? "NaN with a payload" : kind },
    text: format === 2 ? text.replaceAll(/"0x80+"/g, "-0.0") : text,
  };
}

/** Returns an array whose metadata has the text "@attributes" as a placeholder. */
export function arrayCase(able: Abilities, format: 2 | 3, dtype: DType, random: Random) {
  const facets = new Set<string>();
  const pick: Pick = (what, list) => {
    const chosen = one(list, random);
    facets.add(`${what} ${String(chosen)}`);
    return chosen;
  };
  const rank = pick("rank", [0, 1, 1, 2, 3, 4]);
  const isLong = rank === 1 && random(2) === 0;
  const dimOf = (): number => (isLong ? 1 + random(3000) : random(12) === 0 ? 0 : 1 + random(7));
  const shape = Array.from({ length: rank }, dimOf);
  const chunk = shape.map(() => 1 + random(isLong ? 1500 : 4));
  const isSharded = format === 3 && able.codecs.includes("shards") && random(3) === 0;
  const chunkShape = isSharded ? chunk.map((dim) => dim * (1 + random(3))) : chunk;
  const codecs = codecsOf(able, dtype, rank, pick, random);
  const fill = fillOf(format, dtype, random);
  for (const [what, fact] of [
    [`Zarr ${format}`, dtype],
    ["fill", fill.kind],
  ])
    pick(what, [fact]);
  if (product(shape) === 0) pick("no", ["elements"]);
  if (shape.some((dim, axis) => dim % chunkShape[axis] !== 0)) pick("partial", ["chunks"]);
  const separator = pick("separator", ["/", "."]);
  const isWhole = pick("whole", [true, false]);
  const { bytes, npy = "" } = rowOf(dtype);
  const shared = { zarr_format: format, shape, fill_value: "@fill", attributes: "@attributes" };
  const json: JsonObject =
    format === 2
      ? {
          ...{ ...shared, chunks: chunkShape, filters: null, dimension_separator: separator },
          ...{ order: pick("order", ["C", "F"]), compressor: compressorOf(able, pick, random) },
          dtype: (bytes === 1 ? "|" : codecs.some(isBig) ? ">" : "<") + npy,
        }
      : {
          ...{ ...shared, node_type: "array", data_type: printDataType(dtype) },
          chunk_grid: { name: "regular", configuration: { chunk_shape: chunkShape } },
          chunk_key_encoding: {
            ...{ name: pick("keys", ["default", "v2"]), configuration: { separator } },
          },
          codecs: jsonOf(isSharded ? [shardsOf(chunk, codecs, pick)] : codecs),
          ...(random(2) === 0 && { dimension_names: shape.map((_, axis) => `axis ${axis}`) }),
        };
  const some = Array.from({ length: random(3) }, () => boxIn(shape, random));
  const boxes: readonly Box[] = isWhole ? [[shape.map(() => 0), shape]] : some;
  const metadata = printJson(json).replace('"@fill"', fill.text);
  const values = valuesOf(dtype, shape, able, random);
  const inner = isSharded ? chunk : null;
  return { format, dtype, shape, chunkShape, inner, codecs, fill, metadata, values, boxes, facets };
}

export const isBig = ({ configuration }: Codec): boolean => configuration?.endian === "big";
