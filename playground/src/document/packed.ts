/**
 * Reads compressed links, which consist of `z1.` and zlib data in base64url. Only long shared links are compressed, by
 * `writing/pack-link.ts`. The page's own URL stays uncompressed, because it is written in events that cannot wait for
 * the browser's compressor.
 */

import { inflate, type Wrong } from "./inflate.ts";

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

const SENTENCES: Readonly<Record<Wrong, string>> = {
  cut: "its end is missing. The field has the part that arrived; complete it, or ask for the full link",
  damaged:
    "its checksum is wrong, so the link was damaged in transit. The field has the part that could be read; correct it, or ask for the link again",
  "too long": `it unpacks to more than ${LONGEST.toLocaleString("en")} characters`,
};

const refused = (text: string, sentence: string): Unpacked => ({
  text,
  error: `the link cannot be read: ${sentence}`,
});

/** Returns the uncompressed form of a link with or without `#`, and never throws. */
export function unpacked(hash: string): Unpacked {
  const text = hash.replace(/^#/, "");
  const [, version] = /^z(\d{1,9})\./.exec(text) ?? [];
  if (version === undefined) return { text, error: null };
  if (`z${version}.` !== PREFIX) {
    return refused(
      text,
      `it begins with "z${version}.", a format that this page does not know; reload the page to get its newest version`,
    );
  }
  if (text.length > LONGEST) return refused(text, `it has more than ${LONGEST} characters`);
  const { bytes, wrong } = inflate(bytesOf(text.slice(PREFIX.length)), LONGEST);
  const found = new TextDecoder().decode(bytes);
  if (wrong === null) return { text: found, error: null };
  // A hostile link with millions of characters in one field would slow down the page.
  const shown = wrong === "too long" || found === "" ? text : found;
  return refused(shown, SENTENCES[wrong]);
}

/**
 * Decodes base64url up to the first invalid character, because the link may be followed by other text. White space is
 * skipped, because mail programs break long lines.
 */
function bytesOf(text: string): Uint8Array {
  const [letters] = /^[\w-]*/.exec(text.replaceAll(/\s|%20|%0[AD]/gi, "")) ?? [""];
  // A single remaining character cannot encode a whole byte.
  const whole = letters.length % 4 === 1 ? letters.slice(0, -1) : letters;
  const binary = atob(whole.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}
