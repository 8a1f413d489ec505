/**
 * Lists the sentences that the library and its command can print, by file and code, and the rules that they break:
 * `node scripts/messages.js [--broken] [CODE or FOLDER...]`.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { broken } from "./messages/check.js";
import { collect } from "./messages/collect.js";

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Matches generated files and files of shader code. */
const LEFT_OUT = /schema_pb\.ts$|bytes\.ts$/;

/** Returns all sentences that the project can print. */
export function messages() {
  const files = fs
    .readdirSync(path.join(ROOT, "src"), { recursive: true })
    .map((file) => `src/${file.replaceAll(path.sep, "/")}`)
    .filter((file) => file.endsWith(".ts") && !LEFT_OUT.test(file))
    .toSorted();
  return collect(
    new Map(files.map((file) => [file, fs.readFileSync(path.join(ROOT, file), "utf8")])),
  );
}

/** Prints the sentences of some codes or folders; only those that break a rule with --broken. */
function print(words) {
  const onlyBroken = words.includes("--broken");
  const wanted = words.filter((word) => !word.startsWith("--"));
  let last = "";
  let count = 0;
  for (const sentence of messages()) {
    const { file, line, code, text } = sentence;
    const rules = broken(sentence);
    if (onlyBroken && rules.length === 0) continue;
    if (wanted.length > 0 && !wanted.some((word) => code === word || file.startsWith(word)))
      continue;
    if (file !== last) console.log(`\n${file}`);
    last = file;
    count++;
    console.log(`  ${line} [${code}] ${text}${rules.map((rule) => `\n    -> ${rule}`).join("")}`);
  }
  console.log(`\n${count} sentences`);
}

if (fileURLToPath(import.meta.url) === process.argv[1]) print(process.argv.slice(2));
