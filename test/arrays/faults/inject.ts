/**
 * Injects faults into the calls of the file system that concern one folder: errors, calls that take effect although they
 * report an error, short reads and writes, delays, and kills of the whole process before, during or after a call.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { fixedRandom, type Random } from "../../support/random.ts";

/** The faults of one thread. */
export interface Faults {
  /** The folder whose files have faults. */
  readonly root: string;
  readonly seed: number;
  /** The number of faults per thousand calls. */
  readonly rate: number;
  /** The number of calls before the first fault, so that late calls have faults as often as early ones. */
  readonly from: number;
  /** A file outside the folder that gets a line for each fault. */
  readonly log: string;
  /** Faults of certain calls. */
  readonly planned?: readonly Planned[];
}

/** A fault of one call, whose error is EIO. */
export interface Planned {
  /** Matches the name of the call and its paths below the folder. */
  readonly call: RegExp;
  readonly kind: Kind;
}

/** One fault after the other, each of the next call that matches. Those that have happened leave the list. */
export const faultsAt = (
  root: string,
  planned: readonly Planned[],
): Faults & { readonly planned: readonly Planned[] } => ({
  ...{ root, seed: 1, rate: 0, from: 0, log: os.devNull },
  planned: [...planned],
});

/** The kinds of faults, as the log names them. A fault of the last two kinds must not be noticed. */
export const KINDS = ["error", "done", "part", "kill", "short", "delay"] as const;
export type Kind = (typeof KINDS)[number];

let current: (Faults & { readonly random: Random; calls: number }) | null = null;

/** Begins to inject faults, or ends it with null. */
export function setFaults(faults: Faults | null): void {
  current = faults && { ...faults, random: fixedRandom(faults.seed), calls: 0 };
}

/** What a call does, which decides the faults that it can have. */
type Effect = "look" | "open" | "read" | "write" | "text" | "change" | "remove" | "close";

const EFFECTS: Readonly<Record<string, Effect>> = {
  ...{ access: "look", lstat: "look", opendir: "look", readdir: "look", readFile: "look" },
  ...{ realpath: "look", stat: "look", statfs: "look", fstat: "look", open: "open" },
  ...{ read: "read", write: "write", writeFile: "text", copyFile: "change", link: "change" },
  ...{ mkdir: "change", rename: "change", rm: "remove", rmdir: "change", unlink: "change" },
  ...{ truncate: "change", ftruncate: "change", sync: "change", fsync: "change" },
  ...{ datasync: "change", fdatasync: "change", close: "close" },
};

/** The possible faults of a call, each as often as it stands here. */
const POSSIBLE: Readonly<Record<Effect, readonly Kind[]>> = {
  look: ["error", "error", "error", "error", "error", "error", "delay", "delay", "kill"],
  open: ["error", "error", "error", "error", "error", "error", "delay", "delay", "kill"],
  read: ["error", "error", "short", "short", "short", "short", "short", "short", "delay", "kill"],
  write: ["error", "error", "part", "part", "short", "short", "short", "short", "delay", "kill"],
  text: ["error", "error", "part", "part", "delay", "kill"],
  change: ["error", "error", "error", "done", "done", "delay", "kill", "kill"],
  remove: ["error", "error", "part", "done", "delay", "kill"],
  // A file is closed even if the system reports an error.
  close: ["done", "delay", "kill"],
};

const ERRORS: Readonly<Record<Effect, readonly string[]>> = {
  look: ["EIO", "EACCES", "ESTALE", "ENOMEM"],
  open: ["EIO", "EACCES", "EMFILE", "ESTALE", "ETXTBSY"],
  read: ["EIO", "ESTALE"],
  write: ["EIO", "ENOSPC", "EDQUOT"],
  text: ["EIO", "ENOSPC", "EACCES"],
  change: ["EIO", "ENOSPC", "EACCES", "EBUSY", "ESTALE"],
  remove: ["EIO", "EACCES", "EBUSY"],
  close: ["EIO", "ENOSPC"],
};

/** A network file system repeats a request whose answer is lost, and reports the state that the first one has left. */
const REPEATED: Readonly<Record<string, string>> = {
  ...{ link: "EEXIST", mkdir: "EEXIST", rename: "ENOENT", unlink: "ENOENT", rmdir: "ENOENT" },
};

