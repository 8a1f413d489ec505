/** Codecs that the caller of `openArray` provides. */

import { objectOf, wrongOption } from "../../../core/foreign.ts";
import { isUint8Array } from "../../../core/tensor/storage.ts";
import type { JsonObject } from "../json.ts";
import { broken, makeCompressor, mostCompressed, type ByteCodec } from "./byte-codec.ts";

type Convert = (bytes: Uint8Array, configuration: JsonObject) => Uint8Array | Promise<Uint8Array>;

/** A codec from bytes to bytes. The functions get the codec's configuration in the metadata, and must not keep `bytes`. */
export interface OwnCodec {
  readonly decode: Convert;
  /** Without this function, arrays with the codec can only be read. */
  readonly encode?: Convert | undefined;
}

/** Codecs by their names in Zarr v3. A codec that Zarr v2 calls NAME is `numcodecs.NAME`. */
export type OwnCodecs = Readonly<Record<string, OwnCodec>>;

/**
 * Throws an `attribute` error unless every codec has functions, and a name that no codec of this package has. `known`
 * contains the names of this package's codecs.
 */
export function checkOwnCodecs(
  codecs: unknown,
  known: readonly string[],
): ReadonlyMap<string, OwnCodec> {
  const entries = Object.entries(objectOf("codecs", codecs, {}));
  for (const [name, codec] of entries) {
    if (known.includes(name))
      throw wrongOption(`codecs["${name}"]`, "a codec that ndscatter lacks; rename it", name);
    const { decode, encode } = (codec ?? {}) as Partial<OwnCodec>;
    const isEncode = encode === undefined || typeof encode === "function";
    if (typeof decode === "function" && isEncode) continue;
    throw wrongOption(
      `codecs["${name}"]`,
      "an object with the function decode and, to write, encode",
      codec,
    );
  }
  return new Map(entries as [string, OwnCodec][]);
}

/**
 * Copies the bytes that a function of the caller returns, because the caller may use their memory again. Bytes that are
 * not in a promise are copied at once, before another call of the function. Other results are returned unchanged.
 */
export const copied = async (result: unknown): Promise<unknown> => {
  const bytes = isUint8Array(result) ? result : await result;
  return isUint8Array(bytes) ? new Uint8Array(bytes) : bytes;
};

const converted = async (result: unknown): Promise<Uint8Array> => {
  const bytes = await copied(result);
  if (isUint8Array(bytes)) return bytes;
  throw broken("it must return a Uint8Array");
};

export function makeOwnCodec(name: string, codec: OwnCodec, configuration: JsonObject): ByteCodec {
  const isWritten = codec.encode !== undefined;
  const refusal = `the codec ${name} has no function encode`;
  return makeCompressor({
    name,
    ratio: Infinity,
    held: { decode: (size) => size, encode: mostCompressed },
    decode: async (bytes) => converted(codec.decode(bytes, configuration)),
    encode: async (bytes) => converted(codec.encode?.(bytes, configuration)),
    ...(!isWritten && { unwritable: () => refusal }),
  });
}
