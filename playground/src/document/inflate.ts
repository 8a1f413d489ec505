/** Decompresses links. */

const tooLong = (longest: number): string =>
  `it unpacks to more than ${longest.toLocaleString("en")} characters`;
const DAMAGED =
  "its end is missing, or it was damaged in transit. The field has the part that could be read; correct it, or ask for the link again";
const NO_STREAM = "it is compressed, and this browser cannot decompress it";

/** The number of compressed bytes at a time; an error discards the text decompressed from the last of them. */
const STEP = 64;

/**
 * Decompresses zlib data in base64url. After an error, `found` is the part that could be decompressed. It is empty for a
 * text longer than `longest`, because millions of characters in one field would slow down the page.
 */
export async function inflated(
  letters: string,
  longest: number,
): Promise<{ readonly found: string; readonly wrong: string | null }> {
  const bytes = bytesOf(letters);
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
      if (found.length > longest) void reader.cancel();
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
  if (found.length > longest) return { found: "", wrong: tooLong(longest) };
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
