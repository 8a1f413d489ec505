/** Codecs that the caller of `openArray` provides. */

import { objectOf, wrongOption } from "../../../core/foreign.ts";
import { isUint8Array } from "../../../core/tensor/storage.ts";
import type { JsonObject } from "../json.ts";
import { broken, mostCompressed, type ByteCodec } from "./byte-codec.ts";

type Convert = (bytes: Uint8Array, configuration: JsonObject) => Uint8Array | Promise<Uint8Array>;

/** A codec from bytes to bytes. The functions get the codec's configuration in the metadata, and must not keep `bytes`. */
export interface OwnCodec {
  readonly decode: Convert;
  /** Without this function, arrays with the codec can only be read. */
  readonly encode?: Convert | undefined;
}

/** Codecs by their names in Zarr v3. A codec that Zarr v2 calls NAME is `numcodecs.NAME`. */
export type OwnCodecs = Readonly<Record<string, OwnCodec>>;

/** Throws an `attribute` error unless every codec has functions. */
export function checkOwnCodecs(codecs: unknown): ReadonlyMap<string, OwnCodec> {
  const entries = Object.entries(objectOf("codecs", codecs, {}));
  for (const [name, codec] of entries) {
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

function checked(result: unknown): Uint8Array {
  if (isUint8Array(result)) return result;
  throw broken("it must return a Uint8Array");
}

export function makeOwnCodec(name: string, codec: OwnCodec, configuration: JsonObject): ByteCodec {
  const isWritten = codec.encode !== undefined;
  const refusal = `the codec ${name} has no function encode`;
  return {
    name,
    fixedSize: () => null,
    mostEncoded: mostCompressed,
    ratio: Infinity,
    held: { decode: () => 0, encode: mostCompressed },
    decode: async (bytes) => checked(await codec.decode(bytes, configuration)),
    async encode(bytes) {
      return checked(await codec.encode?.(bytes, configuration));
    },
    ...(!isWritten && { unwritable: () => refusal }),
  };
}
