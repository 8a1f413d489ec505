/**
 * What a command may use of the process that it runs in. Commands take it as an argument and never read `process`, so
 * that one process can run many commands, as the tests do.
 */

/** A stream that takes text. */
export interface Output {
  /** Whether the stream is a terminal. */
  readonly isTTY: boolean;
  /** How many characters fit in a line of the terminal, 80 where the stream is not a terminal. */
  readonly columns: number;
  /** Resolves when the stream takes more text, so that output of any length needs little memory. */
  write(text: string): void | Promise<void>;
}

/** Standard input. */
export interface Input {
  /** Whether the stream is a terminal, so that it has only what a person types. */
  readonly isTTY: boolean;
  /** Returns all bytes of the stream, and blocks until it ends. */
  read(): Uint8Array;
}

export interface Io {
  /** The folder where relative paths begin; an absolute path. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /**
   * Has `cleanup` called, once, before a signal ends the process.
   * @returns a function that takes the request back
   */
  onSignal(cleanup: () => void): () => void;
  /**
   * Has `stop` called at the first signal that asks the process to end. The command then ends in its own time; a second
   * signal ends the process.
   * @returns a function that takes the request back
   */
  onInterrupt(stop: () => void): () => void;
}

/** Prints a note that does not change the status. Notes go to stderr, because programs read stdout. */
export const printNote = ({ stderr }: Io, sentence: string): void | Promise<void> =>
  stderr.write(`ndscatter: note: ${sentence}\n`);
