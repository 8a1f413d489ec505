/** The runtime, ONNX Runtime in WebAssembly, which only the worker loads. */

import type { CreateSession } from "ndscatter/onnx";
import { env, InferenceSession } from "onnxruntime-web/wasm";

/** Only fatal errors go to the console, because the page shows the others. */
const FATAL = 4;

// More threads need a page that is isolated from other origins, which few hosts of static files provide.
env.wasm.numThreads = 1;
env.logLevel = "fatal";

export const createSession: CreateSession = (model, settings = {}) =>
  InferenceSession.create(model, {
    ...settings,
    executionProviders: ["wasm"],
    logSeverityLevel: FATAL,
  });
