/**
 * Writes files atomically: contents go to a temporary file in the destination's folder, which is then renamed. A
 * symbolic link stays a link to the new file. Another hard link to the file keeps the old contents, because overwriting
 * the file in place could leave half of it after an error or a signal.
 */

import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import type { Model } from "../../entries/onnx.ts";
import { errorAt, STDIN, withPath, wrongData, wrongUsage } from "../failure.ts";
import { printNote, type Io } from "../io.ts";
import { printName } from "../text/layout.ts";
import { isIR, notRegular } from "./read-files.ts";
import { containerOf } from "../../arrays/boxes/urls.ts";
import { FILES } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import { externalFiles } from "../../models/onnx/external.ts";

/**
 * Writes all files or none: no file is renamed before all of them are completely written. A rename that fails leaves
 * the files renamed before it changed. No temporary file remains, even after an error or a signal other than SIGKILL.
 */
export async function writeFiles(
  io: Io,
  outputs: readonly { readonly file: string; readonly bytes: Uint8Array | Iterable<Uint8Array> }[],
): Promise<void> {
  const moves: { file: string; from: string; to: string; hasOtherLinks: boolean }[] = [];
  const clean = (): void => {
    for (const { from } of moves) fs.rmSync(from, { force: true });
  };
  const release = io.onSignal(clean);
  try {
    for (const { file, bytes } of outputs) {
      const { to, mode, hasOtherLinks } = checkPlace(io, file);
      // The temporary name does not contain the file name, because a longer name might exceed the length limit.
      const from = path.join(path.dirname(to), `ndscatter-${randomUUID()}.tmp`);
      moves.push({ file, from, to, hasOtherLinks });
      try {
        // oxlint-disable-next-line no-await-in-loop
        await writeNew(from, bytes, mode);
      } catch (error) {
        throw errorAt(file, error);
      }
    }
    for (const { file, from, to } of moves) withPath(file, () => fs.renameSync(from, to));
  } finally {
    clean();
    release();
  }
  const linked = moves.filter(({ hasOtherLinks }) => hasOtherLinks).map(({ file }) => file);
  if (linked.length > 0) {
    await printNote(io, `other hard links to ${linked.join(", ")} keep the old contents`);
  }
}

/**
 * Returns the absolute path of an output with links resolved, and facts of the file that it replaces. Throws a
 * `Failure` if the folder or the permissions prevent writing `file`.
 */
export function checkPlace({ cwd }: Io, file: string) {
  return withPath(file, () => {
    const place = path.resolve(cwd, file);
    const stat = fs.statSync(place, { throwIfNoEntry: false });
    const to = followLinks(place);
    if (stat === undefined) {
      fs.accessSync(path.dirname(to), fs.constants.W_OK);
      return { to, hasOtherLinks: false };
    }
    if (!stat.isFile()) throw notRegular(file, stat);
    // Write permission for the replaced file is checked here, because renaming does not require it.
    fs.accessSync(to, fs.constants.W_OK);
    return { to, mode: stat.mode, hasOtherLinks: stat.nlink > 1 };
  });
}

/** Maximum length of a chain of links, as on Linux. A longer chain is treated as a cycle. */
const MOST_LINKS = 40;

/**
 * Returns the file that an absolute path leads to, even if it does not exist. The function `fs.realpath` throws for a
 * missing file.
 */
function followLinks(place: string): string {
  let to = place;
  for (let hops = 0; hops < MOST_LINKS; hops++) {
    const folder = path.dirname(to);
    // Links in the folder path are resolved first, because a relative link target is relative to the real folder.
    to = path.join(fs.existsSync(folder) ? fs.realpathSync(folder) : folder, path.basename(to));
    if (!fs.lstatSync(to, { throwIfNoEntry: false })?.isSymbolicLink()) break;
    to = path.resolve(path.dirname(to), fs.readlinkSync(to));
  }
  return to;
}

/**
 * Writes a new file. The file exists as soon as the function is called, so that the cleanup after a signal finds the
 * file. The event loop runs while bytes are written, so that a signal is handled at once.
 */
async function writeNew(
  place: string,
  given: Uint8Array | Iterable<Uint8Array>,
  mode: number | undefined,
): Promise<void> {
  const descriptor = fs.openSync(place, "wx", mode);
  OPEN.files++;
  try {
    // The mode of the file is set again, because the umask has removed bits.
    if (mode !== undefined) fs.fchmodSync(descriptor, mode);
    for (const bytes of given instanceof Uint8Array ? [given] : given) {
      for (let done = 0; done < bytes.length;) {
        const most = Math.min(FILES.atOnce, bytes.length - done);
        // oxlint-disable-next-line no-await-in-loop
        done += (await write(descriptor, bytes, done, most)).bytesWritten;
      }
    }
  } finally {
    fs.closeSync(descriptor);
    OPEN.files--;
  }
}

const write = promisify(fs.write);

/** Throws a `Failure` if an output would replace a file that the command reads. */
export function checkNotRead(io: Io, output: string, read: readonly string[]): void {
  if (read.some((file) => file !== STDIN && isSameFile(io, output, file)))
    throw wrongUsage(`the output ${output} is a file that the command reads; give another output`);
}

/** Returns true if two paths refer to the same file, archive or reference file, which need not exist. */
export function isSameFile({ cwd }: Io, a: string, b: string): boolean {
  const [left, right] = [a, b].map((file) => {
    const place = path.resolve(cwd, file);
    return fs.existsSync(place) ? place : (containerOf(place) ?? place);
  });
  if (left === right) return true;
  const [one, other] = [left, right].map((place) =>
    fs.statSync(place, { throwIfNoEntry: false, bigint: true }),
  );
  if (one === undefined || other === undefined) return followLinks(left) === followLinks(right);
  return one.dev === other.dev && one.ino === other.ino;
}

/** Checks the locations of data files, because the written ONNX model refers to the same files by relative paths. */
export function checkExternal(io: Io, file: string, output: string, model: Model): void {
  const isBeside = file !== STDIN && isSameFile(io, path.dirname(file), path.dirname(output));
  if (isIR(output) || isIR(file) || isBeside) return;
  // The source model file is excluded, because its embedded weights are copied into the output.
  const files = withPath(file, () => externalFiles(model)).filter(
    (one) => one !== path.basename(file),
  );
  if (files.length === 0) return;
  const data = files.map(printName).join(", ");
  if (file === STDIN)
    throw wrongData(
      `the model in standard input has data in ${data}; give the name of the model file`,
    );
  const advice = `write ${path.basename(output)} to that folder, ${path.dirname(file)}`;
  throw wrongData(`${file} has data in ${data}, in the same folder; ${advice}`);
}
