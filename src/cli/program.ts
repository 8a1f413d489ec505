/** Defines the program `ndscatter`: its commands, and the conversion of failures to an exit status and a message. */

import { createRequire } from "node:module";
import { inspect } from "node:util";
import { Command, CommanderError, Option } from "commander";
import { withAdvice } from "./advice.ts";
import { addArrayCommand } from "./commands/array.ts";
import { addCaptureCommand } from "./commands/capture.ts";
import { addCompareCommand } from "./commands/compare.ts";
import { addConformanceCommand } from "./commands/conformance.ts";
import { addConvertCommand } from "./commands/convert.ts";
import { addExplainCommand } from "./commands/explain.ts";
import { addFixCommand } from "./commands/fix.ts";
import { failureOf, SUCCESS, type Status } from "./failure.ts";
import { addInferCommand } from "./commands/infer.ts";
import { addInspectCommand } from "./commands/inspect.ts";
import { guarded, type Io } from "./io.ts";
import { addJobCommand } from "./commands/job.ts";
import { failureJson } from "./text/error-json.ts";
import { cutWords, escapeControls, printJson } from "./text/layout.ts";
import { withoutSecrets } from "../arrays/boxes/urls.ts";
import { addOpsCommand } from "./commands/ops.ts";
import { addRunCommand } from "./commands/run.ts";
import { addVerifyCommand } from "./commands/verify.ts";

// The manifest is resolved by package name, because build/ and dist/ are nested at different depths.
const manifest: { readonly version: string; readonly description: string } = createRequire(
  import.meta.url,
)("ndscatter/package.json");

const HELP = `
The exit status is 0 on success, 1 for wrong data (files, tensors, tests) and 2
for wrong usage.

Examples:
  ndscatter ops
  ndscatter run ScatterND data.npy indices.npy updates.npy -o out.npy
  ndscatter explain ScatterND data.npy indices.npy updates.npy
  ndscatter compare ScatterND data.npy indices.npy updates.npy
  ndscatter infer ScatterND --opset 18 'float32[N,4,5]' 'int64[M,2]' 'float32[M,5]'
  ndscatter inspect model.onnx
  ndscatter convert model.onnx --opset 13 -o m13.onnx
  ndscatter verify model.onnx --feed x=x.npy
  ndscatter fix model.onnx --feed x=x.npy
  ndscatter array a.npy -o a.zarr --chunks 1000,128 --codec zstd
  ndscatter help run`;

/** Implements `ndscatter version`, which prints the same text as --version. */
const addVersionCommand = (program: Command, { stdout }: Io): Command =>
  program
    .command("version")
    .description("print the version")
    .action(() => stdout.write(`${manifest.version}\n`));

/**
 * Functions that each add one command to the program. Commands call `fail` to set the exit status without throwing an
 * error.
 */
const COMMANDS: readonly ((program: Command, io: Io, fail: (status: Status) => void) => void)[] = [
  addRunCommand,
  addExplainCommand,
  addCompareCommand,
  addOpsCommand,
  addInferCommand,
  addInspectCommand,
  addConvertCommand,
  addCaptureCommand,
  addVerifyCommand,
  addFixCommand,
  addArrayCommand,
  addJobCommand,
  addConformanceCommand,
  addVersionCommand,
];

/**
 * Runs one command, and returns the status of the process.
 * @param argv the arguments after the names of Node and the program
 */
export async function main(argv: readonly string[], given: Io): Promise<Status> {
  let isPrinted = false;
  const stdout = guarded(given.stdout, () => {
    isPrinted = true;
  });
  const io = { ...given, stdout, stderr: guarded(given.stderr) };
  let status: Status = SUCCESS;
  let help = "";
  const program = buildProgram(io, (text) => {
    help += text;
  });
  for (const add of COMMANDS) {
    add(program, io, (failed) => {
      status = failed;
    });
  }
  try {
    // Commander prints the full help if an unknown command follows "help".
    const isKnown = program.commands.some((one) => one.name() === argv[1]);
    const isHelp = argv[0] === "help" && argv.length > 1 && !isKnown && argv[1] !== "help";
    await program.parseAsync(isHelp ? argv.slice(1) : argv, { from: "user" });
    return status;
  } catch (error) {
    // Commander also throws an error after --help and --version. Commander may copy the exit code from
    // `process.exitCode`, so the collected help text indicates success instead.
    if (error instanceof CommanderError && help !== "") {
      await io.stdout.write(help);
      return SUCCESS;
    }
    const failure = failureOf(error);
    const origin = program.opts<{ debug?: boolean }>().debug ? `${inspect(error)}\n` : "";
    const sentence = escapeControls(
      cutWords(withoutSecrets(withAdvice(failure, commandOf(argv), io.cwd))),
    );
    await io.stderr.write(`ndscatter: ${sentence}\n${withoutSecrets(origin)}`);
    // The error is not printed again if the result already contains or explains it.
    if (argv.includes("--json") && !isPrinted)
      await io.stdout.write(withoutSecrets(`${printJson({ error: failureJson(failure) })}\n`));
    return failure.status;
  }
}

/** Returns the command's name, which may follow global options. */
const commandOf = (argv: readonly string[]): string =>
  argv.find((word) => !word.startsWith("-")) ?? "";

/** Passes the text of --help and --version to `writeOut`. */
const buildProgram = (io: Io, writeOut: (text: string) => void): Command =>
  new Command("ndscatter")
    .description(manifest.description)
    .version(manifest.version, "-v, --version", "print the version")
    // The option -V also works, because users of other commander programs may expect it.
    .addOption(new Option("-V").hideHelp())
    .on("option:V", () => {
      writeOut(`${manifest.version}\n`);
      throw new CommanderError(SUCCESS, "commander.version", manifest.version);
    })
    .option("--debug", "print the stack trace of an error")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", HELP)
    .exitOverride()
    .configureOutput({
      writeOut,
      // Commander must not print errors, because `main` prints them once.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => io.stdout.columns,
      getOutHasColors: () => io.stdout.isTTY,
    });
