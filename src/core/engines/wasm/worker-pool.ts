/**
 * Workers that run kernels on one shared memory, in rounds. In a round, each worker gets a list of calls, no two lists
 * write to the same place, and the round ends when every list is complete. Data therefore needs neither locks nor
 * atomics, and the bits do not depend on timing. The file split-work.ts splits work into lists.
 */

import { TensorError } from "../../errors.ts";
import { THREADS } from "../../limits.ts";
import {
  BY_MESSAGE,
  controlWords,
  DONE,
  FAILED,
  PARTS,
  PROGRESS,
  RESULT,
  roundOf,
  runCalls,
  SPINS,
  STARTED,
  writeCalls,
  type Call,
} from "./calls.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { spawn, type WorkerHandle } from "./spawn.ts";

type CallLists = readonly (readonly Call[])[];

/** Workers that were started together, with their control words. */
interface Crew {
  readonly words: Int32Array;
  workers: readonly WorkerHandle[];
  /** True if a worker has failed or ended. */
  isBroken: boolean;
  /** Callback for every message, and for the end of a worker; null unless an asynchronous round is pending. */
  onEvent: (() => void) | null;
}

/** Number of checks without progress after which a waiting thread gives up. */
const LOOKS = 10;

export class WorkerPool {
  /** Number of threads, including the caller if it waits and runs the first list itself. */
  readonly size: number;
  readonly #memory: KernelMemory;
  readonly #spawn: typeof spawn;
  #crew: Crew | null = null;
  #whyNot: string | null = null;

  /**
   * Creates a pool without starting workers.
   * @param memory the shared memory that kernels work on
   * @param spawnWorker a function that starts a worker; tests pass a function whose workers vanish
   */
  constructor(size: number, memory: KernelMemory, spawnWorker = spawn) {
    this.size = size;
    this.#memory = memory;
    this.#spawn = spawnWorker;
  }

  /** Reason why no worker could start; null unless the platform refused a worker. */
  get whyUnavailable(): string | null {
    return this.#whyNot;
  }

  /**
   * True if `run` may be called: all workers have started, none has ended, and no asynchronous round is pending.
   */
  get isReady(): boolean {
    const crew = this.#crew;
    if (crew === null || crew.isBroken || crew.onEvent !== null) return false;
    return haveStarted(crew);
  }

  /** True if all workers have finished the round that `run` began. */
  get isRoundOver(): boolean {
    return this.#crew === null || isDone(this.#crew.words);
  }

