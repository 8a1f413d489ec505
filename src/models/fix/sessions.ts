/** Sessions of the user's runtime: with settings that may fix a fault, of the original model, and of older versions. */

import { recovering } from "../../core/errors.ts";
import { convertModel } from "../convert/convert-model.ts";
import { checkTarget } from "../convert/target.ts";
import { buildModel } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { writeModel } from "../onnx/write-model.ts";
import {
  failureOr,
  RuntimeFailure,
  type CreateSession,
  type SessionSettings,
} from "../verify/session.ts";
import { measureModel, opener, type ModelRuns, type Values } from "./measure.ts";

const ONE_THREAD: SessionSettings = { intraOpNumThreads: 1 };

/** Settings to try, in order of increasing cost. */
export const SETTINGS: readonly { readonly title: string; readonly settings: SessionSettings }[] = [
  { title: "one thread", settings: ONE_THREAD },
  { title: "one node at a time", settings: { executionMode: "sequential" } },
  { title: "no graph optimization", settings: { graphOptimizationLevel: "disabled" } },
];

/**
 * Returns a session maker with settings. `wasRead` is false until `createSession` has read every setting; a setting that
 * it ignores has no effect on the session.
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
