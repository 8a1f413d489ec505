/**
 * Shows a command's progress: on a terminal if it takes more than a second, and elsewhere, if asked, as a line every 10
 * seconds.
 */

import type { ByteSource } from "../../entries/onnx.ts";
import { CLI } from "../../core/limits.ts";
import type { Output } from "../io.ts";
import { escapeControls } from "./layout.ts";
import { cut } from "./lines.ts";

type Terminal = Pick<Output, "isTTY" | "write"> & Partial<Pick<Output, "columns">>;

/** A line that a newer one replaces. */
export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #shownAt: number;
  /** The length of the displayed text. */
  #length = 0;
  readonly #hasLines: boolean;

  /**
   * @param now the time in milliseconds
   * @param hasLines true if lines are written to a pipe or a file too
   */
  constructor(terminal: Terminal, now: () => number = () => performance.now(), hasLines = false) {
    this.#terminal = terminal;
    this.#now = now;
    this.#hasLines = hasLines && !terminal.isTTY;
    this.#shownAt = now();
  }

  /** @param text called at most once per period */
  show(text: () => string): void {
    const time = this.#now() - this.#shownAt;
    if (time < (this.#hasLines ? CLI.lines : CLI.progress)) return;
    if (!this.#hasLines) return this.showNow(text());
    this.#shownAt = this.#now();
    void this.#terminal.write(`${escapeControls(text())}\n`);
  }

  /** Shows text before work that cannot report progress. */
  showNow(text: string): void {
    if (!this.#terminal.isTTY) return;
    this.#shownAt = this.#now();
    // A progress line is cut at the width of the terminal, because a wrapped line could not be replaced.
    const line = cut(escapeControls(text), (this.#terminal.columns || 80) - 1);
    void this.#terminal.write(`\r${line.padEnd(this.#length)}`, true);
    this.#length = line.length;
  }

  /** Clears the line before the result. */
  clear(): void {
    if (this.#length > 0) void this.#terminal.write("\r\u001b[K", true);
    this.#length = 0;
  }
}

/**
 * Returns the result of `action` for a file, and shows the position of each read as a percentage of the file.
 * @param now the time in milliseconds
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
