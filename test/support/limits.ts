/**
 * Draws internal limits for tests, between the package's value and the other extreme at which all results must still be
 * right. The seed is that of the run; `LIMITS=7 npm test` draws other limits for the same cases. A failure names the seed.
 */

import * as limits from "../../src/core/limits.ts";
import { fixedRandom, SEED, type Random } from "./random.ts";

type Records = typeof limits;
const RECORDS: Records = { ...limits };
type Name = keyof Records;

/** The extreme of a limit, most often the lowest value; the limit must be a multiple of `step`. */
type Extreme = number | { readonly to: number; readonly step: number };

/** An extreme for each limit: a limit without one does not compile. */
export const EXTREMES: { readonly [R in Name]: Readonly<Record<keyof Records[R], Extreme>> } = {
  WASM: {
    window: { to: 64, step: 64 },
    halves: { to: 64, step: 64 },
    work: 0,
    submit: 0,
    indices: 0,
    slice: 2 ** 40,
    element: 2 ** 40,
    call: 0,
    regions: 1,
    share: 1,
    heap: 1,
    shared: { to: 64, step: 64 },
    partition: 1,
    kept: 1,
    whole: 0,
    row: 1,
  },
  CALLS: { kept: 0 },
  LISTS: { numbers: 0 },
  GPU: {
    kept: 0,
    spare: 2 ** 30,
    // A dispatch with indices of 64 axes needs 133 numbers.
    params: { to: 768, step: 256 },
    slots: 1,
    pending: 0,
    workgroups: 1,
    atomics: { to: 128, step: 128 },
    sparse: 0,
    alone: 0,
    block: 1,
    blocks: 1,
    run: 1,
    bits: 1,
  },
  KERNELS: {
    ahead: { to: 64, step: 64 },
    far: 0,
    long: 0,
    prefetched: 0,
    copied: 0,
    narrow: 0,
  },
  MOVE: { few: 0, long: 0, far: 0, followed: 2 ** 20, ahead: 16, words: 0, large: 0 },
  OFFSETS: { scratch: 0, bits: 0, leastBits: 0 },
  GRADIENTS: { dense: 0, kernels: 0, scratch: 0, group: 1 },
  SCRATCH: { block: { to: 64, step: 64 }, pages: 1, mostPages: 2 ** 10, leastPages: 1 },
  // With less patience, a busy machine would be mistaken for a dead worker.
  THREADS: { partitioned: 1, blocks: 1, spins: 0, patience: 5000, start: 5000 },
  // A rate needs two files.
  CHUNKED: {
    share: 2 ** 40,
    rows: 0,
    indices: 1,
    fragments: 0,
    reads: 1,
    together: 1,
    small: 0,
    few: 0,
    alone: 0,
    pairs: 0,
    ahead: 0,
    group: 1,
    groups: 1,
    gap: 1,
    sparse: 0,
    // All threads of a job must have the same value.
    folder: 4096,
    rated: 2,
    jobs: 1,
    record: 1,
    stale: 1000,
    unlisted: 64,
  },
  // A pool that kept empty buffers would keep buffers that users transferred.
  POOL: { most: 0, least: 1 },
  RESERVE: { least: 1, most: 0, idle: 1, wait: 0 },
  EXTERNAL: { part: 1, slice: 0 },
  // A shorter search finds fewer nodes.
  VERIFY: { reruns: 1, rerunTime: 0, oneThreadRuns: 1, searches: 60, searchTime: 30_000 },
  FIX: { runs: 2, nodeTime: 0, modelTime: 0, saving: 1e9 },
  FILES: { atOnce: 1, short: 0, slowCall: 0, slowSync: 0, slowRead: 0, rest: 1, turn: 0, stall: 0 },
  ARRAYS: { tile: 1, run: 1, fileRun: 0, span: 1, chunk: 1, codes: 1 },
  ZARR: {
    // The padding consists of whole elements.
    padding: { to: 16, step: 16 },
    joined: 0,
    buffers: 0,
    block: 1,
    run: 0,
    requests: 1,
    keep: 0,
    // Node shares buffers of 8 kB among small arrays.
    release: 2 ** 14,
    piece: 64,
    member: 0,
  },
  DISTRIBUTED: {
    entries: 1,
    // On a busy machine a lock is renewed late.
    lock: 1000,
    stalled: 200,
    lost: 3,
    blind: 1,
    period: 1,
    look: 1,
    withdrawn: 1,
    withdrawal: 500,
    takenBack: 1000,
    goodbye: 100,
    answer: 2000,
  },
  HTTP: {
    retries: 1,
    first: 1,
    longest: 1,
    total: 100,
    // A busy machine answers late.
    silence: 5000,
    store: 5000,
    progress: 1,
    whole: 0,
    ranges: 1,
  },
  CLI: { progress: 0, lines: 0, stage: 0, npy: 1, light: 1, weights: 1 },
  // Less patience finds less, so those limits keep their values, and some tests set their own.
  DIAGNOSE: {
    whole: 0,
    sampled: 300,
    allPairs: 2e4,
    partners: 10,
    pairs: 40,
    values: 2 ** 18,
    steps: 3e7,
  },
};

