/** Compresses links that are shared; `document/packed.ts` decompresses them. */

import { PREFIX } from "../document/packed.ts";

/**
 * The maximum length of a link that stays readable, in characters. People can see what a readable link opens and edit
 * it by hand. All examples stay readable: the longest has 236 characters. Compression would save at most 130 of 500
 * characters.
 */
const MOST_READABLE = 500;

/**
 * Returns the shorter of a link's two forms.
 * @param hash part of a link after its `#`
 */
export async function packed(hash: string): Promise<string> {
  // Browsers from before 2023 lack the compressor, but they can read compressed links.
  if (hash.length <= MOST_READABLE || typeof CompressionStream === "undefined") return hash;
  const stream = new Blob([hash]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const letters = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const link = PREFIX + letters;
  return link.length < hash.length ? link : hash;
}
