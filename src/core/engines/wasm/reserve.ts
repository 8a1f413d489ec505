/**
 * Prepares memory for the next large result of an engine with threads. The allocator maps new pages for each array of
 * more than 32 MB, and the first write to a page takes 2 µs, which is half of the 41 ms for moving 50,000 rows into a
 * copy of 51 MB. Two consecutive results of equal length, neither of which reuses the memory of a disposed result,
 * predict a third. A worker creates a buffer for the third result, and writes to its pages while the caller works. When
 * the caller requests the buffer, the worker transfers it with the pages written so far, so the caller never waits for
 * a page that it could write to itself.
 *
 * The reserve has at most one buffer. The reserve is used only in Node: in browsers, a message arrives only after its
 * receiver has returned to the event loop, and the gain in Bun and Deno was not measured.
 */

import { RESERVE } from "../../limits.ts";
import {
  mayWait,
  nodeThreads,
  startInNode,
  type NodePort,
  type NodeThreads,
  type NodeWorker,
} from "./spawn.ts";

/** Position of the control word for the number of the last requested buffer. */
const ASKED = 0;
/** Position of the control word for the size of the last requested buffer, in bytes. */
const BYTES = 1;
/** Position of the control word for the number of the buffer that the caller wants in its current state. */
const WANTED = 2;
/** Position of the control word for the number of the last buffer sent. */
const SENT = 3;
const WORDS = 4;

/**
 * Returns the code of the worker, which always blocks, because sending does not need an event loop. A page has 4 kB or
 * more.
 */
const source = (): string => `
const { port, words } = require("node:worker_threads").workerData;
for (let round = 1; ; round++) {
  Atomics.wait(words, ${ASKED}, round - 1);
  try {
    const bytes = new Uint8Array(words[${BYTES}]);
    for (let at = 0; at < bytes.length && Atomics.load(words, ${WANTED}) < round; at += 4096) bytes[at] = 0;
    port.postMessage(bytes.buffer, [bytes.buffer]);
  } catch {}
  Atomics.store(words, ${SENT}, round);
  Atomics.notify(words, ${SENT});
}`;

export class Reserve {
  #helper: Helper | null = null;
  #canHelp = true;
  /** Length of the last result, in bytes. */
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns a buffer of the given length with arbitrary contents, if one has been prepared. */
  take(bytes: number): ArrayBuffer | undefined {
    if (bytes < RESERVE.least || bytes > RESERVE.most || !this.#canHelp) return undefined;
    const isRepeated = bytes === this.#last;
    this.#last = bytes;
    const buffer = this.#helper?.receive(bytes);
    if (isRepeated) this.#askFor(bytes);
    this.#timer?.refresh();
    return buffer;
  }

  /** Ends the worker and frees its buffer. The worker is started again when needed. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#helper?.stop();
    this.#helper = null;
    this.#last = 0;
  }

  #askFor(bytes: number): void {
    this.#helper ??= this.#start();
    this.#helper?.ask(bytes);
  }

  #start(): Helper | null {
    const threads = mayWait() ? nodeThreads() : null;
    this.#canHelp = threads !== null && !isOtherRuntime();
    if (threads === null || !this.#canHelp) return null;
    try {
      const helper: Helper = new Helper(threads, () => {
        if (this.#helper !== helper) return;
        this.#canHelp = false;
        this.clear();
      });
      // The timer also ends the worker of an engine that is no longer used.
      this.#timer = setTimeout(() => this.clear(), RESERVE.idle).unref();
      return helper;
    } catch {
      this.#canHelp = false;
      return null;
    }
  }
}

const isOtherRuntime = (): boolean => "Deno" in globalThis || "bun" in process.versions;

/** The worker and its current request. */
class Helper {
  readonly #threads: NodeThreads;
  readonly #port: NodePort;
  readonly #worker: NodeWorker;
  readonly #words = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * WORDS));
  #asked = 0;
  /** Length of the requested buffer that has not arrived, in bytes; 0 if no buffer is pending. */
  #pending = 0;

  /**
   * Starts the worker.
   * @param onEnd called when the worker fails or ends
   */
  constructor(threads: NodeThreads, onEnd: () => void) {
    const { port1, port2 } = new threads.MessageChannel();
    const parts = { port: port2, words: this.#words };
    this.#threads = threads;
    this.#port = port1;
    this.#worker = startInNode(threads, source(), parts, [port2], onEnd);
  }

  /** Returns the requested buffer if it has the given length. A buffer of a different length is dropped. */
  receive(bytes: number): ArrayBuffer | undefined {
    if (this.#pending === 0) return undefined;
    const words = this.#words;
    Atomics.store(words, WANTED, this.#asked);
    if (this.#pending === bytes) Atomics.wait(words, SENT, this.#asked - 1, RESERVE.wait);
    // If the worker has not started, or has no core, the buffer arrives later and is used for a later result.
    if (Atomics.load(words, SENT) !== this.#asked) return undefined;
    this.#pending = 0;
    // The worker sends no message if memory was too small.
    const buffer = this.#threads.receiveMessageOnPort(this.#port)?.message;
    return buffer?.byteLength === bytes ? buffer : undefined;
  }

  ask(bytes: number): void {
    if (this.#pending !== 0) return;
    this.#pending = bytes;
    this.#words[BYTES] = bytes;
    Atomics.store(this.#words, ASKED, ++this.#asked);
    Atomics.notify(this.#words, ASKED);
  }

  stop(): void {
    this.#port.close();
    this.#worker.terminate();
  }
}
