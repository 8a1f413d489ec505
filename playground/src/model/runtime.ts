/** The runtime, ONNX Runtime in WebAssembly, which only the worker loads. */

import { buildModel, writeModel, type CreateSession } from "ndscatter/onnx";
import { env, InferenceSession } from "onnxruntime-web/wasm";
import { NOT_LOADED } from "./messages.ts";

/** Only fatal errors go to the console, because the page shows the others. */
const FATAL = 4;

// More threads need a page that is isolated from other origins, which few hosts of static files provide.
env.wasm.numThreads = 1;
env.logLevel = "fatal";

/** A file of external data, by the path in the model. */
export interface External {
  readonly path: string;
  readonly data: Uint8Array;
}

/** Returns a session maker for a model with external data. */
export const sessionsWith =
  (externalData: readonly External[]): CreateSession =>
  (model, settings = {}) =>
    InferenceSession.create(model, {
      ...settings,
      externalData,
      executionProviders: ["wasm"],
      logSeverityLevel: FATAL,
    });

/**
 * Loads the files of the runtime, which happens with the first session: that of the smallest model. Otherwise, the
 * failure to load a file could not be distinguished from the failure to run the user's model.
 */
export async function loadRuntime(): Promise<void> {
  const float = { dtype: "float32", shape: [] } as const;
  const model = buildModel({
    opsets: { "ai.onnx": 13 },
    inputs: { in: float },
    nodes: [{ op: "Identity", inputs: ["in"], outputs: ["out"] }],
    outputs: { out: float },
  });
  try {
    const session = await sessionsWith([])(writeModel(model));
    await session.release?.();
  } catch {
    throw new Error(NOT_LOADED);
  }
}
