/** Memory for the next large result: bits, bounds, wrong predictions, and what ends the worker. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine, type Engine } from "../../src/core/create-engine.ts";
import { Reserve } from "../../src/core/engines/wasm/reserve.ts";
import { nodeThreads, type NodeThreads } from "../../src/core/engines/wasm/spawn.ts";
import { OPEN } from "../../src/core/resources.ts";
import { full, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF, WITHOUT_THREADS } from "../support/platform.ts";

const skip = WITHOUT_NODE_ITSELF || WITHOUT_THREADS;
const LENGTH = 2 ** 20;
/** A worker that is busy elsewhere is waited for in tests. */
const LIMITS = { least: 2 ** 16, most: 2 ** 24, idle: 60_000, wait: 10_000 };

let restore = (): void => {};
let reserves: Reserve[] = [];

/** Workers of other files in this process, whose engines are open. */
let others = 0;
const workers = (): number => OPEN.workers - others;

function reserveWith(limits: Partial<typeof LIMITS> = {}): Reserve {
  restore = setLimits({ RESERVE: { ...LIMITS, ...limits } });
  const reserve = new Reserve();
  reserves.push(reserve);
  return reserve;
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < end, "it did not happen within 20 s");
    // oxlint-disable-next-line no-await-in-loop -- it looks again
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
}

/** Lengths of what is given for requests of these lengths; 0 where nothing is. */
const lengths = (reserve: Reserve, wanted: readonly number[]): number[] =>
  wanted.map((bytes) => reserve.take(bytes)?.byteLength ?? 0);

/** A test that ends with its own reserves cleared. Hooks outside of a suite would hold for all files in a process. */
const ownTest = (name: string, action: () => unknown): void =>
  void test(name, { skip }, async () => {
    others = OPEN.workers;
    try {
      await action();
    } finally {
      for (const reserve of reserves.splice(0)) reserve.clear();
      restore();
      // Workers of earlier files may have ended meanwhile.
      await until(() => workers() <= 0);
    }
  });

ownTest("the third of equal lengths and all after it are ready", () => {
  const reserve = reserveWith();
  assert.deepEqual(lengths(reserve, [LENGTH, LENGTH]), [0, 0]);
  const seen = new Set<ArrayBuffer>();
  for (let turn = 0; turn < 20; turn++) {
    const buffer = reserve.take(LENGTH);
    assert.equal(buffer?.byteLength, LENGTH);
    assert.ok(new Uint8Array(buffer).every((byte) => byte === 0));
    new Uint8Array(buffer).fill(turn + 1);
    seen.add(buffer);
  }
  assert.equal(seen.size, 20);
  assert.equal(workers(), 1);
});

ownTest("nothing starts for one result, for changing lengths, or outside the limits", () => {
  const reserve = reserveWith();
  const { least, most } = LIMITS;
  assert.deepEqual(
    lengths(reserve, [LENGTH, 2 * LENGTH, LENGTH, 2 * LENGTH, LENGTH]),
    [0, 0, 0, 0, 0],
  );
  for (const bytes of [0, 1, least - 1, most + 1]) {
    assert.deepEqual(lengths(reserve, Array(5).fill(bytes)), [0, 0, 0, 0, 0]);
  }
  assert.equal(workers(), 0);
});

ownTest("a buffer for another length is dropped, and never given for it", () => {
  const reserve = reserveWith();
  assert.deepEqual(lengths(reserve, [LENGTH, LENGTH]), [0, 0]);
  // One at a time: until the buffer of the first length has come no other is asked for.
  for (let turn = 0; turn < 200; turn++) {
    const bytes = LENGTH + 8 * (turn >> 3);
    const got = reserve.take(bytes);
    assert.ok(got === undefined || got.byteLength === bytes, `${got?.byteLength}, not ${bytes}`);
  }
});

ownTest("one buffer at most is under way, whatever the lengths", async () => {
  const threads = nodeThreads() as { receiveMessageOnPort: NodeThreads["receiveMessageOnPort"] };
  const { receiveMessageOnPort } = threads;
  let received = 0;
  threads.receiveMessageOnPort = (port) => {
    const first = receiveMessageOnPort(port);
    assert.equal(receiveMessageOnPort(port), undefined, "a second buffer was held");
    if (first !== undefined) received++;
    return first;
  };
  try {
    const reserve = reserveWith({ wait: 1 });
    let turn = 0;
    // The worker has the time for more than one in between.
    await until(() => {
      const bytes = LENGTH + 4096 * (turn++ >> 2);
      lengths(reserve, [bytes, bytes]);
      return received >= 20;
    });
  } finally {
    threads.receiveMessageOnPort = receiveMessageOnPort;
  }
});

