/** A folder whose contents are put back after each mutant, and one beside it that nobody may change. */

import * as fs from "node:fs";
import * as path from "node:path";

/** Every name below a folder, with the bytes of a file, where a link leads, or null for a folder. */
export function contentsOf(folder: string): ReadonlyMap<string, Uint8Array | string | null> {
  const contents = new Map<string, Uint8Array | string | null>();
  const walk = (prefix: string): void => {
    for (const entry of fs.readdirSync(path.join(folder, prefix), { withFileTypes: true })) {
      const name = path.join(prefix, entry.name);
      const file = path.join(folder, name);
      if (entry.isDirectory()) {
        contents.set(name, null);
        walk(name);
      } else if (entry.isSymbolicLink()) contents.set(name, fs.readlinkSync(file));
      else contents.set(name, entry.isFile() ? fs.readFileSync(file) : "");
    }
  };
  walk("");
  return contents;
}

/** Contents as a text that two equal folders share. */
export const printContents = (folder: string): string =>
  [...contentsOf(folder)]
    .map(
      ([name, bytes]) => `${name} ${bytes === null ? "" : Buffer.from(bytes).toString("latin1")}`,
    )
    .toSorted()
    .join("\n");

export class Sandbox {
  readonly home: string;
  readonly files: readonly string[];
  /** Files and folders. */
  readonly names: readonly string[];
  readonly #contents: ReadonlyMap<string, Uint8Array | string | null>;
  /** Jobs compare times of files to the millisecond. */
  readonly #times: ReadonlyMap<string, number>;

  constructor(home: string) {
    this.home = home;
    this.#contents = contentsOf(home);
    this.names = [...this.#contents.keys()];
    this.files = this.names.filter((name) => this.#contents.get(name) !== null);
    // Jobs record whole milliseconds. A fraction near a half could be rounded the other way after it was put back.
    const timeOf = (name: string): number => Math.round(fs.statSync(this.at(name)).mtimeMs);
    this.#times = new Map(this.files.map((name) => [name, timeOf(name)]));
  }

  read(name: string): Uint8Array {
    return this.#contents.get(name) as Uint8Array;
  }

  at(name: string): string {
    return path.join(this.home, name);
  }

  /** Puts back what has changed. Most mutants change little, and reading is faster than writing. */
  restore(): void {
    if (!fs.existsSync(this.home)) fs.mkdirSync(this.home);
    this.#removeStrangers("");
    for (const [name, bytes] of this.#contents) {
      const file = this.at(name);
      if (bytes === null) fs.mkdirSync(file, { recursive: true });
      else {
        const time = (this.#times.get(name) ?? 0) / 1000;
        if (!this.#isSame(file, name)) fs.writeFileSync(file, bytes);
        fs.utimesSync(file, time, time);
      }
    }
  }

  /** Removes what is not of the folder, and what has become something else, such as a link. */
  #removeStrangers(prefix: string): void {
    for (const entry of fs.readdirSync(this.at(prefix), { withFileTypes: true })) {
      const name = path.join(prefix, entry.name);
      const bytes = this.#contents.get(name);
      const isFolder = bytes === null && entry.isDirectory();
      const isFile = typeof bytes === "object" && bytes !== null && entry.isFile();
      if (isFolder) this.#removeStrangers(name);
      else if (!isFile || fs.lstatSync(this.at(name)).nlink > 1)
        fs.rmSync(this.at(name), { recursive: true, force: true });
    }
  }

  #isSame(file: string, name: string): boolean {
    const bytes = this.#contents.get(name) as Uint8Array;
    const found = fs.lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined || found.size !== bytes.length) return false;
    return Buffer.compare(fs.readFileSync(file), bytes) === 0;
  }
}
