/**
 * Implements `ndscatter fix`, which finds a fix for incorrect scatters and gathers and tests the fix in the user's
 * runtime.
 */

import * as path from "node:path";
import type { Command } from "commander";
import {
  externalFiles,
  fixModel,
  modelNotes,
  type Cure,
  type FixProgress,
} from "../../entries/onnx.ts";
import { WRONG_DATA, type Status } from "../failure.ts";
import { printNote, type Io } from "../io.ts";
import {
  addExpectedOption,
  addFeedOptions,
  allFiles,
  expectedOf,
  feedsOf,
  RANDOM_HELP,
} from "../input/feeds.ts";
import {
  addRuntimeOptions,
  inRuntime,
  loadRuntime,
  readRunnable,
  type RuntimeOptions,
} from "../input/runtime.ts";
import { withOwnWeights } from "../input/read-files.ts";
import { checkExternal, checkNotRead, checkPlace, writeFiles } from "../input/write-files.ts";
import { fixJson, fixText } from "../text/fix-text.ts";
import { JSON_HELP, printJson } from "../text/layout.ts";

interface FixCommand extends RuntimeOptions {
  readonly node?: string;
  readonly output?: string;
  readonly expected?: readonly string[];
  readonly json?: boolean;
}

const HELP = `
The command first verifies the model, like ndscatter verify, in the ONNX Runtime
that is installed in the folder where the command runs. If a scatter or gather is
wrong, or its result varies between runs, the command tries cures in order of
increasing cost:

  settings       one thread, one node at a time, or no graph optimization; also
                 the CPU if --provider names another execution provider
  another model  an ordinary ONNX file in which the faulty nodes are rewritten as
                 equivalent nodes that the runtime runs correctly
                 (docs/known-faults.md lists the faults)
  exact session  this package runs the faulty nodes

Each cure is measured. Every faulty node runs alone on its real inputs, at most
100 times, and must give the exact bits each time. The whole model runs at most
100 times, and must give the same result each time. The median time of these runs
is compared with the median time of the plain session. The command chooses the
correct cure of the lowest cost, unless a more expensive cure runs much faster:
it must save more than 1 ms, and another model must save a fifth of the time, an
exact session half of the time.

If the model does not give the outputs of --expected, such as those of the PyTorch
model that was exported, the command also tries models in which one node has another
axis, operator, reduction, batch_dims or order of updates, or inputs that are
transposed, exchanged or too large.

-o writes the model of the chosen cure; a session setting needs no file. The exit
status is 0 if nothing is wrong or a cure was found, and 1 if no cure works.
${RANDOM_HELP}

Examples:
  ndscatter fix examples/faults/nan-max.onnx --random
  ndscatter fix examples/faults/unknown-reduction.onnx --random
  ndscatter fix model.onnx --feed x=x.npy
  ndscatter fix model.onnx --random --dim N=4 -o cured.onnx`;

export function addFixCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  const command = program
    .command("fix")
    .summary("find a cure for the faults that verify reports")
    .description(
      "Find a cure for scatters and gathers that are wrong in your ONNX Runtime, and measure it there.",
    )
    .argument("<model>", "an ONNX model")
    .option("--node <name>", "check only this node, by any name that explain accepts");
  addExpectedOption(addFeedOptions(addRuntimeOptions(command)).optionsGroup("Output:"))
    .option("-o, --output <file>", "write the model of the chosen cure to this file")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: FixCommand) => {
      const { node, iteration = 0, call = 0, output, provider = "cpu", json = false } = options;
      const { bytes, model } = readRunnable(io, file);
      if (output !== undefined) {
        checkNotRead(io, output, allFiles(file, model, options));
        checkPlace(io, output);
        checkExternal(io, file, output, model);
      }
      // Fixes are tested on the whole model, so all inputs are required even with --node.
      const { node: _, ...ofAll } = options;
      await loadRuntime(io, options.runtime);
      const feeds = feedsOf(io, file, model, ofAll);
      const expected = expectedOf(io, file, model, options.expected);
      // The model file is excluded, because readers always find weights embedded in the model file.
      const dataFiles = externalFiles(model).filter((one) => one !== path.basename(file));
      let runtime = "";
      const run = { doing: "the model as it is, in ONNX Runtime" };
      const report = await inRuntime(io, file, options, run, (sessions, show) => {
        ({ runtime } = sessions);
        const isOnCpu = provider === "cpu" || provider === "wasm";
        const onCpu = { "the execution provider cpu": sessions.onCpu };
        const others = { ...sessions.others, ...(!isOnCpu && onCpu) };
        const onProgress = ({ what }: FixProgress): void => show(what, what);
        const how = { iteration, call, others, onProgress, ...(node !== undefined && { node }) };
        return fixModel(bytes, feeds, { ...sessions.own, ...how, ...expected });
      });
      await printNote(io, ...modelNotes(model));
      const written = await writeCure(io, file, output, report.chosen);
      const text = json
        ? printJson(fixJson(file, report, written))
        : fixText(file, report, {
            ...{ output, written, runtime, dataFiles },
            provider: options.provider,
          });
      await io.stdout.write(`${text}\n`);
      if (!report.agrees && report.chosen === null) fail(WRONG_DATA);
    });
}

/** Writes the fixed model and returns its path, or returns null if the fix does not change the model. */
async function writeCure(
  io: Io,
  file: string,
  output: string | undefined,
  chosen: Cure | null,
): Promise<string | null> {
  if (output === undefined || chosen === null || chosen.model === null) return null;
  await writeFiles(io, [{ file: output, bytes: withOwnWeights(io, file, chosen.model) }]);
  return output;
}
