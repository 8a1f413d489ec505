/** Workers as a browser starts them, from the address of a text, here on threads of Node under a browser's interface. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Worker as NodeWorker } from "node:worker_threads";
import { controlWords, type Call } from "../../src/core/engines/wasm/calls.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { spawn, whyNoWorkers } from "../../src/core/engines/wasm/spawn.ts";
import { WorkerPool } from "../../src/core/engines/wasm/worker-pool.ts";
import { started } from "../support/engines.ts";
import { WITHOUT_NODE_ITSELF, WITHOUT_THREADS } from "../support/platform.ts";
import { reportSentence } from "../support/sentences.ts";

/** The globals of a browser's worker. */
const GLOBALS = `
  const { parentPort } = require("node:worker_threads");
  globalThis.postMessage = (data) => parentPort.postMessage(data);
  globalThis.close = () => parentPort.close();
  parentPort.on("message", (data) => globalThis.onmessage({ data }));`;

/** What a page sees of its workers. */
interface Page {
  readonly types: string[];
  prevented: number;
  terminated: number;
}

/** Runs `action` where Node's own workers are not to be found, and a browser's are. */
async function inPage(action: (page: Page) => Promise<void>): Promise<void> {
  const [{ Worker: Thread }, { resolveObjectURL }] = await Promise.all([
    import("node:worker_threads"),
    import("node:buffer"),
  ]);
  const page: Page = { types: [], prevented: 0, terminated: 0 };
  class Worker {
    readonly #thread: Promise<NodeWorker>;
    constructor(url: string) {
      const blob = resolveObjectURL(url) ?? assert.fail("the address is of no text");
      page.types.push(blob.type);
      this.#thread = blob.text().then((text) => new Thread(GLOBALS + text, { eval: true }));
    }
    postMessage(data: unknown): void {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      void this.#thread.then((thread) => thread.postMessage(data));
    }
    addEventListener(name: string, listener: (event: object) => void): void {
      const preventDefault = (): void => void page.prevented++;
      void this.#thread.then((thread) =>
        thread.on(name, (data: unknown) => listener({ data, preventDefault })),
      );
    }
    terminate(): void {
      page.terminated++;
      void this.#thread.then((thread) => thread.terminate());
    }
  }
  const { getBuiltinModule } = process;
  Reflect.set(process, "getBuiltinModule", undefined);
  Reflect.set(globalThis, "Worker", Worker);
  try {
    await action(page);
  } finally {
    Reflect.set(process, "getBuiltinModule", getBuiltinModule);
    Reflect.deleteProperty(globalThis, "Worker");
  }
}

const skip = WITHOUT_NODE_ITSELF || WITHOUT_THREADS;

test("workers of a page run rounds, and end when the pool stops", { skip }, async () => {
  await inPage(async (page) => {
    assert.equal(whyNoWorkers(), null);
    const memory = new WasmPlatform().sharedMemory();
    const kernel = memory.kernels().find("copy_bytes");
    const [from, to] = [0, 0].map(() => memory.allocate(64));
    memory.bytesAt(from, 64).fill(3);
    const halves = [0, 32].map((at): Call[] => [{ kernel, args: [to + at, from + at, 32] }]);
    const pool = new WorkerPool(2, memory);
    for (const runs of [() => pool.runAsync(halves), () => pool.run(halves)]) {
      memory.bytesAt(to, 64).fill(0);
      await runs();
      assert.ok(memory.bytesAt(to, 64).every((byte) => byte === 3));
      await started(pool);
    }
    assert.equal(pool.whyUnavailable, null);
    assert.deepEqual(page, {
      types: ["text/javascript", "text/javascript"],
      prevented: 0,
      terminated: 0,
    });
    pool.stop();
  });
});

test(
  "a worker of a page that fails is an end, which the page need not report",
  { skip },
  async () => {
    await inPage(async (page) => {
      const memory = new WasmPlatform().sharedMemory();
      const control = controlWords(1).buffer as SharedArrayBuffer;
      const parts = { module: {}, memory: memory.memory, control, index: 0 };
      await new Promise<void>((resolve) => {
        const handle = spawn(parts, () => assert.fail("no round was run"), resolve);
        handle.keepAlive(true);
      });
      assert.equal(page.prevented, 1);
      const handle = spawn(
        parts,
        () => {},
        () => {},
      );
      handle.terminate();
      assert.equal(page.terminated, 1);
    });
  },
);

test("where there are no workers, it is said why", { skip: WITHOUT_NODE_ITSELF }, async () => {
  await inPage(async () => {
    Reflect.deleteProperty(globalThis, "Worker");
    const why = whyNoWorkers();
    assert.ok(why !== null);
    reportSentence("workers", why);
    await Promise.resolve();
  });
  assert.equal(whyNoWorkers(), null);
});
