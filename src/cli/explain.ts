/** `ndscatter explain`: explains what an operator, or one node of a model, does with tensors from files. */

import type { Command } from "commander";
import { explain } from "../index.ts";
import { bindInputFiles } from "./bindings.ts";
import { canvasOf } from "./drawing.ts";
import { explanationJson } from "./explanation-json.ts";
import { explanationText } from "./explanation-text.ts";
import { printFile, wrongData } from "./failure.ts";
import type { Io } from "./io.ts";
import { JSON_HELP } from "./layout.ts";
import { checkOneInput, readTensorFiles } from "./read-files.ts";
import { addTaskArguments, findTask, type TaskOptions } from "./task.ts";

interface ExplainOptions extends TaskOptions {
  readonly json?: boolean;
}

const HELP = `
The arguments are those of ndscatter run, - for standard input too. Small tensors are drawn, large ones are
summed up. Elements that updates hit, or that are read, are green, or yellow
where that happens more than once; bad indices are red. Where the output is no
terminal, or NO_COLOR is set, the signs * ** and ! stand for the colours.

What run refuses is explained too, as far as possible: the shapes that were
derived, and every bad index. The status is that of run.

Examples:
  ndscatter explain ScatterND data.npy indices.npy updates.npy
  ndscatter explain ScatterND --opset 18 --attr reduction=add d.npy i.npy u.npy
  ndscatter explain large.onnx --node /ScatterND cache.npy i.npy u.npy
  ndscatter explain vad.onnx --node 'If "If_0" / then_branch / take' x.npy
  ndscatter explain GatherND d.npy i.npy --json > story.json`;

export function addExplainCommand(program: Command, io: Io): void {
  const command = program
    .command("explain")
    .summary("explain what an operator or one node of a model does")
    .description(
      "Explain which update hits which element, where each element of a gather comes from, which shapes\n" +
        "follow from which, and what is wrong.",
    );
  addTaskArguments(command)
    .option("--json", `${JSON_HELP}, all of it`)
    .addHelpText("after", HELP)
    .action((target: string, texts: readonly string[], options: ExplainOptions) =>
      explainTask(io, target, texts, options),
    );
}

async function explainTask(
  io: Io,
  target: string,
  texts: readonly string[],
  options: ExplainOptions,
): Promise<void> {
  const task = findTask(io, target, options);
  task.checkOneNode();
  const files = bindInputFiles(texts, task);
  checkOneInput([task.file, ...files.values()]);
  const { node, inputs } = task.call(readTensorFiles(io, files));
  const explanation = explain(node, inputs);
  const parts = options.json
    ? explanationJson(explanation)
    : [explanationText(explanation, canvasOf(io))];
  for (const part of parts) {
    // Waits for the reader, because all parts together may be more than memory holds.
    // oxlint-disable-next-line no-await-in-loop
    await io.stdout.write(part);
  }
  const { error } = explanation;
  if (error === null) return;
  throw wrongData(
    task.file === undefined ? error.message : `${printFile(task.file)}: ${error.message}`,
    error,
  );
}
