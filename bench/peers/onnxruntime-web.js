/** onnxruntime-web: the same runtime in WebAssembly. `run` copies inputs into its memory and results out of it. */

import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import { contestant, QUIET } from "./onnx.js";

export async function load() {
  // The number of threads is set per instance of the package. Its two builds give two instances in one process.
  const one = await import("onnxruntime-web");
  const two = createRequire(import.meta.url)("onnxruntime-web");
  one.env.wasm.numThreads = 1;
  two.env.wasm.numThreads = 2;
  let calmed = false;
  const peer = (threads, ort) => ({
    name: `onnxruntime-web ${threads}`,
    async prepare(row, inputs) {
      const before = threadIds();
      const made = await contestant(ort, { executionProviders: ["wasm"], ...QUIET }, row, inputs);
      if (threads === 2 && !calmed) calm(threadIds().filter((id) => !before.includes(id)));
      calmed ||= threads === 2;
      return made;
    },
  });
  return [peer(1, one), peer(2, two)];
}

/**
 * The worker of an instance with two threads never stops spinning (no session option affects that), and would take one
 * of two cores from all other contestants. At the lowest priority the worker yields to them at once, and still has a
 * core while its own peer is measured. Only Linux lists thread ids and accepts them here; on other systems leave this
 * peer out.
 */
function calm(threads) {
  for (const id of threads) {
    try {
      os.setPriority(id, os.constants.priority.PRIORITY_LOW);
    } catch {
      // The thread has ended.
    }
  }
}

function threadIds() {
  if (process.platform !== "linux") return [];
  return fs.readdirSync("/proc/self/task").map(Number);
}
