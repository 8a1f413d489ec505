/** How a command fails: with one sentence on stderr, and a status that says whether data or usage was wrong. */

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";
import { isTensorError } from "../entries/index.ts";

/** The status where all is well. */
export const SUCCESS = 0;
/** The status where what was read is wrong: a file, a tensor, a test that fails. */
export const WRONG_DATA = 1;
/** The status where what was typed is wrong: a command, an option, the name of an operator or an attribute. */
export const WRONG_USAGE = 2;

export type Status = typeof SUCCESS | typeof WRONG_DATA | typeof WRONG_USAGE;

export class Failure extends Error {
  override readonly name = "Failure";
  readonly status: Exclude<Status, typeof SUCCESS>;

  constructor(status: Failure["status"], sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? {} : { cause });
    this.status = status;
  }
}

export const wrongData = (sentence: string, cause?: unknown): Failure =>
  new Failure(WRONG_DATA, sentence, cause);

export const wrongUsage = (sentence: string, cause?: unknown): Failure =>
  new Failure(WRONG_USAGE, sentence, cause);

/** Returns what `action` returns. A TensorError that it throws is the fault of what was typed. */
export function asUsage<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw isTensorError(error) ? wrongUsage(error.message, error) : error;
  }
}

/** Returns what `action` returns. The sentences of errors that it throws begin with `path`. */
export function withPath<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw errorAt(path, error);
  }
}

/** `error` as a failure whose sentence begins with `path`; an error of unknown origin stays as it is. */
export function errorAt(path: string, error: unknown): unknown {
  const reason = isTensorError(error) ? error.message : reasonOf(error);
  return reason === null ? error : wrongData(`${printFile(path)}: ${reason}`, error);
}

/** What stands for standard input where a command reads a file. A file of that name is `./-`. */
export const STDIN = "-";

/** How a sentence names a file that is read. */
export const printFile = (file: string): string => (file === STDIN ? "standard input" : file);

/** Anything that was thrown, as the sentence and the status that the user gets. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return wrongUsage(parserSentence(error), error);
  if (isTensorError(error)) return wrongData(error.message, error);
  const reason = reasonOf(error);
  if (reason !== null) return wrongData(`${pathOf(error)}${reason}`, error);
  const message = error instanceof Error ? error.message : String(error);
  return wrongData(`internal error: ${message}; --debug shows where it comes from`, error);
}

/** Commander's message begins with "error:", and the name that was probably meant has a line of its own. */
function parserSentence({ code, message }: CommanderError): string {
  // Without a command, commander throws its whole help as the message.
  if (code === "commander.help") return "a command is missing; --help lists them";
  return message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
}

/** The system's own words for its error, this package's for too little memory, or null for any other error. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RangeError) return `it does not fit in memory (${error.message})`;
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return getSystemErrorMap().get(Number(error.errno))?.[1] ?? error.message;
}

const pathOf = (error: unknown): string =>
  error instanceof Error && "path" in error ? `${String(error.path)}: ` : "";
