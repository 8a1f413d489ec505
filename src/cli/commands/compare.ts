/**
 * Implements `ndscatter compare`, which shows each system's result, its differences from the exact result, and the
 * equivalent code.
 */

import type { Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import {
  compareDialects,
  dialects,
  isTensorError,
  run,
  type Dialect,
  type Scalar,
  type Tensor,
} from "../../entries/index.ts";
import { printScalar, printShape, resolve } from "../../entries/operators.ts";
import type { NodeCall } from "../../entries/onnx.ts";
import { repeatable } from "../input/arguments.ts";
import { cellOf } from "../text/differences.ts";
import { codeOf } from "../text/dialect-code.ts";
import { WRONG_DATA, wrongUsage, type Status } from "../failure.ts";
import { printResult, type Io } from "../io.ts";
import { JSON_HELP, quote, didYouMean } from "../text/layout.ts";
import { versionTitle } from "../input/operator-call.ts";
import { addTaskArguments, findTask, readCall, type TaskOptions } from "./task.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";

interface CompareOptions extends TaskOptions {
  readonly dialect?: readonly string[];
  readonly json?: boolean;
}

const HELP = `
ndscatter compare takes the arguments of ndscatter explain. A dialect describes
how a runtime or a document handles negative indices, indices out of range,
repeated indices, NaN and rounding. The command applies the dialects of
docs/other-systems.md itself, and runs none of the other systems. If code for a
dialect is known, one line shows how to compute y from data, indices and updates.

The exit status is 0 if every dialect that has the operator gives the exact bits,
and 1 if a dialect differs.

Examples:
  ndscatter compare ScatterElements --attr reduction=add examples/graph-sum.sums.npy examples/graph-sum.targets.npy examples/graph-sum.messages.npy
  ndscatter compare ScatterND --dialect numpy examples/kv-cache.cache.npy examples/kv-cache.where.npy examples/kv-cache.key.npy
  ndscatter compare ScatterND data.npy indices.npy updates.npy
  ndscatter compare ScatterND --attr reduction=add d.npy i.npy u.npy
  ndscatter compare Gather --dialect jax --dialect numpy d.npy i.npy
  ndscatter compare large.onnx --node /ScatterND cache.npy i.npy u.npy --json`;

export function addCompareCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  const command = program
    .command("compare")
    .summary("compare the results of other systems for a call")
    .description(
      "Compare the results of other systems for a call with the exact result, and show the call in each system's code.",
    );
  addTaskArguments(command)
    .addOption(
      repeatable("--dialect <name>", "compare only this dialect, such as numpy; repeatable"),
    )
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (target: string, texts: readonly string[], options: CompareOptions) => {
      const chosen = chooseDialects(options.dialect);
      const call = readCall(io, findTask(io, target, options), texts);
      const report = reportOf(call, chosen);
      await printResult(io, options.json ? reportFacts(report) : reportText(report));
      if (report.rows.some(({ agrees, why }) => !agrees && why !== "missing")) fail(WRONG_DATA);
    });
}

function chooseDialects(names: readonly string[] | undefined): readonly Dialect[] {
  const all = dialects();
  const unknown = names?.find((name) => all.every(({ id }) => id !== name));
  if (unknown !== undefined) {
    const known = all.map(({ id }) => id);
    const hint = didYouMean(unknown, known, `the dialects are ${known.join(", ")}`);
    throw wrongUsage(`--dialect ${quote(unknown)} is unknown; ${hint}`);
  }
  return names === undefined ? all : all.filter(({ id }) => names.includes(id));
}

const MOST_CELLS = 5;

function reportOf({ node, inputs }: NodeCall, chosen: readonly Dialect[]) {
  const compared = compareDialects(node, inputs);
  const exact = exactOf(node, inputs);
  const rows = chosen.flatMap(({ id, version }) =>
    compared
      .filter(({ dialect }) => dialect === id)
      .map((one) => {
        const { output, differing, undecided, why } = one;
        const first = (cells: readonly number[]): number[][] =>
          output === null
            ? []
            : cells.slice(0, MOST_CELLS).map((cell) => coordinatesOf(cell, output.shape));
        const cells = first(differing).map((at) => ({
          at,
          // An invalid call has no exact values.
          exact: typeof exact === "string" ? undefined : valueOf(exact, at),
          here: valueOf(output as Tensor, at),
        }));
        const code = why === "missing" ? null : codeOf(id, node, inputs);
        return { ...one, version, code, cells, open: first(undecided) };
      }),
  );
  return { title: versionTitle(resolve(node)), exact, rows };
}

type Report = ReturnType<typeof reportOf>;
type Row = Report["rows"][number];

const valueOf = (tensor: Tensor, at: readonly number[]): Scalar =>
  cellOf(tensor, at).toArray() as Scalar;

function exactOf(node: NodeCall["node"], inputs: NodeCall["inputs"]): Tensor | string {
  try {
    return run(node, inputs)[0];
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return error.message;
    throw error;
  }
}

function reportText({ title, exact, rows }: Report): string {
  const head = typeof exact === "string" ? exact : `${title} is\n${exact}`;
  return [head, ...rows.map((row) => rowText(row, exact))].join("\n\n");
}

function rowText(row: Row, exact: Report["exact"]): string {
  const { dialect, version, ids, differing, undecided, output, code, cells } = row;
  const named = ids.length === 0 ? "" : ` (${ids.join(", ")})`;
  const lines = [`${dialect} ${version}: ${verdictOf(row, exact)}${named}`];
  for (const { at, exact: right, here } of cells) {
    const dtype = output?.dtype ?? "float32";
    const instead = right === undefined ? "" : `, not ${printScalar(dtype, right)}`;
    lines.push(`  ${printShape(at)} is ${printScalar(dtype, here)}${instead}`);
  }
  if (differing.length > MOST_CELLS) lines.push(`  and ${differing.length - MOST_CELLS} more`);
  const open = row.open.map(printShape).join(", ");
  const more = undecided.length > MOST_CELLS ? ` and ${undecided.length - MOST_CELLS} more` : "";
  if (open !== "") lines.push(`  not decided: ${open}${more}`);
  if (code !== null) lines.push(`  ${code}`);
  return lines.join("\n");
}

function verdictOf({ agrees, why, differing, undecided }: Row, exact: Report["exact"]): string {
  if (why === "missing") return "does not have this operator, reduction or data type";
  if (why === "undefined") return "the result is undefined or unknown";
  if (why === "error") return agrees ? "also reports an error" : "an error";
  if (agrees) return "agrees";
  if (typeof exact === "string" && differing.length + undecided.length === 0) {
    return "omits the bad indices";
  }
  const cells = [
    ...(differing.length > 0
      ? [`${printCount(differing.length, "cell")} ${differing.length === 1 ? "differs" : "differ"}`]
      : []),
    ...(undecided.length > 0 ? [`${printCount(undecided.length, "cell")} not decided`] : []),
  ].join(", ");
  return typeof exact === "string" ? `no error; ${cells}` : cells;
}

function reportFacts({ title, exact, rows }: Report): object {
  const isError = typeof exact === "string";
  return {
    operator: title,
    error: isError ? exact : null,
    exact: isError ? null : exact.toArray(),
    dialects: rows.map((row) => ({
      dialect: row.dialect,
      version: row.version,
      agrees: row.agrees,
      why: row.why,
      ids: row.ids,
      differing: { count: row.differing.length, first: row.cells },
      undecided: { count: row.undecided.length, first: row.open },
      code: row.code,
    })),
  };
}