  /**
   * Starts `count` workers unless as many exist. Browsers start workers only after the caller has returned to its event
   * loop, and starting takes time on every platform, so do not wait: check `isReady` at the next call.
   */
  start(count = this.size - 1): void {
    const crew = this.#crew;
    if (this.#whyNot !== null || crew?.onEvent) return;
    if (crew !== null && !crew.isBroken && crew.workers.length >= count) return;
    this.stop();
    this.#crew = this.#startCrew(count);
  }

  /**
   * Runs one list of calls on each thread, the first list on this thread, and waits until all lists are complete.
   * Returns true if every kernel returned 0.
   * @param meanwhile a function that this thread runs before its own list
   *
   * @throws TensorError `engine` if a worker dies, which leaves the tensor that it was writing partly written
   */
  run(lists: CallLists, meanwhile: () => void = () => {}): boolean {
    const crew = this.#crew;
    if (crew === null) throw new Error("the worker pool is not ready");
    postRound(crew, lists.slice(1), false);
    try {
      meanwhile();
      const isGood = runCalls(this.#memory.kernels().all, lists[0]);
      return this.#wait(crew) && isGood;
    } catch (error) {
      this.#terminate(crew);
      throw error;
    }
  }

  /**
   * Runs lists of calls only on workers, while the caller continues; on the caller's thread if workers are forbidden.
   * @throws TensorError `engine` if a worker dies or makes no progress
   */
  async runAsync(lists: CallLists): Promise<void> {
    // Without any list, no worker would report the end of the round.
    if (lists.length === 0) return;
    this.start(this.size);
    const crew = this.#crew;
    if (crew !== null && (await this.#roundEnds(crew, lists))) return;
    const { all } = this.#memory.kernels();
    for (const list of lists) runCalls(all, list);
  }

  /** Ends the workers, which are started again when needed. */
  stop(): void {
    const crew = this.#crew;
    if (crew === null) return;
    this.#crew = null;
    if (crew.isBroken) return this.#terminate(crew);
    for (const index of crew.workers.keys()) {
      Atomics.store(crew.words, roundOf(index), -1);
      Atomics.notify(crew.words, roundOf(index));
    }
  }

  #startCrew(count: number): Crew | null {
    const words = controlWords(count);
    const crew: Crew = { words, workers: [], isBroken: false, onEvent: null };
    const onMessage = (): void => crew.onEvent?.();
    const onEnd = (): void => {
      crew.isBroken = true;
      crew.onEvent?.();
    };
    const { memory } = this.#memory;
    const module = this.#memory.module();
    const control = words.buffer as SharedArrayBuffer;
    try {
      crew.workers = Array.from({ length: count }, (_, index) =>
        this.#spawn({ module, memory, control, index }, onMessage, onEnd),
      );
      return crew;
    } catch (error) {
      this.#whyNot = `workers are not available (${String(error)})`;
      return null;
    }
  }

  /** Waits for the end of a round, and returns true if every kernel returned 0. */
  #wait(crew: Crew): boolean {
    const { words } = crew;
    const parts = words[PARTS];
    for (let spins = THREADS.spins; spins > 0 && Atomics.load(words, DONE) !== parts; spins--);
    const isStuck = watch(words);
    const interval = THREADS.patience / LOOKS;
    for (let done = Atomics.load(words, DONE); done !== parts; done = Atomics.load(words, DONE)) {
      if (Atomics.wait(words, DONE, done, interval) === "timed-out" && isStuck()) throw dead();
    }
    const result = Atomics.load(words, RESULT);
    if (result >= FAILED) throw dead();
    return result === 0;
  }

  /**
   * Runs a round asynchronously. The round begins when all workers have started, so a worker that starts late does not
   * count as dead. Returns false if workers do not start, in which case nothing was written.
   */
  async #roundEnds(crew: Crew, lists: CallLists): Promise<boolean> {
    const { words, workers } = crew;
    for (const worker of workers) worker.keepAlive(true);
    try {
      if (!(await happens(crew, THREADS.start, () => haveStarted(crew)))) {
        if (Atomics.load(words, STARTED) === 0) this.#whyNot = "workers do not start";
        this.#terminate(crew);
        return false;
      }
      postRound(crew, lists, true);
      const isOver = await happens(crew, THREADS.patience, () => isDone(words));
      if (!isOver || Atomics.load(words, RESULT) >= FAILED) {
        this.#terminate(crew);
        throw dead();
      }
      return true;
    } finally {
      crew.onEvent = null;
      for (const worker of workers) worker.keepAlive(false);
    }
  }

  #terminate(crew: Crew): void {
    for (const worker of crew.workers) worker.terminate();
    if (this.#crew === crew) this.#crew = null;
  }
}

const haveStarted = ({ words, workers }: Crew): boolean =>
  Atomics.load(words, STARTED) === workers.length;

const isDone = (words: Int32Array): boolean => Atomics.load(words, DONE) === words[PARTS];

/**
 * Waits until `isSo` returns true, with a check at every message from a worker and at regular intervals. Returns false
 * if a worker ended first, or if no worker made progress for `patience` ms.
 */
async function happens(crew: Crew, patience: number, isSo: () => boolean): Promise<boolean> {
  const isStuck = watch(crew.words);
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    return await new Promise<boolean>((resolve) => {
      const look = (): void => {
        if (isSo()) resolve(true);
        else if (crew.isBroken) resolve(false);
      };
      crew.onEvent = look;
      // A worker that vanishes in a browser sends no message.
      timer = setInterval(() => {
        look();
        if (isStuck()) resolve(false);
      }, patience / LOOKS);
      look();
    });
  } finally {
    clearInterval(timer);
  }
}

/**
 * Returns a function that returns true if its last calls saw no progress. The function counts calls instead of time,
 * because the machine may sleep, or the caller may compute, for any time between two calls.
 */
function watch(words: Int32Array): () => boolean {
  let seen = -1;
  let looks = 0;
  return () => {
    const progress =
      Atomics.load(words, PROGRESS) + Atomics.load(words, DONE) + Atomics.load(words, STARTED);
    looks = progress === seen ? looks + 1 : 0;
    seen = progress;
    return looks >= LOOKS;
  };
}

/** Begins a round, with one list for each of the first workers. */
function postRound({ words }: Crew, lists: CallLists, byMessage: boolean): void {
  words[SPINS] = THREADS.spins;
  words[BY_MESSAGE] = byMessage ? 1 : 0;
  words[PARTS] = lists.length;
  Atomics.store(words, DONE, 0);
  Atomics.store(words, RESULT, 0);
  for (const [index, calls] of lists.entries()) {
    writeCalls(words, index, calls);
    Atomics.add(words, roundOf(index), 1);
    Atomics.notify(words, roundOf(index));
  }
}

const dead = (): TensorError =>
  new TensorError(
    "engine",
    "a worker of the engine died or hung; the result is incomplete, but the engine remains usable",
  );
