/**
 * Loads BullMQ and its Redis client, which are optional dependencies, and connects to Redis. The types declare only
 * members in use, so that this package's types do not depend on these packages.
 *
 * Generated passwords often contain `/`, `#` or `?`, which end the host of a URL, so unencoded passwords must be
 * detected. Errors never quote an invalid URL, because the password may be anywhere in its text.
 */

import * as path from "node:path";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { isArray, objectOf, wrongOption } from "../../core/foreign.ts";
import { isError, messageOf, TensorError } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";

/** A URL such as `redis://host:6379`, or ioredis options. */
export type Connection = string | Readonly<Record<string, unknown>>;

/**
 * Returns the URL with an encoded user and password. Other text, such as a socket path, is returned unchanged. Throws
 * an `attribute` error for an invalid URL.
 */
export function redisUrl(text: string): string {
  if (!/^rediss?:\/\/|@|:\//i.test(text)) return text;
  // The last `@` ends the user and the password, because neither a host nor a database number contains this character.
  const [, scheme = "", user, rest = ""] =
    /^(rediss?:\/\/)(?:(.*)@)?([^@/?#]+(?:\/\d*)?(?:\?\w+=[^@#]*)?)$/is.exec(text) ?? [];
  const [, name = "", colon = "", password = ""] = /^([^:]*)(:?)(.*)$/s.exec(user ?? "") ?? [];
  const at = user === undefined ? "" : "@";
  const url = scheme + encode(name) + colon + encode(password) + at + rest;
  if (scheme !== "" && URL.canParse(url) && new URL(url).hostname !== "") return url;
  const sentence =
    "the connection must be a URL such as redis://user:password@host:6379, got text that cannot be read as one";
  throw new TensorError("attribute", sentence, { key: "connection" });
}

function encode(text: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(text));
  } catch {
    // The text is not encoded.
    return encodeURIComponent(text);
  }
}

/** Throws an `attribute` error for an invalid URL, and for a value that is neither text nor an object. */
export function checkConnection(connection: unknown): void {
  if (typeof connection === "string" && connection !== "") return void redisUrl(connection);
  if (typeof connection === "object" && connection !== null)
    return void objectOf("connection", connection, {});
  throw wrongOption(
    "connection",
    "a URL such as redis://host:6379, or options of ioredis",
    connection,
  );
}

/** Returns an error without the passwords that clients repeat in command arguments. */
export function withoutPassword(cause: unknown, connection: Connection): Error {
  const text = messageOf(cause);
  return new Error(passwordsOf(connection).reduce((all, one) => all.replaceAll(one, "***"), text));
}

function passwordsOf(connection: Connection): string[] {
  const { password, sentinelPassword } = addressOf(connection);
  const given = [password, sentinelPassword].filter((one) => typeof one === "string" && one !== "");
  return (given as string[]).flatMap((one) => [one, encode(one)]);
}

/** Returns the options that a URL stands for. */
function addressOf(connection: Connection): Exclude<Connection, string> {
  if (typeof connection !== "string") return connection;
  const url = redisUrl(connection);
  if (!URL.canParse(url)) return { path: url };
  const { hostname: host, port, password } = new URL(url);
  return { host, ...(port !== "" && { port }), password: decodeURIComponent(password) };
}

/** Prints the host and port of a connection, or the path of its socket, without the password. */
export function printAddress(connection: Connection): string {
  const {
    host = "127.0.0.1",
    port = 6379,
    path = `${String(host)}:${String(port)}`,
  } = addressOf(connection);
  return String(path);
}

/** Returns true for a server that only this machine can reach, by the loopback address or a Unix socket. */
export function isLocal(connection: Connection): boolean {
  const { host = "127.0.0.1", path, sentinels } = addressOf(connection);
  if (path !== undefined) return typeof path === "string" && path.startsWith("/");
  const isLoopback =
    typeof host === "string" && /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
  return isLoopback && sentinels === undefined;
}

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
