/**
 * Workers that run kernels over one shared memory, in rounds: each worker is given a list of calls, all lists write to
 * different places, and the round ends when every list is done. So there are no locks and no atomics on data, and the
 * bits are the same whoever is faster. How work is split into lists is decided in split-work.ts.
 */

import { TensorError } from "../../errors.ts";
import { runCalls, type Call } from "./calls.ts";
import {
  BY_MESSAGE,
  controlWords,
  DONE,
  FAILED,
  PARTS,
  PROGRESS,
  RESULT,
  roundOf,
  SPINS,
  STARTED,
  writeCalls,
} from "./control.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { spawn, type WorkerHandle } from "./spawn.ts";

type CallLists = readonly (readonly Call[])[];

/** Workers that were started together, and their control words. */
interface Crew {
  readonly words: Int32Array;
  workers: readonly WorkerHandle[];
  /** Whether one of them has failed or ended. */
  isBroken: boolean;
  /** Set while an asynchronous round is pending: called on every message, and when a worker ends. */
  onEvent: (() => void) | null;
}

export class WorkerPool {
  /** Threads, with the caller where it waits and runs the first list itself. */
  readonly size: number;
  readonly #memory: KernelMemory;
  readonly #patience: number;
  readonly #spawn: typeof spawn;
  #crew: Crew | null = null;
  #whyNot: string | null = null;

  /**
   * @param memory the shared memory that the kernels work on
   * @param patience how long, in milliseconds, a round may go on without progress; one kernel takes a second at most
   * @param spawnWorker how a worker is started; tests start some that vanish
   */
  constructor(size: number, memory: KernelMemory, patience = 5000, spawnWorker = spawn) {
    this.size = size;
    this.#memory = memory;
    this.#patience = patience;
    this.#spawn = spawnWorker;
  }

  /** Why no worker could be started; null as long as none was refused. */
  get whyUnavailable(): string | null {
    return this.#whyNot;
  }

  /** Whether {@link run} can run: its workers have started, none has ended, and no asynchronous round is pending. */
  get isReady(): boolean {
    const crew = this.#crew;
    if (crew === null || crew.isBroken || crew.onEvent !== null) return false;
    return Atomics.load(crew.words, STARTED) === crew.workers.length;
  }

  /**
   * Starts `count` workers unless that many are there. In a browser they start only after their maker has returned to
   * its event loop, and everywhere it takes a while: do not wait, ask {@link isReady} at the next call.
   */
  start(count = this.size - 1): void {
    const crew = this.#crew;
    if (this.#whyNot !== null || crew?.onEvent) return;
    if (crew !== null && !crew.isBroken && crew.workers.length >= count) return;
    this.stop();
    this.#crew = this.#startCrew(count);
  }

  /**
   * Runs one list of calls on each thread, the first on this one, and waits for all.
   * @returns whether every kernel returned 0, as `runCalls` has it
   * @throws TensorError `engine` when a worker dies; what it was writing to is half-written then
   */
  run(lists: CallLists): boolean {
    const crew = this.#crew;
    if (crew === null) throw new Error("the worker pool is not ready");
    postRound(crew, lists.slice(1), false);
    try {
      const isGood = runCalls(this.#memory.kernels().all, lists[0]);
      return this.#wait(crew) && isGood;
    } catch (error) {
      this.#terminate(crew);
      throw error;
    }
  }

  /**
   * Runs lists of calls on the workers alone, while the caller goes on; on the caller where workers are forbidden.
   * @throws TensorError `engine` when a worker dies or makes no progress
   */
  async runAsync(lists: CallLists): Promise<void> {
    // No worker would say that it has ended.
    if (lists.length === 0) return;
    this.start(this.size);
    const crew = this.#crew;
    if (crew !== null && (await this.#roundEnds(crew, lists))) return;
    const { all } = this.#memory.kernels();
    for (const list of lists) runCalls(all, list);
  }

  /** Ends the workers. They start again when they are needed. */
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
      this.#whyNot = `workers are refused (${String(error)})`;
      return null;
    }
  }

  /** Waits for a round. @returns whether every kernel returned 0 */
  #wait(crew: Crew): boolean {
    const { words } = crew;
    const parts = words[PARTS];
    for (let spins = SPINS; spins > 0 && Atomics.load(words, DONE) !== parts; spins--);
    const isStuck = this.#watch(words);
    for (let done = Atomics.load(words, DONE); done !== parts; done = Atomics.load(words, DONE)) {
      if (isStuck()) throw dead();
      Atomics.wait(words, DONE, done, 100);
    }
    const result = Atomics.load(words, RESULT);
    if (result >= FAILED) throw dead();
    return result === 0;
  }

  /**
   * Runs a round without waiting.
   * @returns false if no worker ever started, so that nothing was written
   */
  async #roundEnds(crew: Crew, lists: CallLists): Promise<boolean> {
    const { words, workers } = crew;
    const isStuck = this.#watch(words);
    for (const worker of workers) worker.keepAlive(true);
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          if (Atomics.load(words, DONE) === words[PARTS]) resolve();
          else if (crew.isBroken || isStuck()) reject(dead());
        };
        crew.onEvent = look;
        // A worker that vanishes in a browser says nothing.
        timer = setInterval(look, this.#patience / 10);
        postRound(crew, lists, true);
      });
      if (Atomics.load(words, RESULT) >= FAILED) throw dead();
      return true;
    } catch (error) {
      this.#terminate(crew);
      if (Atomics.load(words, STARTED) > 0) throw error;
      this.#whyNot = "workers do not start";
      return false;
    } finally {
      clearInterval(timer);
      crew.onEvent = null;
      for (const worker of workers) worker.keepAlive(false);
    }
  }

  /** A function that says whether nothing has moved for longer than the pool's patience. */
  #watch(words: Int32Array): () => boolean {
    let seen = -1;
    let since = Date.now();
    return () => {
      const progress =
        Atomics.load(words, PROGRESS) + Atomics.load(words, DONE) + Atomics.load(words, STARTED);
      if (progress !== seen) {
        seen = progress;
        since = Date.now();
      }
      return Date.now() - since > this.#patience;
    };
  }

  #terminate(crew: Crew): void {
    for (const worker of crew.workers) worker.terminate();
    if (this.#crew === crew) this.#crew = null;
  }
}

/** Begins a round, of one list for each of the first workers. */
function postRound({ words }: Crew, lists: CallLists, byMessage: boolean): void {
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
    "a worker of the engine died or hangs, and the result is half-written; the engine can be used again",
  );
