/**
 * Provides the file system calls that tasks make for each chunk. The main thread uses Node's promise API, except for
 * many short reads. Worker threads use blocking calls, because Node runs promise-based calls on yet another thread.
 * Switching threads costs 60 to 250 µs, while the call itself takes 10 to 25 µs on a local disk. Slow calls, for
 * example on a network file system, use promises again, so that several calls can wait at the same time. Long reads and
 * writes always use promises.
 */

import type * as Fs from "node:fs";
import type * as FsPromises from "node:fs/promises";
import type { Stats } from "node:fs";
import { FILES } from "../../core/limits.ts";
import { moduleOfNode } from "./node.ts";

// Node's modules are never null here, because this module is loaded only in environments with files.
const sync = moduleOfNode("node:fs") as typeof Fs;
const promises = moduleOfNode("node:fs/promises") as typeof FsPromises;
const isMainThread = moduleOfNode("node:worker_threads")?.isMainThread ?? true;

type Name = (typeof NAMES)[number];
const NAMES = [
  "copyFile",
  "link",
  "mkdir",
  "readFile",
  "realpath",
  "rename",
  "rm",
  "stat",
  "unlink",
  "writeFile",
] as const;

/** An open file. The interface is part of Node's `FileHandle`. */
export interface OpenFile {
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    at: number,
  ): Promise<{ readonly bytesRead: number }>;
  write(
    from: Uint8Array,
    offset: number,
    length: number,
    at: number,
  ): Promise<{ readonly bytesWritten: number }>;
  /**
   * Fills `into` with a short range if reading may block the thread. Returns false if the range must be read with
   * `readLater`, which also reports errors. Both are absent from Node's own `FileHandle`.
   */
  readNow?(into: Uint8Array, at: number): boolean;
  /** The same as `read`, but never blocks the thread. */
  readLater?: OpenFile["read"];
  readFile(encoding: "utf8"): Promise<string>;
  writeFile(text: string): Promise<void>;
  stat(): Promise<Stats>;
  truncate(size: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Files extends Pick<typeof FsPromises, Name> {
  open(file: string, flags: string | number): Promise<OpenFile>;
}

/** Decides whether the next call blocks, based on the duration of earlier calls. */
export class Pace {
  readonly #slow: number;
  readonly #now: () => number;
  /** The mean duration of calls, in ms, weighted toward recent calls. */
  #mean = 0;
  /** The number of promise-based calls until a blocking call is tried again. */
  #rest = 0;
  readonly #turn: () => number;
  /** The duration of blocking calls since the last promise-based call, in ms. */
  #blocked = 0;

  /**
   * Calls stop blocking if their mean duration exceeds `slow` ms. After `turn` ms of blocking calls, one call does not
   * block, so that other code of the thread runs. Where turns are limited, a single call of `FILES.stall` ms suffices.
   */
  constructor(slow: number, now = () => performance.now(), turn = () => Infinity) {
    this.#slow = slow;
    this.#now = now;
    this.#turn = turn;
  }

  next(): boolean {
    if (this.#rest === 0 && this.#blocked < this.#turn()) return true;
    this.#rest = Math.max(0, this.#rest - 1);
    this.#blocked = 0;
    return false;
  }

  block<T>(action: () => T): T {
    const begin = this.#now();
    try {
      return action();
    } finally {
      // The duration is capped, so that one slow call does not make all calls count as slow.
      const whole = this.#now() - begin;
      const time = Math.min(whole, 2 * this.#slow);
      this.#blocked += whole;
      this.#mean += (time - this.#mean) / 16;
      const isStalled = whole > FILES.stall && this.#turn() < Infinity;
      if (isStalled || this.#mean > this.#slow) [this.#mean, this.#rest] = [0, FILES.rest];
    }
  }
}

/** Returns file system calls that block as long as they are fast. */
export function blockingFiles(turn = () => Infinity): Files {
  const pace = new Pace(FILES.slowCall, undefined, turn);
  const [reads, syncs] = [new Pace(FILES.slowRead, undefined, turn), new Pace(FILES.slowSync)];
  const open = async (file: string, flags: string | number): Promise<OpenFile> =>
    pace.next()
      ? new BlockingFile(
          pace.block(() => sync.openSync(file, flags)),
          { pace, reads, syncs },
        )
      : promises.open(file, flags);
  const calls = NAMES.map((name) => {
    const call = async (...args: unknown[]): Promise<unknown> =>
      pace.next()
        ? pace.block(() => Reflect.apply(sync[`${name}Sync`], sync, args))
        : Reflect.apply(promises[name], promises, args);
    return [name, call] as const;
  });
  return { ...(Object.fromEntries(calls) as Omit<Files, "open">), open };
}

/** Converts a call with a callback to a promise. */
const byCallback = <T>(call: (done: (error: Error | null, value: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) =>
    call((error, value) => {
      if (error === null) resolve(value);
      else reject(error);
    }),
  );

type Paces = Readonly<Record<"pace" | "reads" | "syncs", Pace>>;

class BlockingFile implements OpenFile {
  readonly #file: number;
  readonly #paces: Paces;

  constructor(file: number, paces: Paces) {
    this.#file = file;
    this.#paces = paces;
  }

  async read(into: Uint8Array, offset: number, length: number, at: number) {
    const { reads } = this.#paces;
    if (length > FILES.short || !reads.next()) return this.readLater(into, offset, length, at);
    const bytesRead = reads.block(() => sync.readSync(this.#file, into, offset, length, at));
    return { bytesRead };
  }

  async readLater(into: Uint8Array, offset: number, length: number, at: number) {
    const bytesRead = await byCallback<number>((done) =>
      sync.read(this.#file, into, offset, length, at, done),
    );
    return { bytesRead };
  }

  readNow(into: Uint8Array, at: number): boolean {
    const { reads } = this.#paces;
    if (into.length > FILES.short || !reads.next()) return false;
    try {
      return reads.block(() => sync.readSync(this.#file, into, 0, into.length, at)) === into.length;
    } catch {
      return false;
    }
  }

  async write(from: Uint8Array, offset: number, length: number, at: number) {
    const { pace } = this.#paces;
    const isShort = length <= FILES.short && pace.next();
    const bytesWritten = isShort
      ? pace.block(() => sync.writeSync(this.#file, from, offset, length, at))
      : await byCallback<number>((done) => sync.write(this.#file, from, offset, length, at, done));
    return { bytesWritten };
  }

  async readFile(encoding: "utf8"): Promise<string> {
    return this.#paces.pace.block(() => sync.readFileSync(this.#file, encoding));
  }

  async writeFile(text: string): Promise<void> {
    this.#paces.pace.block(() => sync.writeFileSync(this.#file, text));
  }

  async stat(): Promise<Stats> {
    return this.#paces.pace.block(() => sync.fstatSync(this.#file));
  }

  async truncate(size: number): Promise<void> {
    this.#paces.pace.block(() => sync.ftruncateSync(this.#file, size));
  }

  datasync(): Promise<void> {
    return this.#flush("fdatasync");
  }

  sync(): Promise<void> {
    return this.#flush("fsync");
  }

  async #flush(name: "fsync" | "fdatasync"): Promise<void> {
    const { syncs } = this.#paces;
    if (syncs.next()) syncs.block(() => sync[`${name}Sync`](this.#file));
    else await byCallback<void>((done) => sync[name](this.#file, (error) => done(error)));
  }

  async close(): Promise<void> {
    sync.closeSync(this.#file);
  }
}

/** The file system calls for this thread. */
export const files: Files = isMainThread ? promises : blockingFiles();

/** The same for many short calls in a row, which also block in the main thread as long as they are fast. */
export const quickFiles: Files = isMainThread ? blockingFiles(() => FILES.turn) : files;
