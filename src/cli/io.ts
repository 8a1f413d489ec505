/**
 * Defines the interface between commands and the process. Commands receive this interface as an argument and never
 * access `process`, so that tests can run many commands in one process.
 */

import { wrongData } from "./failure.ts";
import { cut, escapeControls, escapeExcept, printJson } from "./text/layout.ts";
import type { ByteSource } from "../entries/onnx.ts";
import { CLI } from "../core/limits.ts";

export interface Output {
  readonly isTTY: boolean;
  /** Terminal width in characters; 80 if the stream is not a terminal. */
  readonly columns: number;
  /**
   * Resolves when the stream accepts more text, so that long outputs need little memory. `isStyled` is true if the text
   * contains colours, or replaces a progress line.
   */
  write(text: string, isStyled?: boolean): void | Promise<void>;
}

export interface Input {
  /** True if the stream is a terminal, and the user types the input. */
  readonly isTTY: boolean;
  /** Blocks until the stream ends, and returns all bytes. */
  read(): Uint8Array;
}

export interface Io {
  /** Absolute path of the base folder for relative paths. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Default number of threads for jobs without `--threads`. With 0, tasks run in the calling thread. */
  readonly threads?: number;
  /** Calls `cleanup` once before a signal ends the process. Returns a function that cancels the request. */
  onSignal(cleanup: () => void): () => void;
  /**
   * Calls `stop` at the first signal that asks the process to end. The command then ends in its own time; a second
   * signal ends the process immediately. Returns a function that cancels the request.
   */
  onInterrupt(stop: () => void): () => void;
}

/**
 * Returns an output that escapes control characters, except line breaks. Names in other people's files may contain
 * sequences that move the cursor or hide text, so all text of a command passes through such an output. Escaping a
 * character in JSON does not change the value.
 * @param onWrite called before each text
 */
export const guarded = (output: Output, onWrite = (): void => {}): Output => ({
  get isTTY() {
    return output.isTTY;
  },
  get columns() {
    return output.columns;
  },
  write(text, isStyled = false) {
    onWrite();
    const isKept = (one: string): boolean => one === "\n" || (isStyled && /^(?:\r|.\[)/.test(one));
    return output.write(escapeExcept(text, isKept));
  },
});

/** Prints the result of a command, which is a text, or data for --json. */
export const printResult = ({ stdout }: Io, result: string | object): void | Promise<void> =>
  stdout.write(`${typeof result === "string" ? result : printJson(result)}\n`);

/** Prints notes that do not affect the exit status. Notes go to stderr, because programs read stdout. */
export const printNote = ({ stderr }: Io, ...sentences: readonly string[]): void | Promise<void> =>
  stderr.write(sentences.map((one) => `ndscatter: note: ${escapeControls(one)}\n`).join(""));

/**
 * Calls `action` with a signal that is aborted when the process is asked to end. If `action` then throws, the function
 * throws a `Failure` with the sentence `stopped`.
 */
export async function untilInterrupted<T>(
  io: Io,
  stopped: string,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const release = io.onInterrupt(() => controller.abort());
  try {
    return await action(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? wrongData(stopped, error) : error;
  } finally {
    release();
  }
}

type Terminal = Pick<Output, "isTTY" | "write"> & Partial<Pick<Output, "columns">>;

/**
 * A line of progress, which the next update replaces. On a terminal, progress appears after one second. Other outputs
 * receive a line every 10 seconds if requested.
 */
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
