/**
 * The entries of a queue. An entry names a job's folder, and the worker that takes it runs the job's unfinished tasks
 * together with all other workers on the folder. The entries of a job are equal, so that as many workers join. An entry
 * that is lost or delivered twice changes nothing, because the folder is the only state of a job.
 */

import { createHash } from "node:crypto";
import { ERROR_CODES, isTensorError, messageOf, TensorError } from "../../core/errors.ts";
import type { QueueEntry } from "./redis.ts";

/** The default queue name. */
export const QUEUE = "ndscatter";

/** The contents of an entry. */
export interface EntryData {
  readonly folder: string;
  /** The id of the job, because the folder may later contain another job. */
  readonly id: string;
}

/** Any path is shorter than 64 kB. */
const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length < 65_536 && !value.includes("\0");

/** Checks an entry, which any program with access to Redis may have written. */
export function readEntry({ id: entry, data }: Pick<QueueEntry, "id" | "data">): EntryData {
  const { folder, id } = (data ?? {}) as Partial<Record<string, unknown>>;
  if (isText(folder) && isText(id)) return { folder, id };
  const sentence = `the entry ${entry} of the queue must be a job of ndscatter`;
  throw new TensorError("attribute", sentence, { key: "entry" });
}

/** Returns text that identifies a job in Redis, without colons, which an id of an entry must not contain. */
export const keyOf = ({ id, folder }: EntryData): string =>
  `nd-${createHash("sha256").update(`${id}\0${folder}`).digest("hex").slice(0, 24)}`;

/** Returns the Redis key that marks a job as withdrawn, so that its workers stop. */
export const withdrawnKey = (job: EntryData): string => `ndscatter:withdrawn:${keyOf(job)}`;

/** Prints the name of a worker, which its errors contain. */
export const printWorker = (host: string, process: number): string =>
  `${host} (process ${process})`;

/** Returns the name of the worker in the message of an error, or null for a worker that has disappeared. */
export const workerIn = (message: string): string | null =>
  /[\w.-]+ \(process \d+\)/.exec(message)?.[0] ?? null;

/** Prints the reason of a failed entry, such as `engine: no space left on device`. */
export const printFailure = (error: unknown): string =>
  `${isTensorError(error) ? error.code : "engine"}: ${messageOf(error)}`;

/** Returns the error of a failed entry. */
export function failureOf({ failedReason = "" }: QueueEntry): TensorError {
  const [, code = "", sentence = ""] = /^([a-z-]+): (.*)$/s.exec(failedReason) ?? [];
  if (Object.hasOwn(ERROR_CODES, code))
    return new TensorError(code as keyof typeof ERROR_CODES, sentence);
  // BullMQ fails an entry with this message after the entry has lost several workers.
  const reason = failedReason.startsWith("job stalled")
    ? "the job ended every worker that ran it, perhaps because memory was exhausted"
    : failedReason;
  return new TensorError("engine", reason);
}
