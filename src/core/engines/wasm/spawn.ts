/** Starts workers from text, and gives Node's and browsers' workers the same interface. */

import { OPEN } from "../../resources.ts";
import { WORKER } from "./bytes.ts";
import type { WorkerParts } from "./worker.ts";

export interface WorkerHandle {
  terminate(): void;
  /** Sets whether the Node process stays alive while this worker runs. */
  keepAlive(keep: boolean): void;
}

export interface NodeWorker {
  terminate(): unknown;
  ref(): void;
  unref(): void;
  on(event: string, listener: () => void): void;
}

interface BrowserWorker {
  terminate(): unknown;
  postMessage(message: unknown): void;
  addEventListener(event: string, listener: (event: { preventDefault(): void }) => void): void;
}

type Constructor<W> = new (source: string | URL, options?: object) => W;

export interface NodePort {
  close(): void;
}

/** Parts of `node:worker_threads` that this package uses. */
export interface NodeThreads {
  readonly Worker: Constructor<NodeWorker>;
  readonly MessageChannel: new () => { readonly port1: NodePort; readonly port2: NodePort };
  receiveMessageOnPort(port: NodePort): { readonly message: ArrayBuffer } | undefined;
}

// The texts of workers are functions, because bundlers keep concatenated strings even in pages that start no worker.
const nodeSource = (): string => `${WORKER}
const { parentPort, workerData } = require("node:worker_threads");
ndscatterWork(workerData, (round) => parentPort.postMessage(round));`;
const browserSource = (): string => `${WORKER}
onmessage = ({ data }) => { ndscatterWork(data, (round) => postMessage(round)); close(); };`;

/**
 * Starts a worker.
 * @param onMessage called when the worker has started, and after each round
 * @param onEnd called when the worker fails or ends; browsers do not report that a worker vanished
 * @throws the platform's own error if workers are forbidden
 */
export function spawn(parts: WorkerParts, onMessage: () => void, onEnd: () => void): WorkerHandle {
  const node = nodeThreads();
  if (node === null) return inBrowser(parts, onMessage, onEnd);
  const worker = startInNode(node, nodeSource(), parts, [], onEnd);
  worker.on("message", onMessage);
  return {
    terminate: () => void worker.terminate(),
    keepAlive: (keep) => (keep ? worker.ref() : worker.unref()),
  };
}

/**
 * Starts a Node worker that does not keep the process alive.
 * @param transferred the ports in the worker's data, which are transferred
 * @param onEnd called when the worker fails or ends
 */
export function startInNode(
  { Worker }: NodeThreads,
  source: string,
  workerData: object,
  transferred: readonly NodePort[],
  onEnd: () => void,
): NodeWorker {
  // The worker does not get the arguments of this process, with which Node might read the text as a module. The worker
  // gets no pipes to the process's streams, which would add listeners for each worker.
  const quiet = { execArgv: [], stdout: true, stderr: true };
  const options = { eval: true, workerData, transferList: transferred, ...quiet };
  const worker = new Worker(source, options);
  worker.on("error", onEnd);
  OPEN.workers++;
  worker.on("exit", () => {
    OPEN.workers--;
    onEnd();
  });
  // A process can exit while its workers are waiting.
  worker.unref();
  return worker;
}

function inBrowser(parts: WorkerParts, onMessage: () => void, onEnd: () => void): WorkerHandle {
  const Worker: Constructor<BrowserWorker> = Reflect.get(globalThis, "Worker");
  const url = URL.createObjectURL(new Blob([browserSource()], { type: "text/javascript" }));
  const worker = new Worker(url);
  worker.addEventListener("message", onMessage);
  worker.addEventListener("error", (event) => {
    // The engine reports a failed worker as an error of the call, so the page need not report the failure.
    event.preventDefault();
    onEnd();
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  worker.postMessage(parts);
  URL.revokeObjectURL(url);
  return { terminate: () => void worker.terminate(), keepAlive: () => {} };
}

/**
 * Returns Node's thread module, without an import that browsers and bundlers cannot resolve; null outside Node.
 * Requires Node 20.16.
 */
export function nodeThreads(): NodeThreads | null {
  const process: { getBuiltinModule?(name: string): NodeThreads | undefined } =
    Reflect.get(globalThis, "process") ?? {};
  return process.getBuiltinModule?.("node:worker_threads") ?? null;
}

/** Returns the reason why workers are unavailable; null if workers are available. */
export function whyNoWorkers(): string | null {
  const isThere = nodeThreads() !== null || typeof Reflect.get(globalThis, "Worker") === "function";
  return isThere ? null : "workers are not available (Node needs version 20.16)";
}

/** Returns true if this thread may block; false in a page. */
export function mayWait(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}
