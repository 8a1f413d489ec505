/**
 * Loads BullMQ and its Redis client, which are optional dependencies, when a function needs them. The types declare
 * only members in use, so that this package's types do not depend on these packages.
 */

import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { isArray } from "../../core/foreign.ts";
import { isError, messageOf, TensorError } from "../../core/errors.ts";
import { CLOCK, type Clock } from "./clock.ts";
import { otherProtocol, silence, WrongRedis } from "./probe.ts";
import { redisUrl, withoutPassword, type Connection } from "./redis-url.ts";

export type { Connection } from "./redis-url.ts";

/** A BullMQ job. */
export interface QueuedJob {
  readonly id?: string | undefined;
  readonly name: string;
  readonly data: unknown;
  /** The time at which the job was added, in ms since 1970. */
  readonly timestamp: number;
  readonly queueQualifiedName: string;
  readonly failedReason?: string | undefined;
  getState(): Promise<string>;
  updateData(data: object): Promise<void>;
  updateProgress(progress: object): Promise<void>;
  moveToWait(token: string): Promise<unknown>;
  /** Returns false if all children are finished. */
  moveToWaitingChildren(token: string): Promise<boolean>;
  /** Returns the reasons why children failed, by key. The id of a child follows the last colon of its key. */
  getIgnoredChildrenFailures(): Promise<Readonly<Record<string, string>>>;
  removeUnprocessedChildren(): Promise<void>;
  remove(options: { readonly removeChildren: boolean }): Promise<void>;
}

export interface NewJob {
  readonly name: string;
  readonly data: object;
  readonly opts: object;
}

interface Emitter {
  on(event: string, listener: (...args: readonly unknown[]) => void): unknown;
}

export interface JobQueue extends Emitter {
  add(name: string, data: object, options: object): Promise<QueuedJob>;
  addBulk(jobs: readonly NewJob[]): Promise<unknown>;
  getJob(id: string): Promise<QueuedJob | undefined>;
  /** Lists the connections of workers, including the names that the workers chose. */
  getWorkers(): Promise<readonly { readonly rawname?: string }[]>;
  isPaused(): Promise<boolean>;
  close(): Promise<void>;
}

export interface QueueWorker extends Emitter {
  /** The owner of the timer that renews locks. The object's timer keeps the process alive until `close`. */
  readonly lockManager?: { close(): Promise<void> };
  close(): Promise<void>;
}

export type Processor = (job: QueuedJob, token?: string) => Promise<unknown>;

export interface Bullmq {
  readonly Queue: new (name: string, options: object) => JobQueue;
  readonly Worker: new (name: string, processor: Processor, options: object) => QueueWorker;
  readonly UnrecoverableError: new (message: string) => Error;
  readonly WaitingError: new () => Error;
  readonly WaitingChildrenError: new () => Error;
}

export interface RedisClient extends Emitter {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  /** Returns information about the server as lines of names and values. */
  info(): Promise<string>;
  get(key: string): Promise<string | null>;
  mget(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Sets a key that expires after the given number of milliseconds. */
  set(key: string, value: string, unit: "PX", milliseconds: number): Promise<unknown>;
  duplicate(...options: readonly unknown[]): RedisClient;
}

/** A Redis client, including the copies that BullMQ makes to wait for jobs. */
export interface RedisConnection {
  readonly client: RedisClient;
  readonly isReady: boolean;
  /** Ends the client and its copies, even if Redis cannot be reached. */
  disconnect(): void;
}

interface Ioredis {
  readonly Redis: new (...args: readonly unknown[]) => RedisClient;
}

const INSTALL =
  "BullMQ and its Redis client are not installed; install them: npm install bullmq ioredis";

/** `from` is another folder to search for `node_modules`. */
async function load(name: string, from: string | undefined): Promise<object> {
  try {
    // Bundlers must not follow this import, because most users do not install the package.
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
  } catch (error) {
    if (!isMissing(error, name)) throw brokenPackage(name, error);
    if (from === undefined) throw new TensorError("engine", INSTALL, {}, { cause: error });
  }
  let file: string;
  try {
    file = createRequire(path.join(from, "index.js")).resolve(name);
  } catch (cause) {
    throw new TensorError("engine", INSTALL, {}, { cause });
  }
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    throw brokenPackage(name, error);
  }
}

/** Returns true if the package itself is missing, and false if one of its dependencies is missing. */
const isMissing = (error: unknown, name: string): boolean =>
  isError(error) &&
  "code" in error &&
  error.code === "ERR_MODULE_NOT_FOUND" &&
  error.message.includes(`'${name}'`);

const brokenPackage = (name: string, cause: unknown): TensorError =>
  new TensorError(
    "engine",
    `${name} cannot be loaded: ${messageOf(cause)}; install it again (npm install ${name})`,
    {},
    { cause },
  );

