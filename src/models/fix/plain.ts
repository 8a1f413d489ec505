/**
 * Runs the original model. The first run uses one thread, because a failing kernel on several threads may crash the
 * whole process. For example, ScatterND of float16 with 20,000 updates ends in a segmentation fault or a floating-point
 * exception.
 */

import type { Model } from "../model/model.ts";
import type { CreateSession, SessionSettings } from "../verify/session.ts";
import { measureModel, opener, type ModelRuns, type Values } from "./measure.ts";
import { SettingsMaker } from "./settings.ts";

const ONE_THREAD: SessionSettings = { intraOpNumThreads: 1 };

export interface PlainModel {
  readonly names: readonly string[];
  readonly runs: ModelRuns;
  /** Makes sessions in which the original model runs, with one thread if several threads fail. */
  readonly createSession: CreateSession;
  /** Settings that the model needs to run. */
  readonly settings: SessionSettings;
}

export async function plainModel(
  { graph }: Model,
  bytes: Uint8Array,
  feeds: Values,
  createSession: CreateSession,
): Promise<PlainModel> {
  const careful = new SettingsMaker(createSession, ONE_THREAD);
  const open = opener(careful.createSession, bytes);
  let names = graph.outputs.map(({ name }) => name);
  let first = await measureModel(open, feeds, names, 0);
  const typed = graph.outputs.filter(({ type }) => type !== null).map(({ name }) => name);
  if (first.problem !== null && typed.length < names.length) {
    // An output of undeclared type may be a sequence, which cannot be compared.
    const others = await measureModel(open, feeds, typed, 0);
    if (others.problem === null) [names, first] = [typed, others];
  }
  if (first.problem !== null && careful.wasRead)
    return { names, runs: first, createSession: careful.createSession, settings: ONE_THREAD };
  const runs = await measureModel(opener(createSession, bytes), feeds, names);
  return { names, runs, createSession, settings: {} };
}
