/** Compares the sentences that a run provoked with `test/fixtures/sentences.txt`, or rewrites the file: `UPDATE=1`. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

const FILE = new URL("../../../test/fixtures/sentences.txt", import.meta.url);

/** A folder for the reports of all processes of a run, which inherit its name in `SENTENCES`. */
export function collectSentences(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-sentences-"));
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
  process.env["SENTENCES"] = folder;
  return folder;
}

const linesOf = (text: string): string[] => text.split("\n").filter(Boolean);

/**
 * Compares reports with the file, or rewrites the file.
 * @param isWhole true if all tests ran: only then does a sentence without a report have no test
 * @returns the lines that differ, marked as in a diff; none after a rewrite
 */
export function compareSentences(folder: string, isWhole: boolean): string[] {
  const reported = new Set(
    fs
      .readdirSync(folder)
      .flatMap((file) => linesOf(fs.readFileSync(path.join(folder, file), "utf8"))),
  );
  const known = new Set(fs.existsSync(FILE) ? linesOf(fs.readFileSync(FILE, "utf8")) : []);
  if (process.env["UPDATE"] !== undefined) {
    const lines = [...new Set(isWhole ? reported : [...reported, ...known])].toSorted();
    fs.writeFileSync(FILE, `${lines.join("\n")}\n`);
    return [];
  }
  const fresh = [...reported].filter((line) => !known.has(line));
  const gone = isWhole ? [...known].filter((line) => !reported.has(line)) : [];
  return [...gone.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)];
}
