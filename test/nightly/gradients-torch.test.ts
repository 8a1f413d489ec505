/**
 * Gradients and Debian's python3-torch: the same numbers, bit for bit but for the sign of a zero, which torch makes of a
 * product with 0. Products are of small whole numbers, because torch divides where a product has no zero.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import type { FunctionSpec } from "../../src/core/call/function-spec.ts";
import { vjp } from "../../src/core/call/vjp.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { REDUCTIONS } from "../../src/core/tensor/dtype.ts";
import { hasPython, runPython } from "../support/python.ts";
import { randomFrom, type Random } from "../support/random.ts";

const skip = hasPython("torch") ? false : "there is no python3-torch";
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-torch-"));
after(() => fs.rmSync(home, { recursive: true }));

/** One call: which function of torch, how, and the numbers. */
interface Call {
  readonly torch: "scatter_reduce" | "scatter" | "gather" | "index_select" | "index_put";
  readonly dtype: "float32" | "float64";
  readonly axis: number;
  readonly reduce: string;
  readonly includeSelf: boolean;
  readonly data: Numbers;
  readonly indices: Numbers;
  readonly updates: Numbers | null;
  readonly gradient: Numbers;
}

interface Numbers {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const PROGRAM = `
import json, sys, torch
def numbers(one, dtype):
    return torch.tensor(one["values"], dtype=dtype).reshape(one["shape"])
results = []
for call in json.load(open(sys.argv[1])):
    dtype = getattr(torch, call["dtype"])
    data = numbers(call["data"], dtype).requires_grad_()
    indices = numbers(call["indices"], torch.int64)
    updates = None if call["updates"] is None else numbers(call["updates"], dtype).requires_grad_()
    axis, kind = call["axis"], call["torch"]
    if kind == "scatter_reduce":
        output = data.scatter_reduce(axis, indices, updates, call["reduce"], include_self=call["includeSelf"])
    elif kind == "scatter":
        output = data.scatter(axis, indices, updates)
    elif kind == "gather":
        output = data.gather(axis, indices)
    elif kind == "index_select":
        output = data.index_select(axis, indices)
    else:
        output = data.index_put((indices,), updates, accumulate=call["reduce"] == "sum")
    output.backward(numbers(call["gradient"], dtype))
    results.append([None if one is None else one.grad.flatten().tolist() for one in (data, updates)])
json.dump(results, open(sys.argv[2], "w"))
`;

function torchGradients(calls: readonly Call[]): (number[] | null)[][] {
  const [asked, answered] = [path.join(home, "calls.json"), path.join(home, "gradients.json")];
  fs.writeFileSync(asked, JSON.stringify(calls));
  runPython(PROGRAM, [asked, answered]);
  return JSON.parse(fs.readFileSync(answered, "utf8")) as (number[] | null)[][];
}

/** torch's words for reductions; `none` is `scatter`, and it has no `sub`. */
const WORDS: Readonly<Record<string, string>> = {
  add: "sum",
  mul: "prod",
  max: "amax",
  min: "amin",
  mean: "mean",
};

function ourGradients(call: Call): (Tensor | null)[] {
  const { torch, dtype, axis, reduce, includeSelf } = call;
  const reduction = Object.keys(WORDS).find((word) => WORDS[word] === reduce) ?? "none";
  const made = ({ shape, values }: Numbers): Tensor => tensor(dtype, shape, [...values]) as Tensor;
  const rows = torch === "index_put" ? [1] : [];
  const indices = tensor("int64", [...call.indices.shape, ...rows], [...call.indices.values]);
  const node: FunctionSpec = {
    scatter_reduce: { function: "scatterElements", options: { axis, reduction, includeSelf } },
    scatter: { function: "scatterElements", options: { axis } },
    gather: { function: "gatherElements", options: { axis } },
    index_select: { function: "gather", options: { axis } },
    index_put: { function: "scatterND", options: { reduction } },
  }[torch] as FunctionSpec;
  const updates = call.updates === null ? [] : [made(call.updates)];
  const found = vjp(node, [made(call.data), indices, ...updates], made(call.gradient));
  return [found[0], found[2] ?? null];
}

/** Values that tie often: whole numbers, halves and, where nothing divides, float32 of many bits. */
function numbers(shape: readonly number[], random: Random, kind: "whole" | "any"): Numbers {
  const value = (): number =>
    kind === "whole" ? random(7) - 3 : Math.fround((random(2 ** 24) - 2 ** 23) / 1000);
  return { shape, values: Array.from({ length: product(shape) }, value) };
}

function indicesFor(shape: readonly number[], dim: number, random: Random): Numbers {
  return { shape, values: Array.from({ length: product(shape) }, () => random(dim)) };
}

/** Random calls of one function of torch. `scatter` and a replacing `index_put` get no repeats: torch says nothing of them. */
function callsOf(torch: Call["torch"], count: number): Call[] {
  const random = randomFrom(count);
  return Array.from({ length: count }, (): Call => {
    const shape = [2 + random(5), 1 + random(6)];
    const axis = torch === "index_put" ? 0 : random(2);
    const dim = shape[axis];
    const rows = 1 + random(9);
    const words = Object.values(WORDS);
    const { [random(words.length)]: word } = words;
    const reduce = torch === "scatter_reduce" ? word : ["sum", ""][random(2)];
    const isDistinct = torch === "scatter" || (torch === "index_put" && reduce === "");
    const length = isDistinct ? Math.min(rows, dim) : rows;
    const isList = torch === "index_select" || torch === "index_put";
    const own = isList ? [length] : shape.with(axis, length);
    const indices = indicesFor(own, dim, random);
    const distinct = indices.values.map((_, p) => {
      const [row, column] = [Math.floor(p / own[1]), p % own[1]];
      return isList ? p : axis === 0 ? row : column;
    });
    const kind = reduce === "prod" || random(2) === 0 ? "whole" : "any";
    const isGather = torch === "gather" || torch === "index_select";
    const moved = shape.with(axis, length);
    const includeSelf = random(2) === 0;
    const data = numbers(shape, random, kind);
    // torch counts a replaced value among those that tie, so no replaced value may equal an update.
    const apart = data.values.map((value) => value + (includeSelf ? 0 : 2 ** 15 + 0.5));
    return {
      torch,
      dtype: random(2) === 0 ? "float32" : "float64",
      axis,
      reduce,
      includeSelf,
      data: { shape, values: apart.map(Math.fround) },
      indices: isDistinct ? { shape: own, values: distinct } : indices,
      updates: isGather ? null : numbers(moved, random, kind),
      gradient: numbers(isGather ? moved : shape, random, reduce === "prod" ? "whole" : "any"),
    };
  });
}

const isEqual = (a: readonly number[], b: ArrayLike<unknown>): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);

