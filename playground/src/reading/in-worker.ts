/** Reads large files and texts in a worker, so that the page stays usable and the reading can be canceled. */

import type { Opened, Read } from "./read-files.ts";

/** The size in bytes or characters above which reading may take longer than starting a worker. */
const LARGE = 2 ** 16;

const sizeOf = (opened: Opened): number =>
  "text" in opened ? opened.text.length : opened.files.reduce((sum, { size }) => sum + size, 0);

/** Starts to read. After `cancel`, the result never arrives. */
export function reading(opened: Opened): { readonly result: Promise<Read>; cancel(): void } {
  if (sizeOf(opened) <= LARGE) {
    const result = import("./read-files.ts").then(({ readOpened }) => readOpened(opened));
    return { result, cancel() {} };
  }
  const worker = new Worker(new URL("reader.ts", import.meta.url), { type: "module" });
  const result = new Promise<Read>((resolve) => {
    worker.addEventListener("message", ({ data }: MessageEvent<Read>) => resolve(data));
    worker.addEventListener("error", ({ message }) =>
      resolve({ error: `The reader could not be started: ${message}` }),
    );
    worker.postMessage(opened, []);
  }).finally(() => worker.terminate());
  return { result, cancel: () => worker.terminate() };
}
