/** Checks the arguments of job functions before any file is read. */

import { factOf, isArray, nearestName, printValue, wrongOption } from "../../../core/foreign.ts";
import { oneOf, TensorError } from "../../../core/errors.ts";
import { checkSignal } from "../../boxes/checks.ts";
import { isUrl } from "../../boxes/file.ts";
import { STAGE_NAMES, type StageName } from "./spec.ts";

/** Throws an `attribute` error unless `folder` is the path of a folder on this machine. */
export function checkPath(folder: unknown, name = "folder"): void {
  if (typeof folder === "string" && folder !== "" && !/\0/.test(folder) && !isUrl(folder)) return;
  throw wrongOption(name, "the path of a folder on this machine", folder);
}

/** Throws an `attribute` error unless `job` comes from `openJob`. */
export function checkJob(job: unknown): void {
  const parts: { folder?: unknown; id?: unknown; stages?: unknown } =
    typeof job === "object" && job !== null ? job : {};
  const { folder, id, stages } = parts;
  if (typeof folder === "string" && typeof id === "string" && isArray(stages)) return;
  const advice = typeof job === "string" ? "; call openJob with the folder first" : "";
  const sentence = `job must be a job that openJob has opened, got ${printValue(job)}${advice}`;
  throw new TensorError("attribute", sentence, { key: "job", got: factOf(job) });
}

/** Throws an `attribute` error unless a stage has this name. */
export function checkStage(name: unknown): void {
  if (STAGE_NAMES.includes(name as StageName)) return;
  const nearest =
    typeof name === "string" ? (nearestName(name, STAGE_NAMES) ?? undefined) : undefined;
  throw wrongOption("name", oneOf(STAGE_NAMES), name, { allowed: STAGE_NAMES, nearest });
}

/** Checks run options early, because later errors would end a job that has already begun. */
export function checkRunOptions(options: {
  readonly signal?: unknown;
  readonly onNote?: unknown;
  readonly onProgress?: unknown;
  readonly onDone?: unknown;
}): void {
  const { signal, onNote, onProgress, onDone } = options;
  for (const [name, given] of Object.entries({ onProgress, onNote, onDone })) {
    if (given === undefined || typeof given === "function") continue;
    throw wrongOption(name, "a function", given);
  }
  checkSignal(signal);
  signal?.throwIfAborted();
}
