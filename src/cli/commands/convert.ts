/** Implements `ndscatter convert`, which converts a model to another ONNX opset, or between ONNX and OpenVINO. */

import * as path from "node:path";
import type { Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import {
  convertModel,
  extractNode,
  writeModel,
  type Conversion,
  type ConvertTarget,
  type Model,
} from "../../entries/onnx.ts";
import { writeIR } from "../../entries/openvino.ts";
import { asUsage, withPath, wrongUsage } from "../failure.ts";
import { printResult, type Io } from "../io.ts";
import { JSON_HELP, printLines, printName } from "../text/layout.ts";
import { wholeOption } from "../input/arguments.ts";
import { filesOf, isIR, modelFiles, readModelFile } from "../input/read-files.ts";
import { checkExternal, checkNotRead, checkPlace, writeFiles } from "../input/write-files.ts";

interface ConvertCommand {
  readonly opset?: number;
  readonly output: string;
  readonly node?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const HELP = `
The ending of the output file determines the format: .onnx, or .xml for OpenVINO
with a .bin in the same folder. The command refuses a conversion whose results
could differ in any bit. It then names the operators, their number and the
reasons, and writes no file.

Between ONNX opsets, every operator of ai.onnx is converted: many operators stay
unchanged, some attributes become inputs or the reverse, and a Softmax before
opset 13 is rewritten. --force keeps other operators than scatters and gathers
unchanged, and counts them, if their conversion is impossible or uncertain.
Between ONNX and OpenVINO, a model may contain only the operators of this
package, Constant, Identity and Cast.

--node writes a single node, also from a body or function, and accepts the same
names as explain. The new model contains the node's constants; the other inputs
of the node become inputs of the model. Without --opset the node keeps its opset.

-o replaces an existing file, but never the input model. A file is replaced
completely or not at all. Links are followed, and other hard links of the file
keep the old contents. Data in external files stay there, so the output must be
in the folder of the model. Standard input is read as an IR if it begins with <,
and as an ONNX model otherwise; a model in standard input must not have data in
other files.

Examples:
  ndscatter convert examples/graph-sum.onnx --opset 16 -o graph-sum16.onnx
  ndscatter convert examples/kv-cache.onnx -o kv-cache.xml
  ndscatter convert model.onnx --opset 13 -o m13.onnx
  ndscatter convert model.onnx -o net.xml
  ndscatter convert model.onnx --opset 8 -o net.xml   no newer operators of OpenVINO
  ndscatter convert net.xml --opset 18 -o model.onnx
  ndscatter convert model.onnx --node scatter_7 -o node.onnx
  gunzip -c model.onnx.gz | ndscatter convert - --opset 13 -o m13.onnx`;

export function addConvertCommand(program: Command, io: Io): void {
  program
    .command("convert")
    .summary("convert a model to another opset or format")
    .description("Convert a model to another opset of ONNX, or from ONNX to OpenVINO and back.")
    .argument("<model>", "an ONNX model, an OpenVINO IR (.xml), or - for standard input")
    .addOption(
      wholeOption(
        "--opset <number>",
        "the opset of the result; ONNX needs one (default for OpenVINO: the newest)",
        1,
      ),
    )
    .requiredOption("-o, --output <file>", "write the result to this .onnx or .xml file")
    .option("--node <name>", "write only this node of the model")
    .option("--force", "keep other operators unchanged if they cannot be converted")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: ConvertCommand) => {
      const { output, node, force = false, json } = options;
      const wanted = targetOf(options);
      checkOutput(io, file, output);
      const whole = readModelFile(io, file);
      for (const place of modelFiles(output)) checkNotRead(io, place, filesOf(file, whole));
      const model = node === undefined ? whole : withPath(file, () => extractNode(whole, node));
      checkExternal(io, file, output, model);
      const target = wanted ?? ownTarget(model);
      // An unknown opset is a usage error.
      const conversion = withPath(file, () =>
        asUsage(() => convertModel(model, target, { force }), "", "unknown-operator"),
      );
      await writeFiles(
        io,
        // Encoding the output reads the source model's constants, which may be in external files.
        withPath(file, () => encode(output, conversion.model)),
      );
      const print = json ? conversionFacts : conversionText;
      await printResult(io, print(output, conversion));
    });
}

/**
 * Selects the conversion target from the output's file extension. Returns null for a single node whose opset does not
 * change.
 */
function targetOf({ output, opset, node }: ConvertCommand): ConvertTarget | null {
  if (isIR(output)) return { domain: "openvino", ...(opset !== undefined && { opset }) };
  if (path.extname(output).toLowerCase() !== ".onnx") {
    throw wrongUsage(
      `the output must end in .onnx or .xml, which determines the format, got ${output}`,
    );
  }
  if (opset !== undefined) return { opset };
  if (node !== undefined) return null;
  throw wrongUsage("an ONNX model needs --opset, such as --opset 18");
}

function ownTarget({ opsets }: Model): ConvertTarget {
  const { "ai.onnx": opset } = opsets;
  if (opset !== undefined) return { opset };
  throw wrongUsage("a node of an IR needs --opset, such as --opset 18");
}

/** Validates the output file name before reading any file. */
function checkOutput(io: Io, file: string, output: string): void {
  for (const place of modelFiles(output)) {
    checkNotRead(io, place, modelFiles(file));
    checkPlace(io, place);
  }
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

/** Maximum number of listed changes. Longer lists are summarized by kind. */
const MAX_LINES = 20;

function changeLines(changes: readonly string[]): readonly string[] {
  if (changes.length <= MAX_LINES) return changes;
  const kinds = new Map<string, number>();
  for (const change of changes) {
    const kind = change.slice(change.lastIndexOf(": ") + 2);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return [...kinds].map(([kind, count]) => `${printCount(count, "node")}: ${kind}`);
}

function conversionText(output: string, { changes, unchecked, notes }: Conversion): string {
  const count = [...unchecked.values()].reduce((sum, one) => sum + one, 0);
  const others = [...unchecked].map(([op, many]) => `${printName(op)} ${many}`).join(", ");
  return printLines(
    `${output}: ${printCount(changes.length, "node")} changed`,
    changeLines(changes).map((line) => `  ${line}`),
    count > 0 && `${printCount(count, "node")} left unchanged and unchecked: ${others}`,
    notes.map((note) => `note: ${note}`),
  );
}

function conversionFacts(output: string, conversion: Conversion): object {
  const { model, changes, unchecked, notes } = conversion;
  const { irVersion, opsets } = model;
  return { output, irVersion, opsets, changes, unchecked: Object.fromEntries(unchecked), notes };
}
