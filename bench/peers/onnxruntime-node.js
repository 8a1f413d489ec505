/** onnxruntime-node: the native runtime, on its CPU. */

import { contestant, QUIET } from "./onnx.js";

/** Milliseconds. Its threads spin for about 30 ms after a run and would take a core from the next contestant. */
const SPINNING = 45;

export async function load() {
  const { default: ort } = await import("onnxruntime-node");
  return [1, 2].map((threads) => ({
    name: `onnxruntime-node ${threads}`,
    cooldown: threads === 1 ? 0 : SPINNING,
    prepare: (row, inputs) =>
      contestant(
        ort,
        {
          executionProviders: ["cpu"],
          intraOpNumThreads: threads,
          interOpNumThreads: 1,
          ...QUIET,
        },
        row,
        inputs,
      ),
  }));
}
