/** Compresses shared links, which `document/packed.ts` decompresses. */

import { PREFIX } from "../document/packed.ts";

/**
 * The maximum length of an uncompressed shared link, in characters. Readers can understand an uncompressed link and
 * edit it by hand. All examples stay uncompressed: the longest has 236 characters. Compression would save at most 130
 * of 500 characters.
 */
const MOST_READABLE = 500;

/** Returns the shorter of a link's two forms. `hash` is the part of a link after `#`. */
export async function packed(hash: string): Promise<string> {
  // Browsers from before 2023 lack the compressor, but the page can still decompress links there.
  if (hash.length <= MOST_READABLE || typeof CompressionStream === "undefined") return hash;
  const stream = new Blob([hash]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const letters = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const link = PREFIX + letters;
  return link.length < hash.length ? link : hash;
}
