/**
 * Simulates a disk that loses power: records the operations on a folder's files, and puts the folder into a possible
 * state after a crash. As in a file system with a journal, names change in order: a crash keeps a prefix of the
 * operations on names, at least up to the latest sync. Unsynced writes to a file may be present, missing, cut, or
 * zeros. Only calls of `node:fs/promises` are recorded.
 */

import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as path from "node:path";
import type { Random } from "./random.ts";

/** The content of a file: the synced version, then each later write. */
interface Inode {
  contents: Uint8Array[];
  /** The time of writing; a crash keeps that of a synced file. */
  time?: Date;
}

/** An operation on a name. A folder has no inode. */
type Change = { readonly set: string; readonly to: Inode | "folder" } | { readonly remove: string };

type Step =
  | { readonly kind: "change"; readonly changes: readonly Change[] }
  | { readonly kind: "write"; readonly inode: Inode; readonly bytes: Uint8Array }
  | { readonly kind: "sync"; readonly inode: Inode | null; readonly time: Date | null };

type Names = Map<string, Inode | "folder">;

const promises = fs.promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
const PATCHED = [
  "open",
  "writeFile",
  "appendFile",
  "copyFile",
  "rename",
  "link",
  "unlink",
  "rm",
  "rmdir",
  "mkdir",
];

export class Disk {
  readonly #root: string;
  readonly #originals = new Map(PATCHED.map((name) => [name, promises[name]]));
  /** The state that the running program sees. */
  #names: Names;
  /** The state when recording began. */
  #before: Names;
  #steps: Step[] = [];

  constructor(root: string) {
    this.#root = root;
    this.#names = namesIn(root);
    this.#before = new Map(this.#names);
  }

  /** The number of recorded steps. */
  get steps(): number {
    return this.#steps.length;
  }

