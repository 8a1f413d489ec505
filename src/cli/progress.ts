/** How far a file has been read: on a terminal alone, and not before a second has gone by. */

import type { ByteSource } from "../onnx/index.ts";

/** Where it is told, such as the standard error, and what the time is in milliseconds. */
export interface Teller {
  readonly isTTY?: boolean;
  write(text: string): unknown;
  now(): number;
}

const terminal = (): Teller => ({
  isTTY: process.stderr.isTTY,
  write: (text) => process.stderr.write(text),
  now: () => performance.now(),
});

/** Whole seconds lie between two lines, and the first is told after one. */
const PERIOD = 1000;

/** What `action` makes of a file; meanwhile it is told how much of the file lies behind what is read. */
export function tellReading<T>(
  name: string,
  { size, read }: ByteSource,
  action: (source: ByteSource) => T,
  { isTTY = false, write, now }: Teller = terminal(),
): T {
  if (!isTTY) return action({ size, read });
  let told = now();
  let isShown = false;
  const reading = (offset: number, length: number): Uint8Array => {
    if (now() - told >= PERIOD) {
      told = now();
      isShown = true;
      write(`\r${name}: ${Math.floor((100 * offset) / size)} % read`);
    }
    return read(offset, length);
  };
  try {
    return action({ size, read: reading });
  } finally {
    // The line makes way for what comes.
    if (isShown) write("\r\u001b[K");
  }
}
