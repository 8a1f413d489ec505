/** The worker that runs a model. It keeps the nodes with their tensors, because the page shows one at a time. */

import { check, cure, type Run } from "./check-model.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { loadRuntime } from "./runtime.ts";
import { shownNode } from "./shown-node.ts";

const tell = (message: FromWorker): void => postMessage(message);

/** The least time in milliseconds between two messages about progress, which screen readers read aloud. */
const PAUSE = 500;

let last = 0;

const onProgress = (sentence: string, share: number | null = null): void => {
  const now = performance.now();
  if (now - last < PAUSE) return;
  last = now;
  tell({ is: "progress", sentence, share });
};

let run: Run | null = null;

async function answer(message: ToWorker): Promise<void> {
  if (message.ask === "check") {
    await loadRuntime();
    run = await check(message.files, onProgress);
    tell({ is: "checked", checked: run.checked });
  } else if (run !== null && message.ask === "show") {
    const { row } = message;
    tell({ is: "shown", row, shown: await shownNode(run, row) });
  } else if (run !== null) tell({ is: "cured", cure: await cure(run, onProgress) });
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  answer(data).catch((error: unknown) => {
    const sentence = error instanceof Error ? error.message : String(error);
    tell({ is: "failed", sentence, row: data.ask === "show" ? data.row : undefined });
  });
});
