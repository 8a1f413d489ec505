/**
 * Implements `ndscatter run --with`: the user's ONNX Runtime runs the model, and this package computes its scatters.
 */

import { Option, type Command } from "commander";
import { tensor, type DType, type Tensor } from "../../entries/index.ts";
import { createExactSession, modelNotes, readModel } from "../../entries/onnx.ts";
import { printFile, withPath, wrongUsage } from "../failure.ts";
import { isOperator } from "../input/operator-call.ts";
import { externalOf, inModel, makeSessions, PACKAGES, readForRuntime } from "../input/runtime.ts";
import type { Io } from "../io.ts";
import { ProgressLine } from "../text/progress.ts";
import type { Task, TaskOptions } from "./task.ts";

export interface WithOptions {
  /** The npm package of the runtime. */
  readonly with?: string;
}

export const addWithOption = (command: Command): Command =>
  command.addOption(
    new Option(
      "--with <package>",
      "run the model in your ONNX Runtime, with its scatters computed exactly by this package",
    ).choices(PACKAGES),
  );

/**
 * `runtime` is the package name from the command line. Throws a `Failure` for options that apply only to other targets.
 */
export function runtimeTask(io: Io, file: string, runtime: string, options: TaskOptions): Task {
  if (isOperator(file)) {
    const advice = `leave --with out, or write ./${file} for a model with this name`;
    throw wrongUsage(
      `--with runs a model, but ${file} is an operator, which this package always runs itself; ${advice}`,
    );
  }
  const odd = (["node", "domain", "opset", "attr"] as const).find(
    (name) => options[name] !== undefined,
  );
  if (odd !== undefined)
    throw wrongUsage(
      `--with runs a whole model, so it cannot be used with --${odd}; leave --${odd} out`,
    );
  const bytes = readForRuntime(io, file);
  const model = withPath(file, () => readModel(bytes, externalOf(io, file)));
  const { graph } = model;
  return {
    title: printFile(file),
    file,
    inputs: graph.inputs.map(({ name }) => name),
    optional: new Set(graph.constants.map(({ name }) => name)),
    outputs: graph.outputs.map(({ name }) => name),
    notes: modelNotes(model),
    isOneNode: false,
    execute: (inputs) => runExactly(io, file, { bytes, runtime, inputs }),
    checkSupported: () => {},
    checkOneNode: () => {},
    call: () => {
      throw wrongUsage("--with runs a whole model instead of a single call; leave --with out");
    },
  };
}

interface ExactRun {
  readonly bytes: Uint8Array;
  readonly runtime: string;
  readonly inputs: ReadonlyMap<string, Tensor>;
}

async function runExactly(
  io: Io,
  file: string,
  { bytes, runtime, inputs }: ExactRun,
): Promise<ReadonlyMap<string, Tensor>> {
  const line = new ProgressLine(io.stderr);
  const starting = (): void => line.showNow(`${printFile(file)}: running in ${runtime}`);
  const { own } = await makeSessions(io, file, { runtime }, starting);
  try {
    const action = async (): Promise<ReadonlyMap<string, Tensor>> => {
      const session = await createExactSession(bytes, own);
      try {
        const outputs = await session.run(Object.fromEntries(inputs));
        return new Map(
          Object.entries(outputs).map(([name, { type, dims, data }]) => [
            name,
            tensor(type as DType, dims, data as never),
          ]),
        );
      } finally {
        await session.release();
      }
    };
    return await inModel(file, action, "give each input as NAME=FILE");
  } finally {
    line.clear();
  }
}
