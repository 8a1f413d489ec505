/**
 * Collects the commands and programs that tests run, with the files that they find, if the environment variable COLLECT
 * names a folder: `scripts/record.js` runs them again, on any build of the package.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { WatchedFolder, type Contents } from "./folder-contents.ts";

/** The environment of a command, as far as it can be written down. */
interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly stdin?: Uint8Array;
}

/** The words of a command, and where it runs. Names of its folder are replaced by {@link HERE}. */
export interface CollectedCommand {
  readonly kind: "command";
  readonly words: readonly string[];
  /** The files of its folder; null for a folder that the test did not make. */
  readonly contents: Contents | null;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
  readonly columns: number;
  /** In base64; null for a terminal. */
  readonly stdin: string | null;
}

/** A program of a document. */
export interface CollectedProgram {
  readonly kind: "program";
  readonly code: string;
  readonly contents: Contents;
}

/** Stands for the folder of a command. */
export const HERE = "{folder}";

const target = typeof process === "undefined" ? undefined : process.env["COLLECT"];
const folders = new Map<string, WatchedFolder>();

function contentsOf(folder: string, store: string): Contents {
  const watched = folders.get(folder) ?? new WatchedFolder(folder, store);
  folders.set(folder, watched);
  return watched.contents();
}

const append = (one: CollectedCommand | CollectedProgram, to: string): void =>
  fs.appendFileSync(path.join(to, "collected.jsonl"), `${JSON.stringify(one)}\n`);

export function collectCommand(
  folder: string,
  given: readonly string[],
  { env = {}, isTTY = false, columns = 80, stdin }: Surroundings = {},
): void {
  if (target === undefined) return;
  const words = given.map((word) => (folder === "/" ? word : word.replaceAll(folder, HERE)));
  const isOwn = /[\\/](?:ndscatter-|documents-|tour-)/.test(folder);
  const contents = isOwn ? contentsOf(folder, target) : null;
  const text = stdin === undefined ? null : Buffer.from(stdin).toString("base64");
  append({ kind: "command", words, contents, folder, env, isTTY, columns, stdin: text }, target);
}

export function collectProgram(given: string, folder?: string): void {
  if (target === undefined) return;
  const code = given.replaceAll(/(?<=")[^"]*[\\/]documents-\w{6}(?=[\\/"])/g, HERE);
  const contents = folder === undefined ? {} : contentsOf(folder, target);
  append({ kind: "program", code, contents }, target);
}
