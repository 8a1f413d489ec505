/**
 * Implements `ndscatter ops`, which lists operators and versions, describes one version, or compares two versions, and
 * `ndscatter infer`.
 */

import type { Command } from "commander";
import { wrongUsage } from "../failure.ts";
import { parseWhole } from "../input/arguments.ts";
import {
  addCallOptions,
  addVersionOptions,
  type CallOptions,
  parseCall,
  resolveTyped,
  versionsOf,
  versionTitle,
} from "../input/operator-call.ts";
import { printResult, type Io } from "../io.ts";
import { parseType, printType, TYPE_HELP } from "../text/cells.ts";
import { JSON_HELP, LINE_WIDTH, printTable, quote, wrap } from "../text/layout.ts";
import {
  type AttributeSchema,
  DTYPES,
  infer,
  isDType,
  operators,
  type OperatorVersion,
} from "../../entries/index.ts";
import { compareVersions, roleOf, typesOf, type VersionChange } from "../../entries/operators.ts";

interface OpsOptions {
  readonly domain?: string;
  readonly opset?: number;
  readonly diff?: readonly string[];
  readonly json?: boolean;
}

const HELP = `
In a comparison, + marks facts that the second version added, - facts that it removed, and ~ facts that it changed.

Examples:
  ndscatter ops                          all operators and versions
  ndscatter ops ScatterND                one operator's versions, and what each changed
  ndscatter ops ScatterND --opset 16     all facts of one version
  ndscatter ops ScatterND --diff 13 18   what changed from 13 to 18
  ndscatter ops ScatterNDUpdate --json   the same facts for programs`;

export function addOpsCommand(program: Command, io: Io): void {
  const command = program
    .command("ops")
    .summary("list operators and versions, and show or compare them")
    .description(
      "List operators and their versions, describe one version, or compare two versions.",
    )
    .argument("[operator]", "the name of an operator, such as ScatterND");
  addVersionOptions(command)
    .option("--diff <opsets...>", "two opsets: print what changed between their versions")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action((operator: string | undefined, options: OpsOptions) => {
      const { facts, text } = operator === undefined ? listAll(options) : show(operator, options);
      return printResult(io, options.json ? facts : text());
    });
}

interface Answer {
  readonly facts: object;
  text(): string;
}

function listAll({ domain, opset, diff }: OpsOptions): Answer {
  if (opset !== undefined || diff !== undefined) {
    throw wrongUsage(`${opset === undefined ? "--diff" : "--opset"} needs the name of an operator`);
  }
  const versions = operators().filter(
    (one) => domain === undefined || one.domain === (domain || "ai.onnx"),
  );
  if (versions.length > 0) return { facts: versions, text: () => printVersions(versions) };
  const known = [...new Set(operators().map((one) => one.domain))].join(" or ");
  throw wrongUsage(`--domain must be ${known}, got ${quote(domain ?? "")}`);
}

function show(operator: string, { domain, opset, diff }: OpsOptions): Answer {
  if (diff !== undefined) {
    if (opset !== undefined)
      throw wrongUsage("--opset cannot be used with --diff; leave one of them out");
    return showChanges(operator, diff, domain);
  }
  if (opset !== undefined) {
    const version = resolveTyped(operator, opset, domain);
    return { facts: version, text: () => printSchema(version) };
  }
  const versions = versionsOf(operator, domain);
  return { facts: versions, text: () => printHistory(versions) + printOthers(versions[0]) };
}

/** Returns a line about the operator with the same name in another domain, if one exists. */
function printOthers({ name, domain }: OperatorVersion): string {
  const other = operators().find((one) => one.name === name && one.domain !== domain);
  return other === undefined ? "" : `\n\n${other.domain} has one too: --domain ${other.domain}`;
}

function showChanges(operator: string, diff: readonly string[], domain?: string): Answer {
  if (diff.length !== 2)
    throw wrongUsage(`--diff takes two opsets, such as --diff 13 18, got ${diff.length}`);
  const [from, to] = diff.map((text) =>
    resolveTyped(operator, parseWhole(text, "--diff", 1), domain),
  );
  return {
    facts: { from: versionTitle(from), to: versionTitle(to), changes: compareVersions(from, to) },
    text: () =>
      from === to
        ? `opsets ${diff.join(" and ")} both have ${versionTitle(from)}`
        : `${versionTitle(from)} -> ${versionTitle(to)}\n${printChanges(from, to) || "no changes"}`,
  };
}

