/** Writes shared links: compressed (`document/packed.ts` decompresses them), with their length, and as a frame. */

import { PREFIX } from "../document/packed.ts";
import { useResolved } from "../widgets/resolved.ts";

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

/**
 * Returns the shorter form of a link, or the link itself until it is compressed or if it cannot be. Both forms of the
 * link open the same call.
 */
export const usePacked = (hash: string): string => useResolved(hash, () => packed(hash)) ?? hash;

/**
 * The maximum link length that servers and chats accept, in characters; nginx refuses request lines longer than 8 kB.
 */
const LONGEST_LINK = 8000;

export function linkRemark(link: string): string {
  const form = link.includes(`#${PREFIX}`)
    ? " The link is compressed; the page shows it as text."
    : "";
  const length = `This link has ${link.length.toLocaleString("en")} characters.${form}`;
  return link.length <= LONGEST_LINK
    ? length
    : `${length} Many chats and mail programs cut links after ${LONGEST_LINK.toLocaleString("en")} characters; send the code or the picture instead.`;
}

/** Returns the HTML line that embeds the page as a frame, whose size can be changed in the line. */
export const embedCode = (source: string, title: string): string =>
  `<iframe src="${escaped(source)}" title="${escaped(title)} in ndscatter" width="720" height="480" style="border: 0; max-width: 100%" loading="lazy"></iframe>`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
