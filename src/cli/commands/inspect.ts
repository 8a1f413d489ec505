/** Implements `ndscatter inspect`, which reports errors and risks in the scatters and gathers of models. */

import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import {
  FINDINGS,
  inspectModel,
  type InspectedNode,
  type InspectedValue,
  type Report,
} from "../../entries/onnx.ts";
import { withAdvice } from "../advice.ts";
import { valuesOf } from "../text/cells.ts";
import { Failure, WRONG_DATA, wrongUsage, type Status, failureJson } from "../failure.ts";
import { printResult, type Io, ProgressLine } from "../io.ts";
import { escapeControls, JSON_HELP, printJson, wrap, fold, widthOf } from "../text/layout.ts";
import {
  findModels,
  isFolder,
  type FoundFile,
  checkOneInput,
  withModel,
} from "../input/read-files.ts";
import {
  attributeFact,
  isClean,
  printCleanLine,
  printCounts,
  printReport,
  type ReportView,
} from "../text/report-text.ts";

interface InspectOptions {
  readonly all?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
}

const meanings = Object.entries(FINDINGS).map(([id, { severity, meaning }]) =>
  wrap(meaning, `  ${severity.padEnd(5)}  ${id.padEnd(26)}  `),
);

const HELP = `
The report lists the nodes with findings, then one line for each operator. With
--all it lists every node, in the order of the model. Indices are checked only if
they are constants of the model; ndscatter verify checks the others.

A folder is searched for .onnx files and OpenVINO .xml files, with its subfolders.
Hidden folders, folders named node_modules and links to folders are skipped. If
several models are inspected, a model without findings takes one line, and files
that cannot be read are reported without stopping the command. With --json the
output for several models, or for a folder, is a list; the entry of a file that
cannot be read contains its error.

Weights are not read. Even in a file of many gigabytes, the command reads only
the graph, constant indices and constants of up to 8 elements. The weights of an
IR are in the .bin with the same name. Standard input is read into memory
completely; input that begins with < is an IR.

The exit status is 1 if a model has faults or cannot be read; with --strict it is
also 1 if a model has risks.

All findings; the ids never change:
${meanings.join("\n")}

Examples:
  ndscatter inspect examples/kv-cache.onnx examples/decode.onnx
  ndscatter inspect --all examples/graph-sum.onnx
  ndscatter inspect model.onnx
  ndscatter inspect --all model.onnx
  ndscatter inspect --strict model.xml
  ndscatter inspect models encoder.onnx decoder.onnx
  gunzip -c model.onnx.gz | ndscatter inspect -
  ndscatter inspect --json model.onnx > report.json`;

export function addInspectCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  program
    .command("inspect")
    .summary("report faults and risks in the scatters and gathers of models")
    .description("Report faults and risks in the scatters and gathers of models.")
    .argument(
      "<file...>",
      "ONNX models of any size, OpenVINO IRs (.xml), folders of them, or - for standard input",
    )
    .option("--all", "print all nodes, not only nodes with findings")
    .option("--strict", "exit with status 1 for risks too")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (files: readonly string[], options: InspectOptions) => {
      checkOneInput(files);
      // An empty name usually comes from an unset shell variable. As a path, the name would mean the current folder.
      if (files.includes(""))
        throw wrongUsage("a file name is empty; give a model, a folder, or - for standard input");
      const [file] = files;
      const { wrong, risky } =
        files.length === 1 && !isFolder(io, file)
          ? await inspectOne(io, file, options)
          : await inspectAll(io, files, options, fail);
      if (wrong > 0 || (options.strict === true && risky > 0)) fail(WRONG_DATA);
    });
}

type Counts = Report["counts"];

const viewOf = (io: Io, { all = false }: InspectOptions): ReportView => ({
  all,
  width: widthOf(io.stdout),
});

async function inspectOne(io: Io, file: string, options: InspectOptions): Promise<Counts> {
  const progress = new ProgressLine(io.stderr);
  const report = inspectFile(io, file, progress);
  progress.clear();
  await printResult(
    io,
    options.json ? factsOf(file, report) : printReport(file, report, viewOf(io, options)),
  );
  return report.counts;
}

const inspectFile = (io: Io, file: string, progress: ProgressLine): Report =>
  withModel(io, file, (model) => {
    // Reading the nodes takes 5 s for 100,000 nodes, and shows no progress.
    progress.show(() => `${file}: inspecting ${printCount(model.graph.nodes.length, "node")}`);
    return inspectModel(model);
  });

type Totals = Record<keyof Counts | "models" | "found" | "unreadable" | "nodes", number>;

