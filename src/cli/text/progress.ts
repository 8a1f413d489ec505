/**
 * Shows a command's progress. On a terminal, progress appears after one second. Other outputs receive a line every 10
 * seconds if requested.
 */

import type { ByteSource } from "../../entries/onnx.ts";
import { CLI } from "../../core/limits.ts";
import type { Output } from "../io.ts";
import { escapeControls, cut } from "./layout.ts";

type Terminal = Pick<Output, "isTTY" | "write"> & Partial<Pick<Output, "columns">>;

/** A line of progress, which the next update replaces. */
export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #shownAt: number;
  #length = 0;
  readonly #hasLines: boolean;

  /** `now` returns the time in milliseconds. If `hasLines` is true, lines are also written to pipes and files. */
  constructor(terminal: Terminal, now: () => number = () => performance.now(), hasLines = false) {
    this.#terminal = terminal;
    this.#now = now;
    this.#hasLines = hasLines && !terminal.isTTY;
    this.#shownAt = now();
  }

  /** Updates the line. `text` is called at most once per period. */
  show(text: () => string): void {
    const time = this.#now() - this.#shownAt;
    if (time < (this.#hasLines ? CLI.lines : CLI.progress)) return;
    if (!this.#hasLines) return this.showNow(text());
    this.#shownAt = this.#now();
    void this.#terminal.write(`${escapeControls(text())}\n`);
  }

  /** Shows text before an operation that cannot report progress. */
  showNow(text: string): void {
    if (!this.#terminal.isTTY) return;
    this.#shownAt = this.#now();
    // A progress line is cut at the width of the terminal, because a wrapped line could not be replaced.
    const line = cut(escapeControls(text), (this.#terminal.columns || 80) - 1);
    void this.#terminal.write(`\r${line.padEnd(this.#length)}`, true);
    this.#length = line.length;
  }

  /** Clears the line before the result is printed. */
  clear(): void {
    if (this.#length > 0) void this.#terminal.write("\r\u001b[K", true);
    this.#length = 0;
  }
}

/**
 * Calls `action` with a file, and shows each read position as a percentage of the file size. `now` returns the time in
 * milliseconds.
 */
export function showProgress<T>(
  name: string,
  { size, read }: ByteSource,
  action: (source: ByteSource) => T,
  terminal: Terminal,
  now?: () => number,
): T {
  if (!terminal.isTTY) return action({ size, read });
  const line = new ProgressLine(terminal, now);
  const reading = (offset: number, length: number): Uint8Array => {
    line.show(() => `${name}: ${Math.floor((100 * offset) / size)} % read`);
    return read(offset, length);
  };
  try {
    return action({ size, read: reading });
  } finally {
    line.clear();
  }
}
