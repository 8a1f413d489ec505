/** Timing: in one process, all contestants of a row in turn; medians. */

import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";
import { randomBits, shuffle } from "./random.js";

/** A sample lasts at least this many milliseconds, so short calls are repeated. */
const SAMPLE = 5;
/** Milliseconds, and at least two samples, that a contestant runs before it is measured: compilers, caches, pages. */
const WARM_UP = 40;

/** Milliseconds between collecting and measuring, because another thread gives memory back to the system. */
const PAUSE = 10;

v8.setFlagsFromString("--expose-gc");
/** Collects all garbage. Only a context made after the flag was set has the function. */
const collect = vm.runInNewContext("gc");

/**
 * Milliseconds a call, the median of `samples` for each contestant.
 *
 * In each round every contestant runs once, in a newly shuffled order, so that drift (clock, caches, other processes)
 * affects all alike. Garbage is collected before each sample, outside the timing, so that no contestant pays for the
 * garbage of the one before.
 * @param {import("./ours.js").Contestant[]} contestants
 * @param {number} samples
 * @returns {Promise<Map<string, number>>}
 */
export async function measure(contestants, samples) {
  const calls = new Map();
  for (const contestant of contestants) calls.set(contestant, await warmUp(contestant));
  const times = new Map(contestants.map(({ name }) => [name, []]));
  const bits = randomBits(contestants.length);
  for (let round = 0; round < samples; round++) {
    for (const contestant of shuffle([...contestants], bits)) {
      times.get(contestant.name).push(await sample(contestant, calls.get(contestant)));
    }
  }
  return new Map([...times].map(([name, list]) => [name, median(list)]));
}

/** Runs a contestant until it is warm, and returns the number of calls that make a sample. */
async function warmUp(contestant) {
  let calls = contestant.atLeast ?? 1;
  let spent = 0;
  for (let round = 0; ; round++) {
    const each = await sample(contestant, calls);
    spent += each * calls;
    const enough = Math.max(1, Math.ceil(SAMPLE / each));
    if (round > 0 && spent >= WARM_UP && calls >= enough) return calls;
    calls = Math.max(calls, Math.min(enough, calls * 10));
  }
}

/** Milliseconds a call. */
async function sample({ call, cooldown = 0 }, calls) {
  collect();
  await sleep(PAUSE);
  const start = performance.now();
  for (let n = 0; n < calls; n++) {
    const result = call();
    if (result instanceof Promise) await result;
  }
  const each = (performance.now() - start) / calls;
  if (cooldown > 0) await sleep(cooldown);
  return each;
}

/** @param {readonly number[]} list */
export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Bytes a second, read and written, of a plain copy of 64 MB into memory that was written before. */
export function copyRate() {
  const from = new Float32Array(2 ** 24).fill(1);
  const to = new Float32Array(2 ** 24).fill(2);
  const rates = Array.from({ length: 15 }, () => {
    const start = performance.now();
    to.set(from);
    return (2 * from.byteLength * 1000) / (performance.now() - start);
  });
  return median(rates);
}
