/** `ndscatter inspect`: prints the scatters and gathers of a model, and what is wrong or risky about them. */

import type { Command } from "commander";
import {
  FINDINGS,
  inspectModel,
  type Attribute,
  type Finding,
  type InspectedNode,
  type InspectedValue,
  type Report,
} from "../onnx/index.ts";
import { printFile, WRONG_DATA, type Status } from "./failure.ts";
import type { Io } from "./io.ts";
import {
  escapeControls,
  JSON_HELP,
  printCount,
  printJson,
  printName,
  printTable,
  wrap,
} from "./layout.ts";
import { withModel } from "./read-files.ts";
import { printType } from "./type-text.ts";

interface InspectOptions {
  readonly strict?: boolean;
  readonly json?: boolean;
}

const meanings = Object.entries(FINDINGS).map(([id, { severity, meaning }]) =>
  wrap(meaning, `  ${severity.padEnd(5)}  ${id.padEnd(26)}  `),
);

const HELP = `
Weights are not read: of a file of many gigabytes only the graph and constant
indices are. The weights of an IR are in the .bin of the same name beside it.
Standard input is held in memory as a whole; what begins with < is an IR.
The status is 1 where something is wrong, with --strict also where something is
risky.

All findings, by ids that do not change:
${meanings.join("\n")}

Examples:
  ndscatter inspect model.onnx
  ndscatter inspect --strict model.xml
  gunzip -c model.onnx.gz | ndscatter inspect -
  ndscatter inspect --json model.onnx > report.json`;

export function addInspectCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  program
    .command("inspect")
    .summary("print a model's scatters and gathers, and what is wrong with them")
    .description(
      "Print the scatters and gathers of a model, and what is wrong or risky about them.",
    )
    .argument("<file>", "an ONNX model of any size, an OpenVINO IR (.xml), or - for standard input")
    .option("--strict", "status 1 also for what is risky")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, { strict = false, json = false }: InspectOptions) => {
      const report = withModel(io, file, inspectModel);
      const text = json ? printJson(factsOf(file, report)) : printReport(file, report);
      await io.stdout.write(`${text}\n`);
      const { wrong, risky } = report.counts;
      if (wrong > 0 || (strict && risky > 0)) fail(WRONG_DATA);
    });
}

function printReport(file: string, { opsets, nodeCount, nodes, findings, counts }: Report): string {
  const imports = Object.entries(opsets).map(([domain, version]) => `${domain} ${version}, `);
  const head = `${printFile(file)}: ${imports.join("")}${printCount(nodeCount, "node")}, ${nodes.length} of the family`;
  const blocks = [[head], ...nodes.map(linesOf), findings.map(printFinding), [printCounts(counts)]];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map(escapeControls).join("\n"))
    .join("\n\n");
}

const printCounts = ({ wrong, risky, note }: Report["counts"]): string =>
  `${wrong} wrong, ${risky} risky${note === 0 ? "" : `, ${printCount(note, "note")}`}`;

function linesOf(node: InspectedNode): string[] {
  const { op, version, name, attributes, inputs, outputs } = node;
  const title = version === null ? op : `${op}-${version}`;
  const settings = Object.entries(attributes).map(
    ([key, attribute]) => `${printName(key)}=${printAttribute(attribute)}`,
  );
  const values = [...inputs.map(rowOf), ...outputs.map(rowOf)];
  return [
    [title, ...(name === "" ? [] : [printName(name)]), ...settings].join("  "),
    ...(node.path.length === 0 ? [] : [`  in ${node.path.join(" / ")}`]),
    ...(values.length === 0 ? [] : printTable(values).split("\n")).map((line) => `  ${line}`),
    ...node.findings.map((one) => `  ${printFinding(one)}`),
  ];
}

const rowOf = ({ name, parameter, type, isConstant }: InspectedValue): string[] => [
  parameter ?? "-",
  name === "" ? "left out" : printName(name),
  // Escaped here already, because the table's widths must be those of the text that is printed.
  type === null ? (name === "" ? "" : "?") : escapeControls(printType(type)),
  isConstant ? "constant" : "",
];

const printFinding = ({ severity, id, sentence }: Finding): string =>
  `${severity}: ${id}: ${sentence}`;

function printAttribute(attribute: Attribute): string {
  const fact = attributeFact(attribute);
  return typeof fact === "string" ? printName(fact) : printJson(fact);
}

/** An attribute's value for JSON. A tensor is named by its data type, a value of an unknown kind by its kind. */
function attributeFact(attribute: Attribute): unknown {
  const { type, value } = attribute;
  if (type === "tensor") return `tensor of ${value.dtype ?? "unknown type"}`;
  if (type === "tensors") return `${value.length} tensors`;
  if (type !== "other") return value;
  return attribute.reference === undefined ? value : `@${attribute.reference}`;
}

const attributesOf = (attributes: InspectedNode["attributes"]): object =>
  Object.fromEntries(Object.entries(attributes).map(([name, one]) => [name, attributeFact(one)]));

function factsOf(file: string, { nodes, ...report }: Report): unknown {
  return {
    file,
    ...report,
    nodes: nodes.map((node) => ({ ...node, attributes: attributesOf(node.attributes) })),
  };
}
