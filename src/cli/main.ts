#!/usr/bin/env node
/** The executable: runs {@link main} with the streams, the folder and the signals of this process. */

import { once } from "node:events";
import { failureOf, WRONG_DATA } from "./failure.ts";
import type { Output } from "./io.ts";
import { main } from "./program.ts";

const output = (stream: NodeJS.WriteStream, write: Output["write"]): Output => ({
  get isTTY() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns ?? 80;
  },
  write,
});

const { stdout, stderr } = process;

stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, closes the pipe. That is no error.
  if (error.code === "EPIPE") process.exit();
  stderr.write(`ndscatter: the standard output: ${failureOf(error).message}\n`);
  process.exit(WRONG_DATA);
});

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

function onSignal(cleanup: () => void): () => void {
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    release();
    cleanup();
    // Without a listener the signal ends the process, so that the parent sees the signal as the cause.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return release;
}

process.exitCode = await main(process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  stdout: output(stdout, async (text) => {
    if (!stdout.write(text)) await once(stdout, "drain");
  }),
  stderr: output(stderr, (text) => {
    stderr.write(text);
  }),
  onSignal,
});