function printVersions(versions: readonly OperatorVersion[]): string {
  const heading = ["domain", "operator", "version", "attributes", "index types", "data types"];
  const rows = versions.map((version) => [
    version.domain,
    version.name,
    printNumber(version),
    version.attributes.map(({ name }) => name).join(", ") || "-",
    indexTypes(version),
    `${version.typeConstraints[0].types.length} types`,
  ]);
  return printTable([heading, ...rows]);
}

function printHistory(versions: readonly OperatorVersion[]): string {
  const [first, ...later] = versions;
  const history = later.map((version, position) => {
    const title = `version ${printNumber(version)}`;
    const changes = printChanges(versions[position], version);
    return changes === "" ? title : `${title}\n${changes}`;
  });
  const head = `${first.name} (${first.domain})\n${wrap(first.summary, "  ")}`;
  return [head, printVersions(versions), ...history].join("\n\n");
}

/** Formats a version such as `3 (opset4)`, because OpenVINO numbers versions and opsets separately. */
const printNumber = ({ sinceVersion, opset }: OperatorVersion): string =>
  opset === undefined || opset === sinceVersion
    ? `${sinceVersion}`
    : `${sinceVersion} (opset${opset})`;

const STAYS = {
  data: "data keeps its value unless the update is greater (max) or less (min)",
  update: "the update replaces the value in data unless that value is greater (max) or less (min)",
} as const;

function printSchema(version: OperatorVersion): string {
  const { domain, attributes, inputs, outputs, typeConstraints } = version;
  const facts = printTable([
    ["name", version.name],
    ["domain", domain],
    ["since_version", String(version.sinceVersion)],
    ...(version.opset === undefined ? [] : [["introduced in", `opset${version.opset}`]]),
    ["function", String(version.function)],
    ["support_level", version.supportLevel],
    ["shape inference", String(version.shapeInference)],
    ["negative indices", version.negativeIndices ? "count from the back" : "are out of range"],
    ...(version.outOfRange === "fill" ? [["out of range", "indices give 0"]] : []),
    ...(version.stays === undefined ? [] : [["float max, min", STAYS[version.stays]]]),
    ...(version.deprecated === undefined ? [] : [["deprecated", `use ${version.deprecated}`]]),
  ]);
  const parameters = (list: OperatorVersion["inputs"]): string[] =>
    list.map(({ name, type, optional, description }) =>
      item(optional ? `${name} (optional)` : name, printTypeName(type, domain), description),
    );
  const sections = [
    section("Summary", [wrap(version.summary, "  ")]),
    section(
      "Attributes",
      attributes.map((one) => item(one.name, printAttribute(one), one.description)),
    ),
    section("Inputs", parameters(inputs)),
    section("Outputs", parameters(outputs)),
    section(
      "Type constraints",
      typeConstraints.map(({ name, types, description }) =>
        item(name, types.map((type) => printTypeName(type, domain)).join(", "), description),
      ),
    ),
  ];
  return [versionTitle(version), facts, ...sections].join("\n\n");
}

const section = (title: string, items: readonly string[]): string =>
  [title, ...(items.length === 0 ? ["  none"] : items)].join("\n");

const item = (name: string, facts: string, description: string): string =>
  `${wrap(facts, `  ${name}: `)}\n${wrap(description, "      ")}`;

/** Describes an attribute, for example `one of none, add, mul (default none)` or `int (default 0)`. */
const printAttribute = ({ type, values, minimum, default: initial }: AttributeSchema): string => {
  const least = minimum === undefined ? "" : ` of at least ${minimum}`;
  const must = initial === undefined ? "must be given" : `default ${initial}`;
  return `${values === undefined ? type + least : `one of ${values.join(", ")}`} (${must})`;
};

/** Returns a data type's name in the domain's documentation. Names of type constraints do not change. */
function printTypeName(type: string, domain: OperatorVersion["domain"]): string {
  if (!isDType(type)) return type;
  const row = DTYPES[type];
  if (domain === "openvino") return "openvino" in row ? row.openvino : type;
  return `tensor(${"name" in row.onnx ? row.onnx.name : type})`;
}