ownTest("clear ends the worker, and the next two equal results start one again", async () => {
  const reserve = reserveWith();
  for (let turn = 0; turn < 3; turn++) {
    assert.deepEqual(lengths(reserve, [LENGTH, LENGTH, LENGTH]), [0, 0, LENGTH]);
    reserve.clear();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until(() => workers() === 0);
  }
  reserve.clear();
});

ownTest("the worker ends by itself after a while without results", async () => {
  const reserve = reserveWith({ idle: 50 });
  assert.deepEqual(lengths(reserve, [LENGTH, LENGTH]), [0, 0]);
  assert.equal(workers(), 1);
  await until(() => workers() === 0);
  assert.deepEqual(lengths(reserve, [LENGTH]), [0]);
});

ownTest("a caller waits for a worker that has not started no longer than the limit", () => {
  const reserve = reserveWith({ wait: 0 });
  const given = lengths(reserve, Array(50).fill(LENGTH));
  assert.deepEqual(given.slice(0, 3), [0, 0, 0]);
});

ownTest("a platform that starts no workers is asked once", () => {
  const threads = nodeThreads() as { Worker: unknown };
  const { Worker } = threads;
  let asked = 0;
  threads.Worker = function () {
    asked++;
    throw new Error("refused");
  };
  try {
    const reserve = reserveWith();
    assert.deepEqual(lengths(reserve, Array(6).fill(LENGTH)), [0, 0, 0, 0, 0, 0]);
    assert.equal(asked, 1);
  } finally {
    threads.Worker = Worker;
  }
});

ownTest("a worker that ends is not started again, and results have fresh memory", async () => {
  const threads = nodeThreads() as {
    Worker: new (...args: unknown[]) => { terminate(): unknown };
  };
  const { Worker } = threads;
  const started: { terminate(): unknown }[] = [];
  threads.Worker = class extends Worker {
    constructor(...args: unknown[]) {
      super(...args);
      started.push(this);
    }
  };
  try {
    const reserve = reserveWith({ wait: 100 });
    lengths(reserve, [LENGTH, LENGTH]);
    void started[0].terminate();
    await until(() => workers() === 0);
    assert.deepEqual(lengths(reserve, Array(5).fill(LENGTH)), [0, 0, 0, 0, 0]);
    assert.equal(started.length, 1);
  } finally {
    threads.Worker = Worker;
  }
});

/** 300 rows of 100 doubles, and what a scatter makes of them. */
function rows(engine: Engine, turn: number): { result: Tensor; isRight: () => boolean } {
  const data = full("float64", [300, 100], turn);
  const indices = tensor("int32", [2, 1], [[turn], [299]]);
  const updates = full("float64", [2, 100], turn + 0.5);
  const result = engine.scatterND(data, indices, updates, { reduction: "add" });
  const changed = new Set([turn, 299]);
  const isRight = (): boolean =>
    (result.data as Float64Array).every(
      (value, p) => value === (changed.has(Math.floor(p / 100)) ? 2 * turn + 0.5 : turn),
    );
  return { result, isRight };
}

ownTest("results of an engine with threads are right in memory that was made ready", async () => {
  restore = setLimits({ RESERVE: LIMITS });
  const engine = createEngine({ threads: 2 });
  const all = Array.from({ length: 20 }, (_, turn) => rows(engine, turn));
  assert.equal(workers(), 1);
  // No two results share memory, so all are right at the end.
  assert.ok(all.every(({ isRight }) => isRight()));
  assert.equal(new Set(all.map(({ result }) => (result.data as Float64Array).buffer)).size, 20);
  // What was disposed of comes first.
  const { buffer } = all[0].result.data as Float64Array;
  assert.equal(buffer.byteLength, 240_000);
  all[0].result.dispose();
  assert.equal(buffer.byteLength, 0);
  engine.dispose();
  await until(() => workers() === 0);
  const later = rows(engine, 7);
  assert.ok(later.isRight());
  assert.equal(workers(), 0);
  engine.dispose();
});

ownTest("engines of one thread, and of JavaScript, start no worker", () => {
  restore = setLimits({ RESERVE: LIMITS });
  for (const options of [{}, { threads: 1 }, { kind: "js", threads: 2 }] as const) {
    const engine = createEngine(options);
    for (let turn = 0; turn < 5; turn++) assert.ok(rows(engine, turn).isRight());
    assert.equal(workers(), 0);
    engine.dispose();
  }
});
