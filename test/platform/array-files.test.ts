/** Files of arrays: what the system writes and reads in part, what must be on the disk, and what is closed. */

import assert from "node:assert/strict";
import nodeFs from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { readFully, syncFolder, withFile, writeFully } from "../../src/arrays/boxes/file.ts";
import { writeFiles } from "../../src/cli/input/write-files.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { OPEN } from "../../src/core/resources.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, createPending, openArray } from "../../src/entries/zarr.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

const home = nodeFs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-files-"));
after(() => nodeFs.rmSync(home, { recursive: true }));
const at = (name: string): string => path.join(home, name);

const skip = WITHOUT_NODE_ITSELF;

const BYTES = Uint8Array.from({ length: 23 }, (_, one) => one + 1);

test("what the system writes or reads in part goes on where it stopped", async () => {
  for (const atOnce of [1, 7, 23, 100]) {
    const restore = setLimits({ FILES: { atOnce } });
    try {
      const file = new Uint8Array(40);
      // A system that never takes more than 5 bytes.
      const short = (length: number): number => Math.min(length, 5);
      const handle = {
        async write(from: Uint8Array, offset: number, length: number, position: number) {
          assert.ok(length <= atOnce);
          const bytesWritten = short(length);
          file.set(from.subarray(offset, offset + bytesWritten), position);
          return { bytesWritten, buffer: from };
        },
        async read(into: Uint8Array, offset: number, length: number, position: number) {
          assert.ok(length <= atOnce);
          const bytesRead = Math.min(short(length), file.length - position);
          into.set(file.subarray(position, position + bytesRead), offset);
          return { bytesRead, buffer: into };
        },
      };
      await writeFully(handle as never, BYTES, 11);
      assert.deepEqual([...file], [...new Uint8Array(11), ...BYTES, ...new Uint8Array(6)]);
      const into = new Uint8Array(23);
      await readFully(handle as never, into, 11);
      assert.deepEqual(into, BYTES);
      await assertRejected("malformed-file", {}, () => readFully(handle as never, into, 23));
    } finally {
      restore();
    }
  }
});

test("so does the command", { skip }, async (t) => {
  const { write } = nodeFs;
  // The callback is the last argument.
  const short = (
    descriptor: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    done: never,
  ) => write(descriptor, bytes, offset, Math.min(length, 4), null, done);
  t.mock.method(nodeFs, "write", short as never);
  syncBuiltinESMExports();
  try {
    const io = { cwd: home, onSignal: () => () => {} };
    await writeFiles(io as never, [{ file: "short", bytes: BYTES }]);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.deepEqual(new Uint8Array(nodeFs.readFileSync(at("short"))), BYTES);
});

/** What happens to open files, in order. */
const events: string[] = [];

/** What is read of open files: from which byte on, and how many bytes. */
const reads: [at: number, length: number][] = [];

/** Records what happens to files that are opened, until the function that it returns is called. */
function watchFiles(): () => void {
  const { open } = fs;
  fs.open = async (...args) => {
    const handle = await open(...args);
    for (const name of ["write", "datasync", "sync", "truncate"] as const) {
      const own = handle[name] as (...args: unknown[]) => Promise<unknown>;
      const record = async (...given: unknown[]): Promise<unknown> => {
        const result = await own.apply(handle, given);
        events.push(name);
        return result;
      };
      Object.assign(handle, { [name]: record });
    }
    const read = handle.read as (...args: unknown[]) => Promise<unknown>;
    const recordRead = (into: unknown, offset: unknown, length: number, position: number) => {
      reads.push([position, length]);
      return read.call(handle, into, offset, length, position);
    };
    Object.assign(handle, { read: recordRead });
    return handle;
  };
  syncBuiltinESMExports();
  return () => {
    fs.open = open;
    syncBuiltinESMExports();
  };
}

/** Whether the last that happened to a file was that the disk has it. */
async function isSynced(action: () => Promise<unknown>): Promise<boolean> {
  events.length = 0;
  await action();
  return ["datasync", "sync"].includes(events.at(-1) ?? "");
}

test("what is staged is on the disk before it is published", { skip }, async (t) => {
  t.after(watchFiles());
  const options = { dtype: "int8", shape: [6], chunkShape: [2] } as const;
  const from = await createArray(at("from.zarr"), options);
  await from.write(tensor("int8", [6], [1, 2, 3, 4, 5, 6]));
  const bytes = Uint8Array.of(1, 2);
  for (const name of ["staged.zarr", "staged.npy"]) {
    assert.ok(await isSynced(() => createPending(at(name), options)), `${name} begins`);
    const pending = await createPending(at(name), { ...options, overwrite: true });
    assert.ok(await isSynced(() => pending.stageChunk([1], bytes, "one")), `${name} is staged`);
    if (name.endsWith(".npy")) continue;
    assert.ok(await isSynced(() => pending.stageCopy(from, [2], "two")), `${name} is copied`);
  }
  // A chunk that is replaced in its place needs no disk: whoever writes it may write it again.
  assert.ok(!(await isSynced(() => from.writeChunk([0], bytes))));
  assert.ok(await isSynced(() => syncFolder(home)));
  await syncFolder(at("nowhere"));
});

/** Limits, and what is read of a file for the last two columns of six rows of four bytes, behind a header of 128 bytes. */
const RUNS: readonly (readonly [fileRun: number, span: number, expected: typeof reads])[] = [
  [3, 22, [[130, 22]]],
  [3, 21, [130, 150].map((first, at) => [first, [18, 2][at]])],
  [3, 10, [130, 142].map((first) => [first, 10])],
  [3, 9, [130, 138, 146].map((first) => [first, 6])],
  [3, 1, [130, 134, 138, 142, 146, 150].map((first) => [first, 2])],
  [2, 22, [130, 134, 138, 142, 146, 150].map((first) => [first, 2])],
];

for (const [fileRun, span, expected] of RUNS) {
  const name = `runs of a file below ${fileRun} bytes are read together, up to ${span} bytes at once`;
  test(name, { skip }, async (t) => {
    t.after(watchFiles());
    const values = Uint8Array.from({ length: 24 }, (_, one) => one);
    nodeFs.writeFileSync(at("runs.npy"), writeNpy(tensor("uint8", [6, 4], values)));
    const array = await openArray(at("runs.npy"));
    t.after(setLimits({ ARRAYS: { fileRun, span } }));
    reads.length = 0;
    const { data } = await array.read([0, 2], [6, 2]);
    assert.deepEqual(reads, expected);
    assert.deepEqual([...data], [2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23]);
  });
}

test("files are closed, also after an error", async () => {
  assert.equal(OPEN.files, 0);
  nodeFs.writeFileSync(at("probe"), "");
  const fails = withFile(at("probe"), "r", (handle) => {
    assert.equal(OPEN.files, 1);
    return readFully(handle, new Uint8Array(1), 0);
  });
  await assertRejected("malformed-file", {}, () => fails);
  await assert.rejects(
    withFile(at("nowhere"), "r", async () => {}),
    { code: "ENOENT" },
  );
  const array = await createArray(at("cut.zarr"), { dtype: "int8", shape: [6], chunkShape: [2] });
  await array.write(tensor("int8", [6], [1, 2, 3, 4, 5, 6]));
  nodeFs.truncateSync(at("cut.zarr/c/1"), 1);
  await assertRejected("malformed-file", {}, () => array.read());
  assert.equal(OPEN.files, 0);
});
