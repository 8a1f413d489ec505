/** Runs collected commands and programs on a build of the package, each with the files that it found in its test. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { HERE } from "../../build/test/support/collect.js";
import { WatchedFolder } from "../../build/test/support/folder-contents.js";
import { hashOf } from "./hash.js";

const OWN = path.join(import.meta.dirname, "../..");

/** A command that takes longer has hung. */
const PATIENCE = 60_000;

/** Lines that need something outside their folder: a server of the test. */
const NEEDS_MORE = /https?:\/\/(?:127|localhost)/;

/** Durations, rates and process ids, which differ from run to run. */
const VARIABLE = [
  // Progress, which is printed when a command takes long.
  [/^\w+: \d+ of \d+, .*\n/gm, ""],
  // The folder of the test, from a file of a job.
  [/\/[^\s"']*\/(?:ndscatter-cli|documents|tour)-\w{6}/g, HERE],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b/g, "<time>"],
  [/\b\d+(?:\.\d+)? [kMGT]?B\/s/g, "<rate>"],
];

/** Text without what differs from run to run or from folder to folder. */
function steady(text, folder) {
  let result = (folder === "/" ? text : text.replaceAll(folder, HERE)).replaceAll(
    OWN,
    "{checkout}",
  );
  for (const [pattern, word] of VARIABLE) result = result.replaceAll(pattern, word);
  // In output with times, other numbers may follow from the times.
  return HAS_TIMES.test(result) ? result.replaceAll(/\d[\d.,]*/g, "#") : result;
}

const HAS_TIMES =
  /<time>|times as long|"speed|<rate>|second|B\/s|milliseconds|"ms"|\d{4}-\d\d-\d\d/i;

/** Commands that leave a job, whose folder holds times and process ids. */
const LEAVES_JOB = / --job /;

/** Shortens a text to a beginning and a hash. */
const shortened = (text) =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}... ${hashOf(text)}`;
const LONGEST = 400;

/** Replays the rows of one test file. */
export class Replay {
  /** Folders by those of the test. */
  #folders = new Map();

  constructor(root, store) {
    this.root = root;
    this.store = store;
    this.homes = {
      command: temporary(),
      // Inside build/, so that programs find the package by its own name.
      program: fs.mkdtempSync(path.join(root, "build", "record-")),
    };
  }

  /** The folder of a row, with its files. */
  #folderOf(row) {
    const key = row.kind === "program" ? "program" : row.folder;
    if (!this.#folders.has(key)) {
      const folder = path.join(this.homes[row.kind], String(this.#folders.size));
      fs.mkdirSync(folder);
      this.#folders.set(key, { folder, watched: new WatchedFolder(folder, this.store) });
    }
    const found = this.#folders.get(key);
    found.watched.restore(row.contents);
    return found;
  }

  /** Runs a command or program, and returns its lines of the record. */
  async run(row) {
    if (row.contents === null)
      return this.#result(await this.#command(row, row.folder), row.folder);
    const { folder, watched } = this.#folderOf(row);
    const before = watched.contents();
    const done =
      row.kind === "program" ? this.#program(row, folder) : await this.#command(row, folder);
    const written = Object.entries(watched.contents()).filter(
      ([name, hash]) => before[name] !== hash,
    );
    const isJob = row.kind === "command" && LEAVES_JOB.test(` ${row.words.join(" ")} `);
    return this.#result(done, folder, isJob ? [] : written);
  }

  #result({ status, stdout, stderr }, folder, written = []) {
    const files = written.map(([name, hash]) => `${name} ${hash}`).toSorted();
    const shown = steady(stdout, folder);
    return {
      status,
      ...(files.length > 0 && { values: hashOf(...files) }),
      ...(stderr !== "" && { sentence: shortened(steady(stderr, folder)) }),
      printed: hashOf(shown),
      shown: { stdout: shown, files },
    };
  }

  async #command({ words, env, isTTY, columns, stdin }, folder) {
    const { main } = await import(pathToFileURL(path.join(this.root, "build/src/cli/program.js")));
    const written = { stdout: "", stderr: "" };
    const output = (name) => ({
      isTTY: isTTY && name === "stdout",
      columns,
      write: (text) => void (written[name] += text),
    });
    const io = {
      cwd: folder,
      env,
      stdin:
        stdin === null
          ? { isTTY: true, read: () => new Uint8Array() }
          : { isTTY: false, read: () => new Uint8Array(Buffer.from(stdin, "base64")) },
      stdout: output("stdout"),
      stderr: output("stderr"),
      onSignal: () => () => {},
      onInterrupt: () => () => {},
    };
    const argv = words.map((word) => word.replaceAll(HERE, folder));
    let alarm = null;
    const late = new Promise((resolve) => (alarm = setTimeout(resolve, PATIENCE, "has not ended")));
    const status = await Promise.race([main(argv, io), late]);
    clearTimeout(alarm);
    return { status, ...written };
  }

  #program({ code }, folder) {
    const file = path.join(folder, "program.mjs");
    fs.writeFileSync(
      file,
      transformSync(code.replaceAll(HERE, folder), { loader: "ts", target: "es2022" }).code,
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: folder,
      encoding: "utf8",
    });
    fs.rmSync(file);
    return { status, stdout, stderr };
  }

  close() {
    for (const home of Object.values(this.homes)) fs.rmSync(home, { recursive: true, force: true });
  }
}

/** The rows of a test file with their ids, which do not depend on other rows. */
export function idsOf({ name, rows }) {
  const seen = new Map();
  return rows.flatMap((row) => {
    const text = row.kind === "program" ? row.code : row.words.join(" ");
    if (NEEDS_MORE.test(text)) return [];
    const own = text.replaceAll(OWN, "{checkout}").replaceAll(path.dirname(OWN), "{parent}");
    const key = `${row.kind}/${name}/${hashOf(own, JSON.stringify([row.env, row.isTTY, row.columns])).slice(0, 8)}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    const line = row.kind === "program" ? own.trim().split("\n")[0] : own.slice(0, LONGEST);
    return [{ id: nth === 1 ? key : `${key}.${nth}`, line, row }];
  });
}

/** The temporary folder of a run. */
export const temporary = () => fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-record-"));
