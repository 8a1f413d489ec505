/** Timing: in one process, all contestants of a row in turn; medians. */

import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";
import { randomBits, shuffle } from "./random.js";
import { median } from "./statistics.js";

/**
 * Durations in milliseconds.
 * @typedef {object} Pace
 * @property {number} samples the number of rounds
 * @property {number} [sample] a sample lasts at least this long, so short calls are repeated
 * @property {number} [warmUp] and at least two samples: compilers, caches, pages
 * @property {boolean} [collects] true to collect garbage before each sample. Not for short calls: V8 drops hidden
 * classes without objects, and with them the compiled code that knows them. Measured: a call of 5 us takes 12 to 40 if
 * garbage is collected every 1.5 to 5 ms
 * @property {boolean} [brief] a quick run: calls that take longer than `warmUp` warm up once, and rows leave out
 * `undisposed`, whose samples are the longest
 * @property {() => number} [now] the clock, by default the wall clock; {@link processorTime} is steadier on a busy machine
 * @property {number} [pause] between collecting and measuring, because another thread gives memory back to the system
 */

/**
 * Returns the pace of calls that take microseconds: many rounds of short samples, which a busy machine interrupts less
 * often, and whose small garbage is collected during the sample.
 * @param {Pace} pace
 * @returns {Pace}
 */
export const shortCalls = (pace) => ({
  ...pace,
  samples: 3 * pace.samples,
  sample: 1.5,
  pause: 0,
  collects: false,
});

v8.setFlagsFromString("--expose-gc");
/** Collects all garbage. Only a context made after the flag was set provides the function. */
const collect = vm.runInNewContext("gc");

/**
 * Returns milliseconds per call, for each contestant one value per round.
 *
 * In each round every contestant runs once, in a newly shuffled order, so that drift (clock, caches, other processes)
 * affects all alike. Garbage is collected outside the timing, so that no contestant pays for the garbage of the
 * previous one.
 * @param {import("./ours.js").Contestant[]} contestants
 * @param {Pace} pace
 * @returns {Promise<Map<string, number[]>>}
 */
export async function measure(contestants, { samples, ...times }) {
  const now = () => performance.now();
  const pace = { collects: true, sample: 5, warmUp: 40, pause: 10, now, ...times };
  const calls = new Map();
  for (const contestant of contestants) calls.set(contestant, await warmUp(contestant, pace));
  const rounds = new Map(contestants.map(({ name }) => [name, []]));
  const bits = randomBits(contestants.length);
  for (let round = 0; round < samples; round++) {
    for (const contestant of shuffle([...contestants], bits)) {
      rounds.get(contestant.name).push(await sample(contestant, calls.get(contestant), pace));
    }
  }
  return rounds;
}

/** Milliseconds for which this process has occupied processors, on all its threads. */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs a contestant until it is warm, and returns the number of calls per sample. */
async function warmUp(contestant, pace) {
  let calls = contestant.atLeast ?? 1;
  let spent = 0;
  for (let round = 0; ; round++) {
    const each = await sample(contestant, calls, pace);
    spent += each * calls;
    const enough = Math.max(1, Math.ceil(pace.sample / each));
    if ((round > 0 || pace.brief) && spent >= pace.warmUp && calls >= enough) return calls;
    calls = Math.max(calls, Math.min(enough, calls * 10));
  }
}

/** The last result of a sample. The result is kept, so that no compiler can find a call to have no effect. */
export let last = null;

/** Returns milliseconds per call. */
async function sample({ call, cooldown = 0 }, calls, { pause, collects, now }) {
  if (collects) collect();
  if (pause > 0) await sleep(pause);
  const start = now();
  let result = null;
  for (let n = 0; n < calls; n++) {
    result = call();
    if (result instanceof Promise) result = await result;
  }
  const each = (now() - start) / calls;
  last = result;
  if (cooldown > 0) await sleep(cooldown);
  return each;
}

/** Returns bytes per second, read and written, of a plain copy of 64 MB into memory that was written before. */
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
