/**
 * Names the temporary folders and files of this process, and removes those of processes that were killed. A name tells
 * the machine and the process, because a temporary folder of a process that is running must stay.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { isCode } from "../../boxes/file.ts";

/** The host name, in characters that suit file names and terminals. */
export const HOST = os
  .hostname()
  .replace(/[^\w.-]/g, "_")
  .slice(0, 100);

const NAME = /^(.+)\.([\w.-]{1,100})-(\d{1,10})-[\da-f]{12}\.tmp$/;

/** Age, in ms, after which a temporary folder of another machine counts as left behind. */
const OLD = 86_400_000;

/** Returns a temporary path beside `place` that no other process uses. */
export const temporaryOf = (place: string): string =>
  `${place}.${HOST}-${process.pid}-${randomBytes(6).toString("hex")}.tmp`;

/** Returns true for a name of `temporaryOf`. */
export const isTemporary = (name: string): boolean => NAME.test(name);

/**
 * Removes temporary folders and files that killed processes have left in a folder. `of` is the name beside which they
 * lie; by default, any name.
 */
export async function removeLeft(folder: string, of?: string): Promise<void> {
  const names = await fs.readdir(folder).catch(() => []);
  for (const name of names) {
    const [, place, host, pid] = NAME.exec(name) ?? [];
    if (place === undefined || (of !== undefined && place !== of)) continue;
    const file = path.join(folder, name);
    // oxlint-disable-next-line no-await-in-loop -- rarely one
    if (!(await (host === HOST ? isDead(Number(pid)) : isOld(file)))) continue;
    // A file that cannot be removed is not needed, and its name is not used again.
    // oxlint-disable-next-line no-await-in-loop
    await fs.rm(file, { recursive: true, force: true }).catch(() => {});
  }
}

function isDead(pid: number): boolean {
  try {
    // The signal 0 only asks whether the process exists.
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