function indexTypes(version: OperatorVersion): string {
  const indices = version.inputs.find((input) => roleOf(input) === "indices");
  const types = typesOf(version, indices?.type ?? "");
  return types.length > 2 ? `${types.length} integers` : types.join(", ");
}

/**
 * Prints one line per difference. The line begins with `+` for an addition in `to`, `-` for a removal, or `~` for a
 * change.
 */
export function printChanges(from: OperatorVersion, to: OperatorVersion): string {
  const changes = compareVersions(from, to).filter(({ path }) => path !== "sinceVersion");
  return groupWords(changes).map(printChange).join("\n");
}

/** Merges words that are added to or removed from one list into a single change. */
function groupWords(changes: readonly VersionChange[]): VersionChange[] {
  const groups = new Map<string, VersionChange>();
  for (const change of changes) {
    const { kind, path, value } = change;
    const list = path.slice(0, path.lastIndexOf("."));
    const isWord = typeof value === "string" && path === `${list}.${value}`;
    const key = `${kind} ${isWord ? list : path}`;
    const words = groups.get(key)?.value;
    if (!isWord) groups.set(key, change);
    else
      groups.set(key, {
        kind,
        path: list,
        value: typeof words === "string" ? `${words}, ${value}` : value,
      });
  }
  return [...groups.values()];
}

function printChange({ kind, path, value, from, to }: VersionChange): string {
  if (kind !== "changed")
    return wrap(printValue(value), `${kind === "added" ? "+" : "-"} ${path}: `);
  const [before, after] = [printValue(from), printValue(to)];
  const line = `~ ${path}: ${before} -> ${after}`;
  if (line.length <= LINE_WIDTH) return line;
  const lines = [
    [withoutStartOf(after, before), "    - "],
    [withoutStartOf(before, after), "    + "],
  ];
  return [
    `~ ${path}`,
    ...lines.flatMap(([text, sign]) => (text === "" ? [] : [wrap(text, sign)])),
  ].join("\n");
}

/** Removes the leading words that `text` shares with `other`. */
function withoutStartOf(other: string, text: string): string {
  const [words, others] = [text.split(" "), other.split(" ")];
  const same = words.findIndex((word, position) => word !== others[position]);
  if (same === -1) return "";
  return same === 0 ? text : `... ${words.slice(same).join(" ")}`;
}

/** Returns a fact of a schema in words. The name is omitted, because the path on the line ends in the name. */
function printValue(value: unknown): string {
  if (isAttribute(value)) return printAttribute(value);
  if (Array.isArray(value)) return value.map(printValue).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .filter(([key]) => key !== "name" && key !== "description")
    .map(([key, fact]) =>
      key === "type" || key === "types" ? printValue(fact) : `${key} ${printValue(fact)}`,
    )
    .join(", ");
}

const isAttribute = (value: unknown): value is AttributeSchema =>
  typeof value === "object" &&
  value !== null &&
  "type" in value &&
  ["int", "string", "boolean"].includes(String(value.type)) &&
  !("types" in value);

interface InferOptions extends CallOptions {
  readonly json?: boolean;
}

const INFER_HELP = `
${TYPE_HELP}

Examples:
  ndscatter infer ScatterND --opset 18 'float32[N,4,5]' 'int64[M,2]' 'float32[M,5]'
  ndscatter infer GatherND --attr batch_dims=1 'float32[B,?,8]' 'int64[B,16,1]'
  ndscatter infer GatherElements --attr axis=-1 float32 'int64[2,3]'`;

/** Implements `ndscatter infer`, which infers the output type of an operator from its input types. */
export function addInferCommand(program: Command, io: Io): void {
  const command = program
    .command("infer")
    .summary("print an operator's output type")
    .description("Infer an operator's output type from its input types, and print it.")
    .argument("<operator>", "the name of an operator, such as ScatterND")
    .argument("[types...]", "the input types, in order");
  addCallOptions(command)
    .option("--json", JSON_HELP)
    .addHelpText("after", INFER_HELP)
    .action((operator: string, texts: readonly string[], options: InferOptions) => {
      const outputs = inferred(operator, texts, options);
      return printResult(io, options.json ? { outputs } : outputs.map(printType).join("\n"));
    });
}

function inferred(operator: string, texts: readonly string[], options: InferOptions) {
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
  return types.map(({ dtype, shape }, position) => {
    return { name: version.outputs[position].name, dtype, shape };
  });
}
