/** Implements `ndscatter infer`, which infers the output type of an operator from its input types. */

import type { Command } from "commander";
import { infer } from "../../entries/index.ts";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { JSON_HELP, printJson } from "../text/layout.ts";
import { addCallOptions, parseCall, type CallOptions } from "../input/operator-call.ts";
import { parseType, printType, TYPE_HELP } from "../text/cells.ts";

interface InferOptions extends CallOptions {
  readonly json?: boolean;
}

const HELP = `
${TYPE_HELP}

Examples:
  ndscatter infer ScatterND --opset 18 'float32[N,4,5]' 'int64[M,2]' 'float32[M,5]'
  ndscatter infer GatherND --attr batch_dims=1 'float32[B,?,8]' 'int64[B,16,1]'
  ndscatter infer GatherElements --attr axis=-1 float32 'int64[2,3]'`;

export function addInferCommand(program: Command, io: Io): void {
  const command = program
    .command("infer")
    .summary("print an operator's output type")
    .description("Infer an operator's output type from its input types, and print it.")
    .argument("<operator>", "the name of an operator, such as ScatterND")
    .argument("[types...]", "the input types, in order");
  addCallOptions(command)
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action((operator: string, texts: readonly string[], options: InferOptions) =>
      io.stdout.write(`${inferText(operator, texts, options)}\n`),
    );
}

function inferText(operator: string, texts: readonly string[], options: InferOptions): string {
  const { node, version, title, given } = parseCall(operator, options);
  const wanted = version.inputs.filter(({ name }) => !given.has(name));
  const names = wanted.map(({ name }) => name);
  const least = wanted.filter(({ optional }) => optional !== true).length;
  if (texts.length < least || texts.length > names.length) {
    const needed = least === names.length ? least : `${least} to ${names.length}`;
    throw wrongUsage(
      `${title} needs ${needed} ${names.length === 1 ? "type" : "types"} (${names.join(", ")}), got ${texts.length}`,
    );
  }
  const parsed = texts.map(parseType);
  const types = infer(
    node,
    version.inputs.map(({ name }) => given.get(name) ?? parsed[names.indexOf(name)]),
  );
  if (!options.json) return types.map(printType).join("\n");
  const outputs = types.map(({ dtype, shape }, position) => ({
    name: version.outputs[position].name,
    dtype,
    shape,
  }));
  return printJson({ outputs });
}
