/**
 * BullMQ and its Redis client: optional packages, looked up when they are asked for. The types say as much of them as is
 * used, so that the package's own types need neither.
 */

import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { isArray, TensorError } from "../errors.ts";

/** A job in a queue. */
export interface QueuedJob {
  readonly id?: string | undefined;
  readonly name: string;
  readonly data: unknown;
  /** When it was added, in milliseconds. */
  readonly timestamp: number;
  readonly queueQualifiedName: string;
  readonly failedReason?: string | undefined;
  getState(): Promise<string>;
  updateData(data: object): Promise<void>;
  updateProgress(progress: object): Promise<void>;
  moveToWait(token: string): Promise<unknown>;
  /** @returns false where no child is left to wait for */
  moveToWaitingChildren(token: string): Promise<boolean>;
  /** Why children failed, by their keys; an id follows the last colon of a key. */
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
  getWorkersCount(): Promise<number>;
  close(): Promise<void>;
}

export interface QueueWorker extends Emitter {
  close(): Promise<void>;
}

export type Processor = (job: QueuedJob, token?: string) => Promise<unknown>;

interface Bullmq {
  readonly Queue: new (name: string, options: object) => JobQueue;
  readonly Worker: new (name: string, processor: Processor, options: object) => QueueWorker;
  readonly UnrecoverableError: new (message: string) => Error;
  readonly WaitingError: new () => Error;
  readonly WaitingChildrenError: new () => Error;
}

export interface RedisClient extends Emitter {
  connect(): Promise<void>;
  disconnect(): void;
}

interface Ioredis {
  readonly Redis: new (...args: readonly unknown[]) => RedisClient;
}

/** A URL such as `redis://host:6379`, or options of ioredis. */
export type Connection = string | Readonly<Record<string, unknown>>;

const INSTALL =
  "BullMQ and its Redis client are needed and are not installed: npm install bullmq ioredis";

/** @param from a folder in which to look too, as `node_modules` are looked up */
async function load(name: string, from: string | undefined): Promise<object> {
  try {
    // The name is a variable, so that no bundler asks for a package that most users lack.
    return await import(name);
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
    return await import(pathToFileURL(file).href);
  } catch (error) {
    throw brokenPackage(name, error);
  }
}

/** Whether the package itself is not there, rather than a package that it needs. */
const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  "code" in error &&
  error.code === "ERR_MODULE_NOT_FOUND" &&
  error.message.includes(`'${name}'`);

const brokenPackage = (name: string, cause: unknown): TensorError => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TensorError("engine", `${name} does not load: ${reason}`, {}, { cause });
};

/** The exports of a CommonJS module are those of its default too. */
const exportsOf = (module: object): object =>
  "default" in module && typeof module.default === "object" && module.default !== null
    ? { ...module.default, ...module }
    : module;

export const loadBullmq = async (from: string | undefined): Promise<Bullmq> =>
  exportsOf(await load("bullmq", from)) as Bullmq;

/**
 * Connects to Redis once, so that a wrong address is an error at once. Later the client connects again by itself.
 * @param onLost is told in a sentence each time the connection is lost
 */
export async function connect(
  connection: Connection,
  from: string | undefined,
  onLost: (sentence: string) => void,
): Promise<RedisClient> {
  const { Redis } = exportsOf(await load("ioredis", from)) as Ioredis;
  const options = { ...OPTIONS, ...(typeof connection === "string" ? {} : connection) };
  const redis =
    typeof connection === "string" ? new Redis(connection, options) : new Redis(options);
  let reason = "it does not answer";
  let isConnected = false;
  redis.on("error", (error) => {
    const text = textOf(error);
    // The client tries again and again, and fails in the same words.
    if (isConnected && text !== reason) onLost(`Redis at ${printAddress(connection)}: ${text}`);
    reason = text;
  });
  redis.on("ready", () => {
    isConnected = true;
    reason = "";
  });
  try {
    await redis.connect();
  } catch (cause) {
    redis.disconnect();
    const sentence = `Redis at ${printAddress(connection)} cannot be used: ${reason}`;
    throw new TensorError("engine", sentence, {}, { cause });
  }
  return redis;
}

const OPTIONS = {
  lazyConnect: true,
  // Workers wait for a lost Redis, and BullMQ takes no other number.
  maxRetriesPerRequest: null,
  retryStrategy: (times: number): number => Math.min(100 * times, 2000),
};

/** An address that several names lead to fails with one error for each. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errors = "errors" in error && isArray(error.errors) ? error.errors : [];
  return errors.length > 0 ? textOf(errors[0]) : error.message;
}

/** Host and port, without the password that may stand in front of them. */
function printAddress(connection: Connection): string {
  if (typeof connection === "string") {
    return URL.canParse(connection) ? new URL(connection).host : "the address given";
  }
  const { host = "127.0.0.1", port = 6379 } = connection;
  return `${String(host)}:${String(port)}`;
}