/** Returns the exports of a module. For a CommonJS module, the exports are properties of the default export. */
const exportsOf = (module: object): object =>
  "default" in module && typeof module.default === "object" && module.default !== null
    ? { ...module.default, ...module }
    : module;

export const loadBullmq = async (from: string | undefined): Promise<Bullmq> =>
  exportsOf(await load("bullmq", from)) as Bullmq;

function unusable(connection: Connection, why: string, cause: unknown): TensorError {
  const refusal = REFUSALS.find(([sign]) => sign.test(why))?.[1];
  const reason = refusal ?? withoutPassword(why, connection).message.replace(/\.$/, "");
  const isSilent = !reason.includes("; ") && !/^[A-Z]+ /.test(reason);
  const advice = isSilent ? "; start Redis there, or give another address" : "";
  const sentence = `Redis at ${printAddress(connection)} cannot be used: ${reason}${advice}`;
  return new TensorError("engine", sentence, {}, { cause: withoutPassword(cause, connection) });
}

/** The meanings of error replies, by the capitalized word with which a reply begins. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS|invalid password/i, "it refuses the password; check the user and the password"],
  [/^NOAUTH/, "it requires a password; give redis://:PASSWORD@HOST:PORT"],
  [/^NOPERM/, "the user lacks a permission; allow all commands and keys of the queue"],
];

/**
 * Checks that a server supports queues. Throws a WrongRedis error for a cluster, a sentinel or a replica, in which
 * commands would fail repeatedly.
 */
async function checkMode(client: RedisClient): Promise<void> {
  // A Redis user may lack permission for this particular command.
  const info = await client.info().catch(() => "");
  const [, mode] = /^redis_mode:(\w+)/m.exec(info) ?? [];
  if (mode === "cluster") {
    throw new WrongRedis(
      "it is in cluster mode, in which the keys of a queue are on several servers; give a Redis without cluster mode",
    );
  }
  if (mode === "sentinel")
    throw new WrongRedis("it is a sentinel, which holds no keys; give the server that it watches");
  if (/^role:slave/m.test(info))
    throw new WrongRedis("it is a replica, which can only be read; give the server that it copies");
}

/**
 * Connects to Redis immediately, so that a wrong address is reported at once. After a lost connection, the client
 * reconnects automatically. `onLost` is called with a message whenever the connection is lost.
 */
export async function connect(
  connection: Connection,
  from: string | undefined,
  onLost: (sentence: string) => void,
): Promise<RedisConnection> {
  const { Redis } = exportsOf(await load("ioredis", from)) as Ioredis;
  let isOver = false;
  const retryStrategy = (times: number): number | null =>
    isOver ? null : Math.min(100 * times, 2000);
  const options = {
    ...OPTIONS,
    retryStrategy,
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
  let reason = "it does not answer";
  let isConnected = false;
  client.on("error", (error) => {
    const text = withoutPassword(textOf(error), connection).message;
    // The client reports the same message after every attempt.
    if (isConnected && text !== reason) onLost(`Redis at ${printAddress(connection)}: ${text}`);
    reason = text;
  });
  client.on("ready", () => {
    isConnected = true;
    reason = "";
  });
  const over = new AbortController();
  try {
    const { signal } = over;
    const connected = client.connect().then(() => checkMode(client));
    await Promise.race([connected, otherProtocol(connection, signal), silence(signal)]);
  } catch (cause) {
    disconnect();
    const why = cause instanceof WrongRedis ? cause.message : reason;
    throw unusable(connection, why, cause);
  } finally {
    over.abort();
  }
  return {
    client,
    get isReady() {
      return client.status === "ready";
    },
    disconnect,
  };
}

/** The dependencies of submitters and workers: BullMQ, Redis and a clock. */
export interface Surroundings {
  readonly clock: Clock;
  loadBullmq(from: string | undefined): Promise<Bullmq>;
  connect(
    connection: Connection,
    from: string | undefined,
    onLost: (sentence: string) => void,
  ): Promise<RedisConnection>;
}

/** The default dependencies: the installed BullMQ, Redis over the network, and this machine's clock. */
export const SURROUNDINGS: Surroundings = { clock: CLOCK, loadBullmq, connect };

const OPTIONS = {
  lazyConnect: true,
  // BullMQ requires this value, with which commands wait while Redis is unreachable.
  maxRetriesPerRequest: null,
};

/**
 * Returns the message of an error. If a host name has several addresses, a failed connection has one error per address.
 */
function textOf(error: unknown): string {
  const errors = isError(error) && "errors" in error ? error.errors : [];
  return isArray(errors) && errors.length > 0 ? textOf(errors[0]) : messageOf(error);
}

/** Prints the host and port of a connection, without its password. */
export function printAddress(connection: Connection): string {
  if (typeof connection === "string") {
    const url = redisUrl(connection);
    return URL.canParse(url) ? new URL(url).host : "the address given";
  }
  const { host = "127.0.0.1", port = 6379 } = connection;
  return `${String(host)}:${String(port)}`;
}
