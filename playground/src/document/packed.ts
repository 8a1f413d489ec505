/**
 * Reads compressed links, which consist of `z1.` and zlib data in base64url. Only long shared links are compressed, by
 * `writing/pack-link.ts`. The page's own URL stays uncompressed, because it is written in events that cannot wait for
 * the browser's compressor.
 */

/**
 * The prefix of compressed links. The number in the prefix increases if the format changes. No operator domain begins
 * with this prefix.
 */
export const PREFIX = "z1.";

/**
 * The maximum length of an uncompressed link, in characters. The page never writes a longer link, and the limit bounds
 * the work for hostile links.
 */
export const LONGEST = 4_000_000;

export interface Unpacked {
  /**
   * The uncompressed link, without its `#`. After an error, this text is the part that could be decompressed, or else
   * the unchanged link.
   */
  readonly text: string;
  readonly error: string | null;
}

/** What has been decompressed. The browser's decompressor is asynchronous, but the page reads links synchronously. */
const known = new Map<string, Unpacked>();

/** Returns a link without `#`. Some programs percent-encode a whole link once more, so it has no semicolons. */
function bare(hash: string): string {
  const text = hash.replace(/^#/, "");
  if (text.includes(";") || !/%3b/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Decompresses a link before it is read; returns null for a link that can be read immediately. Never rejects. */
export function unpack(hash: string): Promise<void> | null {
  const text = bare(hash);
  if (!text.startsWith(PREFIX) || text.length > LONGEST || known.has(text)) return null;
  // Few links are compressed, so the code is loaded with the first of them.
  return import("./inflate.ts")
    .then(({ inflated }) => inflated(text.slice(PREFIX.length), LONGEST))
    .then(
      ({ found, wrong }) =>
        known.set(
          text,
          wrong === null
            ? { text: found, error: null }
            : refused(found === "" ? text : found, wrong),
        ),
      () => known.set(text, refused(text, NOT_LOADED)),
    )
    .then(() => {});
}

const NOT_LOADED = "it is compressed, and the decompressor could not be loaded; reload the page";

const refused = (text: string, sentence: string): Unpacked => ({
  text,
  error: `the link cannot be read: ${sentence}`,
});

/** Returns the uncompressed form of a link with or without `#`, and never throws. */
export function unpacked(hash: string): Unpacked {
  const text = bare(hash);
  if (text.length > LONGEST) return refused(text, `it has more than ${LONGEST} characters`);
  const [, version] = /^z(\d{1,9})\./.exec(text) ?? [];
  if (version === undefined) return { text, error: null };
  if (`z${version}.` !== PREFIX) {
    return refused(
      text,
      `it begins with "z${version}.", a format that this page does not know; reload the page to get its newest version`,
    );
  }
  return known.get(text) ?? refused(text, "it has not been decompressed");
}
