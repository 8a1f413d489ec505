/**
 * A world of processes in virtual time, all of it by one seed. What happens is a queue of events; the next one begins when
 * all that the one before has set off has come to rest. A process may be killed, or stand still for a while.
 */

import type { Clock } from "../../../../src/arrays/distributed/clock.ts";
import { fixedRandom, type Random } from "../../../support/random.ts";

interface Event {
  readonly at: number;
  readonly turn: number;
  /** Null for what happens outside of all processes, such as in Redis. */
  readonly process: Process | null;
  run(): unknown;
}

/** A process of the world. Of one that is killed nothing happens any more. */
export class Process {
  readonly name: string;
  /** That of its ndscatter. */
  version = "1.0.0";
  isAlive = true;
  /** Until when it stands still, in milliseconds of the world. */
  frozenUntil = 0;
  /** Until when its connection to Redis is lost. */
  cutUntil = 0;
  /** How old what it sees of a folder may be, as of a network file system. */
  listingAge = 0;
  /** Until when it does not see the folders of jobs. */
  blindUntil = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** Lets everything go on that waits for nothing but other promises. */
const rest = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

export class World {
  readonly random: Random;
  now = 0;
  steps = 0;
  /** The last events of note, for the report of a failure. */
  readonly story: string[] = [];
  #turn = 0;
  readonly #heap: Event[] = [];

  constructor(seed: number) {
    this.random = fixedRandom(seed);
  }

  /** True once in so many times. */
  chance(times: number): boolean {
    return this.random(times) === 0;
  }

  /** A time in milliseconds, most often short, at most `most`. */
  delay(most: number): number {
    const part = this.random(1000) / 1000;
    return most * part ** 4;
  }

  pick<T>(all: readonly T[]): T {
    return all[this.random(all.length)] as T;
  }

  tell(sentence: string): void {
    this.story.push(`${(this.now / 1000).toFixed(3)} s: ${sentence}`);
    if (this.story.length > 400) this.story.shift();
  }

  /** @param run a promise that it returns is waited for, so that work on real files is one event */
  after(milliseconds: number, process: Process | null, run: () => unknown): void {
    const event = { at: this.now + milliseconds, turn: this.#turn++, process, run };
    const heap = this.#heap;
    let i = heap.length;
    heap.push(event);
    while (i > 0 && isBefore(event, heap[(i - 1) >> 1] as Event)) {
      heap[i] = heap[(i - 1) >> 1] as Event;
      i = (i - 1) >> 1;
    }
    heap[i] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event))
        child++;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[i] = heap[child] as Event;
      i = child;
    }
    heap[i] = last;
    return first;
  }

  /** Runs until a condition holds. @returns false where it does not hold at that time, or nothing happens any more */
  async runUntil(isOver: () => boolean, time: number): Promise<boolean> {
    while (!isOver()) {
      const [next] = this.#heap;
      if (next === undefined || next.at > time) return false;
      const event = this.#pop() as Event;
      const { process, at } = event;
      if (process !== null && !process.isAlive) continue;
      if (process !== null && process.frozenUntil > at) {
        this.now = Math.max(this.now, at);
        this.after(process.frozenUntil - this.now, process, event.run);
        continue;
      }
      this.now = Math.max(this.now, at);
      this.steps++;
      await event.run();
      await rest();
    }
    return true;
  }

  clockOf(process: Process): Clock {
    return {
      now: () => this.now,
      sleep: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          const abort = (): void => reject(signal?.reason);
          if (signal?.aborted === true) return abort();
          signal?.addEventListener("abort", abort, { once: true });
          this.after(milliseconds, process, () => {
            signal?.removeEventListener("abort", abort);
            resolve();
          });
        }),
    };
  }

  /** What a process does in a moment, such as a call of its file system. */
  act<T>(process: Process, most: number, body: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.after(this.delay(most), process, async () => {
        try {
          resolve(await body());
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.turn < b.turn);
