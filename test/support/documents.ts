/**
 * The repository's documents for tests: tables, code blocks, and commands with their output. This module checks no
 * statement of a document; the tests do.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { runCommand, type Result } from "./cli.ts";
import { collectProgram } from "./collect.ts";
import { ROOT } from "./root.ts";

export { ROOT };

export const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), "utf8");

export const exists = (file: string): boolean => fs.existsSync(path.join(ROOT, file));

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const FENCE = /^```(\w*)\n([^]*?)^```$/gm;

/** All tables of a document, in order. */
export function tablesOf(markdown: string): Table[] {
  const runs: string[][] = [[]];
  for (const line of markdown.replaceAll(FENCE, "").split("\n")) {
    if (line.startsWith("|")) runs[runs.length - 1].push(line);
    else if (runs[runs.length - 1].length > 0) runs.push([]);
  }
  return runs.flatMap(([head, rule, ...rows]) => {
    if (head === undefined) return [];
    assert.match(rule ?? "", /^\|(?: ?-+ ?\|)+$/, `no rule below ${head}`);
    return [{ head: cellsOf(head), rows: rows.map(cellsOf) }];
  });
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** The rows of the one table between `<!-- mark -->` and `<!-- /mark -->`. */
export function markedRows(file: string, mark: string): readonly (readonly string[])[] {
  const [, part = ""] = read(file).split(new RegExp(`<!-- /?${mark} -->`));
  const tables = tablesOf(part);
  assert.equal(tables.length, 1, `${file}: the mark ${mark} must hold one table`);
  return tables[0].rows;
}

/** The contents of the code blocks in a language, in order. */
export const blocksOf = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(FENCE)].flatMap(([, name, code]) => (name === language ? [code] : []));

/** The words between backquotes. */
export const quotedIn = (markdown: string): string[] =>
  [...markdown.replaceAll(FENCE, "").matchAll(/`([^`\n]+)`/g)].map(([, word]) => word);

/** True if the commands of a block run a model in ONNX Runtime, or read a case captured by such a command. */
export const needsRuntime = (block: string): boolean =>
  /^\$ ndscatter (verify|fix|capture|explain case\/)/m.test(block);

/** The words of a line. Single quotes keep a word with blanks or brackets together. */
export const shellWords = (line: string): string[] =>
  (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));

/** Runs `ndscatter LINE` in a folder. */
export const ndscatter = (line: string, folder = ROOT): Promise<Result> =>
  runCommand(folder, shellWords(line));

/** True if documents and transcripts are rewritten instead of compared. */
export const IS_UPDATE = process.env["UPDATE"] !== undefined;

/** Replaces a text in the document that holds it. The program that runs next sees the new text. */
export function rewrite(shown: string, printed: string): void {
  if (shown === printed) return;
  const holder = documents().find((file) => read(file).includes(shown));
  if (holder === undefined && documents().some((file) => read(file).includes(printed))) return;
  assert.ok(holder !== undefined, `no document holds: ${shown}`);
  fs.writeFileSync(
    path.join(ROOT, holder),
    read(holder).replace(shown, () => printed),
  );
}

/** The documents, as paths from the root. */
const documents = (): string[] =>
  [
    "README.md",
    ...["docs", "docs/arrays", "bench"].flatMap((folder) =>
      fs.readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`),
    ),
  ].filter((file) => file.endsWith(".md"));

/** True if lines show a text, in which a line of dots stands for any lines. */
function shows(lines: readonly string[], printed: string): boolean {
  const pattern = lines.map((text) =>
    text === "..." ? "(?:.*\\n)*" : `${text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")}\\n`,
  );
  return new RegExp(`^${pattern.join("")}$`).test(printed);
}

/** The lines that show a text as old lines did: with as many before and after the first dots. */
function shownAnew(lines: readonly string[], printed: string): readonly string[] {
  const all = printed.trimEnd().split("\n");
  const dots = lines.indexOf("...");
  if (dots === -1 || all.length < lines.length) return all;
  const after = lines.length - dots - 1;
  return [...all.slice(0, dots), "...", ...all.slice(all.length - after)];
}

/**
 * Runs every `$ ndscatter …` of a text block and compares its output with the lines below, where a line of dots stands
 * for any lines. `UPDATE=1` rewrites those lines in the document.
 * @returns the status of each
 */
export async function assertPrints(block: string, folder = ROOT): Promise<(number | null)[]> {
  const shown = block.split(/^\$ ndscatter /m).slice(1);
  assert.ok(shown.length > 0, "the block shows no command");
  const statuses: (number | null)[] = [];
  for (const one of shown) {
    const [line, ...lines] = one.trimEnd().split("\n");
    // The commands run in sequence, because a command may read files of the previous one.
    const { status, stdout, stderr } = await ndscatter(line, folder);
    const printed = `${stdout}${stderr}`.replace(/\n*$/, "\n");
    if (!shows(lines, printed)) {
      if (!IS_UPDATE) assert.equal(printed, `${lines.join("\n")}\n`, line);
      const anew = shownAnew(lines, printed);
      rewrite(`${[line, ...lines].join("\n")}\n`, `${[line, ...anew].join("\n")}\n`);
    }
    statuses.push(status);
  }
  return statuses;
}

/**
 * Runs a code block as a module, and returns its exports and its output.
 * @param name a file name that no other test uses
 * @param before declarations that the block assumes
 * @param exported names of the block's own constants
 */
export async function runBlock(
  name: string,
  code: string,
  { before = "", exported = [] }: { before?: string; exported?: readonly string[] } = {},
): Promise<{ values: Readonly<Record<string, unknown>>; printed: readonly unknown[] }> {
  const file = path.join(ROOT, "build", `${name}.mjs`);
  collectProgram(`${before}\n${code}`);
  const lines = [
    "export const printed = [];",
    before,
    code.replaceAll("console.log(", "printed.push("),
    `export { ${exported.join(", ")} };`,
  ];
  fs.writeFileSync(file, lines.join("\n"));
  try {
    const { printed, ...values }: { printed: unknown[] } = await import(file);
    return { values, printed };
  } finally {
    fs.rmSync(file);
  }
}

/** Compares the output of a block with the comments behind its `console.log`s. */
export function assertSays(code: string, printed: readonly unknown[]): void {
  const said = [...code.matchAll(/^console\.log\(.*?\);(?: \/\/ (.*))?$/gm)].map(
    ([, text]) => text,
  );
  assert.equal(printed.length, said.length);
  assert.ok(said.some((text) => text !== undefined));
  for (const [p, text] of said.entries()) {
    if (text !== undefined) assert.equal(inspect(printed[p]), text);
  }
}

/** Calls `action` with a new folder, which is removed afterwards. */
export async function inFolder(action: (folder: string) => unknown): Promise<void> {
  const folder = fs.mkdtempSync(path.join(ROOT, "build", "documents-"));
  try {
    await action(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
