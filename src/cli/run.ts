/** `ndscatter run`: an operator, a model or one node of a model, on tensors from files. */

import type { Command } from "commander";
import type { Tensor } from "../index.ts";
import { bindFiles, bindInputs } from "./bindings.ts";
import { compareTensors, type Difference } from "./comparison.ts";
import { wrongData, wrongUsage } from "./failure.ts";
import { checkFormat, checkPlace, isSameFile, readTensorFiles, writeTensorFiles } from "./files.ts";
import { JSON_HELP, printJson, printName } from "./layout.ts";
import { collect } from "./operator-call.ts";
import { addTaskArguments, findTask, type Task, type TaskOptions } from "./task.ts";
import { printType } from "./type-text.ts";

interface RunOptions extends TaskOptions {
  readonly output?: readonly string[];
  readonly expect?: readonly string[];
  readonly json?: boolean;
}

const HELP = `
Files end in .npy (NumPy) or .pb (ONNX TensorProto). They are given as NAME=FILE,
or bare in the order of the inputs or outputs. Without -o and --expect the
results are printed. A model with the name of an operator is ./NAME. A model is
an ONNX file, or an .xml of OpenVINO with its .bin beside it.

-o replaces a file that exists, but an input only where the result has its data
type and shape, as an update has, and never the model or an expected result.
Nothing is written before everything is known to be right.

--expect compares bit for bit: 0 is not -0, and NaN only equals the same NaN.

Examples:
  ndscatter run ScatterND data.npy indices.npy updates.npy
  ndscatter run ScatterND --opset 18 --attr reduction=add d.npy i.npy u.npy -o out.npy
  ndscatter run ScatterNDUpdate --domain openvino --attr reduction=sum d.npy i.npy u.npy
  ndscatter run model.onnx data=d.npy indices=i.npy updates=u.npy -o y=out.npy
  ndscatter run model.onnx d.npy i.npy u.npy --expect y=expected.npy
  ndscatter run net.xml data=d.npy updates=u.npy
  ndscatter run large.onnx --node /ScatterND cache.npy i.npy u.npy -o cache.npy`;

export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .summary("run an operator, a model or one node of a model")
    .description("Run an operator, a model made of the operators, or one node of any model.");
  addTaskArguments(command)
    .option("-o, --output <[name=]file>", "where a result goes; repeatable", collect)
    .option(
      "--expect <[name=]file>",
      "compare a result, status 1 if it differs; repeatable",
      collect,
    )
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action((target: string, inputs: readonly string[], options: RunOptions) => {
      runTask(findTask(target, options), inputs, options);
    });
}

function runTask(task: Task, texts: readonly string[], options: RunOptions): void {
  const { title, outputs, file, note } = task;
  const sources = bindInputs(texts, task);
  const targets = bindFiles(options.output ?? [], outputs, "output", title);
  const expectations = bindFiles(options.expect ?? [], outputs, "output", title);
  checkTargets(
    [...targets.values()],
    [...expectations.values(), ...(file === undefined ? [] : [file])],
  );

  const tensors = readTensorFiles(sources);
  const expected = readTensorFiles(expectations);
  const results = task.execute(tensors);
  checkInPlace(targets, results, sources, tensors);
  writeTensorFiles(
    [...targets].map(([name, path]) => ({ name, file: path, tensor: resultOf(results, name) })),
  );

  const differences = new Map<string, Difference | null>();
  for (const [name, tensor] of expected) {
    const path = expectations.get(name) ?? "";
    differences.set(name, compareTensors(name, resultOf(results, name), tensor, path));
  }
  const report = { results, targets, expectations, differences };
  process.stdout.write(`${options.json ? reportJson(report) : reportText(report)}\n`);
  if (note !== undefined) process.stderr.write(`ndscatter: note: ${note}\n`);
  const sentences = [...differences.values()].flatMap((one) =>
    one === null ? [] : [one.sentence],
  );
  if (sentences.length > 0) throw wrongData(sentences.join("; "));
}

function resultOf(results: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const result = results.get(name);
  if (result === undefined) throw wrongData(`there is no result ${printName(name)}`);
  return result;
}

/** What can be said of output files before anything is read. */
function checkTargets(targets: readonly string[], kept: readonly string[]): void {
  for (const [position, target] of targets.entries()) {
    checkFormat(target);
    checkPlace(target);
    if (targets.slice(0, position).some((other) => isSameFile(target, other))) {
      throw wrongUsage(`two outputs would be written to ${target}`);
    }
    if (kept.some((file) => isSameFile(target, file))) {
      throw wrongUsage(`the output ${target} would replace a file that the command reads`);
    }
  }
}

/**
 * An input may be updated in place, which is what a scatter is for. A result of another type would not update it but
 * destroy it.
 */
function checkInPlace(
  targets: ReadonlyMap<string, string>,
  results: ReadonlyMap<string, Tensor>,
  sources: ReadonlyMap<string, string>,
  tensors: ReadonlyMap<string, Tensor>,
): void {
  for (const [output, target] of targets) {
    for (const [input, source] of sources) {
      const types = [tensors.get(input), resultOf(results, output)].map(
        (one) => one && printType(one),
      );
      if (types[0] === types[1] || !isSameFile(target, source)) continue;
      throw wrongUsage(
        `the output ${target}, ${types[1]}, would replace the input ${printName(input)}, ${types[0]}`,
      );
    }
  }
}

interface Report {
  readonly results: ReadonlyMap<string, Tensor>;
  readonly targets: ReadonlyMap<string, string>;
  readonly expectations: ReadonlyMap<string, string>;
  readonly differences: ReadonlyMap<string, Difference | null>;
}

/** Results that go nowhere else are shown. */
const isShown = ({ targets, expectations }: Report, name: string): boolean =>
  !targets.has(name) && !expectations.has(name);

function reportText(report: Report): string {
  const { results, targets, expectations, differences } = report;
  return [...results]
    .map(([name, tensor]) => {
      const lines = [`${printName(name)}: ${printType(tensor)}`];
      const target = targets.get(name);
      if (target !== undefined) lines.push(`  written to ${target}`);
      const difference = differences.get(name);
      if (difference !== undefined) {
        lines.push(
          `  ${difference === null ? "equals" : "differs from"} ${expectations.get(name)}`,
        );
      }
      return (isShown(report, name) ? [...lines, String(tensor)] : lines).join("\n");
    })
    .join("\n");
}

function reportJson(report: Report): string {
  const { results, targets, expectations, differences } = report;
  const outputs = [...results].map(([name, tensor]) => {
    const { dtype, shape } = tensor;
    const difference = differences.get(name);
    const { sentence: _, ...facts } = difference ?? {};
    return {
      name,
      dtype,
      shape,
      file: targets.get(name),
      expected: expectations.get(name),
      equal: difference === undefined ? undefined : difference === null,
      difference: difference ? facts : undefined,
      values: isShown(report, name) ? tensor.toArray() : undefined,
    };
  });
  return printJson({ outputs });
}
