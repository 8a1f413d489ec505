/**
 * Opens sessions of the user's runtime: of the original model, of older versions, and with settings that may fix a
 * fault. Measures in these sessions whether faulty nodes become correct, whether runs agree, and how long a run takes.
 */

import { recovering } from "../../core/errors.ts";
import { FIX } from "../../core/limits.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { convertModel } from "../convert/convert-model.ts";
import { checkTarget } from "../convert/target.ts";
import { buildModel } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { readModel } from "../onnx/read-model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { openModel } from "../verify/carried.ts";
import {
  failureOr,
  RuntimeFailure,
  type CreateSession,
  type SessionSettings,
} from "../verify/session.ts";

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
 * Opens a session and runs it up to `most` times, while `each` returns true. The time limit `time`, in ms, begins with
 * the run number `from`. Run 0 and run `from` take place regardless of the time. Runs are sequential, so that each run
 * has the whole machine. Returns the runtime's message if the runtime fails; otherwise null.
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

const ONE_THREAD: SessionSettings = { intraOpNumThreads: 1 };

/** Settings to try, in order of increasing cost. */
export const SETTINGS: readonly { readonly title: string; readonly settings: SessionSettings }[] = [
  { title: "one thread", settings: ONE_THREAD },
  { title: "one node at a time", settings: { executionMode: "sequential" } },
  { title: "no graph optimization", settings: { graphOptimizationLevel: "disabled" } },
];

/**
 * Returns a session maker with settings. `wasRead` returns false until `createSession` has read every setting. A
 * setting that `createSession` never reads has no effect on the session.
 */
export function withSettings(
  createSession: CreateSession,
  settings: SessionSettings,
): { readonly createSession: CreateSession; readonly wasRead: () => boolean } {
  const unread = new Set(Object.keys(settings));
  const watched = (others: SessionSettings): SessionSettings => {
    const own = {};
    for (const [name, value] of Object.entries(settings)) {
      const get = (): unknown => {
        unread.delete(name);
        return value;
      };
      Object.defineProperty(own, name, { enumerable: true, configurable: true, get });
    }
    // The caller's settings take precedence. Their getters are copied without being called.
    return Object.defineProperties(own, Object.getOwnPropertyDescriptors(others));
  };
  return {
    createSession: (model, others = {}) => createSession(model, watched(others)),
    wasRead: () => unread.size === 0,
  };
}

export interface PlainModel {
  readonly names: readonly string[];
  readonly runs: ModelRuns;
  /** Makes sessions in which the original model runs, with one thread if several threads fail. */
  readonly createSession: CreateSession;
  /** Settings that the model needs to run. */
  readonly settings: SessionSettings;
}

/**
 * Runs the original model. The first run uses one thread, because a failing kernel on several threads may crash the
 * whole process. For example, ScatterND of float16 with 20,000 updates ends in a segmentation fault or a floating-point
 * exception.
 */
export async function plainModel(
  { graph }: Model,
  bytes: Uint8Array,
  feeds: Values,
  createSession: CreateSession,
): Promise<PlainModel> {
  const careful = withSettings(createSession, ONE_THREAD);
  const open = opener(careful.createSession, bytes);
  let names = graph.outputs.map(({ name }) => name);
  let first = await measureModel(open, feeds, names, 0);
  const typed = graph.outputs.filter(({ type }) => type !== null).map(({ name }) => name);
  if (first.problem !== null && typed.length < names.length) {
    // An output of undeclared type may be a sequence, which cannot be compared.
    const others = await measureModel(open, feeds, typed, 0);
    if (others.problem === null) [names, first] = [typed, others];
  }
  if (first.problem !== null && careful.wasRead())
    return { names, runs: first, createSession: careful.createSession, settings: ONE_THREAD };
  const runs = await measureModel(opener(createSession, bytes), feeds, names);
  return { names, runs, createSession, settings: {} };
}

/** A model that is too new for the runtime, converted to older versions that the runtime loads. */
export interface Rebased {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly title: string;
  readonly notes: readonly string[];
}

/** Opsets to try, newest first. */
const OPSETS = [26, 25, 24, 23, 22, 21, 20, 19, 18];

/**
 * Converts the model to the newest versions that the runtime loads. The result is null if the runtime loads no such
 * version. The result is also null if the versions are not the cause: the runtime loads the original model, or a model
 * with one node of the same versions.
 */
export async function rebased(
  given: Model,
  bytes: Uint8Array,
  createSession: CreateSession,
): Promise<Rebased | null> {
  if (await loads(bytes, createSession)) return null;
  if (await loads(writeModel(smallest(given)), createSession)) return null;
  const { "ai.onnx": own = 0 } = given.opsets;
  for (const opset of OPSETS) {
    const { irVersion } = checkTarget({ opset });
    if (own <= opset && given.irVersion <= irVersion) continue;
    const candidate = olderModel(given, Math.min(opset, own), irVersion);
    if (candidate === null) continue;
    const bytes = writeModel(candidate.model);
    // oxlint-disable-next-line no-await-in-loop
    if (await loads(bytes, createSession)) return { ...candidate, bytes };
  }
  return null;
}

function smallest({ irVersion, opsets: { "ai.onnx": opset = 13 } }: Model): Model {
  const type = { dtype: "float32", shape: [1] } as const;
  const nodes = [{ op: "Identity", inputs: ["x"], outputs: ["y"] }];
  const opsets = { "ai.onnx": opset };
  return { ...buildModel({ opsets, inputs: { x: type }, nodes, outputs: { y: type } }), irVersion };
}

function olderModel(
  given: Model,
  opset: number,
  irVersion: number,
): Pick<Rebased, "model" | "title" | "notes"> | null {
  const isSame = given.opsets["ai.onnx"] === opset;
  const found = isSame
    ? { model: given, notes: [] }
    : recovering(
        () => convertModel(given, { opset }),
        () => null,
      );
  if (found === null) return null;
  const { model, notes } = found;
  const version = Math.min(model.irVersion, irVersion);
  const title = `the model at opset ${opset} and IR version ${version}`;
  return { model: { ...model, irVersion: version }, title, notes };
}

export async function loads(bytes: Uint8Array, createSession: CreateSession): Promise<boolean> {
  const found = await failureOr(async () => (await opener(createSession, bytes)()).release());
  return !(found instanceof RuntimeFailure);
}
