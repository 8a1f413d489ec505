/**
 * Memory for the next large result of an engine with threads. The allocator maps each array of more than 32 MB anew,
 * and the first write to a page takes 2 µs: half of the 41 ms in which 50,000 rows are moved into a copy of 51 MB. Two
 * results in turn that are equally long, and whose memory comes from no result that was disposed of, predict a third. A
 * worker makes a buffer for that result and writes to its pages while the caller works. When the caller asks, the
 * worker transfers the buffer with the pages written so far, so the caller never waits for a page that it could write
 * to itself.
 *
 * At most one buffer is held. Only Node does this: in browsers a message arrives after its receiver has returned to the
 * event loop, and the gain in Bun and Deno was not measured.
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

/** Control words: the number of the last buffer requested, and its bytes. */
const ASKED = 0;
const BYTES = 1;
/** The number of the buffer that the caller wants in its current state, and of the last buffer sent. */
const WANTED = 2;
const SENT = 3;
const WORDS = 4;

/** The worker is blocked as long as it lives, because it needs no event loop to send. A page has 4 kB or more. */
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
  /** The length of the last result. */
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** A buffer of that length with arbitrary contents, if one was made ready. */
  take(bytes: number): ArrayBuffer | undefined {
    if (bytes < RESERVE.least || bytes > RESERVE.most || !this.#canHelp) return undefined;
    const isRepeated = bytes === this.#last;
    this.#last = bytes;
    const buffer = this.#helper?.receive(bytes);
    if (isRepeated) this.#askFor(bytes);
    this.#timer?.refresh();
    return buffer;
  }

  /** Ends the worker and frees its buffer. The worker starts again when it is needed. */
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
      // The timer also ends the worker of an engine that was dropped.
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
  /** The length of the buffer that was requested and has not arrived; 0 if none was. */
  #pending = 0;

  /** @param onEnd called when the worker failed, or ended */
  constructor(threads: NodeThreads, onEnd: () => void) {
    const { port1, port2 } = new threads.MessageChannel();
    const parts = { port: port2, words: this.#words };
    this.#threads = threads;
    this.#port = port1;
    this.#worker = startInNode(threads, source(), parts, [port2], onEnd);
  }

  /** The requested buffer, if it has this length. A buffer of another length is dropped. */
  receive(bytes: number): ArrayBuffer | undefined {
    if (this.#pending === 0) return undefined;
    const words = this.#words;
    Atomics.store(words, WANTED, this.#asked);
    if (this.#pending === bytes) Atomics.wait(words, SENT, this.#asked - 1, RESERVE.wait);
    // A worker that has not started, or has no core, sends the buffer for a later result.
    if (Atomics.load(words, SENT) !== this.#asked) return undefined;
    this.#pending = 0;
    // No message arrives if memory does not suffice.
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
