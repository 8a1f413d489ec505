/** Defines the target of `ndscatter run --with`: a model in the user's runtime, with exact scatters and gathers. */

import { tensor, type DType } from "../../entries/index.ts";
import { createExactSession, NodeIndex } from "../../entries/onnx.ts";
import { wrongUsage } from "../failure.ts";
import { givenOption } from "../input/arguments.ts";
import type { Io } from "../io.ts";
import { isOperator } from "../input/operator-call.ts";
import { inRuntime, readRunnable } from "../input/runtime.ts";
import { modelTask, type Task, type TaskOptions } from "./task.ts";

/**
 * `runtime` is the package name from the command line, and `chunked` an option that only chunked runs have. Throws a
 * `Failure` for options that apply only to other targets.
 */
export function exactTask(
  io: Io,
  file: string,
  runtime: string,
  options: TaskOptions,
  chunked: string | undefined,
): Task {
  if (isOperator(file)) {
    const advice = `leave --with out, or write ./${file} for a model with this name`;
    throw wrongUsage(
      `--with runs a model, but ${file} is an operator, which this package always runs itself; ${advice}`,
    );
  }
  const odd = givenOption(options, ["node", "domain", "opset", "attr", "axis"]);
  if (odd !== undefined)
    throw wrongUsage(
      `--with runs a whole model, so it cannot be used with ${odd}; leave ${odd} out`,
    );
  if (chunked !== undefined)
    throw wrongUsage(
      `--with runs a whole model, so it cannot be used with ${chunked}, which runs an operator chunk by chunk; leave ${chunked} out`,
    );
  const { bytes, model } = readRunnable(io, file);
  const run = { doing: `running in ${runtime}`, advice: "give each input as NAME=FILE" };
  return {
    ...modelTask(file, model, new NodeIndex(model)),
    isOneNode: false,
    execute: (inputs) =>
      inRuntime(io, file, { runtime }, run, async ({ own }) => {
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
      }),
  };
}
