/**
 * Compressed links: `z1.` and zlib data in base64url, in which the readable link is. Only long links that are sent on
 * are written so (`writing/pack-link.ts`); the page's own address stays readable, because it is written in events that
 * cannot wait for the browser's compressor.
 */

import { inflate, type Wrong } from "./inflate.ts";

/** The prefix of compressed links; its number grows if their format changes. No operator's domain begins so. */
export const PREFIX = "z1.";

/** Characters of a readable link; longer than any link of the page, and a bound on the work. */
export const LONGEST = 4_000_000;

export interface Unpacked {
  /** The readable link, without its `#`. If there is an error, the part that could be read, else the link as it is. */
  readonly text: string;
  readonly error: string | null;
}

const SENTENCES: Readonly<Record<Wrong, string>> = {
  cut: "its end is missing. The field has the part that arrived: complete it, or ask for the whole link",
  damaged:
    "its checksum is wrong, so it was changed on its way. The field has what could be read: correct it, or ask for the link again",
  "too long": `it unpacks to more than ${LONGEST.toLocaleString("en")} characters`,
};

const refused = (text: string, sentence: string): Unpacked => ({
  text,
  error: `the link cannot be read: ${sentence}`,
});

/** The readable form of a link, with or without its `#`. Never throws. */
export function unpacked(hash: string): Unpacked {
  const text = hash.replace(/^#/, "");
  const [, version] = /^z(\d{1,9})\./.exec(text) ?? [];
  if (version === undefined) return { text, error: null };
  if (`z${version}.` !== PREFIX) {
    return refused(
      text,
      `it begins with "z${version}.", a form that this page does not know; load the page again for its newest version`,
    );
  }
  if (text.length > LONGEST) return refused(text, `it has more than ${LONGEST} characters`);
  const { bytes, wrong } = inflate(bytesOf(text.slice(PREFIX.length)), LONGEST);
  const found = new TextDecoder().decode(bytes);
  if (wrong === null) return { text: found, error: null };
  // A field with millions of characters of a hostile link would only be slow.
  const shown = wrong === "too long" || found === "" ? text : found;
  return refused(shown, SENTENCES[wrong]);
}

/**
 * The bytes of base64url, up to the first other character: what follows belongs to the sentence around the link. Mail
 * programs break lines, so blanks are skipped.
 */
function bytesOf(text: string): Uint8Array {
  const [letters] = /^[\w-]*/.exec(text.replaceAll(/\s|%20|%0[AD]/gi, "")) ?? [""];
  // One letter of four has no whole byte.
  const whole = letters.length % 4 === 1 ? letters.slice(0, -1) : letters;
  const binary = atob(whole.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}
