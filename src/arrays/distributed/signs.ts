/**
 * Finds a queue's workers by the connections that Redis reports. The name of a worker's connection contains its
 * version, host and process. Each worker also renews a key that expires, because Redis keeps the connection of a dead
 * machine for minutes.
 */

import { randomBytes } from "node:crypto";
import * as os from "node:os";
import { listFirst } from "../../core/foreign.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Clock } from "./clock.ts";
import { printAddress, type Connection, type JobQueue, type RedisClient } from "./packages.ts";

/** Returns a worker name that is unique within this process. */
export function workerName(version: string): string {
  const parts = [version, os.hostname(), process.pid, randomBytes(3).toString("hex")];
  // Connection names cannot contain spaces.
  return parts.map((part) => String(part).replace(/[^\w.+-]/g, "_")).join("/");
}

interface Listed {
  readonly name: string;
  /** The worker's version, or null for another program or an old version that did not report it. */
  readonly version: string | null;
  readonly place: string;
}

/** `raw` is the name of a connection, which any program can choose. */
function parseWorker(raw: string): Listed {
  const name = raw.slice(raw.lastIndexOf(":w:") + 3);
  const [, version, host, pid] =
    /^([\w.+-]{1,40})\/([\w.-]{1,80})\/(\d{1,10})\/[\da-f]{6}$/.exec(name) ?? [];
  return version === undefined
    ? { name, version: null, place: "a worker of unknown version" }
    : { name, version, place: `${host} (process ${pid})` };
}

const signOf = (name: string): string => `ndscatter:worker:${name}`;

/**
 * Renews a worker's sign of life, which is an expiring key, until the signal aborts. While Redis is unreachable, the
 * key is not renewed.
 */
export async function giveSigns(
  client: RedisClient,
  name: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // The command is not awaited, because it may wait for a long time while Redis is unreachable.
    client.set(signOf(name), "", "PX", DISTRIBUTED.silent).catch(() => {});
    // oxlint-disable-next-line no-await-in-loop
    await clock.sleep(DISTRIBUTED.sign, signal, false).catch(() => {});
  }
}

/** The objects with which a submitter looks for workers. */
export interface WatchParts {
  readonly queue: JobQueue;
  readonly client: RedisClient;
  readonly name: string;
  readonly connection: Connection;
  readonly version: string;
  readonly onNote: (sentence: string) => void;
}

/** The maximum number of workers that a message names. */
const NAMED = 3;

/** Looks for a queue's workers, and reports each reason why the job may not progress once. */
export class WorkerWatch {
  readonly #parts: WatchParts;
  /** The workers that had no sign of life at the last check. */
  #silent: ReadonlySet<string> = new Set();
  #wasEmpty = false;
  /** The messages that apply at present. */
  #said: ReadonlySet<string> = new Set();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Returns the number of listening workers that show a sign of life. */
  async look(): Promise<number> {
    const { queue, client, name, connection, version } = this.#parts;
    const where = `the queue ${name} of Redis at ${printAddress(connection)}`;
    const workers = (await queue.getWorkers()).map(({ rawname = "" }) => parseWorker(rawname));
    const isPaused = await queue.isPaused();
    const known = workers.filter((worker) => worker.version !== null);
    const signs = known.length === 0 ? [] : await client.mget(known.map((one) => signOf(one.name)));
    const silent = known.filter((_, at) => signs[at] === null);
    // A worker without a sign of life is reported only after two checks, because it may just have started.
    const dead = silent.filter((one) => this.#silent.has(one.name));
    const strange = workers.filter((one) => one.version !== version);
    const isEmpty = workers.length === 0;
    const sentences = [
      isEmpty && this.#wasEmpty && `no worker listens to ${where}; start one: ndscatter job worker`,
      isPaused && `${where} is paused, so workers take no tasks until it is resumed`,
      dead.length > 0 &&
        `of the workers of ${where}, ${dead.length} of ${workers.length} gave no sign of life for ` +
          `${DISTRIBUTED.silent / 1000} s: ${list(dead)}`,
      strange.length > 0 &&
        `of the workers of ${where}, ${strange.length} of ${workers.length} refuse the job, because they do not have ` +
          `ndscatter ${version}: ${list(strange)}; use one version on all machines`,
    ].filter((one) => one !== false);
    this.#silent = new Set(silent.map((one) => one.name));
    this.#wasEmpty = isEmpty;
    for (const one of sentences) if (!this.#said.has(one)) this.#parts.onNote(one);
    this.#said = new Set(sentences);
    return workers.length - dead.length;
  }
}

const list = (workers: readonly Listed[]): string =>
  listFirst(
    workers.map(({ version, place }) =>
      version === null ? place : `${place} with ndscatter ${version}`,
    ),
    NAMED,
  );