/** Inspects models sequentially, to keep only one model in memory. */
async function inspectAll(
  io: Io,
  files: readonly string[],
  options: InspectOptions,
  fail: (status: Status) => void,
): Promise<Counts> {
  const none = { wrong: 0, risky: 0, note: 0 };
  const totals: Totals = { models: 0, found: 0, unreadable: 0, nodes: 0, ...none };
  const progress = new ProgressLine(io.stderr);
  const showPlace = (place: string): void =>
    progress.show(() => `${printCount(totals.models, "model")} inspected; ${place}`);
  const print = options.json ? jsonPrinter(io) : textPrinter(io, viewOf(io, options));
  for (const given of files) {
    for (const found of findModels(io, given, showPlace)) {
      showPlace(found.file);
      const outcome = inspectFound(io, found, progress);
      progress.clear();
      // Failures are stored with the reports, because the output follows the order of the files.
      /* oxlint-disable no-await-in-loop */
      if (outcome instanceof Failure) {
        totals.unreadable++;
        // File names may contain control characters.
        await io.stderr.write(
          `ndscatter: ${escapeControls(withAdvice(outcome, "inspect", io.cwd))}\n`,
        );
      } else {
        addTo(totals, outcome);
      }
      await print.report(found.file, outcome);
      // Yielding to the event loop lets it write the text and detect a closed pipe.
      await setImmediate();
      /* oxlint-enable no-await-in-loop */
    }
  }
  progress.clear();
  await print.end(totals);
  if (totals.unreadable > 0) fail(WRONG_DATA);
  return totals;
}

/** Inspects a file and returns the report or the failure. Usage errors are thrown, and end the command. */
function inspectFound(
  io: Io,
  { file, failure }: FoundFile,
  progress: ProgressLine,
): Report | Failure {
  if (failure !== undefined) return failure;
  try {
    return inspectFile(io, file, progress);
  } catch (error) {
    if (error instanceof Failure && error.status === WRONG_DATA) return error;
    throw error;
  }
}

function addTo(totals: Totals, report: Report): void {
  totals.models++;
  totals.nodes += report.nodes.length;
  if (!isClean(report)) totals.found++;
  for (const severity of ["wrong", "risky", "note"] as const) {
    totals[severity] += report.counts[severity];
  }
}

interface Printer {
  report(file: string, outcome: Report | Failure): void | Promise<void>;
  end(totals: Totals): void | Promise<void>;
}

/** Prints one line or one block per model, with blank lines around blocks. */
function textPrinter({ stdout }: Io, view: ReportView): Printer {
  let last: "nothing" | "line" | "block" = "nothing";
  const print = (text: string, kind: "line" | "block"): void | Promise<void> => {
    const isApart = last !== "nothing" && (last === "block" || kind === "block");
    last = kind;
    return stdout.write(`${isApart ? "\n" : ""}${text}\n`);
  };
  return {
    report(file, outcome) {
      if (outcome instanceof Failure) return;
      return isClean(outcome) && !(view.all && outcome.nodes.length > 0)
        ? print(printCleanLine(file, outcome, view), "line")
        : print(printReport(file, outcome, view), "block");
    },
    end: (totals) => print(fold(printTotals(totals), view.width), "block"),
  };
}

function printTotals(totals: Totals): string {
  const { models, found, unreadable, nodes } = totals;
  const facts = [
    printCount(models, "model"),
    ...(found === 0 ? [] : [`${found} with findings`]),
    printCount(nodes, "scatter/gather node"),
    ...(unreadable === 0 ? [] : [`${unreadable} not read`]),
  ];
  return `${facts.join(", ")}: ${printCounts(totals)}`;
}

/** Prints the reports as a JSON list, one report at a time. */
function jsonPrinter({ stdout }: Io): Printer {
  let isEmpty = true;
  return {
    report(file, outcome) {
      const facts =
        outcome instanceof Failure ? { file, error: failureJson(outcome) } : factsOf(file, outcome);
      const open = isEmpty ? "[\n  " : ",\n  ";
      isEmpty = false;
      return stdout.write(open + printJson(facts, "  "));
    },
    end: () => stdout.write(isEmpty ? "[]\n" : "\n]\n"),
  };
}

const attributesOf = (attributes: InspectedNode["attributes"]): object =>
  Object.fromEntries(Object.entries(attributes).map(([name, one]) => [name, attributeFact(one)]));

const valueFacts = ({ value, ...facts }: InspectedValue): object =>
  value === undefined ? facts : { ...facts, value: valuesOf(value) };

function factsOf(file: string, { nodes, ...report }: Report): object {
  return {
    file,
    ...report,
    nodes: nodes.map((node) => ({
      ...node,
      attributes: attributesOf(node.attributes),
      inputs: node.inputs.map(valueFacts),
      outputs: node.outputs.map(valueFacts),
    })),
  };
}
