/**
 * Commands with what they print, as text: `test/cli/NAME.txt`. A block begins with `$ ndscatter …`; its output follows,
 * each line of stderr after `! `, and the status if it is not 0, as `[status 2]`. An empty line ends the block. A command
 * may end in `< FILE`, its standard input. Blocks stand in sections, `## title`, which a test file runs in its folder.
 *
 * A test is added by writing its command. `UPDATE=1 npm test -- cli` writes what the commands print, and a person reads
 * the difference.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { IS_UPDATE, ROOT, shellWords } from "./documents.ts";
import type { Folder, Result } from "./cli.ts";
import { setLimits } from "./limits.ts";

/** Output that differs between two runs of a command, and its replacement. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // The job's file contains the paths of its arrays.
  [/^disk +\d+ kB/gm, "disk       N kB"],
  // Compressors differ between versions of Node.
  [/(zstd.*\n(?: {2}(?!bytes).*\n)* {2}bytes +)[\d,]+, [\d.]+ times/g, "$1N, N times"],
  [/\btook [\d.]+ times/g, "took N times"],
];

interface Section {
  readonly title: string;
  /** The blocks: a command line, and the lines below it. */
  readonly blocks: { line: string; printed: string }[];
}

function parse(text: string): Section[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title, ...rest] = part.split("\n");
      const blocks = `\n${rest.join("\n")}`.split("\n$ ndscatter").slice(1);
      return {
        title,
        blocks: blocks.map((block) => {
          const end = block.indexOf("\n");
          return {
            line: block.slice(0, end).trim(),
            printed: `${block.slice(end + 1).trimEnd()}\n`,
          };
        }),
      };
    });
}

const print = (sections: readonly Section[]): string =>
  sections
    .map(({ title, blocks }) => {
      const texts = blocks.map(
        ({ line, printed }) => `$ ndscatter ${line}`.trimEnd() + `\n${printed}`,
      );
      return `## ${title}\n\n${texts.join("\n")}`;
    })
    .join("\n");

/** Returns the output of a command as a transcript shows it. */
function printedBy({ status, stdout, stderr }: Result, home: string): string {
  const lines = stderr
    .split("\n")
    .slice(0, -1)
    .map((line) => `! ${line}\n`);
  const end = status === 0 ? "" : `[status ${String(status)}]\n`;
  const text = `${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${lines.join("")}${end}`;
  const shown = VARIABLE.reduce((all, [pattern, word]) => all.replaceAll(pattern, word), text);
  return `${shown.replaceAll(home, "FOLDER").trimEnd()}\n`;
}

function runLine({ at, ndscatter }: Folder, line: string): Promise<Result> {
  const [command, file] = line.split(" < ");
  const surroundings =
    file === undefined ? {} : { stdin: new Uint8Array(fs.readFileSync(at(file))) };
  return ndscatter(shellWords(command), surroundings);
}

/** A test for each command of a section of `test/cli/NAME.txt`, in order, in a folder. */
export function testTranscript(folder: Folder, name: string, title: string): void {
  const file = path.join(ROOT, "test/cli", `${name}.txt`);
  const read = (): Section[] => parse(fs.readFileSync(file, "utf8"));
  const { blocks } = read().find((one) => one.title === title) ?? assert.fail(`${name}: ${title}`);
  const printed: string[] = [];
  for (const block of blocks) {
    test(`ndscatter ${block.line}`, async () => {
      // A stage that takes longer than this limit prints its rate, which a busy machine must not show.
      const restore = setLimits({ CLI: { stage: Infinity } });
      const text = printedBy(await runLine(folder, block.line).finally(restore), folder.home);
      printed.push(text);
      if (!IS_UPDATE) assert.equal(text, block.printed);
    });
  }
  after(() => {
    if (!IS_UPDATE) return;
    const sections = read();
    const own = sections.find((one) => one.title === title);
    for (const [at, text] of printed.entries())
      if (own !== undefined) own.blocks[at].printed = text;
    fs.writeFileSync(file, print(sections));
  });
}
