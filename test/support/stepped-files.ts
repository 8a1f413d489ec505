/**
 * Makes the calls of `node:fs/promises` and the timers of programs that run side by side one at a time, in an order that
 * the test decides. Each order is one that a busy machine may produce, and repeats without waiting for any time.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { randomFrom } from "./random.ts";

type Call = (...args: unknown[]) => Promise<unknown>;

/** A call that waits for its turn. */
interface Step {
  /** The number of the program that makes the call. */
  readonly program: number;
  /** The call's name and paths. */
  readonly text: string;
  readonly run: () => Promise<void>;
}

/** The state of the programs. */
interface Steps {
  /** The calls that wait for their turn. */
  readonly waiting: readonly Step[];
  /** The numbers of the programs that have not ended. */
  readonly running: ReadonlySet<number>;
  /** The number of calls made so far. */
  readonly at: number;
}

/** Chooses the next call; undefined to wait for a call of a program that computes. */
export type Order = (steps: Steps) => Step | undefined;

/**
 * Runs the program with the highest priority until one of a few drawn steps, at which its priority becomes the lowest:
 * most faults of two programs need one or two such interruptions, at any step.
 * @param steps about the number of calls of all programs
 */
export function orderFrom(seed: number, programs: number, steps: number): Order {
  const random = randomFrom(seed);
  const priorities = Array.from({ length: programs }, () => 1 + random(2 ** 20));
  const changes = new Set(Array.from({ length: 1 + random(3) }, () => random(steps)));
  let current = 0;
  return ({ waiting, running, at }) => {
    if (changes.delete(at)) priorities[current] = -at;
    const first = Math.max(...[...running].map((program) => priorities[program]));
    current = priorities.indexOf(first);
    const found = waiting.filter(({ program }) => program === current);
    return found.length === 0 ? undefined : found[random(found.length)];
  };
}

/** A program, and the call before which its turn ends; without a call, the turn ends with the program. */
export type Turn = readonly [program: number, until?: RegExp];

/** Runs one program after the other, in turns. Programs that have not ended after the last turn run in any order. */
export function inTurns(turns: readonly Turn[]): { order: Order; wereHeld: () => boolean } {
  let held = 0;
  let turn = 0;
  const order: Order = ({ waiting, running }) => {
    for (; turn < turns.length; turn++) {
      const [program, until] = turns[turn];
      const own = waiting.filter((step) => step.program === program);
      const isHeld = own.some(({ text }) => until?.test(text) === true);
      if (running.has(program) && !isHeld) return own[0];
      if (isHeld) held++;
    }
    return waiting[0];
  };
  return { order, wereHeld: () => held === turns.filter((one) => one.length === 2).length };
}

const promises = fs.promises as unknown as Record<string, unknown>;

/** Runs programs side by side. @returns their results */
export async function inSteps<T>(
  programs: readonly (() => Promise<T>)[],
  order: Order,
): Promise<PromiseSettledResult<T>[]> {
  const program = new AsyncLocalStorage<number>();
  const waiting: Step[] = [];
  const add = (text: string, run: () => Promise<void>): void => {
    waiting.push({ program: program.getStore() ?? 0, text, run });
  };
  const stepped =
    (name: string, call: Call): Call =>
    (...args) =>
      new Promise((resolve, reject) => {
        const texts = args.filter((one) => typeof one === "string");
        add([name, ...texts].join(" "), () => call(...args).then(resolve, reject));
      });
  const { setTimeout } = globalThis;
  const before = { ...promises };
  for (const [name, call] of Object.entries(before)) {
    if (typeof call !== "function") continue;
    const own = async (...args: unknown[]): Promise<unknown> => {
      const result: unknown = await Reflect.apply(call, promises, args);
      return name === "open" ? withSteps(Object(result), stepped) : result;
    };
    promises[name] = stepped(name, own);
  }
  const timer = (action: () => void): void => add("timer", async () => action());
  Object.assign(globalThis, { setTimeout: timer });
  syncBuiltinESMExports();
  try {
    const running = new Set(programs.keys());
    const ends = Promise.allSettled(
      programs.map((start, i) => program.run(i, start).finally(() => running.delete(i))),
    );
    for (let at = 0; running.size > 0;) {
      // Everything that follows from the last call happens before the next call is chosen.
      await new Promise((resolve) => void setImmediate(resolve));
      const step = order({ waiting, running, at });
      if (step === undefined) continue;
      at++;
      waiting.splice(waiting.indexOf(step), 1);
      await step.run();
    }
    return await ends;
  } finally {
    Object.assign(promises, before);
    Object.assign(globalThis, { setTimeout });
    syncBuiltinESMExports();
  }
}

/** An open file whose calls are steps too. */
const withSteps = (handle: object, stepped: (name: string, call: Call) => Call): object =>
  new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function"
        ? stepped(String(name), value.bind(target) as Call)
        : value;
    },
  });
