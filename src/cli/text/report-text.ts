/** Prints a model report as text: nodes with findings, most severe first, then a line per operator. */

import { printCount } from "../../core/foreign.ts";
import type {
  Attribute,
  Finding,
  InspectedNode,
  InspectedValue,
  Report,
  Severity,
} from "../../entries/onnx.ts";
import type { Tensor } from "../../entries/index.ts";
import { printCell, printType } from "./cells.ts";
import { printFile } from "../failure.ts";
import { escapeControls, printJson, printName, cut, fitTable, fold } from "./layout.ts";

export interface ReportView {
  /** True if every node is printed, in model order. */
  readonly all: boolean;
  readonly width: number;
}

/** Severities, worst first. */
const SEVERITIES: readonly Severity[] = ["wrong", "risky", "note"];

/**
 * Maximum number of printed nodes with findings. If more nodes have findings, only the first node of each kind is
 * printed.
 */
const MOST_NODES = 20;
const MOST_OF_A_KIND = 5;

/** Maximum length of a printed value, in characters. */
const MOST_VALUE = 48;

export const isClean = ({ counts }: Report): boolean =>
  SEVERITIES.every((severity) => counts[severity] === 0);

export function printReport(file: string, report: Report, view: ReportView): string {
  const { nodes, findings, counts } = report;
  const { width } = view;
  const blocks = [
    [fold(headOf(file, report), width)],
    ...(view.all ? nodes.map((node) => linesOf(node, width)) : worstFirst(nodes, width)),
    findings.map((one) => fold(printFinding(one), width)),
    nodes.length === 0 ? [] : [...operatorLines(nodes, view), ...uncheckedLines(report, width)],
    [printCounts(counts)],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** Returns the line for a model without findings, in a report on several models. */
export function printCleanLine(file: string, report: Report, { width }: ReportView): string {
  const unchecked = uncheckedText(report);
  const text = `${printFile(file)}: ${nodeCounts(report)}, nothing found`;
  return fold(escapeControls(unchecked === "" ? text : `${text}; ${unchecked}`), width);
}

const headOf = (file: string, report: Report): string => {
  const imports = Object.entries(report.opsets).map(([domain, opset]) => `${domain} ${opset}, `);
  return escapeControls(`${printFile(file)}: ${imports.join("")}${nodeCounts(report)}`);
};

const nodeCounts = ({ nodeCount, nodes }: Report): string =>
  `${printCount(nodeCount, "node")}, ${nodes.length} scatter/gather`;

export const printCounts = ({ wrong, risky, note }: Report["counts"]): string =>
  `${wrong} wrong, ${risky} risky${note === 0 ? "" : `, ${printCount(note, "note")}`}`;

/** Returns the blocks of the nodes with findings. A long list groups nodes by the id of the worst finding. */
function worstFirst(nodes: readonly InspectedNode[], width: number): string[][] {
  const kinds = new Map<string, InspectedNode[]>();
  let count = 0;
  for (const severity of SEVERITIES) {
    for (const node of nodes) {
      const worst = worstOf(node);
      if (worst?.severity !== severity) continue;
      count++;
      const kind = `${severity}: ${worst.id}`;
      const known = kinds.get(kind);
      if (known === undefined) kinds.set(kind, [node]);
      else known.push(node);
    }
  }
  const most = count > MOST_NODES ? MOST_OF_A_KIND : MOST_NODES;
  return [...kinds].flatMap(([kind, alike]) => {
    const blocks = alike.slice(0, most).map((node) => linesOf(node, width));
    const left = alike.length - blocks.length;
    if (left === 0) return blocks;
    const line = `and ${printCount(left, "more node")} with ${kind}; --all shows every node`;
    return [...blocks, [fold(line, width)]];
  });
}

const worstOf = ({ findings }: InspectedNode): Finding | undefined =>
  SEVERITIES.flatMap((severity) => findings.find((one) => one.severity === severity) ?? [])[0];

function linesOf(node: InspectedNode, width: number): string[] {
  const { name, attributes, inputs, outputs } = node;
  const settings = Object.entries(attributes).map(
    ([key, attribute]) => `${printName(key)}=${printAttribute(attribute)}`,
  );
  const title = [titleOf(node), ...(name === "" ? [] : [printName(name)]), ...settings].join("  ");
  const values = [...inputs, ...outputs].map(rowOf);
  const rows = values.length === 0 ? [] : fitTable(values, width - INDENT.length);
  return [
    fold(escapeControls(title), width),
    ...(node.path.length === 0
      ? []
      : [fold(escapeControls(`in ${node.path.join(" / ")}`), width, INDENT)]),
    ...rows.map((row) => INDENT + row),
    ...node.findings.map((one) => fold(printFinding(one), width, INDENT)),
  ];
}

const INDENT = "  ";

const titleOf = ({ op, version }: InspectedNode): string =>
  version === null ? op : `${op}-${version}`;

// Cells are escaped first, because column widths depend on the escaped text.
const rowOf = ({ name, parameter, type, isConstant, value }: InspectedValue): string[] =>
  [
    parameter ?? "-",
    name === "" ? "left out" : printName(name),
    type === null ? (name === "" ? "" : "?") : printType(type),
    isConstant ? ["constant", ...(value === undefined ? [] : [printValue(value)])].join(" ") : "",
  ].map(escapeControls);

/** Prints a small tensor on one line. */
function printValue(tensor: Tensor): string {
  // List nesting alone does not identify the axis, because a complex number is also a list.
  const print = (item: unknown, axis: number): string =>
    axis === tensor.shape.length
      ? printCell(tensor, item as Parameters<typeof printCell>[1])
      : `[${(item as unknown[]).map((one) => print(one, axis + 1)).join(", ")}]`;
  return cut(print(tensor.toArray(), 0), MOST_VALUE);
}

const printFinding = ({ severity, id, sentence }: Finding): string =>
  escapeControls(`${severity}: ${id}: ${sentence}`);

/** Prints one line per operator version, and the number of hidden nodes. */
function operatorLines(nodes: readonly InspectedNode[], { all, width }: ReportView): string[] {
  const versions = new Map<string, InspectedNode[]>();
  for (const node of nodes) {
    const title = escapeControls(titleOf(node));
    const known = versions.get(title);
    if (known === undefined) versions.set(title, [node]);
    else known.push(node);
  }
  const digits = Math.max(...[...versions.values()].map(({ length }) => String(length).length));
  const rows = [...versions].toSorted(byTitle).map(([title, alike]) => {
    const [count, ...noun] = printCount(alike.length, "node").split(" ");
    const number = [count.padStart(digits), ...noun].join(" ");
    return [title, number, dataTypesOf(alike), countsOf(alike)];
  });
  const clean = nodes.filter(({ findings }) => findings.length === 0).length;
  const have = clean === 1 ? "has" : "have";
  const hint = `${printCount(clean, "node")} ${have} no finding; --all shows every node`;
  const lines = fitTable(rows, width);
  return all || clean === 0 ? lines : [...lines, fold(hint, width)];
}

/** Returns a clause about nodes whose indices are not constant. The clause is empty if every node was checked. */
function uncheckedText({ nodes }: Report): string {
  const { length } = nodes.filter(hasUncheckedIndices);
  const subject = `${printCount(length, "node")} ${length === 1 ? "has" : "have"}`;
  return length === 0 ? "" : `${subject} indices that are not constant, so they were not checked`;
}

/** Nodes in operator definitions are not counted, because `verify` does not run them. */
const hasUncheckedIndices = ({ inputs, defines }: InspectedNode): boolean =>
  defines === undefined &&
  inputs.some(({ parameter, isConstant }) => parameter === "indices" && !isConstant);

/** Returns a clause that suggests `verify`, which runs only ONNX models. */
function uncheckedLines(report: Report, width: number): string[] {
  const text = uncheckedText(report);
  const isONNX = report.nodes.some(({ domain }) => domain === "ai.onnx");
  const advice = isONNX ? "; check them with ndscatter verify MODEL --feed NAME=FILE" : "";
  return text === "" ? [] : [fold(`${text}${advice}`, width)];
}

const byTitle = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;

/** Returns the data types of the nodes' first inputs; `?` for unknown types. */
const dataTypesOf = (nodes: readonly InspectedNode[]): string =>
  [...new Set(nodes.map(({ inputs: [data] }) => data?.type?.dtype ?? "?"))].toSorted().join(", ");

const countsOf = (nodes: readonly InspectedNode[]): string =>
  SEVERITIES.flatMap((severity) => {
    const found = nodes.flatMap(({ findings }) => findings);
    const { length } = found.filter((one) => one.severity === severity);
    return length === 0
      ? []
      : [severity === "note" ? printCount(length, "note") : `${length} ${severity}`];
  }).join(", ");

function printAttribute(attribute: Attribute): string {
  const fact = attributeFact(attribute);
  return typeof fact === "string" ? printName(fact) : printJson(fact);
}

/**
 * Converts an attribute value to JSON data. A tensor is represented by its data type, and a value of an unknown kind by
 * its kind.
 */
export function attributeFact(attribute: Attribute): unknown {
  const { type, value } = attribute;
  if (type === "tensor") return `tensor of ${value.dtype ?? "unknown type"}`;
  if (type === "tensors") return `${printCount(value.length, "tensor")}`;
  if (type !== "other") return value;
  return attribute.reference === undefined ? value : `@${attribute.reference}`;
}
