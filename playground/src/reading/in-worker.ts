/** Reads large files and texts in a worker, so that the page stays usable and the reading can be canceled. */

import type { Opened, Read } from "./read-files.ts";

/** The size in bytes or characters above which reading may take longer than starting a worker. */
const LARGE = 2 ** 16;

const sizeOf = (opened: Opened): number =>
  "text" in opened ? opened.text.length : opened.files.reduce((sum, { size }) => sum + size, 0);

/** Reads files or a text. After the signal, the result is worthless, and that of a worker never arrives. */
export async function reading(opened: Opened, signal: AbortSignal): Promise<Read> {
  if (signal.aborted) return null;
  if (sizeOf(opened) <= LARGE) return (await import("./read-files.ts")).readOpened(opened);
  const worker = new Worker(new URL("reader.ts", import.meta.url), { type: "module" });
  signal.addEventListener("abort", () => worker.terminate());
  return new Promise<Read>((resolve) => {
    worker.addEventListener("message", ({ data }: MessageEvent<Read>) => resolve(data));
    worker.addEventListener("error", ({ message }) =>
      resolve({ error: `The reader could not be started: ${message}` }),
    );
    worker.postMessage(opened, []);
  });
}
