/**
 * Calls that were made before: what is kept of a call must never be used for another one. Each row is a call; its variants
 * differ from it in one thing. All are made in turn, in an order that brings each of them after each other one, and each
 * must end like the same call of an operator that no call was made of.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { runPlain } from "../../src/core/call/run.ts";
import { Executor } from "../../src/core/engines/executor.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { CALLS } from "../../src/core/limits.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { setLimits } from "../support/limits.ts";

type Values = readonly (number | bigint | string | boolean)[];
/** Inputs, made anew for each call, and options. */
type Call = readonly [inputs: () => readonly unknown[], options?: () => Record<string, unknown>];

const made = (dtype: Tensor["dtype"], shape: readonly number[], values: Values) => (): Tensor =>
  tensor(dtype, shape, values as never);

const data = made("float32", [2, 3], [1, 2, 3, 4, 5, 6]);
const pair = made("int64", [2, 1], [1, 0]);
const rows = made("float32", [2, 3], [10, 20, 30, 40, 50, 60]);
const add = (): Record<string, unknown> => ({ reduction: "add" });

/** A call with one input replaced. */
const replaced = (inputs: readonly (() => unknown)[], at: number, by: () => unknown): Call => [
  () => inputs.map((input, position) => (position === at ? by : input)()),
];
const plain = (
  inputs: readonly (() => unknown)[],
  options?: () => Record<string, unknown>,
): Call => [() => inputs.map((input) => input()), options];

const three = [data, pair, rows];
const grid = made("int64", [2, 3], [0, 1, 0, 1, 1, 0]);
const elements = [data, grid, rows];
const two = [data, pair];
const batches = made("int64", [2, 1], [2, 1]);
const cache = [
  made("float32", [2, 4, 1], [1, 2, 3, 4, 5, 6, 7, 8]),
  made("float32", [2, 2, 1], [9, 8, 7, 6]),
];

const CALLS_OF: Readonly<Record<string, readonly Call[]>> = {
  scatterND: [
    plain(three),
    plain(three, add),
    plain(three, () => ({ reduction: "max" })),
    plain(three, () => ({ reduction: "mean" })),
    plain(three, () => ({ reduction: "add", includeSelf: false })),
    plain(three, () => ({ duplicates: "error" })),
    plain(three, () => ({ bounds: "drop" })),
    plain(three, () => ({ negative: "error" })),
    plain(three, () => ({ out: zeros("float32", [2, 3]) })),
    plain(three, () => ({ out: zeros("float32", [3, 2]) })),
    plain(three, () => ({ out: zeros("int32", [2, 3]) })),
    plain(three, () => ({ reduction: "add", out: zeros("float32", [2, 3]) })),
    plain(three, () => ({ axis: 0 })),
    plain(three, () => ({ reduction: "addd" })),
    replaced(three, 0, made("float64", [2, 3], [1, 2, 3, 4, 5, 6])),
    replaced(three, 0, made("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9])),
    replaced(three, 0, made("float32", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])),
    replaced(three, 0, made("float32", [6], [1, 2, 3, 4, 5, 6])),
    replaced(three, 1, made("int32", [2, 1], [1, 0])),
    replaced(three, 1, made("int64", [2, 1], [1, 1])),
    replaced(three, 1, made("int64", [2, 1], [-1, -2])),
    replaced(three, 1, made("int64", [2, 1], [1, 2])),
    replaced(three, 1, made("int64", [1, 1], [1])),
    replaced(three, 1, made("int64", [1, 2], [1, 0])),
    replaced(three, 1, made("float32", [2, 1], [1, 0])),
    replaced(three, 1, () => [[1], [0]]),
    replaced(three, 1, () => [[2 ** 40], [0]]),
    replaced(three, 1, () => [[1], [0.5]]),
    replaced(three, 2, made("float64", [2, 3], [1, 2, 3, 4, 5, 6])),
    replaced(three, 2, made("float32", [3, 2], [1, 2, 3, 4, 5, 6])),
    replaced(three, 2, () => [
      [1, 2, 3],
      [4, 5, 6],
    ]),
    replaced(three, 2, () => undefined),
  ],
  scatterElements: [
    plain(elements),
    plain(elements, () => ({ axis: 1 })),
    plain(elements, () => ({ axis: -2 })),
    plain(elements, () => ({ axis: 2 })),
    plain(elements, () => ({ axis: 1, reduction: "mul" })),
    replaced(elements, 0, made("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9])),
    replaced(elements, 1, made("int64", [2, 3], [0, 0, 0, 1, 1, 1])),
    replaced(elements, 2, made("float32", [2, 2], [1, 2, 3, 4])),
  ],
  gatherND: [
    plain(two),
    plain(two, () => ({ batchDims: 1 })),
    plain([data, batches], () => ({ batchDims: 1 })),
    plain([data, batches]),
    plain([data, batches], () => ({ bounds: "fill" })),
    plain([data, batches], () => ({ bounds: "clip" })),
    replaced(two, 0, made("string", [2, 3], ["a", "b", "c", "d", "e", "f"])),
    replaced(two, 0, made("float32", [3, 2], [1, 2, 3, 4, 5, 6])),
    replaced(two, 1, made("int64", [1, 2], [1, 2])),
  ],
  gather: [
    plain([data, made("int32", [2], [1, 0])]),
    plain([data, made("int32", [2], [2, 0])], () => ({ axis: 1 })),
    plain([data, made("int32", [2, 1], [2, 0])], () => ({ axis: 1, batchDims: 1 })),
    plain([data, made("int32", [], [1])]),
  ],
  tensorScatter: [
    plain(cache),
    plain([...cache, made("int64", [2], [1, 2])]),
    plain([...cache, made("int64", [2], [3, 3])]),
    plain([...cache, made("int64", [2], [3, 3])], () => ({ mode: "circular" })),
    replaced(cache, 1, made("float32", [2, 1, 1], [9, 8])),
  ],
};

/** The result of a call, or the sentence, the code and the fields of its error. */
function endOf(call: () => Tensor): Tensor | string {
  try {
    return call();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return `${error.code}: ${error.message} ${JSON.stringify({ ...error })}`;
  }
}

for (const [name, calls] of Object.entries(CALLS_OF)) {
  for (const kept of [1, 2, CALLS.kept, 100]) {
    test(`${name}: each of ${calls.length} calls after each other, ${kept} kept`, () => {
      const restore = setLimits({ CALLS: { kept } });
      try {
        const executor = new Executor();
        const operator = { ...FUNCTIONS[name as keyof typeof FUNCTIONS] };
        const check = (at: number): void => {
          const [inputs, options = () => undefined] = calls[at];
          const end = endOf(() => runPlain(executor, operator, inputs() as never, options()));
          // A copy of the operator, for which nothing is kept.
          const fresh = endOf(() =>
            runPlain(executor, { ...operator }, inputs() as never, options()),
          );
          if (typeof fresh === "string") assert.equal(end, fresh);
          else
            assert.ok(typeof end !== "string" && equals(end, fresh), `call ${at}: ${String(end)}`);
        };
        for (let first = 0; first < calls.length; first++) {
          for (let second = 0; second < calls.length; second++) {
            check(first);
            check(second);
          }
        }
      } finally {
        restore();
      }
    });
  }
}
