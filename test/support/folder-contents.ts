/** The contents of a folder as data: to keep them, to compare them, and to put them back. */

import * as crypto from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";

/** The hash of each file by its path; `/` for a folder, a long file by its length alone. */
export type Contents = Readonly<Record<string, string>>;

/** Longer files are holes of tests about long files. They are put back as holes. */
const LONGEST = 2 ** 26;
const HOLE = "hole of ";

/** A folder whose files change. Files that did not change are read once. */
export class WatchedFolder {
  private readonly home: string;
  private readonly store: string;
  private readonly known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  /** @param store a folder that gets a copy of each file, named by its hash */
  constructor(home: string, store: string) {
    this.home = home;
    this.store = store;
  }

  contents(): Contents {
    const contents: Record<string, string> = {};
    const entries = fs.readdirSync(this.home, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const file = path.join(entry.parentPath, entry.name);
      const name = path.relative(this.home, file);
      if (entry.isDirectory()) contents[name] = "/";
      else if (entry.isFile()) contents[name] = this.hash(file);
    }
    return contents;
  }

  /** Gives the folder these contents, which are in the store. */
  restore(wanted: Contents): void {
    const before = this.contents();
    const isWrong = ([name, hash]: [string, string]): boolean => wanted[name] !== hash;
    for (const [name] of Object.entries(before).filter(isWrong)) {
      fs.rmSync(path.join(this.home, name), { recursive: true, force: true });
    }
    for (const [name, hash] of Object.entries(wanted).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const file = path.join(this.home, name);
      if (before[name] === hash && fs.existsSync(file)) continue;
      if (hash === "/") fs.mkdirSync(file, { recursive: true });
      else if (hash.startsWith(HOLE)) {
        fs.writeFileSync(file, "");
        fs.truncateSync(file, Number(hash.slice(HOLE.length)));
      } else fs.copyFileSync(path.join(this.store, hash), file);
    }
  }

  private hash(file: string): string {
    const { size, mtimeNs, ino } = fs.statSync(file, { bigint: true });
    if (size > LONGEST) return HOLE + size;
    const stamp = `${size} ${mtimeNs} ${ino}`;
    const known = this.known.get(file);
    if (known?.stamp === stamp) return known.hash;
    const hash = crypto.hash("sha1", fs.readFileSync(file), "hex");
    this.known.set(file, { stamp, hash });
    const copy = path.join(this.store, hash);
    if (!fs.existsSync(copy)) fs.copyFileSync(file, copy);
    return hash;
  }
}
