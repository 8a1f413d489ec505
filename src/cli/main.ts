#!/usr/bin/env node
/** The command `ndscatter`: its commands put together, and what becomes of their errors. */

import { createRequire } from "node:module";
import { inspect } from "node:util";
import { Command, CommanderError } from "commander";
import { addConformanceCommand } from "./conformance.ts";
import { addConvertCommand } from "./convert.ts";
import { failureOf, WRONG_DATA } from "./failure.ts";
import { addExplainCommand } from "./explain.ts";
import { addInferCommand } from "./infer.ts";
import { addInspectCommand } from "./inspect.ts";
import { addOpsCommand } from "./ops.ts";
import { addRunCommand } from "./run.ts";

// By the package's own name, because the build folders lie at different depths.
const manifest: { readonly version: string; readonly description: string } = createRequire(
  import.meta.url,
)("ndscatter/package.json");

const HELP = `
The status is 0 when all is well, 1 for wrong data (files, tensors, tests) and
2 for wrong usage.

Examples:
  ndscatter ops
  ndscatter run ScatterND data.npy indices.npy updates.npy -o out.npy
  ndscatter explain ScatterND data.npy indices.npy updates.npy
  ndscatter infer ScatterND --opset 18 'float32[N,4,5]' 'int64[M,2]' 'float32[M,5]'
  ndscatter inspect model.onnx
  ndscatter convert model.onnx --opset 13 -o m13.onnx
  ndscatter help run`;

function buildProgram(): Command {
  const program = new Command("ndscatter")
    .description(manifest.description)
    .version(manifest.version, "-V, --version", "print the version")
    .option("--debug", "show where an error comes from")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", HELP)
    .exitOverride()
    // Errors are told once, at the end.
    .configureOutput({ writeErr: () => {}, outputError: () => {} });
  addRunCommand(program);
  addExplainCommand(program);
  addOpsCommand(program);
  addInferCommand(program);
  addInspectCommand(program);
  addConvertCommand(program);
  addConformanceCommand(program);
  return program;
}

async function main(): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as `head`, is no error.
    if (error.code === "EPIPE") process.exit();
    process.stderr.write(`ndscatter: the standard output: ${failureOf(error).message}\n`);
    process.exit(WRONG_DATA);
  });
  const program = buildProgram();
  try {
    await program.parseAsync();
  } catch (error) {
    // Help and version that were asked for.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const { message, status } = failureOf(error);
    process.exitCode = status;
    const origin = program.opts<{ debug?: boolean }>().debug ? `${inspect(error)}\n` : "";
    process.stderr.write(`ndscatter: ${message}\n${origin}`);
  }
}

await main();
