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

const bare = (hash: string): string => hash.replace(/^#/, "");

/** Decompresses a link before it is read; returns null for a link that can be read immediately. Never rejects. */
export function unpack(hash: string): Promise<void> | null {
  const text = bare(hash);
  if (!text.startsWith(PREFIX) || text.length > LONGEST || known.has(text)) return null;
  return inflated(bytesOf(text.slice(PREFIX.length))).then(({ found, wrong }) => {
    // A hostile link with millions of characters in one field would slow down the page.
    const shown = wrong === TOO_LONG || found === "" ? text : found;
    known.set(text, wrong === null ? { text: found, error: null } : refused(shown, wrong));
  });
}

const TOO_LONG = `it unpacks to more than ${LONGEST.toLocaleString("en")} characters`;
const DAMAGED =
  "its end is missing, or it was damaged in transit. The field has the part that could be read; correct it, or ask for the link again";
const NO_STREAM = "it is compressed, and this browser cannot decompress it";

const refused = (text: string, sentence: string): Unpacked => ({
  text,
  error: `the link cannot be read: ${sentence}`,
});

/** Returns the uncompressed form of a link with or without `#`, and never throws. */
export function unpacked(hash: string): Unpacked {
  const text = bare(hash);
  const [, version] = /^z(\d{1,9})\./.exec(text) ?? [];
  if (version === undefined) return { text, error: null };
  if (`z${version}.` !== PREFIX) {
    return refused(
      text,
      `it begins with "z${version}.", a format that this page does not know; reload the page to get its newest version`,
    );
  }
  if (text.length > LONGEST) return refused(text, `it has more than ${LONGEST} characters`);
  return known.get(text) ?? refused(text, "it has not been decompressed");
}

/** The number of compressed bytes at a time; an error discards the text decompressed from the last of them. */
const STEP = 64;

/** Decompresses zlib data. After an error, `found` is the part that could be decompressed. */
async function inflated(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ readonly found: string; readonly wrong: string | null }> {
  if (typeof DecompressionStream === "undefined") return { found: "", wrong: NO_STREAM };
  const { readable, writable } = new DecompressionStream("deflate");
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const decoder = new TextDecoder();
  let found = "";
  const read = async (): Promise<void> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- each part follows the one before
      const { done, value } = await reader.read();
      if (done) return;
      found += decoder.decode(value, { stream: true });
      if (found.length > LONGEST) void reader.cancel();
    }
  };
  const write = async (): Promise<void> => {
    for (let at = 0; at < bytes.length; at += STEP) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await writer.write(bytes.subarray(at, at + STEP));
    }
    await writer.close();
  };
  const isWhole = await Promise.all([read(), write()]).then(
    () => true,
    () => false,
  );
  if (found.length > LONGEST) return { found: "", wrong: TOO_LONG };
  return { found, wrong: isWhole ? null : DAMAGED };
}

/**
 * Decodes base64url up to the first invalid character, because the link may be followed by other text. White space is
 * skipped, because mail programs break long lines.
 */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const [letters] = /^[\w-]*/.exec(text.replaceAll(/\s|%20|%0[AD]/gi, "")) ?? [""];
  // A single remaining character cannot encode a whole byte.
  const whole = letters.length % 4 === 1 ? letters.slice(0, -1) : letters;
  const binary = atob(whole.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}
