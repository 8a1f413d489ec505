/** Runs one command of CI: with a time limit, its output in a file, and the wall and processor time it took. */

import fs from "node:fs";
import { ProcessGroup, runTimed, withoutTimes } from "../process-group.js";
import { watchDescendants } from "./descendants.js";

/** Ends everything that runs, and this process. */
export async function stopAll() {
  await Promise.all([...ProcessGroup.all].map((group) => group.end()));
  process.exit(1);
}

/**
 * Runs a command, and writes its output to `log`.
 * @param onText called with the output as it comes
 * @returns the output, the exit status, or null if the time limit was reached, and seconds of wall and processor time
 */
export async function run({ command, limit, env = {} }, log, onText = () => {}) {
  const file = fs.openSync(log, "w");
  const add = (text) => {
    fs.writeSync(file, text);
    onText(withoutTimes(text));
  };
  let sampled = () => 0;
  const result = await runTimed(command, {
    env: { ...process.env, ...env },
    limit,
    onText: add,
    onStart: (pid) => (sampled = watchDescendants(pid)),
  });
  fs.closeSync(file);
  return { ...result, processor: Math.max(result.processor, sampled()) };
}
