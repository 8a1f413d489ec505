/** Defines the program `ndscatter`: its commands, and the conversion of failures to an exit status and a message. */

import { createRequire } from "node:module";
import { inspect } from "node:util";
import { Command, CommanderError, Option } from "commander";
import { withAdvice } from "./advice.ts";
import { failureOf, SUCCESS, type Status, failureJson } from "./failure.ts";
import { guarded, type Io } from "./io.ts";
import { cutWords, escapeControls, printJson } from "./text/layout.ts";
import { withoutSecrets } from "../arrays/boxes/urls.ts";

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

/** Adds a command to the program. Commands call `fail` to set the exit status without throwing an error. */
type AddCommand = (program: Command, io: Io, fail: (status: Status) => void) => void;

/** The commands, in the order of the help. A command's file is loaded only if the command is named. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  run: async () => (await import("./commands/run.ts")).addRunCommand,
  explain: async () => (await import("./commands/explain.ts")).addExplainCommand,
  compare: async () => (await import("./commands/compare.ts")).addCompareCommand,
  ops: async () => (await import("./commands/ops.ts")).addOpsCommand,
  infer: async () => (await import("./commands/ops.ts")).addInferCommand,
  inspect: async () => (await import("./commands/inspect.ts")).addInspectCommand,
  convert: async () => (await import("./commands/convert.ts")).addConvertCommand,
  capture: async () => (await import("./commands/capture.ts")).addCaptureCommand,
  verify: async () => (await import("./commands/verify.ts")).addVerifyCommand,
  fix: async () => (await import("./commands/fix.ts")).addFixCommand,
  array: async () => (await import("./commands/array.ts")).addArrayCommand,
  job: async () => (await import("./commands/job.ts")).addJobCommand,
  conformance: async () => (await import("./commands/conformance.ts")).addConformanceCommand,
  version: async () => addVersionCommand,
};

/** Implements `ndscatter version`, which prints the same text as --version. */
const addVersionCommand: AddCommand = (program, { stdout }) =>
  program
    .command("version")
    .description("print the version")
    .action(() => stdout.write(`${manifest.version}\n`));

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
  const name = commandOf(argv);
  // The help and the suggestions for an unknown name need all commands.
  const named = Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]] : Object.values(COMMANDS);
  for (const add of await Promise.all(named.map((load) => load()))) {
    add(program, io, (failed) => {
      status = failed;
    });
  }
  try {
    await program.parseAsync(withoutHelp(program, argv), { from: "user" });
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
    const sentence = escapeControls(cutWords(withoutSecrets(withAdvice(failure, name, io.cwd))));
    await io.stderr.write(`ndscatter: ${sentence}\n${withoutSecrets(origin)}`);
    // The error is not printed again if the result already contains or explains it.
    if (argv.includes("--json") && !isPrinted)
      await io.stdout.write(withoutSecrets(`${printJson({ error: failureJson(failure) })}\n`));
    return failure.status;
  }
}

/**
 * Replaces `help NAME` by `NAME --help`, because commander does not support `help` for the commands of `job`, and
 * reports no error for an unknown name after `help`.
 */
function withoutHelp(program: Command, argv: readonly string[]): readonly string[] {
  const [first, name, ofJob = "-"] = argv;
  if (first !== "help" || name === undefined || name === "help") return argv;
  const known = program.commands.find((one) => one.name() === name);
  const own = known?.commands ?? [];
  const isNamed = !ofJob.startsWith("-");
  const isOdd = isNamed && own.length > 0 && !own.some((one) => one.name() === ofJob);
  if (known === undefined || isOdd) return argv.slice(1);
  return [name, ...(isNamed ? [ofJob] : []), "--help"];
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
