/**
 * Workers that run the kernels beside the caller, over one shared memory. Work is given to them as lists of kernel
 * calls that write to different places, so they need no locks and no atomics on data, and the result has the same bits
 * whoever is faster. The caller waits: it may not do so in a page, only in Node and in workers.
 */

import { TensorError } from "../../errors.ts";
import { runCalls, type Call } from "./calls.ts";
import type { Space } from "./space.ts";

/** Where control words are: a count of rounds, how many workers are done, whether a result was not 0, and progress. */
const ROUND = 0;
const DONE = 1;
const RESULT = 2;
const PROGRESS = 3;
/** Whether the workers say by a message that they are done, because the caller does not wait. */
const MESSAGE = 4;
/** How many workers have started. */
const STARTED = 5;
const HEADER = 16;
/** What {@link RESULT} says after a round in which a kernel threw. */
const FAILED = 2;
/** A call: kernel, repeat, what is added to three arguments, which argument is the last result, and the arguments. */
const ARGS = 6;
const CALL_WORDS = 16;
/** The most calls of a worker in a round. */
const MOST_CALLS = 1024;
const STRIDE = 16 + CALL_WORDS * MOST_CALLS;
/** How often a thread looks whether it can go on before it sleeps, which is dearer than a short wait. */
const SPINS = 2000;

/**
 * What a worker runs, as text, because that needs no file that a bundler would have to know. It does what `runCalls`
 * does; the constants are those above.
 */
const WORKER = `
const work = ({ module, memory, control, index }, post) => {
  const kernels = Object.values(new WebAssembly.Instance(module, { env: { memory } }).exports);
  const words = new Int32Array(control);
  const runCalls = (at, end) => {
    let bad = 0;
    let result = 0;
    for (; at < end; at += ${CALL_WORDS}) {
      const [kernel, repeat, x, y, z, previous] = words.subarray(at, at + ${ARGS});
      const args = words.slice(at + ${ARGS}, at + ${CALL_WORDS});
      if (previous < 0) bad |= result;
      else args[previous] = result;
      result = 0;
      for (let i = 0; i < repeat; i++) {
        result |= kernels[kernel](...args);
        args[0] += x;
        args[1] += y;
        args[2] += z;
        Atomics.add(words, ${PROGRESS}, 1);
      }
    }
    return bad | result;
  };
  Atomics.add(words, ${STARTED}, 1);
  for (let round = 0; ; ) {
    for (let spins = ${SPINS}; spins > 0 && Atomics.load(words, ${ROUND}) === round; spins--);
    Atomics.wait(words, ${ROUND}, round);
    const next = Atomics.load(words, ${ROUND});
    if (next === round) continue;
    if (next < 0) return;
    round = next;
    const at = ${HEADER} + index * ${STRIDE};
    try {
      if (runCalls(at + 1, at + 1 + ${CALL_WORDS} * words[at]) !== 0) Atomics.or(words, ${RESULT}, 1);
    } catch {
      Atomics.or(words, ${RESULT}, ${FAILED});
    }
    const byMessage = words[${MESSAGE}] !== 0;
    Atomics.add(words, ${DONE}, 1);
    if (byMessage) post(round);
    else Atomics.notify(words, ${DONE});
  }
};`;

const IN_NODE = `${WORKER}
const { parentPort, workerData } = require("node:worker_threads");
work(workerData, (round) => parentPort.postMessage(round));`;
const IN_BROWSER = `${WORKER} onmessage = ({ data }) => { work(data, (round) => postMessage(round)); close(); };`;

interface WorkerLike {
  terminate(): unknown;
  /** Of Node: whether the process waits for it. */
  ref?(): void;
  unref?(): void;
  on?(event: string, listener: () => void): void;
  postMessage?(message: unknown): void;
  addEventListener?(event: string, listener: (event: { preventDefault(): void }) => void): void;
}

export class Team {
  /** Threads, the caller among them. */
  readonly size: number;
  readonly #space: Space;
  readonly #patience: number;
  #words: Int32Array = new Int32Array(0);
  /** Started again when they are needed after they were stopped or one died. */
  #workers: WorkerLike[] = [];
  /** What to do when the workers of {@link runLater} are done, or one of them ends. */
  #done: (() => void) | null = null;
  #fail: (() => void) | null = null;

  /**
   * @param space has the shared memory
   * @param patience how long, in milliseconds, a worker may make no progress; a call takes a second at most
   * @throws what the platform throws where workers are forbidden
   */
  constructor(size: number, space: Space, patience = 5000) {
    this.#patience = patience;
    this.size = size;
    this.#space = space;
    this.#start(size - 1);
  }