/** The seed of all draws of limits: that of the run, or `LIMITS`. */
export const LIMITS_SEED = Number(process.env["LIMITS"] ?? SEED);

const NAMES = Object.keys(EXTREMES) as Name[];

/** A value between the built-in one and the extreme: often one of the two, else drawn evenly by order of magnitude. */
function drawn(builtIn: number, extreme: Extreme, random: Random): number {
  const { to, step } = typeof extreme === "number" ? { to: extreme, step: 1 } : extreme;
  const kind = random(8);
  if (kind === 0) return builtIn;
  if (kind < 4) return to;
  const part = random(2 ** 20) / 2 ** 20;
  const value = Math.exp(Math.log(to + 1) * part + Math.log(builtIn + 1) * (1 - part)) - 1;
  const [low, high] = to < builtIn ? [to, builtIn] : [builtIn, to];
  return Math.min(Math.max(Math.round(value / step) * step, low), high);
}

/** Every record with drawn values. @param turn another draw of the same seed, such as the number of a case */
export function drawLimits(
  turn: number,
  seed = LIMITS_SEED,
): { readonly [R in Name]?: Partial<Records[R]> } {
  const random = fixedRandom(seed * 1_000_003 + turn);
  const drawnOf = (name: Name): Record<string, number> => {
    const extremes: [string, Extreme][] = Object.entries(EXTREMES[name]);
    const builtIn: Record<string, number> = RECORDS[name];
    return Object.fromEntries(
      extremes.map(([field, extreme]) => [field, drawn(builtIn[field], extreme, random)]),
    );
  };
  return Object.fromEntries(NAMES.map((name) => [name, drawnOf(name)]));
}

/** Sets limits until the function that it returns is called. */
export function setLimits(values: {
  readonly [R in Name]?: Partial<Records[R]>;
}): () => void {
  const before = new Map(NAMES.map((name) => [name, { ...RECORDS[name] }]));
  for (const name of NAMES) Object.assign(RECORDS[name], values[name]);
  return () => {
    for (const [name, record] of before) Object.assign(RECORDS[name], record);
  };
}

/**
 * Runs `body`, which may be asynchronous, with limits drawn for it. An error names the seed and the turn.
 * @param turn another draw of the same seed, such as the number of a random case
 * @param seed for a test whose assertion holds for certain limits alone
 */
export function withLimits<T>(turn: number, body: () => T, seed = LIMITS_SEED): T {
  const restore = setLimits(drawLimits(turn, seed));
  const explained = (error: unknown): Error =>
    new Error(`with LIMITS=${seed}, turn ${turn}: ${String(error)}`, { cause: error });
  let result: T;
  try {
    result = body();
  } catch (error) {
    restore();
    throw explained(error);
  }
  if (!(result instanceof Promise)) {
    restore();
    return result;
  }
  const fail = (error: unknown): never => {
    throw explained(error);
  };
  return result.catch(fail).finally(restore) as T;
}
