/** Implements `ndscatter explain`, which explains how an operator or a model node processes tensors from files. */

import type { Command } from "commander";
import {
  diagnose,
  explain,
  isTensorError,
  type Diagnosis,
  type Explanation,
  type GradientCell,
  type Read,
  type StoryStep,
  type Tensor,
} from "../../entries/index.ts";
import type { NodeCall } from "../../entries/onnx.ts";
import {
  addGradientOptions,
  gradientOf,
  gradientRequest,
  type GradientOptions,
  gradientJson,
  gradientText,
} from "./gradient.ts";
import { compareResult, historyLines, reasonLines } from "../text/differences.ts";
import { explanationText } from "../text/explanation-text.ts";
import { errorJson, printFile, wrongData } from "../failure.ts";
import { printNote, type Io } from "../io.ts";
import { JSON_HELP, printJson, printName } from "../text/layout.ts";
import { readTensorFile } from "../input/read-files.ts";
import { addTaskArguments, findTask, readCall, type Task, type TaskOptions } from "./task.ts";
import { canvasOf, printType, valuesOf } from "../text/cells.ts";

interface ExplainOptions extends TaskOptions, GradientOptions {
  readonly expect?: string;
  readonly json?: boolean;
}

const HELP = `
ndscatter explain takes the arguments of ndscatter run, including - for standard
input. Small tensors are drawn, and large tensors are summarized. Elements that
one index addresses are green, elements that several indices address are yellow,
and bad indices are red. If the output is not a terminal, or NO_COLOR is set, the
signs * ** and ! replace the colors.

If ndscatter run refuses the call, explain prints the shapes that could be
derived, and every bad index. The exit status is the same as for ndscatter run.

--expect compares a result of another runtime with the exact result, even if a
bad index makes the call an error. The command names known faults that produce
the other result, and explains the exact value of the first cell that differs.

--gradient also explains the gradients. If they are small, a table covers every
element of updates, and the elements of data that indices address: it lists the
output elements that a gradient comes from, and the reason for each factor. --cell
explains one element of a gradient of any size.

Examples:
  ndscatter explain examples/kv-cache.onnx examples/kv-cache.cache.npy examples/kv-cache.where.npy examples/kv-cache.key.npy
  ndscatter explain ScatterElements --attr reduction=add examples/graph-sum.sums.npy examples/graph-sum.targets.npy examples/graph-sum.messages.npy
  ndscatter explain examples/kv-cache.onnx examples/kv-cache.cache.npy examples/kv-cache.where.npy examples/kv-cache.key.npy --gradient
  ndscatter explain ScatterElements --attr reduction=max examples/graph-sum.sums.npy examples/graph-sum.targets.npy examples/graph-sum.messages.npy --gradient --cell 'updates[0,1]'
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
      "Explain which update writes which element, where each element of a gather comes from, how shapes follow " +
        "from each other, and what is wrong.",
    );
  addTaskArguments(command)
    .option(
      "--expect <file>",
      "explain how the result differs from this file; the status is 1 if it does",
    )
    .option("--json", `${JSON_HELP}, without omissions`);
  addGradientOptions(command)
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
  const { expect: file, json } = options;
  const task = findTask(io, target, options);
  const request = gradientRequest(options);
  const call = readCall(io, task, texts, file, request?.file);
  const explanation = explain(call.node, call.inputs);
  const expected = file === undefined ? null : expectation(io, task, call, explanation, file);
  const { error, output } = explanation;
  const title = task.file === undefined ? "" : `${printFile(task.file)}: `;
  const gradient =
    request === null || output === null ? null : gradientOf(io, request, call, output, title);
  const canvas = canvasOf(io);
  const parts = json
    ? explanationJson(explanation, expected?.facts, gradient && gradientJson(gradient))
    : [
        explanationText(explanation, canvas),
        gradient === null ? "" : gradientText(gradient, canvas),
        expected?.text ?? "",
      ];
  for (const part of parts) {
    // The loop waits until earlier output has been read, because the whole text may exceed memory.
    // oxlint-disable-next-line no-await-in-loop
    await io.stdout.write(part, canvas.isColoured);
  }
  await printNote(io, ...task.notes);
  const sentence = error === null ? expected?.sentence : `${title}${error.message}`;
  if (sentence !== undefined) throw wrongData(sentence, error);
}

interface Expectation {
  readonly facts: object;
  readonly text: string;
  /** Description of the difference; undefined if the results are equal. */
  readonly sentence?: string;
}

function expectation(
  io: Io,
  { outputs: [name] }: Task,
  call: NodeCall,
  explanation: Explanation,
  file: string,
): Expectation {
  const expected = readTensorFile(io, file);
  const { output, error } = explanation;
  const title = `${printName(name)} and ${printFile(file)}`;
  if (output === null) {
    const diagnoses = explained(call, expected, file, error);
    const lines =
      diagnoses === null
        ? ["why: the call has no exact result to compare with"]
        : reasonLines(diagnoses);
    return { facts: { diagnoses: diagnoses ?? [] }, text: linesText(title, lines) };
  }
  const { facts, at, sentence, reasons } = compareResult(name, output, expected, file, call);
  if (sentence === null) return { facts, text: `\n${printName(name)} equals ${printFile(file)}\n` };
  const history = at === null ? [] : historyLines(explanation, at);
  return { facts, text: linesText(sentence, [...reasons, ...history]), sentence };
}

/**
 * Explains a runtime's result for an invalid call. Returns null if `diagnose` throws an error. The error names the
 * result file if its data type or shape differs from the output's.
 */
function explained(
  { node, inputs }: NodeCall,
  expected: Tensor,
  file: string,
  reason: Explanation["error"],
): readonly Diagnosis[] | null {
  try {
    return diagnose(node, inputs, expected);
  } catch (error) {
    if (isTensorError(error) && error.message === reason?.message) return null;
    if (!isTensorError(error) || error.input !== "actual") throw error;
    const got = `${printFile(file)} is ${printType(expected)}`;
    throw wrongData(`${got}, but must have the type and the shape of the output`, error);
  }
}

const linesText = (title: string, lines: readonly string[]): string =>
  `\n${[title, ...lines.map((line) => `  ${line}`)].join("\n")}\n`;

/** Prints an explanation as JSON in parts, because the JSON for a large call may exceed the maximum string length. */
function* explanationJson(
  explanation: Explanation,
  expected: object | undefined,
  gradient: ReturnType<typeof gradientJson> | null,
): Iterable<string> {
  const { version, inputs, shapes, error, badCount, badIndices, output, story } = explanation;
  const facts = {
    operator: version && {
      name: version.name,
      domain: version.domain,
      sinceVersion: version.sinceVersion,
    },
    inputs: inputs.map(({ name, role, tensor }) => ({ name, role, ...typeOf(tensor) })),
    shapes,
    error: error && errorJson(error),
    badCount,
    badIndices,
    output: output && {
      name: version?.outputs[0].name,
      ...typeOf(output),
      values: valuesOf(output),
    },
    expected,
    ...(story && {
      kind: story.kind,
      ...(story.kind === "scatter" && {
        reduction: story.reduction,
        includeSelf: story.includeSelf,
        ...(story.stays !== null && { stays: story.stays }),
      }),
      addressed: story.addressed,
      summary: story.summary,
    }),
    gradient: gradient?.facts,
  };
  const head = printJson(facts);
  if (story === null) {
    yield `${head}\n`;
    return;
  }
  yield head.slice(0, head.lastIndexOf("\n}"));
  if (story.kind === "scatter") {
    yield* printList("targets", story.targets, ({ coordinates, count, steps }) => ({
      coordinates,
      count,
      steps: Array.from(steps(), stepOf),
    }));
  } else {
    yield* printList("targets", story.targets, ({ coordinates, count }) => ({
      coordinates,
      count,
    }));
    yield* printList("reads", story.reads, (read: Read) => read);
  }
  if (gradient !== null) yield* printList("gradientCells", gradient.cells, cellOf);
  yield "\n}\n";
}

const cellOf = ({ terms, ...facts }: GradientCell): object => ({
  ...facts,
  terms: [...terms],
});

/** Prints an object field that contains a list, one member at a time. */
function* printList<T>(
  name: string,
  list: Iterable<T>,
  factsOf: (member: T) => object,
): Iterable<string> {
  yield `,\n  ${JSON.stringify(name)}: [`;
  let separator = "\n    ";
  for (const member of list) {
    yield separator + printJson(factsOf(member), "    ");
    separator = ",\n    ";
  }
  yield "\n  ]";
}

const typeOf = (tensor: Tensor | null): object =>
  tensor === null ? { dtype: null, shape: null } : { dtype: tensor.dtype, shape: tensor.shape };

/** Converts the tensors in a step to nested lists. */
function stepOf(step: StoryStep<Tensor>): object {
  const [before, after] = [valuesOf(step.before), valuesOf(step.after)];
  return step.kind === "division"
    ? { ...step, before, after }
    : { ...step, before, update: valuesOf(step.update), after };
}
