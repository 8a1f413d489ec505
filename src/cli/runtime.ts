/** The user's own ONNX Runtime: looked up from the folder in which the command runs, never a dependency of this package. */

import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import type { Tensor } from "../index.ts";
import { externalFiles, readModel, type CaptureOptions, type Session } from "../onnx/index.ts";
import { bindFiles } from "./bindings.ts";
import { STDIN, wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
import { externalReader, folderOf, readTensorFiles } from "./read-files.ts";

const PACKAGES = ["onnxruntime-node", "onnxruntime-web"];

/** As much of the runtime as is used. */
interface Runtime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
}

/** The options of commands that run a model in the user's runtime. */
export interface RuntimeOptions {
  readonly feed?: readonly string[];
  readonly threads?: number;
  readonly iteration?: number;
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

export function parseCount(text: string, option: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw wrongUsage(`${option} takes a number, got ${JSON.stringify(text)}`);
}

export const addRuntimeOptions = (command: Command): Command =>
  command
    .option("--feed <name=file>", "a tensor for an input of the model; once for each", collect)
    .option("--threads <count>", "the threads of the runtime", (text: string) =>
      parseCount(text, "--threads"),
    )
    .option("--iteration <number>", "the iteration of loops that counts, from 0", (text: string) =>
      parseCount(text, "--iteration"),
    );

/** @throws Failure where no runtime is installed */
export async function makeSessions(
  io: Io,
  file: string,
  { threads }: RuntimeOptions,
): Promise<Pick<CaptureOptions, "createSession" | "external">> {
  const runtime = await loadRuntime(io);
  const options = {
    logSeverityLevel: 3,
    ...(threads !== undefined && { intraOpNumThreads: threads }),
  };
  // The data of a model in other files are read where they are.
  const external = file === STDIN ? undefined : externalReader(folderOf(io, file));
  const createSession = (bytes: Uint8Array): Promise<Session> => {
    const files = externalFiles(readModel(bytes));
    const externalData = files.map((name) => ({ path: name, data: external?.(name) }));
    return runtime.InferenceSession.create(bytes, {
      ...options,
      ...(files.length > 0 && { externalData }),
    });
  };
  return { createSession, ...(external && { external }) };
}

async function loadRuntime({ cwd }: Io): Promise<Runtime> {
  const here = createRequire(path.join(cwd, "model.js"));
  for (const name of PACKAGES) {
    let found: string;
    try {
      found = here.resolve(name);
    } catch {
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop
    const loaded = (await import(pathToFileURL(found).href)) as Runtime & { default?: Runtime };
    return loaded.InferenceSession === undefined && loaded.default !== undefined
      ? loaded.default
      : loaded;
  }
  throw wrongUsage(
    `there is no ONNX Runtime here; install yours first, such as by npm install ${PACKAGES[0]}`,
  );
}

/** The tensors that are fed to a model. */
export function readFeeds(
  io: Io,
  file: string,
  inputs: readonly string[],
  { feed = [] }: RuntimeOptions,
): Record<string, Tensor> {
  const files = bindFiles(feed, inputs, "input", file);
  return Object.fromEntries(readTensorFiles(io, files));
}
