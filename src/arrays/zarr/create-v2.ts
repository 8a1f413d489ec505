/** Converts the metadata of a new array to Zarr v2, whose codecs are a memory order, a data type, filters and a compressor. */

import { factOf, printValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { rowOf, type DType } from "../../core/tensor/dtype.ts";
import { SHUFFLES } from "./codecs/blosc.ts";
import { typeKeys } from "./codecs/filters.ts";
import { printFillValue, printNumpyType } from "./data-types.ts";
import { printJson, type Json, type JsonObject } from "./json.ts";
import type { Codec, Metadata } from "./metadata.ts";
import { parseMetadataV2 } from "./metadata-v2.ts";

export interface MetadataV2 {
  readonly metadata: Metadata;
  /** The text of `.zarray`, and of `.zattrs` if the array has attributes. */
  readonly array: string;
  readonly attributes: string | null;
}

/** Throws an `attribute` or `dtype` error for metadata that Zarr v2 cannot express. */
export function metadataV2Of(metadata: Metadata, where: string): MetadataV2 {
  const { dtype, shape, chunkShape, codecs, fill, dimensionNames } = metadata;
  // Neither zarr-python nor TensorStore has a name for these types in v2.
  if (/^(?:uint[24]$|float6e)/.test(dtype)) {
    const sentence = `Zarr v2 has no ${dtype}; choose another data type, or Zarr v3`;
    throw new TensorError("dtype", sentence, { key: "dtype", got: dtype });
  }
  const attributes: JsonObject = {
    ...metadata.attributes,
    ...(dimensionNames !== null && { _ARRAY_DIMENSIONS: namesOf(dimensionNames) }),
  };
  const json: JsonObject = {
    zarr_format: 2,
    shape,
    chunks: chunkShape,
    ...codecsIn(codecs, dtype, shape.length),
    fill_value: fillIn(dtype, fill),
    dimension_separator: ".",
  };
  const isEmpty = Object.keys(attributes).length === 0;
  return {
    metadata: parseMetadataV2(json, attributes, where),
    array: `${printJson(json)}\n`,
    attributes: isEmpty ? null : `${printJson(attributes)}\n`,
  };
}

/** Advice in errors, by option: alternatives to Zarr v3. */
const OTHER = {
  codecs: "other codecs",
  fillValue: "another fill value",
  dimensionNames: "other names",
};

const refused = (key: keyof typeof OTHER, sentence: string, got?: Json): TensorError =>
  new TensorError("attribute", `${sentence}; choose ${OTHER[key]}, or Zarr v3`, {
    key,
    got: factOf(got),
  });

/** The axis names, which xarray reads from the attributes of v2 arrays. */
function namesOf(names: readonly (string | null)[]): Json {
  if (!names.includes(null)) return names as readonly string[];
  throw refused("dimensionNames", "Zarr v2 names either all axes or none");
}

function codecsIn(codecs: readonly Codec[], dtype: DType, rank: number): JsonObject {
  const { configuration: endian } = codecs.find(({ name }) => name === "bytes") ?? {};
  const isBig = endian?.endian === "big";
  let order = "C";
  const list: JsonObject[] = [];
  for (const { name, configuration = {} } of codecs) {
    const id = name.replace(/^numcodecs\./, "");
    if (name === "transpose") {
      const axes = configuration.order as readonly number[];
      const isReversed = axes.every((axis, at) => axis === rank - 1 - at);
      const isSame = axes.every((axis, at) => axis === at);
      if (order === "F" || list.length > 0 || !(isReversed || isSame)) {
        throw refused(
          "codecs",
          "Zarr v2 can only reverse the order of all axes, before other codecs",
        );
      }
      order = isReversed && rank > 1 ? "F" : "C";
    } else if (id === "blosc") {
      const { typesize: _, shuffle, ...rest } = configuration;
      const number = typeof shuffle === "string" ? SHUFFLES[shuffle] : shuffle;
      list.push({ id, ...rest, ...(number !== undefined && { shuffle: number }) });
    } else if (id === "zstd") {
      const { checksum, ...rest } = configuration;
      // TensorStore refuses the key `checksum`.
      list.push({ id, ...rest, ...(checksum === true && { checksum }) });
    } else if (id !== name || name === "zlib" || name === "gzip" || name === "crc32c") {
      list.push({ id, ...withOrder(id, configuration, isBig) });
    } else if (name !== "bytes") {
      throw refused("codecs", `Zarr v2 has no codec ${printValue(name)}`, name);
    }
  }
  const isCompressed = COMPRESSORS.has(list.at(-1)?.id as string);
  const filters = isCompressed ? list.slice(0, -1) : list;
  return {
    dtype: printNumpyType(dtype, isBig && rowOf(dtype).bytes > 1),
    order,
    filters: filters.length === 0 ? null : filters,
    compressor: isCompressed ? (list.at(-1) as JsonObject) : null,
  };
}

const COMPRESSORS = new Set(["zlib", "gzip", "zstd", "blosc", "lz4"]);

/** Gives the types of a filter the byte order of the array. */
function withOrder(id: string, configuration: JsonObject, isBig: boolean): JsonObject {
  if (!isBig) return configuration;
  const types = typeKeys(id).flatMap((key) => {
    const type = configuration[key];
    return typeof type === "string" ? [[key, type.replace(/^</, ">")]] : [];
  });
  return { ...configuration, ...Object.fromEntries(types) };
}

function fillIn(dtype: DType, fill: Uint8Array): Json {
  const printed = printFillValue(dtype, fill);
  // TensorStore writes the byte of a float4 in base64.
  if (dtype === "float4e2m1") return btoa(String.fromCharCode(fill[0]));
  const hasBits = [printed].flat().some((one) => typeof one === "string" && one.startsWith("0x"));
  if (!hasBits) return printed;
  // In v2, null stands for zero bits.
  if (fill.every((byte) => byte === 0)) return null;
  const sentence = `Zarr v2 cannot hold the fill value ${printValue(printed)} of ${dtype}`;
  throw refused("fillValue", sentence, printed);
}
