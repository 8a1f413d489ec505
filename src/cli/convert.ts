/** `ndscatter convert`: a model in another opset of ONNX, or from ONNX to OpenVINO and back. */

import * as path from "node:path";
import type { Command } from "commander";
import { isTensorError } from "../index.ts";
import {
  convertModel,
  externalFiles,
  writeModel,
  type Conversion,
  type Model,
} from "../onnx/index.ts";
import { writeIR } from "../openvino/index.ts";
import { withPath, wrongData, wrongUsage } from "./failure.ts";
import { checkPlace, isIR, isSameFile, modelFiles, readModelFile, writeFiles } from "./files.ts";
import { escapeControls, JSON_HELP, printJson, printName } from "./layout.ts";
import { parseOpset } from "./operator-call.ts";

interface ConvertOptions {
  readonly opset?: number;
  readonly output: string;
  readonly json?: boolean;
}

const HELP = `
The ending of the output tells its format: .onnx, or .xml for OpenVINO, with a
.bin beside it. What the target cannot say with the same results, bit for bit,
is refused: the command names the nodes and the reasons, and writes nothing.

Within ONNX only the nodes of this command's operators change (and Constant and
Cast); all others are left as they were, and counted, because the opset may mean
another version of them. To the other format there must be no others.

-o replaces a file that exists, but never the model that is read. Data in other
files stay there, so that the output has to be in the folder of the model.

Examples:
  ndscatter convert model.onnx --opset 13 -o m13.onnx
  ndscatter convert model.onnx -o net.xml
  ndscatter convert model.onnx --opset 8 -o net.xml   no newer operators of OpenVINO
  ndscatter convert net.xml --opset 18 -o model.onnx`;

export function addConvertCommand(program: Command): void {
  program
    .command("convert")
    .summary("convert a model to another opset or format")
    .description("Convert a model to another opset of ONNX, or from ONNX to OpenVINO and back.")
    .argument("<model>", "an ONNX model, or an OpenVINO IR (.xml)")
    .option(
      "--opset <number>",
      "the opset of the result; of OpenVINO the newest is the default",
      (text: string) => parseOpset(text, "--opset"),
    )
    .requiredOption("-o, --output <file>", "where the result goes: .onnx or .xml")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action((file: string, options: ConvertOptions) => {
      const { output, json } = options;
      checkOutput(file, options);
      const model = readModelFile(file);
      checkExternal(file, output, model);
      const conversion = withPath(file, () => convert(model, options));
      writeFiles(withPath(output, () => encode(output, conversion.model)));
      const report = json ? reportJson : reportText;
      process.stdout.write(`${report(output, conversion)}\n`);
    });
}

/** What can be said before anything is read. */
function checkOutput(file: string, { output, opset }: ConvertOptions): void {
  if (!isIR(output) && path.extname(output).toLowerCase() !== ".onnx") {
    throw wrongUsage(`${output} must end in .onnx or .xml, which tells its format`);
  }
  if (!isIR(output) && opset === undefined) {
    throw wrongUsage(`an ONNX model needs --opset, such as --opset 18`);
  }
  for (const place of modelFiles(output)) {
    if (modelFiles(file).some((input) => isSameFile(place, input))) {
      throw wrongUsage(`the output ${place} would replace a file that the command reads`);
    }
    checkPlace(place);
  }
}

/** A target that there is not is the fault of what was typed. */
function convert(model: Model, { output, opset }: ConvertOptions): Conversion {
  const limit = opset === undefined ? {} : { opset };
  try {
    return convertModel(
      model,
      isIR(output) ? { domain: "openvino", ...limit } : { opset: opset ?? 0 },
    );
  } catch (error) {
    throw isTensorError(error, "unknown-operator") ? wrongUsage(error.message, error) : error;
  }
}

/** A model that is written goes on referring to its files by their places beside it. */
function checkExternal(file: string, output: string, model: Model): void {
  if (isIR(output) || isIR(file) || isSameFile(path.dirname(file), path.dirname(output))) return;
  const files = withPath(file, () => externalFiles(model));
  if (files.length === 0) return;
  throw wrongData(
    `${file} keeps data in ${files.map(printName).join(", ")} beside it; write ${path.basename(output)} to its folder, ${path.dirname(file)}`,
  );
}

function encode(output: string, model: Model): { file: string; bytes: Uint8Array }[] {
  const [file, beside = ""] = modelFiles(output);
  if (!isIR(output)) return [{ file, bytes: writeModel(model) }];
  const { xml, bin } = writeIR(model);
  return [
    { file: beside, bytes: bin },
    { file, bytes: new TextEncoder().encode(xml) },
  ];
}

const MAX_LINES = 20;

function reportText(output: string, { changes, unchecked, notes }: Conversion): string {
  const shown = changes.slice(0, MAX_LINES);
  if (changes.length > shown.length) shown.push(`and ${changes.length - shown.length} more`);
  const count = [...unchecked.values()].reduce((sum, one) => sum + one, 0);
  const others = [...unchecked].map(([op, many]) => `${printName(op)} ${many}`).join(", ");
  return [
    `${output}: ${plural(changes.length, "node")} changed`,
    ...shown.map((line) => `  ${line}`),
    ...(count === 0
      ? []
      : [`${plural(count, "node")} of other operators left as before, unchecked: ${others}`]),
    ...notes.map((note) => `note: ${note}`),
  ]
    .map(escapeControls)
    .join("\n");
}

const plural = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${count} ${what}s`;

function reportJson(output: string, { model, changes, unchecked, notes }: Conversion): string {
  const { irVersion, opsets } = model;
  return printJson({
    output,
    irVersion,
    opsets,
    changes,
    unchecked: Object.fromEntries(unchecked),
    notes,
  });
}
