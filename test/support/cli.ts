/**
 * Runs the command `ndscatter`: in this process, which takes milliseconds, or in a separate process if the test is
 * about the process. Tests of the command are rows: a command line, and its output.
 */

import assert from "node:assert/strict";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/program.ts";
import type { Tensor } from "../../src/entries/index.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { readTensor, writeTensor } from "../../src/entries/onnx.ts";
import { collectCommand } from "./collect.ts";

/**
 * The executable of the package, which takes 0.16 s of processor time to start; the compiled sources, which `npm run
 * mutate` changes, take 0.36 s.
 */
export const MAIN =
  process.env["MUTATE_MAIN"] ??
  fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly env?: Io["env"];
  /** True if stdout is a terminal; `columns` is its width. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** The content of standard input; a terminal if absent. */
  readonly stdin?: Uint8Array;
  readonly onSignal?: Io["onSignal"];
  readonly onInterrupt?: Io["onInterrupt"];
}

/** A terminal without any input. */
export const TERMINAL: Io["stdin"] = {
  isTTY: true,
  read: () => assert.fail("a terminal was read"),
};

/** `bytes` as standard input, which ends once. */
function inputOf(bytes: Uint8Array): Io["stdin"] {
  let isRead = false;
  const read = (): Uint8Array => {
    assert.ok(!isRead, "standard input was read twice");
    isRead = true;
    return bytes;
  };
  return { isTTY: false, read };
}

/**
 * Runs a command in this process. `folder` is its working directory, and stdout is not a terminal by default. Jobs run
 * their tasks in this thread unless the line has `--threads`: to start a thread takes 0.1 s of processor time.
 */
export async function runCommand(
  folder: string,
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Result> {
  collectCommand(folder, args, surroundings);
  const {
    env = {},
    isTTY = false,
    columns = 80,
    stdin,
    onSignal = () => () => {},
    onInterrupt = () => () => {},
  } = surroundings;
  const written = { stdout: "", stderr: "" };
  const output = (name: keyof typeof written): Io["stdout"] => ({
    isTTY,
    columns,
    // The reader is slow, so a command that does not wait for it loses text.
    async write(text) {
      await setImmediate();
      written[name] += text;
    },
  });
  const [stdout, stderr] = [output("stdout"), { ...output("stderr"), isTTY: false }];
  const input = stdin === undefined ? TERMINAL : inputOf(stdin);
  const io = { cwd: folder, env, stdin: input, stdout, stderr, threads: 0, onSignal, onInterrupt };
  const status = await main(args, io);
  return { status, ...written };
}

/** The environment of the tests may set these variables, which decide on colours. */
const { NO_COLOR: _no, FORCE_COLOR: _force, ...ENV } = process.env;

/** Runs a command in a separate process. */
export const startCommand = (
  folder: string,
  args: readonly string[],
  env: object = {},
): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...ENV, ...env },
  });

/** The words of a line, as a shell would separate them. */
export const words = (line: string): string[] => (line === "" ? [] : line.split(" "));

/** A folder for the files of a test, and the command running in it. */
export interface Folder {
  readonly home: string;
  at(name: string): string;
  /** Writes a tensor in the format of the name's ending. */
  save(name: string, value: Tensor): void;
  load(name: string): Tensor;
  /** Runs a command line, or its words. */
  ndscatter(line: string | readonly string[], surroundings?: Surroundings): Promise<Result>;
  /** The output of the command with --json. */
  json(line: string): Promise<unknown>;
}

/** An empty folder, which is removed after the tests. */
export function makeFolder(): Folder {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-cli-"));
  after(() => fs.rmSync(home, { recursive: true }));
  const at = (name: string): string => path.join(home, name);
  return {
    home,
    at,
    save(name, value) {
      fs.writeFileSync(at(name), name.endsWith(".npy") ? writeNpy(value) : writeTensor(value));
    },
    load(name) {
      const content = new Uint8Array(fs.readFileSync(at(name)));
      return name.endsWith(".npy") ? readNpy(content) : readTensor(content);
    },
    ndscatter: (line, surroundings) =>
      runCommand(home, typeof line === "string" ? words(line) : line, surroundings),
    json: async (line) =>
      JSON.parse((await runCommand(home, [...words(line), "--json"])).stdout) as unknown,
  };
}

/** The examples of a help text, without the program's name and the text after them. */
export const examplesIn = (help: string): string[] =>
  [...help.slice(help.indexOf("\nExamples:\n")).matchAll(/^ {2}ndscatter (.*?)(?: {3}.*)?$/gm)].map(
    ([, line]) => line,
  );

/** The names of the commands that a help lists, without the command `help`. */
export function commandsIn(help: string): string[] {
  const [, list] = help.split("\nCommands:\n");
  const names = [...list.split("\n\n")[0].matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
  return names.filter((name) => name !== "help");
}

/** The whole text, or a pattern to find in it. */
type Pattern = string | RegExp;

/** A command line and its result. */
export interface Row {
  readonly line: string;
  readonly status: number;
  readonly stdout: Pattern;
  /** The sentence after "ndscatter: "; null for an empty stderr. */
  readonly stderr: Pattern | null;
}

/** A command that succeeds. */
export const prints = (line: string, stdout: Pattern, note: Pattern | null = null): Row => ({
  line,
  status: 0,
  stdout,
  stderr: note,
});

/** A command that fails because of its files. */
export const fails = (line: string, sentence: Pattern | null, stdout: Pattern = ""): Row => ({
  line,
  status: 1,
  stdout,
  stderr: sentence,
});

/** A command that fails because of its arguments. */
export const refuses = (line: string, sentence: Pattern): Row => ({
  line,
  status: 2,
  stdout: "",
  stderr: sentence,
});

const match = (text: string, pattern: Pattern): void => {
  if (typeof pattern === "string") assert.equal(text, pattern);
  else assert.match(text, pattern);
};

const PREFIX = "ndscatter: ";

export function checkResult(result: Result, { line, status, stdout, stderr }: Row): void {
  if (stderr === null) {
    assert.equal(result.stderr, "");
  } else {
    assert.ok(result.stderr.startsWith(PREFIX) && result.stderr.endsWith("\n"), result.stderr);
    match(result.stderr.slice(PREFIX.length, -1), stderr);
    // Stderr has one sentence; --debug adds the original error.
    if (!line.includes("--debug")) assert.equal(result.stderr.split("\n").length, 2);
  }
  match(result.stdout, stdout);
  assert.equal(result.status, status);
}
