/** Implements `ndscatter ops`, which lists operators and versions, shows one version, or compares two versions. */

import type { Command } from "commander";
import { operators, type OperatorVersion } from "../../entries/index.ts";
import { compareVersions } from "../../entries/operators.ts";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { JSON_HELP, printJson, quote } from "../text/layout.ts";
import { parseWhole } from "../input/numbers.ts";
import {
  domainOption,
  opsetOption,
  resolveTyped,
  versionTitle,
  versionsOf,
} from "../input/operator-call.ts";
import { printChanges, printHistory, printSchema, printVersions } from "../text/schema-text.ts";

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
  program
    .command("ops")
    .summary("list operators and versions, and show or compare them")
    .description(
      "List operators and their versions, describe one version, or compare two versions.",
    )
    .argument("[operator]", "the name of an operator, such as ScatterND")
    .addOption(domainOption())
    .addOption(opsetOption())
    .option("--diff <opsets...>", "two opsets: print what changed between their versions")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action((operator: string | undefined, options: OpsOptions) => {
      const { facts, text } = operator === undefined ? listAll(options) : show(operator, options);
      return io.stdout.write(`${options.json ? printJson(facts) : text()}\n`);
    });
}

/** The output of `ndscatter ops`, as JSON data and as text. */
interface Answer {
  readonly facts: unknown;
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
