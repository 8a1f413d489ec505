/** Compresses links that are sent on; they are read by `document/packed.ts`. */

import { PREFIX } from "../document/packed.ts";

/**
 * Up to so many characters a link stays readable: people can see what it opens and change it by hand, as in all
 * examples, whose longest has 236. Compression would save at most 130 of the 500.
 */
const MOST_READABLE = 500;

/**
 * The shorter of a link's two forms.
 * @param hash the part of a link after its `#`
 */
export async function packed(hash: string): Promise<string> {
  // Browsers before 2023 lack the compressor; they still read what others write.
  if (hash.length <= MOST_READABLE || typeof CompressionStream === "undefined") return hash;
  const stream = new Blob([hash]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const letters = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const link = PREFIX + letters;
  return link.length < hash.length ? link : hash;
}
