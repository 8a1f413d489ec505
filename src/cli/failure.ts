/** Failures of commands: a message on stderr, and an exit status that distinguishes wrong data from wrong usage. */

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";
import { isTensorError } from "../entries/index.ts";

/** The exit status of success. */
export const SUCCESS = 0;
/** The exit status for wrong data, such as a bad file, tensor or test. */
export const WRONG_DATA = 1;
/** The exit status for wrong usage, such as an unknown command, option, operator or attribute. */
export const WRONG_USAGE = 2;

export type Status = typeof SUCCESS | typeof WRONG_DATA | typeof WRONG_USAGE;

export class Failure extends Error {
  override readonly name = "Failure";
  readonly status: Exclude<Status, typeof SUCCESS>;
  /** The file that the message is about, as the user typed it. */
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

/** Returns the result of `action`. A thrown TensorError becomes a usage error. */
export function asUsage<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw isTensorError(error) ? wrongUsage(error.message, error) : error;
  }
}

/** Returns the result of `action`. Messages of thrown errors get `path` as a prefix. */
export function withPath<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw errorAt(path, error);
  }
}

/** Returns `error` as a failure whose message begins with `path`; an unrecognized error is returned unchanged. */
export function errorAt(path: string, error: unknown): unknown {
  const reason = isTensorError(error) ? error.message : reasonOf(error);
  return reason === null ? error : wrongData(`${printFile(path)}: ${reason}`, error, path);
}

/** The name of standard input as a file to read. A file with this name is written `./-`. */
export const STDIN = "-";

/** Returns the name of an input file, as messages print it. */
export const printFile = (file: string): string => (file === STDIN ? "standard input" : file);

/** Converts any thrown value to a failure with a message and an exit status. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return wrongUsage(parserSentence(error), error);
  if (isTensorError(error)) return wrongData(error.message, error);
  const reason = reasonOf(error);
  if (reason !== null) return wrongData(`${pathOf(error)}${reason}`, error);
  const message = error instanceof Error ? error.message : String(error);
  return wrongData(`internal error: ${message}; --debug prints the stack trace`, error);
}

/** The kinds of words that --help lists, by the parser's error code for an unknown word. */
const LISTED: Readonly<Record<string, string>> = {
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
  // Commander throws the whole help text as the message if no command is given.
  if (code === "commander.help") return "a command is missing; --help lists them";
  const sentence = message
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/ \(Did you mean (.+\?)\)$/, "; did you mean $1");
  if (code === "commander.excessArguments" && /'(?:verify|fix|capture)'/.test(message)) {
    return sentence.replace(/\.$/, "; write each input as --feed NAME=FILE");
  }
  const [option = ""] = /--[\w-]+/.exec(message) ?? [];
  const { [code]: listed } = LISTED;
  if (listed === undefined) return sentence;
  if (Object.hasOwn(OTHER_FORMS, option)) {
    return `unknown option '${option}'; write ${OTHER_FORMS[option]}`;
  }
  return `${sentence}${sentence.endsWith("?") ? "" : ";"} --help lists the ${listed}`;
}

/** Returns the message of a system error, or of this package for exhausted memory; null for any other error. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RangeError) return `it does not fit in memory (${error.message})`;
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return getSystemErrorMap().get(Number(error.errno))?.[1] ?? error.message;
}

const pathOf = (error: unknown): string =>
  error instanceof Error && "path" in error ? `${String(error.path)}: ` : "";
