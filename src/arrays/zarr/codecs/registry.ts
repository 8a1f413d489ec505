/**
 * All codecs, by their names in Zarr v3: what their configurations may hold, and what makes them. `numcodecs.NAME` is
 * the codec that Zarr v2 calls NAME, as zarr-python writes it into v3 arrays.
 */

import { malformed } from "../../../core/errors.ts";
import { factOf, printValue } from "../../../core/foreign.ts";
import { rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { printNumpyType } from "../data-types.ts";
import { integerIn, oneOf, unsupportedCodec, wrongField } from "../fields.ts";
import type { JsonObject } from "../json.ts";
import { COMPRESSORS, makeBloscCodec, nameOfShuffle, SHUFFLES } from "./blosc.ts";
import type { ByteCodec } from "./byte-codec.ts";
import { makeChecksumCodec, POLYNOMIALS } from "./crc32c.ts";
import { FILTERS } from "./filters.ts";
import { makeDeflateCodec } from "./gzip.ts";
import { makeLz4Codec } from "./lz4.ts";
import { makeShuffleCodec } from "./shuffle.ts";
import { makeZstdCodec } from "./zstd.ts";

interface CodecRow {
  /** The keys of the configuration (Zarr v3, "codecs" of zarr-specs and zarr-extensions). */
  readonly keys: readonly string[];
  /** The configuration of a new array that has none; zarr-python's defaults. */
  readonly defaults?: (dtype: DType) => JsonObject;
  /** Makes a codec from bytes to bytes; `width` is the size of an element, in bytes. */
  readonly make?: (configuration: JsonObject, where: string, width: number) => ByteCodec;
}

const gzipFrom = (lowest: number): CodecRow => ({
  keys: ["level"],
  defaults: () => ({ level: 5 }),
  make: ({ level = 5 }, where) =>
    makeDeflateCodec("gzip", integerIn(level, "level of gzip", lowest, 9, where)),
});

const ZLIB: CodecRow = {
  keys: ["level"],
  defaults: () => ({ level: 1 }),
  make: ({ level = 1 }, where) =>
    makeDeflateCodec("zlib", integerIn(level, "level of zlib", -1, 9, where)),
};

const ZSTD: CodecRow = {
  keys: ["level", "checksum"],
  defaults: () => ({ level: 0, checksum: false }),
  make({ level = 0, checksum = false }, where) {
    const number = integerIn(level, "level of zstd", -131072, 22, where);
    if (typeof checksum === "boolean") return makeZstdCodec(number, checksum);
    throw wrongField("checksum of zstd", where, "true or false", checksum);
  },
};

const BLOSC: CodecRow = {
  keys: ["cname", "clevel", "shuffle", "typesize", "blocksize"],
  defaults: (dtype) => ({
    ...{ cname: "zstd", clevel: 5, shuffle: "shuffle" },
    ...{ typesize: rowOf(dtype).bytes, blocksize: 0 },
  }),
  make(configuration, where) {
    const { cname = "lz4", clevel = 5, shuffle = "noshuffle" } = configuration;
    const { blocksize = 0, typesize = 1 } = configuration;
    const name = nameOfShuffle(shuffle, typesize);
    const most = 2 ** 31 - 1;
    return makeBloscCodec({
      cname: oneOf(cname, "cname of blosc", Object.keys(COMPRESSORS), where),
      clevel: integerIn(clevel, "clevel of blosc", 0, 9, where),
      shuffle: SHUFFLES[oneOf(name, "shuffle of blosc", Object.keys(SHUFFLES), where)],
      blocksize: integerIn(blocksize, "blocksize of blosc", 0, most, where),
      typesize: integerIn(typesize, "typesize of blosc", 1, most, where),
    });
  },
};

const checksumAt = (name: keyof typeof POLYNOMIALS, usual: "start" | "end"): CodecRow => ({
  keys: ["location"],
  make: ({ location = usual }, where) =>
    makeChecksumCodec(name, oneOf(location, `location of ${name}`, ["start", "end"], where)),
});

/** The row of the codec of numcodecs, which has no defaults, with the same functions. */
const numcodecs = ({ keys, make }: CodecRow): CodecRow => ({ keys, ...(make && { make }) });

/** The codecs that the pipeline itself knows, because they change the shape or the number of elements. */
const OF_ELEMENTS = {
  bytes: { keys: ["endian"], defaults: () => ({ endian: "little" }) },
  transpose: { keys: ["order"] },
  sharding_indexed: { keys: ["chunk_shape", "codecs", "index_codecs", "index_location"] },
  packbits: { keys: ["padding_encoding", "first_bit", "last_bit"] },
} satisfies Record<string, CodecRow>;

/** The object has no prototype, because a codec name from a file might equal the name of an inherited member. */
export const CODECS: Readonly<Record<string, CodecRow | undefined>> = Object.assign(
  Object.create(null),
  OF_ELEMENTS,
  {
    gzip: gzipFrom(0),
    zlib: ZLIB,
    zstd: ZSTD,
    blosc: BLOSC,
    crc32c: { keys: [], make: () => makeChecksumCodec("crc32c", "end") },
    "numcodecs.gzip": numcodecs(gzipFrom(-1)),
    "numcodecs.zlib": numcodecs(ZLIB),
    "numcodecs.zstd": numcodecs(ZSTD),
    "numcodecs.blosc": numcodecs(BLOSC),
    "numcodecs.lz4": {
      keys: ["acceleration"],
      make: ({ acceleration = 1 }, where) =>
        makeLz4Codec(integerIn(acceleration, "acceleration of lz4", 0, 65537, where)),
    },
    "numcodecs.shuffle": {
      keys: ["elementsize"],
      defaults: (dtype) => ({ elementsize: rowOf(dtype).bytes }),
      make: ({ elementsize }, where, width) =>
        makeShuffleCodec(
          integerIn(elementsize ?? width, "elementsize of shuffle", 0, 2 ** 31 - 1, where),
        ),
    },
    "numcodecs.crc32c": checksumAt("crc32c", "end"),
    "numcodecs.crc32": checksumAt("crc32", "start"),
  } satisfies Record<string, CodecRow>,
  FILTERS,
  {
    "numcodecs.delta": {
      ...FILTERS["numcodecs.delta"],
      defaults: (dtype: DType) => ({ dtype: printNumpyType(dtype, false) }),
    },
  },
);

/** The names of all supported codecs. */
export const CODEC_NAMES: readonly string[] = Object.keys(CODECS);

/** Creates the error for a codec that is unknown, or that is at a place where it is not supported. */
export function wrongCodec(name: string, filter: ByteCodec | undefined, where: string): Error {
  const title = `the codec ${printValue(name)} of ${where}`;
  const got = factOf(name);
  if (CODECS[name] === undefined) {
    const names = CODEC_NAMES.join(", ");
    const sentence = `${title} is not supported; the supported codecs are ${names}`;
    return unsupportedCodec(sentence, where, { got });
  }
  if (filter !== undefined && Object.hasOwn(OF_ELEMENTS, name)) {
    const sentence = `${title} follows ${filter.name}, an order that is not supported`;
    return unsupportedCodec(sentence, where, { got });
  }
  return malformed(`${title} is in the wrong position`, { key: "codecs", file: where, got });
}
