/** Starts the worker that runs a model. */

import { NOT_LOADED, type FromWorker, type ToWorker } from "./messages.ts";
// oxlint-disable-next-line import/default -- Vite makes this module.
import address from "./worker.ts?worker&url";

export interface Running {
  ask(message: ToWorker): void;
  /** Ends the worker immediately; no more messages arrive. */
  stop(): void;
}

/**
 * The worker is started from a blob, because a blob inherits the policy of the page: nothing in the worker, including
 * the runtime, can send data to another origin. A worker that is loaded from a file has the policy of that file.
 */
export function startWorker(onMessage: (message: FromWorker) => void): Running {
  const script = `import ${JSON.stringify(new URL(address, location.href).href)};`;
  const blob = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(blob, { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => onMessage(data));
  worker.addEventListener("error", ({ message }: Partial<ErrorEvent>) => {
    // A script that cannot be loaded is an event without a message.
    const isLoaded = message !== undefined && message !== "";
    const sentence = isLoaded ? `The runtime could not be started: ${message}` : NOT_LOADED;
    onMessage({ is: "failed", sentence });
  });
  return {
    ask: (message) => worker.postMessage(message, []),
    stop() {
      worker.terminate();
      URL.revokeObjectURL(blob);
    },
  };
}
