/**
 * Measures a fix in the user's runtime: whether faulty nodes become correct, whether runs agree, and how long a run
 * takes.
 */

import { FIX } from "../../core/limits.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { readModel } from "../onnx/read-model.ts";
import { openModel } from "../verify/carried.ts";
import { failureOr, type CreateSession } from "../verify/session.ts";

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

/**
 * Opens a session and runs it, up to `most` times, while `each` returns true and within `time` ms. The time begins with
 * the run number `from`, and run 0 and this run are always made. Runs are sequential, so that each run has the whole
 * machine. Returns the runtime's message if the runtime fails; otherwise null.
 */
async function repeat(
  { open, feeds }: Pick<NodeCheck, "open" | "feeds">,
  names: readonly string[],
  { most, time, from }: { readonly most: number; readonly time: number; readonly from: number },
  each: (outputs: Values, duration: number, run: number) => boolean,
): Promise<string | null> {
  const found = await failureOr(async () => {
    const session = await open();
    try {
      let [goesOn, end] = [true, Infinity];
      for (let run = 0; goesOn && (run === 0 || run < most); run++) {
        const start = performance.now();
        if (run === from) end = start + time;
        else if (start >= end) break;
        // oxlint-disable-next-line no-await-in-loop
        const outputs = await session.run(feeds, names);
        goesOn = each(outputs, performance.now() - start, run);
      }
    } finally {
      await session.release();
    }
    return null;
  });
  return found && found.message;
}

/**
 * Runs a node until a result is wrong or a limit is reached. The node may use a fraction `share` of the available time.
 */
export async function checkNode(check: NodeCheck, share: number): Promise<NodeResults> {
  const exact = [...check.exact];
  const names = exact.map(([name]) => name);
  const limits = { most: FIX.runs, time: FIX.nodeTime * share, from: 0 };
  let [right, runs] = [0, 0];
  const problem = await repeat(check, names, limits, (outputs) => {
    const isRight = exact.every(([name, one]) => equals(outputs.get(name) as Tensor, one));
    runs++;
    right += Number(isRight);
    return isRight;
  });
  return { right, runs, problem };
}

/**
 * Runs the whole model once as a warm-up, and then several times with a timer. The maximum number of runs, `most`,
 * includes the warm-up and is at least 2.
 */
export async function measureModel(
  open: NodeCheck["open"],
  feeds: Values,
  names: readonly string[],
  most = FIX.runs,
): Promise<ModelRuns> {
  const results = new Set<string>();
  const times: number[] = [];
  const limits = { most, time: FIX.modelTime, from: 1 };
  const problem = await repeat({ open, feeds }, names, limits, (outputs, duration, run) => {
    // The first run is not timed, because it allocates memory.
    if (run > 0) times.push(duration);
    results.add(digestOf(outputs));
    return true;
  });
  const runs = times.length + (results.size > 0 ? 1 : 0);
  return { runs, results: results.size, time: medianOf(times), problem };
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