/** What a call is made on. */
interface Target {
  readonly place: string;
  /** The second path of a call that has two. */
  readonly other: string | undefined;
  /** True for an open file, whose errors do not name it. */
  readonly isOpen: boolean;
}

/** A fault that was drawn for a call. */
interface Fault {
  readonly kind: Kind;
  readonly random: Random;
  /** The error that the call reports. */
  readonly error: Error;
}

const { appendFileSync, readdirSync } = fs;

/** Draws the fault of a call, or null. `name` is that of the call without `Sync`. */
function draw(name: string, target: Target): Fault | null {
  if (current === null) return null;
  const { place, other } = target;
  const { root, random, rate, from, log } = current;
  const planned = (current.planned ?? []) as Planned[];
  if (!`${place}${path.sep}`.startsWith(root + path.sep)) return null;
  const where = [place, other].map((one) => one && path.relative(root, one)).join(" ");
  const chosen = planned[0]?.call.test(`${name} ${where}`) === true ? planned.shift() : undefined;
  const effect = EFFECTS[name];
  // Small arrays are read and written by few calls.
  const more = effect === "read" || effect === "write" ? 3 : 1;
  const isDrawn = current.calls++ >= from && random(1000) < more * rate;
  if (!isDrawn && chosen === undefined) return null;
  const kinds = POSSIBLE[effect];
  const kind = chosen?.kind ?? kinds[random(kinds.length)];
  const codes = ERRORS[effect];
  const repeated = kind === "done" && random(3) === 0 ? REPEATED[name] : undefined;
  const drawn = repeated ?? codes[random(codes.length)];
  const code = chosen === undefined ? drawn : "EIO";
  appendFileSync(
    log,
    `${kind} ${kind === "error" || kind === "done" ? code : ""} ${name} ${where}\n`,
  );
  return { kind, random, error: errorOf(code, name, target) };
}

function errorOf(code: string, syscall: string, { place, other: dest, isOpen }: Target): Error {
  const where = isOpen ? "" : ` '${place}'${dest === undefined ? "" : ` -> '${dest}'`}`;
  const error = new Error(`${code}: injected fault, ${syscall}${where}`);
  const errno = -(os.constants.errno as unknown as Record<string, number>)[code];
  return Object.assign(error, { code, errno, syscall }, !isOpen && { path: place, dest });
}

function kill(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal may arrive a moment later.
  for (;;) block(1000);
}

const block = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds));

type Call = (...args: unknown[]) => unknown;

/** A part of a call: fewer bytes of a buffer or a text, or one entry of a folder; null if the call has no parts. */
function cutArguments(name: string, args: readonly unknown[], random: Random): unknown[] | null {
  if (name === "rm") {
    const entries = entriesOf(String(args[0]));
    return entries.length === 0 ? null : args.with(0, entries[random(entries.length)]);
  }
  const at = name === "writeFile" ? args.findIndex((one, i) => i < 2 && isContent(one)) : 2;
  const content = args[at];
  if (name === "writeFile") {
    if (typeof content !== "string" || content === "") return null;
    return args.with(at, content.slice(0, random(content.length)));
  }
  // A read and a write have the bytes, an offset, a length and a position, perhaps after the number of the file.
  const length = typeof args[0] === "number" ? 3 : 2;
  const given = args[length];
  if (typeof given !== "number" || given < 2) return null;
  return args.with(length, 1 + random(given - 1));
}

function entriesOf(place: string): string[] {
  try {
    return readdirSync(place).map((name) => path.join(place, name));
  } catch {
    return [];
  }
}

const isContent = (one: unknown): boolean => typeof one === "string" && !one.startsWith(path.sep);

