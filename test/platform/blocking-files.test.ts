/** Files whose calls block, as threads that run tasks use them: what they do is what Node's promises do. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import * as path from "node:path";
import { test } from "node:test";
import { blockingFiles, Pace, type Files } from "../../src/arrays/boxes/files.ts";
import { makeHome } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";

/** Limits with which calls block, do not block, and are tried anew at each second call. */
const PACES = {
  "calls that block": { slowCall: 1e9, slowSync: 1e9, short: 1e9 },
  "calls that are slow": { slowCall: -1, slowSync: -1, rest: 1e9 },
  "calls that are slow in turns": { slowCall: -1, slowSync: -1, rest: 1, short: 1e9 },
  "long reads and writes": { slowCall: 1e9, slowSync: 1e9, short: 0 },
};

/** What happens with a file from its creation to its end; errors by their codes and paths. */
async function lifeOf(files: Files, home: string): Promise<unknown[]> {
  const at = (name: string): string => path.join(home, name);
  const seen: unknown[] = [];
  const see = async (action: () => Promise<unknown>): Promise<void> => {
    try {
      seen.push(await action());
    } catch (error) {
      const { code, syscall, path: place = "" } = error as NodeJS.ErrnoException;
      seen.push([code, syscall, path.basename(place)]);
    }
  };
  await see(() => files.mkdir(at("folder")));
  await see(() => files.mkdir(at("folder")));
  const file = await files.open(at("folder/a"), "wx");
  await see(() => files.open(at("folder/a"), "wx"));
  await see(() => files.open(at("nothing"), "r"));
  await see(async () => (await file.write(Uint8Array.of(9, 1, 2, 3, 4), 1, 4, 2)).bytesWritten);
  await file.datasync();
  await file.sync();
  await file.truncate(5);
  await see(async () => (await file.stat()).size);
  await see(() => file.read(new Uint8Array(1), 0, 1, 0));
  await file.close();
  const again = await files.open(at("folder/a"), "r+");
  const into = new Uint8Array(8).fill(7);
  await see(async () => [(await again.read(into, 1, 7, 1)).bytesRead, ...into]);
  await see(async () => (await again.read(into, 0, 8, 5)).bytesRead);
  await again.close();
  const text = await files.open(at("text"), "w");
  await text.writeFile("grüße");
  await text.close();
  const read = await files.open(at("text"), "r");
  await see(() => read.readFile("utf8"));
  await read.close();
  await see(() => files.link(at("text"), at("second")));
  await see(() => files.link(at("text"), at("second")));
  await see(() => files.rename(at("second"), at("third")));
  await see(() => files.rename(at("second"), at("third")));
  await see(() => files.copyFile(at("third"), at("fourth"), fs.constants.COPYFILE_FICLONE));
  await see(() => files.copyFile(at("nothing"), at("fifth")));
  await see(async () => (await files.stat(at("fourth"))).isFile());
  await see(() => files.stat(at("fifth")));
  await see(() => files.writeFile(at("fourth"), "other"));
  await see(() => files.readFile(at("fourth"), "utf8"));
  await see(() => files.unlink(at("fourth")));
  await see(() => files.unlink(at("fourth")));
  await see(() => files.rm(at("fourth")));
  await see(() => files.rm(at("fourth"), { force: true }));
  await see(() => files.rm(at("folder"), { recursive: true }));
  await see(() => promises.readdir(home));
  return seen;
}

for (const [name, limits] of Object.entries(PACES)) {
  test(`${name} give what promises give`, async () => {
    const restore = setLimits({ FILES: limits });
    try {
      const [expected, seen] = [
        await lifeOf(promises, makeHome()),
        await lifeOf(blockingFiles(), makeHome()),
      ];
      assert.deepEqual(seen, expected);
      // The ways of a file were all gone: 4 bytes from byte 2 on, of which 3 remain.
      assert.ok(expected.some((one) => Array.isArray(one) && one.join() === "4,7,0,1,2,3,7,7,7"));
    } finally {
      restore();
    }
  });
}

/** Whether each of some calls blocks, of a thread whose calls take as long as `times` says, in milliseconds. */
function pacesOf(times: readonly number[], slow: number, turn = Infinity): boolean[] {
  let now = 0;
  const pace = new Pace(
    slow,
    () => now,
    () => turn,
  );
  return times.map((time) => {
    const isBlocking = pace.next();
    if (isBlocking) pace.block(() => (now += time));
    return isBlocking;
  });
}

test("after some time of blocking calls, a call lets other code of the thread run", () => {
  assert.deepEqual(pacesOf([1, 1, 1, 1, 1, 1], 5, 2), [true, true, false, true, true, false]);
  assert.ok(pacesOf([1, 1, 1, 1, 1, 1], 5).every(Boolean));
});

test("where other code of the thread waits, one call that takes long ends blocking", () => {
  const restore = setLimits({ FILES: { rest: 3 } });
  try {
    const [quick, wait] = [true, false];
    assert.deepEqual(pacesOf([0.1, 300, 0.1, 0.1, 0.1, 0.1], 0.5, 2), [
      ...[quick, quick, wait, wait, wait, quick],
    ]);
  } finally {
    restore();
  }
});

test("calls that are slow no longer block the thread, until one is tried again", () => {
  const restore = setLimits({ FILES: { rest: 3 } });
  try {
    const [slow, quick, wait] = [true, true, false];
    // A single call that waits for the disk changes nothing.
    assert.ok(pacesOf([0.1, 0.1, 500, 0.1, 0.1], 0.5).every(Boolean));
    // Calls of 1 ms are slow on average after 12: 1 - (15/16)^12 > 0.5 > 1 - (15/16)^10.
    const seen = pacesOf(Array(20).fill(1), 0.5);
    const first = seen.indexOf(false);
    assert.ok(first >= 11 && first <= 13, String(first));
    assert.deepEqual(seen.slice(first, first + 4), [wait, wait, wait, slow]);
    assert.ok(pacesOf(Array(40).fill(0.4), 0.5).every((one) => one === quick));
  } finally {
    restore();
  }
});