for (const torch of ["scatter_reduce", "scatter", "gather", "index_select", "index_put"] as const) {
  test(`the gradients of torch's ${torch}`, { skip }, () => {
    const calls = callsOf(torch, torch === "scatter_reduce" ? 600 : 150);
    const expected = torchGradients(calls);
    let tied = 0;
    for (const [nth, call] of calls.entries()) {
      const found = ourGradients(call);
      for (const [at, one] of expected[nth].entries()) {
        const ours = found[at];
        if (one === null) assert.equal(ours, null);
        else if (!isEqual(one, (ours as Tensor).data)) {
          assert.fail(`${JSON.stringify(call)}: gradient ${at} is ${ours}, torch's is ${one}`);
        }
      }
      if (call.reduce === "amax" || call.reduce === "amin") tied++;
    }
    if (torch === "scatter_reduce") assert.ok(tied > 100, `only ${tied}`);
  });
}

test("torch counts a replaced value among the ties; here it has no part in them", { skip }, () => {
  const common = { torch: "scatter_reduce", dtype: "float64", axis: 0, reduce: "amax" } as const;
  const one = (value: number): Numbers => ({ shape: [1], values: [value] });
  const replaced: Call = {
    ...common,
    includeSelf: false,
    data: one(5),
    indices: one(0),
    updates: one(5),
    gradient: one(8),
  };
  assert.deepEqual(torchGradients([replaced]), [[[0], [4]]]);
  assert.deepEqual(
    ourGradients(replaced).map((found) => [...((found as Tensor).data as Float64Array)]),
    [[0], [8]],
  );
});

test("updates alone take no memory of data's size", () => {
  const size = 2 ** 24;
  const data = zeros("float32", [size]);
  const gradient = zeros("float32", [size]);
  gradient.data[size / 2] = 2;
  gradient.data[5] = 6;
  const indices = tensor("int64", [3, 1], [size / 2, 5, 5]);
  const inputs = [data, indices, tensor("float32", [3], [1, 2, 3])];
  const expected = {
    none: [2, 0, 6],
    add: [2, 6, 6],
    sub: [-2, -6, -6],
    mean: [1, 2, 2],
    mul: [0, 0, 0],
    max: [2, 0, 6],
    min: [0, 0, 0],
  };
  for (const reduction of REDUCTIONS) {
    const node = { function: "scatterND", options: { reduction } } as const;
    const before = process.memoryUsage().arrayBuffers;
    const [none, , updates] = vjp(node, inputs, gradient, { argnums: 2 });
    const taken = process.memoryUsage().arrayBuffers - before;
    assert.ok(taken < 2 ** 16, `${reduction}: ${taken} bytes`);
    assert.equal(none, null);
    assert.deepEqual([...(updates as Tensor<"float32">).data], expected[reduction], reduction);
  }
});