/** Makes a call that has a fault. */
function withFault(name: string, fault: Fault, call: Call, args: readonly unknown[]): unknown {
  const { kind, random, error } = fault;
  const cut =
    kind === "short" || kind === "part" || kind === "kill"
      ? cutArguments(name, args, random)
      : null;
  const fail = (): never => {
    throw error;
  };
  /** Continues after the call, which may return a promise. */
  const then = (result: unknown, next: () => unknown): unknown =>
    result instanceof Promise ? result.then(next) : next();
  switch (kind) {
    case "error":
      return fail();
    case "done":
      return then(call(...args), fail);
    case "part":
      return cut === null ? fail() : then(call(...cut), fail);
    case "short":
      return call(...(cut ?? args));
    case "delay":
      return call(...args);
    default: {
      const when = random(3);
      if (when === 0 || (when === 1 && cut === null)) return kill();
      return then(call(...(when === 1 && cut !== null ? cut : args)), kill);
    }
  }
}

/** The paths of files that are open by number. */
const numbered = new Map<number, string>();

/** What a call is made on. @param file the path of an open file that has the call */
function targetOf(name: string, [first, second]: readonly unknown[], file?: string): Target {
  const isOpen = file !== undefined || typeof first === "number";
  const place = file ?? (typeof first === "number" ? numbered.get(first) : first);
  const hasOther = ["copyFile", "link", "rename"].includes(name);
  return {
    place: typeof place === "string" ? place : "",
    other: hasOther ? String(second) : undefined,
    isOpen,
  };
}

const promised =
  (name: string, call: Call, file?: string): Call =>
  async (...args) => {
    const fault = draw(name, targetOf(name, args, file));
    if (fault?.kind === "delay") await sleep(fault.random(30));
    // A call that is made later shows that the caller waits for the call.
    const result = await (fault === null ? call(...args) : withFault(name, fault, call, args));
    return name === "open" ? openFile(Object(result), String(args[0])) : result;
  };

/** An open file whose calls may have faults. */
const openFile = (handle: object, file: string): object =>
  new Proxy(handle, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      const call = value.bind(target) as Call;
      return String(key) in EFFECTS ? promised(String(key), call, file) : call;
    },
  });

const blocking =
  (name: string, call: Call): Call =>
  (...args) => {
    const target = targetOf(name, args);
    const fault = draw(name, target);
    if (fault?.kind === "delay") block(fault.random(30));
    const result = fault === null ? call(...args) : withFault(name, fault, call, args);
    if (name === "open") numbered.set(Number(result), target.place);
    return result;
  };

/** A call whose last argument is a function that gets the error and the result. */
const calledBack =
  (name: string, call: Call): Call =>
  (...args) => {
    const target = targetOf(name, args);
    const fault = draw(name, target);
    const done = args.at(-1) as (error: unknown, ...results: unknown[]) => void;
    const end = (error: unknown, ...results: unknown[]): void => {
      if (name === "open" && error === null) numbered.set(Number(results[0]), target.place);
      done(error, ...results);
    };
    const rest = args.slice(0, -1);
    const made: Call = (...own) =>
      new Promise((resolve, reject) => {
        call(...own, (error: unknown, ...results: unknown[]) =>
          error === null ? resolve(results) : reject(error as Error),
        );
      });
    if (fault === null) return call(...rest, end);
    void sleep(fault.kind === "delay" ? fault.random(30) : 0)
      .then(() => withFault(name, fault, made, rest))
      .then(
        (results) => end(null, ...(results as unknown[])),
        (error: unknown) => end(error),
      );
    return undefined;
  };

/** Replaces the calls of `node:fs` and `node:fs/promises` in this thread, until the returned function is called. */
export function replaceCalls(): () => void {
  const before: (() => void)[] = [];
  const replace = (owner: object, name: string, wrap: (name: string, call: Call) => Call): void => {
    const call: unknown = Reflect.get(owner, name);
    if (typeof call !== "function") return;
    Reflect.set(owner, name, wrap(name.replace(/Sync$/, ""), call.bind(owner) as Call));
    before.push(() => Reflect.set(owner, name, call));
  };
  for (const name of Object.keys(EFFECTS)) {
    replace(fs.promises, name, promised);
    replace(fs, `${name}Sync`, blocking);
  }
  for (const name of ["open", "read", "write", "fsync", "fdatasync"]) replace(fs, name, calledBack);
  syncBuiltinESMExports();
  return () => {
    for (const put of before) put();
    syncBuiltinESMExports();
  };
}
