/**
 * Defines command failures: a message on stderr, and an exit status that distinguishes invalid data from incorrect
 * usage.
 */

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";
import type { ErrorCode, TensorError } from "../entries/index.ts";
import { isTensorError } from "../core/errors.ts";

export const SUCCESS = 0;
/** Exit status for invalid data, such as a malformed file, an invalid tensor or a failed test. */
export const WRONG_DATA = 1;
/** Exit status for incorrect usage, such as an unknown command, option, operator or attribute. */
const WRONG_USAGE = 2;

export type Status = typeof SUCCESS | typeof WRONG_DATA | typeof WRONG_USAGE;

export class Failure extends Error {
  override readonly name = "Failure";
  readonly status: Exclude<Status, typeof SUCCESS>;
  /** The file that caused the failure, as the user typed it. */
  readonly file: string | null;

  constructor(
    status: Failure["status"],
    sentence: string,
    cause?: unknown,
    file: string | null = null,
  ) {
    super(sentence, cause === undefined ? {} : { cause });
    this.status = status;
    this.file = file;
  }
}

export const wrongData = (sentence: string, cause?: unknown, file?: string): Failure =>
  new Failure(WRONG_DATA, sentence, cause, file);

export const wrongUsage = (sentence: string, cause?: unknown): Failure =>
  new Failure(WRONG_USAGE, sentence, cause);

/**
 * Calls `action` and returns its result. Converts a thrown `TensorError` to a usage error whose message begins with
 * `title`. Errors with other codes than `codes` are not converted, if any are given.
 */
export function asUsage<T>(action: () => T, title = "", ...codes: readonly ErrorCode[]): T {
  try {
    return action();
  } catch (error) {
    const isUsage = isTensorError(error, ...codes);
    throw isUsage ? wrongUsage(`${title}${error.message}`, error) : error;
  }
}

/** Calls `action` and returns its result. Adds `path` to the beginning of error messages. */
export function withPath<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw errorAt(path, error);
  }
}

/** Converts `error` to a failure with a message that begins with `path`. Unknown errors are returned unchanged. */
export function errorAt(path: string, error: unknown): unknown {
  const reason = isTensorError(error) ? error.message : reasonOf(error);
  return reason === null ? error : wrongData(`${printFile(path)}: ${reason}`, error, path);
}

/** File name that stands for standard input. The path `./-` refers to a regular file named `-`. */
export const STDIN = "-";

/** Formats an input file name for messages. */
export const printFile = (file: string): string => (file === STDIN ? "standard input" : file);

export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return wrongUsage(parserSentence(error), error);
  if (isTensorError(error)) return wrongData(error.message, error);
  const reason = reasonOf(error);
  if (reason !== null) return wrongData(`${pathOf(error)}${reason}`, error);
  const message = error instanceof Error ? error.message : String(error);
  return wrongData(`internal error: ${message}; --debug prints the stack trace`, error);
}

/** Descriptions of the words that --help lists, by commander's error code for an unknown, missing or surplus word. */
const LISTED: Readonly<Record<string, string>> = {
  "commander.excessArguments": "arguments",
  "commander.missingArgument": "arguments",
  "commander.missingMandatoryOptionValue": "options",
  "commander.optionMissingArgument": "options",
  "commander.unknownCommand": "commands",
  "commander.unknownOption": "options",
};

/** Forms of what people write as an option of commands that do not have the option. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  "--feed": "NAME=FILE without --feed",
  "--reduction": "--attr reduction=NAME",
  "--batch-dims": "--attr batch_dims=COUNT",
  "--batch_dims": "--attr batch_dims=COUNT",
};

/** Cleans commander's message, which begins with "error:" and has a suggested name on a separate line. */
function parserSentence({ code, message }: CommanderError): string {
  // Without a command, commander throws an error whose message is the full help text.
  if (code === "commander.help") return "a command is missing; --help lists them";
  const sentence = message
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "")
    .replace(/ \(Did you mean (.+\?)\)$/, "; did you mean $1");
  if (code === "commander.excessArguments" && /'(?:verify|fix|capture)'/.test(message)) {
    return `${sentence}; write each input as --feed NAME=FILE`;
  }
  const [option = ""] = /--[\w-]+/.exec(message) ?? [];
  const { [code]: listed } = LISTED;
  if (listed === undefined) return sentence;
  if (Object.hasOwn(OTHER_FORMS, option)) {
    return `unknown option '${option}'; write ${OTHER_FORMS[option]}`;
  }
  return `${sentence}${sentence.endsWith("?") ? "" : ";"} --help lists the ${listed}`;
}

/** Returns the message for a system error or for exhausted memory, or null for any other error. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RangeError) return `it does not fit in memory (${error.message})`;
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return getSystemErrorMap().get(Number(error.errno))?.[1] ?? error.message;
}

const pathOf = (error: unknown): string =>
  error instanceof Error && "path" in error ? `${String(error.path)}: ` : "";

/** Returns an error's code, message and fields. */
export function errorJson(error: TensorError): Readonly<Record<string, unknown>> {
  const { name: _, code, message, ...fields } = error;
  return { code, message, ...fields };
}

/** Returns a command's failure, with the code and fields of its cause, if available. */
export function failureJson({ message, cause }: Failure): Readonly<Record<string, unknown>> {
  if (isTensorError(cause)) return { ...errorJson(cause), message };
  const isCoded = cause instanceof Error && "errno" in cause && "code" in cause;
  return isCoded ? { code: cause.code, message } : { message };
}