  /** Records the operations of `action`, even if it throws. */
  async record(action: () => Promise<void>): Promise<void> {
    this.#names = namesIn(this.#root);
    this.#before = new Map(this.#names);
    this.#steps = [];
    for (const name of PATCHED) {
      promises[name] = async (...args) => {
        const result = await this.#originals.get(name)?.(...args);
        return this.#note(name, args, result);
      };
    }
    syncBuiltinESMExports();
    try {
      await action();
    } finally {
      for (const [name, original] of this.#originals) promises[name] = original;
      syncBuiltinESMExports();
    }
  }

  #note(name: string, [first, second]: readonly unknown[], result: unknown): unknown {
    const [file, to] = [String(first), String(second)];
    switch (name) {
      case "open":
        if (/[wa]/.test(String(second))) this.#written(file);
        return this.#handle(file, result as fs.promises.FileHandle);
      case "writeFile":
      case "appendFile":
        this.#written(file);
        break;
      case "copyFile":
        this.#written(to);
        break;
      case "rename": {
        const moved = [...this.#names].filter(
          ([one]) => one === file || one.startsWith(file + path.sep),
        );
        const changes: Change[] = [];
        for (const [one, inode] of moved) {
          changes.push({ remove: one }, { set: to + one.slice(file.length), to: inode });
        }
        this.#change(...changes);
        break;
      }
      case "link":
        this.#change({ set: to, to: this.#names.get(file) ?? { contents: [] } });
        break;
      case "mkdir":
        this.#change({ set: file, to: "folder" });
        break;
      default:
        // Unlink, rm and rmdir remove the innermost names first.
        for (const one of [...this.#names.keys()].toReversed())
          if (one === file || one.startsWith(file + path.sep)) this.#change({ remove: one });
    }
    return result;
  }

  /** Changes that a crash keeps or loses together. */
  #change(...given: readonly Change[]): void {
    const changes = given.filter((one) =>
      ("set" in one ? one.set : one.remove).startsWith(this.#root),
    );
    if (changes.length === 0) return;
    this.#steps.push({ kind: "change", changes });
    for (const change of changes) apply(this.#names, change);
  }

  /** Records the current content of a file. */
  #written(file: string): void {
    if (!this.#names.has(file)) this.#change({ set: file, to: { contents: [] } });
    const inode = this.#names.get(file);
    if (inode === undefined || inode === "folder") return;
    this.#steps.push({ kind: "write", inode, bytes: new Uint8Array(fs.readFileSync(file)) });
  }

  #handle(file: string, handle: fs.promises.FileHandle): fs.promises.FileHandle {
    const inode = this.#names.get(file);
    const isFile = inode !== undefined && inode !== "folder";
    /** The file's name may have changed since. */
    const nameOf = (): string => [...this.#names].find(([, one]) => one === inode)?.[0] ?? file;
    return new Proxy(handle, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const result: unknown = await Reflect.apply(value, target, args);
          if (name === "write" || name === "writeFile" || name === "truncate")
            this.#written(nameOf());
          if (name === "sync" || name === "datasync")
            this.#steps.push({
              kind: "sync",
              inode: isFile ? inode : null,
              time: isFile ? timeOf(nameOf()) : null,
            });
          return result;
        };
      },
    });
  }

  /** Puts the folder into a possible state after a crash at a step. */
  crash(step: number, random: Random): void {
    const done = this.#steps.slice(0, step);
    const synced = done.findLastIndex(({ kind }) => kind === "sync") + 1;
    const kept = synced + random(done.length - synced + 1);
    const names = new Map(this.#before);
    for (const one of done.slice(0, kept))
      if (one.kind === "change") for (const change of one.changes) apply(names, change);
    /** The possible contents of each written file. */
    const contents = new Map<Inode, Uint8Array[]>();
    const times = new Map<Inode, Date>();
    for (const one of done) {
      if (one.kind === "change" || one.inode === null) continue;
      const known = contents.get(one.inode) ?? [one.inode.contents[0] ?? new Uint8Array()];
      contents.set(one.inode, one.kind === "write" ? [...known, one.bytes] : known.slice(-1));
      if (one.kind === "sync" && one.time !== null) times.set(one.inode, one.time);
      else times.delete(one.inode);
    }
    /** Files that were written before the crash or would have been written later. */
    const written = new Set(this.#steps.map((one) => (one.kind === "write" ? one.inode : null)));
    // Unwritten files stay, with their times.
    const stays = (name: string): boolean => {
      const inode = names.get(name);
      if (inode === undefined || inode !== this.#names.get(name)) return false;
      return inode === "folder" || !written.has(inode);
    };
    for (const name of namesIn(this.#root).keys())
      if (!stays(name)) fs.rmSync(name, { recursive: true, force: true });
    for (const [name, inode] of names) {
      if (stays(name) && fs.existsSync(name)) continue;
      if (inode === "folder") {
        fs.mkdirSync(name, { recursive: true });
        continue;
      }
      fs.mkdirSync(path.dirname(name), { recursive: true });
      fs.writeFileSync(name, lost(contents.get(inode) ?? inode.contents.slice(-1), random));
      const time = contents.has(inode) ? times.get(inode) : inode.time;
      if (time !== undefined) fs.utimesSync(name, time, time);
    }
  }
}

/** A possible content of a file: of several versions, the first is on the disk, and the last was written. */
function lost(contents: readonly Uint8Array[], random: Random): Uint8Array {
  const [first = new Uint8Array()] = contents;
  const last = contents.at(-1) ?? first;
  if (contents.length < 2) return last;
  // Appending keeps the existing content.
  const isAppended = first.length <= last.length && first.every((byte, i) => byte === last[i]);
  const kept = isAppended ? first.length : 0;
  const cut = last.slice(0, kept + random(last.length - kept + 1));
  const zeros = last.slice().fill(0, kept);
  return [first, last, zeros, cut][random(4)];
}

function apply(names: Names, change: Change): void {
  if ("remove" in change) names.delete(change.remove);
  else names.set(change.set, change.to);
}

function namesIn(root: string): Names {
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  return new Map(
    entries.map((entry) => {
      const name = path.join(entry.parentPath ?? entry.path, entry.name);
      return [
        name,
        entry.isDirectory()
          ? "folder"
          : { contents: [new Uint8Array(fs.readFileSync(name))], time: timeOf(name) },
      ];
    }),
  );
}

/** Times are rounded to milliseconds, so that they can be set again exactly. */
const timeOf = (name: string): Date => new Date(Math.round(fs.statSync(name).mtimeMs));
