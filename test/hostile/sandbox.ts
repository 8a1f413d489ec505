/** A folder whose contents are put back after each mutant, and one beside it that nobody may change. */

import * as fs from "node:fs";
import * as path from "node:path";

/** A whole second, so that the time of a file survives being set. */
const TIME = 1_700_000_000;

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

/** Sets the times of all files of a folder, so that they are the same after each `restore`. */
export function setTimes(folder: string): void {
  for (const [name, bytes] of contentsOf(folder))
    if (typeof bytes === "object" && bytes !== null)
      fs.utimesSync(path.join(folder, name), TIME, TIME);
}

export class Sandbox {
  readonly home: string;
  readonly files: readonly string[];
  /** Files and folders. */
  readonly names: readonly string[];
  readonly #contents: ReadonlyMap<string, Uint8Array | string | null>;

  constructor(home: string) {
    this.home = home;
    this.#contents = contentsOf(home);
    this.names = [...this.#contents.keys()];
    this.files = this.names.filter((name) => this.#contents.get(name) !== null);
  }

  read(name: string): Uint8Array {
    return this.#contents.get(name) as Uint8Array;
  }

  at(name: string): string {
    return path.join(this.home, name);
  }

  restore(): void {
    fs.rmSync(this.home, { recursive: true, force: true });
    fs.mkdirSync(this.home);
    for (const [name, bytes] of this.#contents) {
      const file = this.at(name);
      if (bytes === null) fs.mkdirSync(file);
      else {
        fs.writeFileSync(file, bytes);
        fs.utimesSync(file, TIME, TIME);
      }
    }
  }
}
