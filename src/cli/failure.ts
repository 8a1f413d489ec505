/** How a command ends badly: one sentence for stderr, and an exit status that says whose fault it was. */

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";
import { isTensorError } from "../index.ts";

/** What was read is wrong: a file, a tensor, a test that fails. */
export const WRONG_DATA = 1;
/** What was typed is wrong: a command, an option, the name of an operator or an attribute. */
export const WRONG_USAGE = 2;

export class Failure extends Error {
  override readonly name = "Failure";
  readonly status: typeof WRONG_DATA | typeof WRONG_USAGE;

  constructor(status: Failure["status"], sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? {} : { cause });
    this.status = status;
  }
}

export const wrongData = (sentence: string, cause?: unknown): Failure =>
  new Failure(WRONG_DATA, sentence, cause);

export const wrongUsage = (sentence: string, cause?: unknown): Failure =>
  new Failure(WRONG_USAGE, sentence, cause);

/** What `action` returns; a TensorError in it is the fault of what was typed. */
export function asUsage<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw isTensorError(error) ? wrongUsage(error.message, error) : error;
  }
}

/** What `action` returns; an error of the library, of the disk or of memory in it is told of the file at `path`. */
export function withPath<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const reason = isTensorError(error) ? error.message : reasonOf(error);
    throw reason === null ? error : wrongData(`${path}: ${reason}`, error);
  }
}

/** Anything thrown, as the sentence and the status that the user gets. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return wrongUsage(parserSentence(error), error);
  if (isTensorError(error)) return wrongData(error.message, error);
  const reason = reasonOf(error);
  if (reason !== null) return wrongData(`${pathOf(error)}${reason}`, error);
  const message = error instanceof Error ? error.message : String(error);
  return wrongData(`internal error: ${message}; --debug shows where it comes from`, error);
}

/** Commander begins with "error:" and puts what was probably meant on a line of its own. */
function parserSentence({ code, message }: CommanderError): string {
  // A program without a command prints its help as an error, which is no sentence.
  if (code === "commander.help") return "a command is missing; --help lists them";
  return message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
}

/** The system's own words for its error, or ours for too little memory; null for any other error. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RangeError) return `it does not fit in memory (${error.message})`;
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return getSystemErrorMap().get(Number(error.errno))?.[1] ?? error.message;
}

const pathOf = (error: unknown): string =>
  error instanceof Error && "path" in error ? `${String(error.path)}: ` : "";
