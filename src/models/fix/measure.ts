/**
 * Measures a fix in the user's runtime: whether faulty nodes become correct, whether runs agree, and how long a run
 * takes.
 */

import { FIX } from "../../core/limits.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { readModel } from "../onnx/read-model.ts";
import { openModel } from "../verify/carried.ts";
import { RuntimeFailure, type CreateSession } from "../verify/session.ts";

export type Values = ReadonlyMap<string, Tensor>;

/** An object that runs a model with feeds, such as a session. */
export interface Runnable {
  run(feeds: Values, names: readonly string[]): Promise<Values>;
  release(): Promise<void>;
}

/** A model with only the node or its replacement, with the captured inputs and the exact outputs. */
export interface NodeCheck {
  readonly open: () => Promise<Runnable>;
  readonly feeds: Values;
  readonly exact: Values;
}

export interface NodeResults {
  /** The number of runs with exact results. */
  readonly right: number;
  readonly runs: number;
  readonly problem: string | null;
}

/** The results and the duration of repeated runs of a whole model. */
export interface ModelRuns {
  readonly runs: number;
  /** The number of distinct results. If all runs gave the same bits, the number is 1. */
  readonly results: number;
  /** The median time per run in milliseconds; null if no run succeeded. */
  readonly time: number | null;
  readonly problem: string | null;
}

/** Returns the result of `action`, or the runtime's message if the runtime failed. Other errors are rethrown. */
async function orProblem<T>(action: () => Promise<T>): Promise<T | { readonly problem: string }> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RuntimeFailure) return { problem: error.message };
    throw error;
  }
}

/**
 * Runs a node until a result is wrong or a limit is reached. The node may use a fraction `share` of the available time.
 */
export async function checkNode(
  { open, feeds, exact }: NodeCheck,
  share: number,
): Promise<NodeResults> {
  const names = [...exact.keys()];
  let [right, runs] = [0, 0];
  const found = await orProblem(async () => {
    const session = await open();
    try {
      const end = performance.now() + FIX.nodeTime * share;
      while (runs === right && runs < FIX.runs && (runs === 0 || performance.now() < end)) {
        // Runs are sequential, so that each run has the whole machine.
        // oxlint-disable-next-line no-await-in-loop
        const outputs = await session.run(feeds, names);
        runs++;
        if (names.every((name) => equals(outputs.get(name) as Tensor, exact.get(name) as Tensor)))
          right++;
      }
    } finally {
      await session.release();
    }
    return { problem: null };
  });
  return { right, runs, ...found };
}

/**
 * Runs the whole model once as a warm-up, and then several times with a timer. The maximum number of runs, `most`,
 * includes the warm-up and is at least 2.
 */
export async function measureModel(
  open: () => Promise<Runnable>,
  feeds: Values,
  names: readonly string[],
  most = FIX.runs,
): Promise<ModelRuns> {
  const results = new Set<string>();
  const times: number[] = [];
  const found = await orProblem(async () => {
    const session = await open();
    try {
      // The first run is not timed, because it allocates memory.
      results.add(digestOf(await session.run(feeds, names)));
      const end = performance.now() + FIX.modelTime;
      while (times.length + 1 < most && (times.length === 0 || performance.now() < end)) {
        const start = performance.now();
        // oxlint-disable-next-line no-await-in-loop
        const outputs = await session.run(feeds, names);
        times.push(performance.now() - start);
        results.add(digestOf(outputs));
      }
    } finally {
      await session.release();
    }
    return { problem: null };
  });
  const runs = times.length + (results.size > 0 ? 1 : 0);
  return { runs, results: results.size, time: medianOf(times), ...found };
}

function medianOf(times: readonly number[]): number | null {
  if (times.length === 0) return null;
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

/**
 * Returns a digest of the outputs. Outputs with different bits have different digests, except with probability 2^-64.
 */
function digestOf(outputs: Values): string {
  return [...outputs]
    .map(([name, { dtype, shape, data }]) => `${name} ${dtype} ${shape.join()} ${hashOf(data)}`)
    .join("\n");
}

/** Returns two FNV-1a hashes, of the bytes and of their complements. */
function hashOf(data: Tensor["data"]): string {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new TextEncoder().encode(JSON.stringify(data));
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ (255 - byte), 0x01000193) + 1;
  }
  return `${a >>> 0} ${b >>> 0}`;
}

export const opener = (createSession: CreateSession, bytes: Uint8Array) => (): Promise<Runnable> =>
  openModel(createSession, readModel(bytes), bytes);
