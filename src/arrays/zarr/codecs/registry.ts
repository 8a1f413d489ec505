/**
 * The codecs from bytes to bytes, by their names in Zarr v3. `numcodecs.NAME` is the codec that Zarr v2 calls NAME, as
 * zarr-python writes it into v3 arrays.
 */

import { factOf, printValue, wrongValue } from "../../../core/foreign.ts";
import { malformed } from "../../../core/errors.ts";
import type { Json, JsonObject } from "../json.ts";
import { COMPRESSORS, makeBloscCodec, nameOfShuffle, SHUFFLES } from "./blosc.ts";
import type { ByteCodec } from "./byte-codec.ts";
import { makeChecksumCodec, POLYNOMIALS } from "./crc32c.ts";
import { makeDeflateCodec } from "./gzip.ts";
import { makeLz4Codec } from "./lz4.ts";
import { makeShuffleCodec } from "./shuffle.ts";
import { makeZstdCodec } from "./zstd.ts";

/** Makes a codec; `width` is the size of an element, in bytes. */
type MakeByteCodec = (configuration: JsonObject, where: string, width: number) => ByteCodec;

const zlib: MakeByteCodec = ({ level = 1 }, where) =>
  makeDeflateCodec("zlib", parseInteger(level, "the level of zlib", -1, 9, where));

const zstd: MakeByteCodec = ({ level = 0, checksum = false }, where) =>
  makeZstdCodec(
    parseInteger(level, "the level of zstd", -131072, 22, where),
    parseBoolean(checksum, "the checksum of zstd", where),
  );

const gzipFrom =
  (lowest: number): MakeByteCodec =>
  ({ level = 5 }, where) =>
    makeDeflateCodec("gzip", parseInteger(level, "the level of gzip", lowest, 9, where));

const checksumAt =
  (name: keyof typeof POLYNOMIALS, usual: "start" | "end"): MakeByteCodec =>
  ({ location = usual }, where) =>
    makeChecksumCodec(name, oneOf(location, `location of ${name}`, ["start", "end"], where));

/** The object has no prototype, because a codec name from a file might equal the name of an inherited member. */
export const BYTE_CODECS: Readonly<Record<string, MakeByteCodec | undefined>> = Object.assign(
  Object.create(null),
  {
    gzip: gzipFrom(0),
    zlib,
    zstd,
    blosc: parseBlosc,
    crc32c: () => makeChecksumCodec("crc32c", "end"),
    "numcodecs.gzip": gzipFrom(-1),
    "numcodecs.zlib": zlib,
    "numcodecs.zstd": zstd,
    "numcodecs.blosc": parseBlosc,
    "numcodecs.lz4": ({ acceleration = 1 }: JsonObject, where: string) =>
      makeLz4Codec(parseInteger(acceleration, "the acceleration of lz4", 0, 65537, where)),
    "numcodecs.shuffle": ({ elementsize }: JsonObject, where: string, width: number) =>
      makeShuffleCodec(
        parseInteger(elementsize ?? width, "the elementsize of shuffle", 0, 2 ** 31 - 1, where),
      ),
    "numcodecs.crc32c": checksumAt("crc32c", "end"),
    "numcodecs.crc32": checksumAt("crc32", "start"),
  } satisfies Record<string, MakeByteCodec>,
);

function parseBlosc(configuration: JsonObject, where: string): ByteCodec {
  const { cname = "lz4", clevel = 5, shuffle: given = "noshuffle" } = configuration;
  const { blocksize = 0, typesize = 1 } = configuration;
  const shuffle = nameOfShuffle(given, typesize);
  if (!isNameIn(COMPRESSORS, cname)) {
    throw malformed(`blosc of ${where} has the unknown compressor ${printValue(cname)}`, {
      key: "cname",
      file: where,
      got: factOf(cname),
    });
  }
  if (!isNameIn(SHUFFLES, shuffle)) {
    throw malformed(`blosc of ${where} has the unknown shuffle ${printValue(shuffle)}`, {
      key: "shuffle",
      file: where,
      got: factOf(shuffle),
    });
  }
  return makeBloscCodec({
    cname,
    clevel: parseInteger(clevel, "the clevel of blosc", 0, 9, where),
    shuffle: SHUFFLES[shuffle],
    blocksize: parseInteger(blocksize, "the blocksize of blosc", 0, 2 ** 31 - 1, where),
    typesize: parseInteger(typesize, "the typesize of blosc", 1, 2 ** 31 - 1, where),
  });
}

const isNameIn = (names: object, name: Json): name is string =>
  typeof name === "string" && Object.hasOwn(names, name);

function parseInteger(value: Json, what: string, low: number, high: number, where: string): number {
  const isOne = typeof value === "number" && Number.isInteger(value);
  if (isOne && value >= low && value <= high) return value;
  throw malformed(
    `${what} of ${where} must be an integer from ${low} to ${high}, got ${printValue(value)}`,
    { key: what, file: where, got: factOf(value), expected: [low, high] },
  );
}

function parseBoolean(value: Json, what: string, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw wrongValue("malformed-file", `${what} of ${where} must be true or false`, value, {
    key: what,
    file: where,
  });
}

/** Returns `value` if it is one of the allowed words. */
export function oneOf<W extends string>(
  value: Json,
  what: string,
  allowed: readonly W[],
  where: string,
): W {
  const word = allowed.find((one) => one === value);
  if (word !== undefined) return word;
  const words = allowed.map((one) => `"${one}"`);
  const last = words.pop();
  throw malformed(
    `the ${what} of ${where} must be ${words.join(", ")} or ${last}, got ${printValue(value)}`,
    {
      key: what,
      file: where,
      got: factOf(value),
      allowed,
    },
  );
}
