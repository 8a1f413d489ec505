import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { run, vjp } from "../../src/core/functions.ts";
import { type FunctionSpec } from "../../src/core/call/vjp.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { planGather } from "../../src/core/plan-functions.ts";
import { FUNCTIONS, operators } from "../../src/core/operators/registry.ts";
import { roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { REDUCTIONS } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { ENGINES } from "../support/engines.ts";
import { assertDifferences, untied } from "../support/finite-differences.ts";
import {
  arbitraryShape,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  scatterElementsCase,
  scatterNDCase,
  specOf,
  tensorScatterCase,
  type Case,
} from "../support/random-calls.ts";
import { randomFrom, seedOf, type Random } from "../support/random.ts";

const f64 = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor("float64", shape, [...values]) as Tensor;
const i64 = (values: readonly number[], shape: readonly number[] = [values.length, 1]): Tensor =>
  tensor("int64", shape, [...values]) as Tensor;
const lists = (gradients: readonly (Tensor | null)[]) =>
  gradients.map((one) => one && [...(one.data as Float64Array)]);

const DATA = f64([5, 6, 7, 8]);
const UPDATES = f64([2, 3, 0]);
const GRADIENT = f64([1, 10, 100, 1000]);

/** Cell 1 has the updates 2 and 0, cell 3 has 3; the gradient of cell p is 10 to the power of p. */
// prettier-ignore
const RULES: readonly (readonly [options: Record<string, unknown>, data: number[], updates: number[]])[] = [
  [{ reduction: "none" }, [1, 0, 100, 0], [0, 1000, 10]],
  [{ reduction: "add" }, [1, 10, 100, 1000], [10, 1000, 10]],
  [{ reduction: "add", includeSelf: false }, [1, 0, 100, 0], [10, 1000, 10]],
  [{ reduction: "sub" }, [1, 10, 100, 1000], [-10, -1000, -10]],
  [{ reduction: "sub", includeSelf: false }, [1, 0, 100, 0], [10, 1000, -10]],
  [{ reduction: "mean" }, [1, 10 / 3, 100, 500], [10 / 3, 500, 10 / 3]],
  [{ reduction: "mean", includeSelf: false }, [1, 0, 100, 0], [5, 1000, 5]],
  // 6 * 2 * 0 and 8 * 3: the gradient of 0 is the product of the others.
  [{ reduction: "mul" }, [1, 0, 100, 3000], [0, 8000, 120]],
  [{ reduction: "mul", includeSelf: false }, [1, 0, 100, 0], [0, 1000, 20]],
  [{ reduction: "max" }, [1, 10, 100, 1000], [0, 0, 0]],
  [{ reduction: "min" }, [1, 0, 100, 0], [0, 1000, 10]],
  [{ reduction: "max", includeSelf: false }, [1, 0, 100, 0], [10, 1000, 0]],
];

for (const [name, engine] of Object.entries(ENGINES)) {
  test(`the rule of each reduction, on ${name}`, () => {
    for (const [options, data, updates] of RULES) {
      const inputs = [DATA, i64([1, 3, -3]), UPDATES];
      const found = vjp({ function: "scatterND", options }, inputs, GRADIENT, { engine });
      assert.deepEqual(lists(found), [data, null, updates], JSON.stringify(options));
    }
    const gathered = f64([1, 10, 100]);
    const node = { op: "GatherND", opset: 13 };
    const found = vjp(node, [DATA, i64([1, 3, 1])], gathered, { engine });
    assert.deepEqual(lists(found), [[0, 101, 0, 10], null]);
  });
}

test("operands that tie share the gradient, or one or all of them have it", () => {
  // Data and the first and third update are 5, one of them as -0 in the second row of the table.
  const rows = [
    ["even", 3, [3, 0, 3]],
    ["first", 9, [0, 0, 0]],
    ["last", 0, [0, 0, 9]],
    ["all", 9, [9, 0, 9]],
  ] as const;
  for (const [reduction, value, other] of [
    ["max", 5, 1],
    ["min", 5, 7],
    ["max", NaN, 7],
    ["min", NaN, 7],
  ] as const) {
    for (const [ties, data, updates] of rows) {
      const inputs = [f64([value]), i64([0, 0, 0]), f64([value, other, value])];
      const node = { op: "ScatterND", opset: 18, attributes: { reduction } };
      const found = vjp(node, inputs, f64([9]), { ties });
      assert.deepEqual(lists(found), [[data], null, updates], `${reduction} of ${value}, ${ties}`);
    }
  }
  const replacing = { reduction: "max", includeSelf: false };
  for (const [ties, updates] of [
    ["first", [9, 0, 0]],
    ["last", [0, 0, 9]],
  ] as const) {
    const inputs = [f64([5]), i64([0, 0, 0]), f64([5, 1, 5])];
    const found = vjp({ function: "scatterND", options: replacing }, inputs, f64([9]), { ties });
    assert.deepEqual(lists(found), [[0], null, updates], ties);
  }
  const zero = [f64([0]), i64([0]), f64([-0])];
  const found = vjp({ function: "scatterND", options: { reduction: "max" } }, zero, f64([4]));
  assert.deepEqual(lists(found), [[2], null, [2]]);
});

/** Compares the gradients of a case, on values of its own, with differences. */
function checkDifferences(one: Case, dtype: "float64" | "complex128"): number {
  const { inputs, expected, random } = one;
  const isSequence = one.operator.versions[0].name === "TensorScatter";
  const at = isSequence ? 1 : 2;
  const shapes = [inputs[0], inputs[at]].flatMap((input) => (input ? [input.shape] : []));
  const [data, updates] = untied(dtype, shapes, random);
  const own = [...inputs];
  own[0] = data;
  if (updates !== undefined) own[at] = updates;
  const [gradient] = untied(dtype, [expected.shape], random);
  const { function: name, options } = specOf(one) as FunctionSpec;
  const call = (all: readonly unknown[]) => runPlain(defaultExecutor(), one.operator, all, options);
  const results = vjp({ function: name, options }, own, gradient);
  return assertDifferences(call, own, gradient, results);
}

/** Compares drawn cases, and returns the number of compared parts. */
function comparedIn(
  dtype: "float64" | "complex128",
  seed: number,
  make: (shapes: Parameters<typeof gatherCase>[2]) => Case,
): number {
  let compared = 0;
  const property = fc.property(arbitraryShape, (shapes) => {
    compared += checkDifferences(make(shapes), dtype);
  });
  fc.assert(property, { seed, numRuns: caseCount(30, 4), includeErrorInReport: true });
  return compared;
}

for (const dtype of ["float64", "complex128"] as const) {
  const makers: Parameters<typeof comparedIn>[2][] = [
    ...REDUCTIONS.flatMap((reduction): typeof makers => [
      (shapes) => scatterNDCase(dtype, reduction, "int64", shapes),
      (shapes) => scatterElementsCase(dtype, reduction, "int32", shapes),
    ]),
    (shapes) => gatherNDCase(dtype, "int64", shapes),
    (shapes) => gatherElementsCase(dtype, "int64", shapes),
    (shapes) => gatherCase(dtype, "int64", shapes),
    (shapes) => tensorScatterCase(dtype, shapes),
  ];
  test(`gradients of ${dtype} are limits of differences`, () => {
    let compared = 0;
    // Drawn shapes may be empty, so cases are drawn until enough parts are compared; a few seeds need several turns.
    for (let turn = 0; compared <= 1000 && turn < 20; turn++) {
      for (const [at, make] of makers.entries())
        compared += comparedIn(dtype, seedOf(`vjp ${turn} ${at}`), make);
    }
    assert.ok(compared > 1000, `only ${compared} parts were compared`);
  });
}

/** Inputs of a version by their roles: data of [3, 4], repeated indices, and updates that fit. */
function inputsOf(
  { indexForm, inputs, needsEqualAxes }: OperatorVersion,
  axis: number,
  random: Random,
): Tensor[] {
  const few = needsEqualAxes === true && axis === 1 ? [3, 2] : [2, 4];
  const forms = {
    tuples: [i64([2, 0, 2]), [3, 4]],
    elements: [i64([2, 0, 1, 2, 2, 0, 1, 2].slice(0, few[0] * few[1]), few), few],
    slices: [i64([2, 0, 2], [3]), axis === 0 ? [3, 4] : [3, 3]],
    sequences: [i64([1, 0, 2], [3]), [3, 2]],
  } as const;
  const [indices, shape] = forms[indexForm];
  const [data, updates] = untied("float64", [[3, 4], shape], random);
  const byRole = { data, indices, updates, axis: i64([axis], []) };
  return inputs.map((input) => byRole[roleOf(input)]);
}

/** The attributes of a version, once for each reduction and each value of `use_init_val`. */
function attributesOf({ attributes }: OperatorVersion, axis: number): Record<string, unknown>[] {
  let all: Record<string, unknown>[] = [{}];
  for (const { name, values, type } of attributes) {
    const isWord = name === "reduction" || name === "mode";
    const given = isWord ? values : type === "boolean" ? [true, false] : name === "axis" && [axis];
    if (given === undefined || given === false) continue;
    all = all.flatMap((one) => given.map((value) => ({ ...one, [name]: value })));
  }
  return all;
}

test("every version of every operator has gradients, in the order of its inputs", () => {
  const random = randomFrom(5);
  const names = new Set<string>();
  let calls = 0;
  const versions = operators().flatMap((version) =>
    (version.indexForm === "sequences" ? [1] : [0, 1]).map((axis) => ({ version, axis })),
  );
  for (const { version, axis } of versions) {
    for (const attributes of attributesOf(version, axis)) {
      const { name: op, domain, sinceVersion: opset } = version;
      const node: NodeSpec = { op, domain, opset, attributes };
      const inputs = inputsOf(version, axis, random);
      const [output] = run(node, inputs);
      const [gradient] = untied("float64", [output.shape], random);
      const found = vjp(node, inputs, gradient);
      const roles = version.inputs.map((input) => roleOf(input));
      assert.deepEqual(
        found.map((one) => one !== null),
        roles.map((role) => role === "data" || role === "updates"),
      );
      assertDifferences((all) => run(node, all)[0], inputs, gradient, found);
      names.add(op);
      calls++;
    }
  }
  assert.equal(names.size, new Set(operators().map(({ name }) => name)).size);
  assert.ok(calls > operators().length, `${calls} calls`);
});

const SCATTER_POLICIES = ["error", "drop", "clip"].flatMap((bounds) =>
  [true, false].map((includeSelf) => ({ bounds, includeSelf })),
);
const GATHER_POLICIES = ["error", "fill", "clip"].map((bounds) => ({ bounds }));
/** An index of an axis of size 3, outside the axis if the policies accept that. */
const beyond = ({ bounds }: { readonly bounds: string }): number => (bounds === "error" ? 1 : 9);

test("every function has gradients with every reduction and every policy", () => {
  const random = randomFrom(6);
  let calls = 0;
  const check = (
    name: FunctionSpec["function"],
    options: Record<string, unknown>,
    given: readonly Tensor[],
  ) => {
    const [data, indices, shape] = given;
    const shapes = [data.shape, ...(shape === undefined ? [] : [shape.shape])];
    const [own, updates] = untied("float64", shapes, random);
    const inputs = updates === undefined ? [own, indices] : [own, indices, updates];
    const call = (all: readonly Tensor[]) =>
      runPlain(defaultExecutor(), FUNCTIONS[name], all, options);
    const [gradient] = untied("float64", [call(inputs).shape], random);
    const found = vjp({ function: name, options }, inputs, gradient);
    assertDifferences(call, inputs, gradient, found);
    calls++;
  };
  const data = zeros("float64", [3, 2]);
  for (const policies of SCATTER_POLICIES) {
    const [tuples, elements] = [
      i64([2, -3, 2, beyond(policies)]),
      i64([2, 0, -1, beyond(policies)], [2, 2]),
    ];
    for (const reduction of REDUCTIONS) {
      const options = { reduction, ...policies };
      check("scatterND", options, [data, tuples, zeros("float64", [4, 2])]);
      check("scatterElements", options, [data, elements, zeros("float64", [2, 2])]);
    }
  }
  for (const policies of SCATTER_POLICIES) {
    const elements = i64([2, 0, -1, beyond(policies)], [2, 2]);
    check("scatter", policies, [data, elements, zeros("float64", [2, 2])]);
  }
  for (const policies of GATHER_POLICIES) {
    check("gather", policies, [data, i64([2, -3, 2, beyond(policies)], [4])]);
    check("gatherND", policies, [data, i64([2, -3, 2, beyond(policies)])]);
    check("gatherElements", policies, [data, i64([2, 0, -1, beyond(policies)], [2, 2])]);
  }
  assert.equal(calls, 2 * 6 * REDUCTIONS.length + 6 + 9);
});

test("kept plans have the gradients of the functions", () => {
  const indices = i64([1, 3, 1]);
  for (const [name, engine] of Object.entries(ENGINES)) {
    const plan = engine.planScatterND([4], indices);
    for (const reduction of REDUCTIONS) {
      const expected = vjp(
        { function: "scatterND", options: { reduction } },
        [DATA, indices, UPDATES],
        GRADIENT,
      );
      const [data, updates] = plan.scatterVjp(DATA, UPDATES, GRADIENT, { reduction });
      assert.deepEqual(lists([data, null, updates]), lists(expected), `${name}, ${reduction}`);
      const [none, alone] = plan.scatterVjp(DATA, [2, 3, 0], GRADIENT, { reduction, argnums: 1 });
      assert.deepEqual(lists([none, alone]), [null, lists(expected)[2]]);
    }
    const out = full("float64", [4], 7);
    assert.deepEqual(lists([plan.gatherVjp(f64([1, 10, 100]))]), [[0, 101, 0, 10]]);
    assert.equal(plan.gatherVjp(f64([1, 10, 100]), { out }), out);
    assert.deepEqual(lists([out as Tensor]), [[0, 101, 0, 10]]);
  }
});

test("kept plans whose batches share their offsets have gradients", () => {
  const random = randomFrom(11);
  const plan = planGather([3, 4], [2, 0, 2], { axis: 1 });
  for (const reduction of REDUCTIONS) {
    const inputs = untied("float64", [[3, 4], plan.shape], random);
    const [gradient] = untied("float64", [[3, 4]], random);
    const [data, updates] = inputs;
    const found = plan.scatterVjp(data, updates, gradient, { reduction });
    const call = (all: readonly Tensor[]) => plan.scatter(all[0], all[1], { reduction });
    assertDifferences(call, inputs, gradient, found);
  }
});

test("the gradient of a gradient is that of the scatter or gather that makes it", () => {
  const indices = i64([1, 3, 1]);
  const inputs = [DATA, indices, UPDATES];
  const [seed] = untied("float64", [[3]], randomFrom(9));
  // The gradient of updates is a gather of the output's gradient, so its own gradient is a scatter of zeros.
  for (const reduction of ["add", "none"] as const) {
    const node = { function: "scatterND", options: { reduction } } as const;
    const call = ([gradient]: readonly Tensor[]) => vjp(node, inputs, gradient)[2] as Tensor;
    const isLast = reduction === "none";
    const rows = isLast ? tensor("int64", [2, 1], [3, 1]) : indices;
    const kept = isLast ? f64([seed.data[1], seed.data[2]] as number[]) : seed;
    const [second] = vjp({ op: "GatherND", opset: 13 }, [GRADIENT, rows], kept);
    assertDifferences(call, [GRADIENT], seed, [second]);
  }
  // Of the gather: its gradient is a scatter, of which the gradient of updates is a gather.
  const gather = { op: "GatherND", opset: 13 };
  const call = ([gradient]: readonly Tensor[]) =>
    vjp(gather, [DATA, indices], gradient)[0] as Tensor;
  const add = { op: "ScatterND", opset: 18, attributes: { reduction: "add" } };
  const [, , second] = vjp(add, [zeros("float64", [4]), indices, seed], GRADIENT);
  assertDifferences(call, [seed], GRADIENT, [second]);
  assert.ok(equals(second as Tensor, run(gather, [GRADIENT, indices])[0]));
});

test("the gradient of the gradient of a sum or a replacement is the call itself, exactly", () => {
  const indices = i64([1, 3, 1]);
  const [data, updates] = [f64([1, 2, 3, 4]), f64([50, 60, 70])];
  const through = { function: "gatherND" } as const;
  for (const reduction of ["add", "none"] as const) {
    const node = { function: "scatterND", options: { reduction } } as const;
    // The gradient of data keeps the output's gradient, or replaces it with 0; that of updates gathers it.
    const kept = vjp(node, [GRADIENT, indices, zeros("float64", [3])], data)[0] as Tensor;
    const isLast = reduction === "none";
    const rows = isLast ? i64([3, 1]) : indices;
    const seeds = isLast ? f64([60, 70]) : updates;
    const gathered = vjp(through, [GRADIENT, rows], seeds)[0] as Tensor;
    const total = f64(
      [...(kept.data as Float64Array)].map((one, p) => one + Number(gathered.data[p])),
    );
    const [output] = run({ op: "ScatterND", opset: 18, attributes: { reduction } }, [
      data,
      indices,
      updates,
    ]);
    assert.ok(equals(total, output), `${reduction}: ${total}, not ${output}`);
  }
});
