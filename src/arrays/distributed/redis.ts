/**
 * Loads BullMQ and its Redis client, which are optional dependencies, and connects to Redis. The types declare only
 * members in use, so that this package's types do not depend on these packages.
 */

import { createRequire } from "node:module";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isArray } from "../../core/foreign.ts";
import { isError, messageOf, TensorError } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import { printAddress, redisUrl, withoutPassword, type Connection } from "./redis-url.ts";

/** Options of submitters and workers. */
export interface QueueOptions {
  /** A URL such as `redis://host:6379`, or ioredis options. */
  readonly connection: Connection;
  /** The queue's name; `ndscatter` by default. */
  readonly queue?: string | undefined;
  /** A folder whose `node_modules` contains BullMQ, if BullMQ is not installed next to this package. */
  readonly from?: string | undefined;
  /** Called with a message for each error after which work is repeated. */
  readonly onNote?: ((sentence: string) => void) | undefined;
}

/** The names of these options. */
export const QUEUE_OPTIONS = { connection: true, queue: true, from: true, onNote: true } as const;

/** An entry of a queue. */
export interface QueueEntry {
  readonly id?: string | undefined;
  readonly data: unknown;
  readonly failedReason?: string | undefined;
  moveToWait(token: string): Promise<unknown>;
}

interface Emitter {
  on(event: string, listener: (...args: readonly unknown[]) => void): unknown;
}

export interface JobQueue extends Emitter {
  /** Adds entries, except for those whose `jobId` the queue already contains. */
  addBulk(
    entries: readonly { readonly name: string; readonly data: object; readonly opts: object }[],
  ): Promise<unknown>;
  getFailed(first: number, last: number): Promise<readonly QueueEntry[]>;
  /** Removes an entry unless a worker holds it. */
  remove(id: string): Promise<unknown>;
  isPaused(): Promise<boolean>;
  close(): Promise<void>;
}

export interface QueueWorker extends Emitter {
  /** The owner of the timer that renews locks. The object's timer keeps the process alive until `close`. */
  readonly lockManager?: { close(): Promise<void> };
  close(): Promise<void>;
}

export type Processor = (entry: QueueEntry, token?: string) => Promise<unknown>;

interface Bullmq {
  readonly Queue: new (name: string, options: object) => JobQueue;
  readonly Worker: new (name: string, processor: Processor, options: object) => QueueWorker;
  readonly WaitingError: new () => Error;
}

interface RedisClient extends Emitter {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  get(key: string): Promise<string | null>;
  /** Sets a key that expires after the given number of milliseconds. */
  set(key: string, value: string, unit: "PX", milliseconds: number): Promise<unknown>;
  del(key: string): Promise<unknown>;
  duplicate(...options: readonly unknown[]): RedisClient;
}

/** BullMQ and a connected Redis client. */
export interface Redis {
  readonly bullmq: Bullmq;
  readonly client: RedisClient;
  /** Ends the client and the copies that BullMQ has made, even if Redis cannot be reached. */
  disconnect(): void;
}

/** `from` is another folder to search for `node_modules`. */
function load(name: string, from: string | undefined): unknown {
  let cause: unknown;
  for (const file of [import.meta.url, ...(from === undefined ? [] : [path.join(from, "x.js")])])
    try {
      return createRequire(file)(name);
    } catch (error) {
      cause = error;
    }
  const [reason] = messageOf(cause).split("\n");
  const sentence = `BullMQ and its Redis client cannot be loaded: ${reason}; install them: npm install bullmq ioredis`;
  throw new TensorError("engine", sentence, {}, { cause });
}

/**
 * Connects to Redis immediately, so that a wrong address is reported at once. After a lost connection, the client
 * reconnects automatically. `onNote` is called with a message whenever the connection is lost.
 */
export async function connect({ connection, from, onNote }: QueueOptions): Promise<Redis> {
  const bullmq = load("bullmq", from) as Bullmq;
  const { Redis } = load("ioredis", from) as {
    readonly Redis: new (...args: readonly unknown[]) => RedisClient;
  };
  let isOver = false;
  const options = {
    lazyConnect: true,
    // BullMQ requires this value, with which commands wait while Redis is unreachable.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => (isOver ? null : Math.min(100 * times, 2000)),
    ...(typeof connection === "string" ? {} : connection),
  };
  const client =
    typeof connection === "string" ? new Redis(redisUrl(connection), options) : new Redis(options);
  const clients = [client];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (...own) => {
    const other = duplicate(...own);
    clients.push(other);
    return other;
  };
  const disconnect = (): void => {
    // The closed connection may belong to a client that is about to reconnect.
    isOver = true;
    for (const one of clients) one.disconnect();
  };
  let reason = `it did not answer within ${DISTRIBUTED.answer / 1000} s`;
  let isConnected = false;
  client.on("error", (error) => {
    const text = withoutPassword(textOf(error), connection).message;
    // The client reports the same message after every attempt.
    if (isConnected && text !== reason) onNote?.(`Redis at ${printAddress(connection)}: ${text}`);
    reason = text;
  });
  client.on("ready", () => {
    isConnected = true;
    reason = "";
  });
  const over = new AbortController();
  try {
    // The key is written to find out whether Redis accepts commands.
    const answered = client.connect().then(() => client.set("ndscatter:probe", "", "PX", 1000));
    const silence = sleep(DISTRIBUTED.answer, undefined, { signal: over.signal });
    await Promise.race([answered, silence.then(() => Promise.reject(new Error(reason)))]);
  } catch (cause) {
    disconnect();
    throw unusable(connection, isConnected ? messageOf(cause) : reason, cause);
  } finally {
    over.abort();
  }
  return { bullmq, client, disconnect };
}

/** `why` is the reply of Redis, which begins with a word in capitals, or the reason why there is no reply. */
function unusable(connection: Connection, why: string, cause: unknown): TensorError {
  const isReply = /^[A-Z]+ [^:]/.test(why);
  const advice = isReply
    ? ""
    : "; start Redis there, give another address, or rediss:// if Redis uses TLS";
  const reason = withoutPassword(why, connection).message.replace(/\.$/, "");
  const sentence = `Redis at ${printAddress(connection)} cannot be used: ${reason}${advice}`;
  return new TensorError("engine", sentence, {}, { cause: withoutPassword(cause, connection) });
}

/** If a host name has several addresses, a failed connection has an error for each address. */
function textOf(error: unknown): string {
  const errors = isError(error) && "errors" in error ? error.errors : null;
  return messageOf(isArray(errors) && errors.length > 0 ? errors[0] : error);
}
