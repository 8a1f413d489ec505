/** Shows how much of a file has been read: on a terminal only, and only where reading takes more than a second. */

import type { ByteSource } from "../onnx/index.ts";
import type { Output } from "./io.ts";

/** Milliseconds before the first line, and between two lines. */
const PERIOD = 1000;

/**
 * Returns what `action` makes of a file, and meanwhile shows the place of each read as a percentage of the file.
 * @param now the time in milliseconds
 */
export function showProgress<T>(
  name: string,
  { size, read }: ByteSource,
  action: (source: ByteSource) => T,
  { isTTY, write }: Pick<Output, "isTTY" | "write">,
  now: () => number = () => performance.now(),
): T {
  if (!isTTY) return action({ size, read });
  let shownAt = now();
  let isShown = false;
  const reading = (offset: number, length: number): Uint8Array => {
    if (now() - shownAt >= PERIOD) {
      shownAt = now();
      isShown = true;
      void write(`\r${name}: ${Math.floor((100 * offset) / size)} % read`);
    }
    return read(offset, length);
  };
  try {
    return action({ size, read: reading });
  } finally {
    // Clears the line, so that the result can take its place.
    if (isShown) void write("\r\u001b[K");
  }
}
