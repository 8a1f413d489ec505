/**
 * The parts of a process that a command may use. Commands take this interface as an argument and never read `process`,
 * so that one process can run many commands, as tests do.
 */

import { escapeControls, escapeExcept } from "./text/layout.ts";

/** A stream of text. */
export interface Output {
  /** True if the stream is a terminal. */
  readonly isTTY: boolean;
  /** The number of characters in a line of the terminal; 80 if the stream is not one. */
  readonly columns: number;
  /**
   * Resolves when the stream accepts more text, so that output of any length needs little memory.
   * @param isStyled true if the text contains colours, or replaces a line of progress
   */
  write(text: string, isStyled?: boolean): void | Promise<void>;
}

/** Standard input. */
export interface Input {
  /** True if the stream is a terminal, so that all input is typed. */
  readonly isTTY: boolean;
  /** Returns all bytes of the stream, and blocks until it ends. */
  read(): Uint8Array;
}

export interface Io {
  /** The folder that relative paths refer to; an absolute path. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Threads of a job without `--threads`, instead of the command's default; 0 runs tasks in the calling thread. */
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

/** Prints notes that do not change the status. Notes go to stderr, because programs read stdout. */
export const printNote = ({ stderr }: Io, ...sentences: readonly string[]): void | Promise<void> =>
  stderr.write(sentences.map((one) => `ndscatter: note: ${escapeControls(one)}\n`).join(""));
