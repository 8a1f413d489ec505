/**
 * Runs the snippets of a document as they stand, one after the other: its TypeScript as one module, compiled first,
 * then the lines of its shell blocks, in the folder with the module's files.
 */

import assert from "node:assert/strict";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after } from "node:test";
import { MAIN } from "./cli.ts";
import { collectCommand, collectProgram } from "./collect.ts";
import { IS_UPDATE, rewrite, ROOT, shellWords } from "./documents.ts";

const tsc = path.join(
  path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);

/** The first lines of the program. Bun's own `console.log` breaks the lines of objects differently. */
const START = `
import { format } from "node:util";
console.log = (...values) => process.stdout.write(format(...values) + "\\n");
await import("./program.js");
`;

/**
 * The folders of compiled programs, by their code. The first call compiles all of them at once, because each run of the
 * compiler takes 0.6 s.
 */
export function programsOf(
  name: string,
  codes: () => readonly string[],
): () => ReadonlyMap<string, string> {
  let folders: ReadonlyMap<string, string> | undefined;
  let home = "";
  after(() => {
    if (home !== "") fs.rmSync(home, { recursive: true, force: true });
  });
  return () => {
    if (folders !== undefined) return folders;
    // Inside build/, so that the package is found by its own name.
    home = fs.mkdtempSync(path.join(ROOT, "build", `${name}-`));
    const named = new Map(codes().map((code, number) => [code, path.join(home, String(number))]));
    compile(home, named);
    folders = named;
    return folders;
  };
}

function compile(folder: string, programs: ReadonlyMap<string, string>): void {
  const config = {
    extends: path.relative(folder, path.join(ROOT, "tsconfig.json")),
    compilerOptions: {
      // The state of the compiler for the tests themselves, in build/, remains.
      incremental: false,
      tsBuildInfoFile: null,
      rootDir: ".",
      outDir: ".",
      // Readers may have this option set, which makes the result of an index possibly undefined.
      noUncheckedIndexedAccess: true,
      typeRoots: [path.join(ROOT, "node_modules/@types")],
    },
    files: [...programs.values()].map((one) => path.join(one, "program.ts")),
    include: [],
  };
  for (const [code, one] of programs) {
    fs.mkdirSync(one);
    collectProgram(code, one);
    fs.writeFileSync(path.join(one, "program.ts"), code);
    fs.writeFileSync(path.join(one, "start.js"), START);
  }
  fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiled = run(folder, process.execPath, [tsc, "-p", ".", "--pretty", "false"]);
  assert.equal(compiled.stdout, "");
}

/** Runs a program in the folder that it was compiled into, and returns its output. */
export function runProgram(folder: string): string {
  const { status, stdout, stderr } = run(folder, process.execPath, ["start.js"]);
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout;
}

/** Runs lines of a shell script that need a shell; each must succeed. */
export function runShell(folder: string, lines: readonly string[]): void {
  const bin = path.join(folder, "bin");
  fs.mkdirSync(bin);
  // Deno grants a program no permissions by default.
  const start = "Deno" in globalThis ? "run --allow-all" : "";
  const script = `#!/bin/sh\nexec "${process.execPath}" ${start} "${MAIN}" "$@"\n`;
  fs.writeFileSync(path.join(bin, "ndscatter"), script, { mode: 0o755 });
  const env = { PATH: `${bin}${path.delimiter}${process.env["PATH"]}` };
  for (const line of lines) {
    collectCommand(folder, shellWords(line.replace(/^ndscatter /, "")));
    const { status, stdout, stderr } = run(folder, "sh", ["-c", line], env);
    assert.equal(status, 0, `${line}\n${stdout}${stderr}`);
  }
}

const run = (
  cwd: string,
  command: string,
  args: readonly string[],
  env: object = {},
): SpawnSyncReturns<string> =>
  spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, ...env },
  });

/** A comment that shows the output of a line: the number of the line, and the text. */
interface Promised {
  readonly line: number;
  readonly text: string;
}

/**
 * The output that comments of the code promise: behind a `console.log`, or in the comment lines below it.
 * @throws if a `console.log` has no such comment
 */
function promisesOf(code: string): Promised[] {
  const lines = code.split("\n");
  return lines.flatMap((text, line) => {
    if (!text.includes("console.log(")) return [];
    const below = commentsBelow(lines, line + 1);
    if (below.length > 0) return below;
    const [, behind] = /console\.log\(.*\); \/\/ (.*)$/.exec(text) ?? [];
    assert.ok(behind !== undefined, `what does it print? ${text}`);
    return [{ line, text: behind }];
  });
}

/** The promised output as a text. */
export const promisedOutput = (code: string): string =>
  promisesOf(code)
    .map(({ text }) => `${text}\n`)
    .join("");

/**
 * Compares the output of a document's code with its comments. `UPDATE=1` rewrites the comments, if the output has as
 * many lines.
 * @param blocks the blocks of the code, which ran as one program
 */
export function assertPromised(blocks: readonly string[], output: string): void {
  const printed = output.split("\n").slice(0, -1);
  const promised = blocks.map(promisesOf);
  if (!IS_UPDATE || printed.length !== promised.flat().length) {
    assert.equal(output, blocks.map(promisedOutput).join(""));
    return;
  }
  for (const [number, block] of blocks.entries()) {
    const lines = block.split("\n");
    for (const { line, text } of promised[number]) {
      lines[line] = `${lines[line].slice(0, lines[line].length - text.length)}${printed.shift()}`;
    }
    rewrite(block, lines.join("\n"));
  }
}

/** The comments from a line on, skipping ends of blocks. */
function commentsBelow(lines: readonly string[], from: number): Promised[] {
  let start = from;
  while (/^ *}$/.test(lines[start])) start++;
  let end = start;
  while (/^ *\/\/ /.test(lines[end])) end++;
  return lines
    .slice(start, end)
    .map((text, at) => ({ line: start + at, text: text.replace(/^ *\/\/ /, "") }));
}
