/**
 * Names the temporary folders and files of this process, and removes those of processes that were killed. Each name
 * contains the machine and the process, because folders of running processes must not be removed.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { isCode } from "../../boxes/file.ts";

/** The host name, without characters that are unsuitable for file names and terminals. */
export const HOST = os
  .hostname()
  .replace(/[^\w.-]/g, "_")
  .slice(0, 100);

const NAME = /^(.+)\.([\w.-]{1,100})-(\d{1,10})-[\da-f]{12}\.tmp$/;

/** The age, in ms, at which a temporary folder of another machine counts as abandoned. */
const OLD = 86_400_000;

/** The number of looks at what another run is about to replace or remove. */
export const LOOKS = 5;

/** Waits between two looks. */
export const untilNextLook = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, 20));

/** Returns a unique temporary path beside `place`. */
export const temporaryOf = (place: string): string =>
  `${place}.${HOST}-${process.pid}-${randomBytes(6).toString("hex")}.tmp`;

/** Returns true for a name from `temporaryOf`. */
export const isTemporary = (name: string): boolean => NAME.test(name);

/** The end of a name from `partOf`, after the name of the output. */
const PART = /\.[\da-f]{16}\.part$/;

/**
 * Removes the temporary folders and files of killed processes from a folder. With `of`, only temporary paths beside
 * this name, or beside an unfinished NPY file of this name, are removed.
 */
export async function removeLeft(folder: string, of?: string): Promise<void> {
  const names = await fs.readdir(folder).catch(() => []);
  for (const name of names) {
    const [, place, host, pid] = NAME.exec(name) ?? [];
    if (place === undefined) continue;
    if (of !== undefined && place !== of && place.replace(PART, "") !== of) continue;
    const file = path.join(folder, name);
    if (!(await (host === HOST ? isDead(Number(pid)) : isOld(file)))) continue;
    // The remaining file is harmless, because its name is never used again.
    await fs.rm(file, { recursive: true, force: true }).catch(() => {});
  }
}

function isDead(pid: number): boolean {
  try {
    // Signal 0 only tests whether the process exists.
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isCode(error, "ESRCH");
  }
}

const isOld = (file: string): Promise<boolean> =>
  fs.stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > OLD,
    () => false,
  );
