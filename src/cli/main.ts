#!/usr/bin/env node
/** The executable: runs `main` with the streams, the folder and the signals of this process. */

import { once } from "node:events";
import * as fs from "node:fs";
import { isatty } from "node:tty";
import { failureOf, WRONG_DATA } from "./failure.ts";
import type { Input, Output } from "./io.ts";
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

/** Bytes per read, equal to the capacity of a pipe. */
const PIECE = 2 ** 16;

/** Delay before the next attempt to read standard input if no bytes are available, in milliseconds. */
const PAUSE = 10;

/** Reads all of standard input synchronously, because commands need the complete input. */
function readStdin(): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = new Uint8Array(PIECE);
    const count = readPiece(piece);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
  }
}

/** Returns the number of bytes read, which is 0 at the end. */
function readPiece(piece: Uint8Array): number {
  for (;;) {
    try {
      return fs.readSync(0, piece);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // On Windows, reading beyond the end of a pipe throws an error.
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      // Another process may have set the pipe to nonblocking mode.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }
}

const stdin: Input = {
  // Accessing `process.stdin` would start reading, so the code uses the file descriptor.
  get isTTY() {
    return isatty(0);
  },
  read: readStdin,
};

const { stdout, stderr } = process;

// A message that cannot be written is lost, but the exit status still reports the failure.
stderr.on("error", () => {});

stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A closed pipe is not an error, because readers such as `head` close the pipe when they have enough data.
  if (error.code === "EPIPE") process.exit();
  stderr.write(`ndscatter: the standard output: ${failureOf(error).message}\n`);
  process.exit(WRONG_DATA);
});

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Calls `action` at the first signal. Returns a function that cancels the request. */
function onFirst(action: (signal: NodeJS.Signals) => void): () => void {
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    release();
    action(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return release;
}

process.exitCode = await main(process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  stdin,
  stdout: output(stdout, async (text) => {
    if (!stdout.write(text)) await once(stdout, "drain");
  }),
  stderr: output(stderr, (text) => {
    stderr.write(text);
  }),
  onSignal: (cleanup) =>
    onFirst((signal) => {
      cleanup();
      // The signal ends the process if no listener is left, so that the parent sees the signal as the cause.
      process.kill(process.pid, signal);
    }),
  onInterrupt: onFirst,
});
