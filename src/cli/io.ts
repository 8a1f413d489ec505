/**
 * Defines the interface between commands and the process. Commands receive this interface as an argument and never
 * access `process`, so that tests can run many commands in one process.
 */

import { wrongData } from "./failure.ts";
import { escapeControls, escapeExcept, printJson } from "./text/layout.ts";

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

/** Prints the result of a command: `facts` with --json, and `text` otherwise. */
export const printResult = (
  { stdout }: Io,
  isJson: boolean | undefined,
  facts: () => unknown,
  text: () => string,
): void | Promise<void> => stdout.write(`${isJson === true ? printJson(facts()) : text()}\n`);

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
