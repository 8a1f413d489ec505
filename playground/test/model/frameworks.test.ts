/**
 * The programs with PyTorch are run where Python has it, and give what the page shows. `PYTHON=/path/to/python` names
 * another Python.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "ndscatter";
import { explainState, readState } from "../../src/document/read-state.ts";
import type { State, TensorText } from "../../src/values/state.ts";
import { asPyTorch } from "../../src/writing/as-pytorch.ts";
import { CALLS } from "./calls.ts";
import { boundsOf, isOpen, numbersOf } from "./open-order.ts";
import {
  difference,
  has,
  programOf,
  PYTHON,
  runAll,
  tensorIn,
  type Result,
} from "../support/python.ts";
import { stateOf } from "../support/states.ts";

const isProgram = (code: string): boolean => /^print\(/m.test(code);

/** Numbers below 1 that no 52 bits hold, so that each order rounds in another way and no product overflows. */
const uneven = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, at) => {
    const step = ((at + 3) * (seed + 5) * 7919) % 10_007;
    return String((step / 5003 - 1) * 10 ** -(step % 2));
  });

/** Twelve updates of three targets, in every data type and reduction whose order is open. */
function openCalls(): Map<string, State> {
  const found = new Map<string, State>();
  const forms = [
    ["ai.onnx", "ScatterElements", 18, ["add", "mul"]],
    ["openvino", "ScatterElementsUpdate", 12, ["sum", "prod", "mean"]],
    ["openvino", "ScatterNDUpdate", 15, ["sum", "sub", "prod"]],
  ] as const;
  const types = ["float16", "float32", "float64", "complex64", "complex128"] as const;
  for (const [domain, op, opset, words] of forms) {
    for (const [seed, dtype] of types.entries()) {
      const valuesOf = (count: number, more: number): string[] => {
        const [real, imaginary] = [uneven(count, seed + more), uneven(count, seed + more + 50)];
        return dtype.startsWith("complex")
          ? real.map(
              (one, at) => `${one}${imaginary[at].startsWith("-") ? "" : "+"}${imaginary[at]}j`,
            )
          : real;
      };
      const places = Array.from({ length: 12 }, (_, at) => String((at * at) % 3));
      const isTuples = op === "ScatterNDUpdate";
      const axis: TensorText[] =
        op === "ScatterElementsUpdate" ? [{ dtype: "int64", shape: [], values: ["0"] }] : [];
      const inputs: TensorText[] = [
        { dtype, shape: [4], values: valuesOf(4, 0) },
        { dtype: "int64", shape: isTuples ? [12, 1] : [12], values: places },
        { dtype, shape: [12], values: valuesOf(12, 1) },
        ...axis,
      ];
      for (const reduction of words) {
        const state: State = { domain, op, opset, attributes: { reduction }, inputs };
        if (explainState(state).faults.length === 0)
          found.set(`${op} ${reduction} of ${dtype}`, state);
      }
    }
  }
  return found;
}

const ALL = [...CALLS, ...openCalls()];

test("PyTorch gives the same where there is a program", (t) => {
  if (!has("torch")) return t.skip(`${PYTHON} has no torch`);
  const programs = ALL.flatMap(([name, state]) => {
    const code = asPyTorch(state);
    return isProgram(code) ? [{ state, ...programOf(name, state, code) }] : [];
  });
  assert.ok(programs.length > 300, `${programs.length}`);
  const results = runAll(programs);
  const wrong: string[] = [];
  let [open, worst] = [0, 0];
  for (const [at, { name, state, code }] of programs.entries()) {
    const isFree = isOpen(state);
    assert.equal(/may combine/.test(code), isFree, name);
    const found = isFree ? offOf(state, results[at]) : difference(state, results[at]);
    if (typeof found === "string") wrong.push(`${name}: ${found}\n${code}`);
    else if (found !== null) [open, worst] = [open + 1, Math.max(worst, found)];
  }
  t.diagnostic(
    `${programs.length - open} programs bit for bit, ${open} in open order within ${worst.toFixed(2)} of the bound, ${wrong.length} wrong`,
  );
  assert.ok(open >= 15, `${open}`);
  assert.equal(wrong.length, 0, wrong.slice(0, 4).join("\n"));
});

/** The largest error in parts of what the order may change; a sentence if one is larger than that. */
function offOf(state: State, result: Result): number | string {
  const { exact, bounds } = boundsOf(state);
  const { node, inputs } = readState(state);
  const [{ dtype, shape }] = run(node, inputs);
  const got = tensorIn(result, dtype);
  if (typeof got === "string") return got;
  if (String(got.shape) !== String(shape)) return `shape ${got.shape}, not ${shape}`;
  const parts = numbersOf(got).map((value, at) =>
    Object.is(value, exact[at]) ? 0 : Math.abs(value - exact[at]) / bounds[at],
  );
  const at = parts.findIndex((part) => !(part <= 1));
  return at === -1
    ? Math.max(0, ...parts)
    : `element ${at} is ${numbersOf(got)[at]}, more than ${bounds[at]} off ${exact[at]}`;
}

/** A call whose updates meet in one target. */
const REPEATED = stateOf("ai.onnx/ScatterND/18;float32:3:1,2,3;int64:2,1:1,1;float32:2:10,20");

test("where repeated updates leave the result open, the tab says so in place of a program", () => {
  assert.match(asPyTorch(REPEATED), /^# PyTorch does not define which update wins/);
  assert.ok(!isProgram(asPyTorch(REPEATED)));
  const added = asPyTorch({ ...REPEATED, attributes: { reduction: "add" } });
  assert.match(added, /^# PyTorch may combine updates in another order/m);
  assert.ok(isProgram(added));
});

test("what PyTorch lacks is said", () => {
  const [data, indices, updates] = REPEATED.inputs;
  const wide = {
    ...REPEATED,
    inputs: [data, indices, updates].map((one, at) =>
      at === 1 || one === null ? one : { ...one, dtype: "uint64" as const },
    ),
  };
  assert.equal(asPyTorch(wide), "# PyTorch does not support uint64 for this call.\n");
});
