/**
 * What other systems really made of calls (`dialects/recorded.jsonl`, by `dialects/record.mjs`): the table of dialects
 * predicts each result that it decides, and `diagnose` explains those that differ by the dialect that made them.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import type { NodeSpec } from "../src/call/call.ts";
import { run } from "../src/call/run.ts";
import { codeOf } from "../src/cli/dialect-code.ts";
import { compareDialects, type DialectComparison } from "../src/diagnose/compare-dialects.ts";
import { diagnose } from "../src/diagnose/diagnose.ts";
import { dialects } from "../src/diagnose/dialects.ts";
import { isTensorError } from "../src/errors.ts";
import type { DType } from "../src/tensor/dtype.ts";
import { tensor, type Tensor } from "../src/tensor/tensor.ts";

// From build/test/.
const folder = path.join(import.meta.dirname, "..", "..", "test", "dialects");
const read = (name: string): readonly unknown[] =>
  fs
    .readFileSync(path.join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

type Value = number | string;

interface Call {
  readonly name: string;
  readonly node: NodeSpec;
  readonly inputs: readonly { dtype: DType; shape: number[]; values: readonly Value[] }[];
}

interface Recorded {
  readonly call: string;
  readonly dialect: string;
  readonly tool: string;
  readonly version: string;
  readonly line: string;
  readonly shape?: number[];
  readonly values?: readonly Value[];
  readonly error?: string;
}

const RECORDED = read("recorded.jsonl") as readonly Recorded[];
const CALLS = new Map((read("calls.jsonl") as readonly Call[]).map((call) => [call.name, call]));

const tensorOf = (dtype: DType, shape: number[], values: readonly Value[]): Tensor =>
  tensor(dtype, shape, values.map(Number));

function callOf(name: string): { node: NodeSpec; inputs: Tensor[] } {
  const call = CALLS.get(name);
  assert.ok(call, name);
  const inputs = call.inputs.map(({ dtype, shape, values }) => tensorOf(dtype, shape, values));
  return { node: call.node, inputs };
}

function comparisonOf({ call, dialect }: Recorded): DialectComparison {
  const { node, inputs } = callOf(call);
  const found = compareDialects(node, inputs).find((one) => one.dialect === dialect);
  assert.ok(found, dialect);
  return found;
}

const flat = (one: Tensor): readonly unknown[] => {
  let level: unknown[] = [one.toArray()];
  for (let axis = 0; axis < one.shape.length; axis++) level = level.flat(1);
  return level;
};

/** The exact result; null where the call is an error. */
function exactOf(name: string): Tensor | null {
  const { node, inputs } = callOf(name);
  try {
    return run(node, inputs)[0];
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return null;
    throw error;
  }
}

const resultOf = ({ call, shape = [], values = [] }: Recorded): Tensor =>
  tensorOf(callOf(call).inputs[0].dtype, shape, values);

test("every recorded result is the predicted one, in the cells that the dialect decides", () => {
  let decided = 0;
  for (const row of RECORDED) {
    const where = `${row.tool} ${row.version}, ${row.call}: ${row.line}`;
    const { why, output, undecided } = comparisonOf(row);
    if (row.error !== undefined) {
      assert.ok(why === "error" || why === "undefined", `${where}: ${why}, not ${row.error}`);
      decided += why === "error" ? 1 : 0;
      continue;
    }
    if (why === "undefined") continue;
    assert.ok(output, `${where}: ${why}`);
    const actual = resultOf(row);
    assert.deepEqual(actual.shape, output.shape, where);
    const open = new Set(undecided);
    const [left, right] = [flat(actual), flat(output)].map((cells) =>
      cells.map((value, cell) => (open.has(cell) ? "open" : value)),
    );
    assert.deepEqual(left, right, where);
    decided += why === null ? 1 : 0;
  }
  assert.ok(decided > 0.9 * RECORDED.length, `${decided} of ${RECORDED.length}`);
});

test("a recorded result that differs is explained by the dialect that made it", () => {
  let explained = 0;
  const missed: string[] = [];
  for (const row of RECORDED) {
    if (row.error !== undefined || comparisonOf(row).why === "undefined") continue;
    const { node, inputs } = callOf(row.call);
    const actual = resultOf(row);
    const exact = exactOf(row.call);
    if (exact !== null && JSON.stringify(printed(exact)) === JSON.stringify(printed(actual)))
      continue;
    const where = `${row.tool}, ${row.call}: ${JSON.stringify(row.values)}`;
    const [first] = diagnose(node, inputs, actual);
    if (first?.dialects.some((id) => id === row.dialect)) explained++;
    else missed.push(`${where}: ${JSON.stringify(first)}`);
  }
  assert.deepEqual(missed, []);
  assert.ok(explained >= 30, `${explained}`);
});

/** Cells as text, which tells -0 from 0. */
const printed = (one: Tensor): string[] =>
  flat(one).map((value) => (Object.is(value, -0) ? "-0" : String(value)));

test("the lines that were run are those that are printed, and there is one where nothing is missing", () => {
  for (const { call, dialect, line } of RECORDED) {
    const { node, inputs } = callOf(call);
    const id = dialects().find((one) => one.id === dialect)?.id;
    assert.ok(id);
    assert.equal(codeOf(id, node, inputs), line);
  }
  for (const name of CALLS.keys()) {
    const { node, inputs } = callOf(name);
    for (const { dialect, why } of compareDialects(node, inputs)) {
      // A line for batch axes, or without data's value, is not known for every dialect that could do it.
      if (name.includes("batches") || name.includes("without data")) continue;
      const isLacking = codeOf(dialect, node, inputs) === null;
      if (isLacking || why !== "missing")
        assert.equal(isLacking, why === "missing", `${dialect}, ${name}`);
    }
  }
});