  /**
   * Whether {@link run} can run: not while a round of {@link runLater} is under way. The workers of a browser start only
   * when their maker has returned to its event loop, so that it must not wait for them before.
   */
  get isReady(): boolean {
    if (this.#fail !== null) return false;
    if (this.#workers.length === 0) this.#start(this.size - 1);
    if (nodeWorker() !== null) return true;
    return Atomics.load(this.#words, STARTED) === this.#workers.length;
  }

  /**
   * Runs one list of calls on each thread, the first by the caller, and waits for all.
   * @returns whether every kernel gave 0 or nothing, as `runCalls` has it
   * @throws TensorError `engine` when a worker dies; what it was writing to is then half-written
   */
  run(lists: readonly (readonly Call[])[]): boolean {
    this.#begin(lists.slice(1), this.size - 1, false);
    const isGood = runCalls(this.#space.kernels.all, lists[0]);
    this.#wait();
    const result = Atomics.load(this.#words, RESULT);
    if (result >= FAILED) throw this.#dead();
    return isGood && result === 0;
  }

  /**
   * Runs lists of calls on the workers alone, while the caller goes on.
   * @throws TensorError `engine` when a worker dies
   */
  async runLater(lists: readonly (readonly Call[])[]): Promise<void> {
    this.#begin(lists, this.size, true);
    for (const worker of this.#workers) worker.ref?.();
    try {
      await new Promise<void>((resolve, reject) => {
        this.#done = resolve;
        this.#fail = () => reject(this.#dead());
      });
      if (Atomics.load(this.#words, RESULT) >= FAILED) throw this.#dead();
    } finally {
      this.#done = null;
      this.#fail = null;
      for (const worker of this.#workers) worker.unref?.();
    }
  }

  /** Lets the workers end. They start again when they are needed. */
  stop(): void {
    if (this.#workers.length === 0) return;
    Atomics.store(this.#words, ROUND, -1);
    Atomics.notify(this.#words, ROUND);
    this.#workers = [];
  }

  /** Starts a round on `count` workers, of which there are then as many or more. */
  #begin(lists: readonly (readonly Call[])[], count: number, isLater: boolean): void {
    if (this.#workers.length < count) {
      // Those that there are end with the round that they wait for.
      this.stop();
      this.#start(count);
    }
    const words = this.#words;
    for (const [index] of this.#workers.entries()) {
      writeCalls(words, HEADER + index * STRIDE, lists[index] ?? []);
    }
    words[MESSAGE] = isLater ? 1 : 0;
    Atomics.store(words, DONE, 0);
    Atomics.store(words, RESULT, 0);
    Atomics.add(words, ROUND, 1);
    Atomics.notify(words, ROUND);
  }

  /** Makes workers. They come to work by themselves. */
  #start(count: number): void {
    const { heap, kernels } = this.#space;
    const control = new SharedArrayBuffer(4 * (HEADER + STRIDE * count));
    const words = new Int32Array(control);
    this.#words = words;
    const onMessage = (): void => {
      if (words === this.#words && Atomics.load(words, DONE) === count) this.#done?.();
    };
    const onEnd = (): void => {
      if (words === this.#words) this.#fail?.();
    };
    this.#workers = Array.from({ length: count }, (_, index) =>
      spawn({ module: kernels.module, memory: heap.memory, control, index }, onMessage, onEnd),
    );
  }

  #wait(): void {
    const words = this.#words;
    const { length } = this.#workers;
    for (let spins = SPINS; spins > 0; spins--) {
      if (Atomics.load(words, DONE) === length) return;
    }
    let seen = -1;
    let since = Date.now();
    for (;;) {
      const done = Atomics.load(words, DONE);
      if (done === length) return;
      Atomics.wait(words, DONE, done, 100);
      const progress = Atomics.load(words, PROGRESS) + Atomics.load(words, DONE);
      if (progress !== seen) {
        seen = progress;
        since = Date.now();
      } else if (Date.now() - since > this.#patience) {
        throw this.#dead();
      }
    }
  }

  /** Ends all workers. @returns the error that says why */
  #dead(): TensorError {
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
    return new TensorError(
      "engine",
      "a worker of the engine died or hangs, and the result is half-written; the engine can be used again",
    );
  }
}

/** Writes a list of calls as words: how many, and each at its place. */
function writeCalls(words: Int32Array, at: number, list: readonly Call[]): void {
  words[at] = list.length;
  for (const [
    i,
    { kernel, args, repeat = 1, steps = [0, 0, 0], previous = -1 },
  ] of list.entries()) {
    words.set([kernel, repeat, ...steps, previous, ...args], at + 1 + CALL_WORDS * i);
  }
}

type WorkerConstructor = new (source: string | URL, options?: object) => WorkerLike;

/** A worker; it is told of messages from it, and that it failed or ended. */
function spawn(parts: object, onMessage: () => void, onEnd: () => void): WorkerLike {
  const node = nodeWorker();
  if (node !== null) {
    // Without the arguments of this process, under which text might be a module.
    const worker = new node(IN_NODE, { eval: true, execArgv: [], workerData: parts });
    worker.on?.("message", onMessage);
    worker.on?.("error", onEnd);
    worker.on?.("exit", onEnd);
    // A process may end while its workers wait.
    worker.unref?.();
    return worker;
  }
  const Browser: WorkerConstructor = Reflect.get(globalThis, "Worker");
  const url = URL.createObjectURL(new Blob([IN_BROWSER], { type: "text/javascript" }));
  const worker = new Browser(url);
  worker.addEventListener?.("message", onMessage);
  worker.addEventListener?.("error", (event) => {
    // It is told by an error of the engine, and nowhere else.
    event.preventDefault();
    onEnd();
  });
  worker.postMessage?.(parts);
  URL.revokeObjectURL(url);
  return worker;
}

/** Node's Worker, got without an import that browsers and bundlers would trip over; null elsewhere. */
function nodeWorker(): WorkerConstructor | null {
  const process: { getBuiltinModule?(name: string): { Worker: WorkerConstructor } | undefined } =
    Reflect.get(globalThis, "process") ?? {};
  return process.getBuiltinModule?.("node:worker_threads")?.Worker ?? null;
}

/** Whether workers can be had here. */
export function hasWorkers(): boolean {
  const isThere = nodeWorker() !== null || typeof Reflect.get(globalThis, "Worker") === "function";
  return isThere && typeof SharedArrayBuffer === "function";
}

/** Whether the caller may wait for them: not in a page. */
export function mayWait(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}
