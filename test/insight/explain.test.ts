/** What `explain` says of calls: stories, shapes, bad indices, summaries. `explain-agreement.test.ts` draws calls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/functions.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { printTerms } from "../../src/core/operators/shapes.ts";
import { printShape } from "../../src/core/tensor/shape.ts";
import { explain } from "../../src/insight/explain/explain.ts";
import type { DerivedShape } from "../../src/insight/explain/explanation.ts";
import { roleOf } from "../../src/core/operators/operator.ts";
import { operators, resolve } from "../../src/core/operators/registry.ts";
import { full, tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { EXPLANATIONS } from "../fixtures/explanations.ts";
import { FAILING } from "../fixtures/failing-explanations.ts";
import { checkAgreement } from "../support/agreement.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";
import { WITHOUT_V8 } from "../support/platform.ts";
import { gatherLines, list, scatterLines } from "../support/story-lines.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const operatorOf = ({ domain = "ai.onnx", op }: NodeSpec): string => `${op} of ${domain}`;

/** A shape by its terms, with ! if it does not fit, and with what was given if that differs. Its sentence is reported. */
function shapeLine({ of, terms, expected, got, fits, sentence }: DerivedShape): string {
  reportSentence("shape", sentence);
  const given = got === null || list(got) === list(expected) ? "" : `, got ${printShape(got)}`;
  return `${fits ? "" : "!"}${of}: ${printTerms(terms)}${given}`;
}

for (const { says, node, inputs, shapes, lines } of EXPLANATIONS) {
  test(`${operatorOf(node)}: ${says}`, () => {
    const explanation = explain(node, inputs);
    const { error, version, badIndices, badCount } = explanation;
    assert.deepEqual([error, badIndices, badCount], [null, [], 0]);
    assert.equal(version, resolve(node));
    assert.deepEqual(
      explanation.inputs,
      version.inputs.map((input, position) => {
        return { name: input.name, role: roleOf(input), tensor: inputs[position] ?? null };
      }),
    );
    assert.deepEqual(explanation.shapes.map(shapeLine), shapes);
    const given = new Map(explanation.inputs.map(({ name, tensor }) => [name, tensor?.shape]));
    for (const { of, fits, expected, got, terms } of explanation.shapes) {
      assert.ok(fits);
      assert.deepEqual(
        terms.flatMap(({ shape }) => shape),
        expected,
      );
      assert.deepEqual(got, given.get(of) ?? null);
    }
    const { story } = explanation;
    assert.ok(story);
    assert.deepEqual(story.kind === "scatter" ? scatterLines(story) : gatherLines(story), lines);
    checkAgreement(node, inputs, explanation);
  });
}

test("every operator has a row", () => {
  const explained = new Set(EXPLANATIONS.map(({ node }) => operatorOf(node)));
  for (const { name, domain } of operators()) {
    assert.ok(explained.has(operatorOf({ domain, op: name, opset: 1 })), `${name} of ${domain}`);
  }
});

for (const { says, node, inputs, shapes = [], bad = [] } of FAILING) {
  test(`a call that fails is explained as far as it goes: ${says}`, () => {
    const explanation = explain(node, inputs as never);
    const { error, output, story, badIndices, badCount, version } = explanation;
    assert.deepEqual(
      explanation.inputs.map(({ tensor }) => tensor),
      (version?.inputs ?? []).map((_, position) => {
        const given: unknown = Array.isArray(inputs) ? inputs[position] : undefined;
        return given instanceof Tensor ? given : null;
      }),
    );
    assert.throws(
      () => run(node, inputs as never),
      (thrown) => isTensorError(thrown) && thrown.message === error?.message,
    );
    assert.deepEqual([output, story], [null, null]);
    assert.deepEqual(explanation.shapes.map(shapeLine), shapes);
    assert.deepEqual(
      badIndices.map(
        ({ input, at, got, axis, expected }) =>
          `${input}${list(at)} = ${got}, axis ${axis} ${list(expected)}`,
      ),
      bad,
    );
    assert.equal(badCount, bad.length);
    if (isTensorError(error, "index-out-of-range")) {
      assert.equal(badIndices[0].sentence, error.message);
    }
  });
}

test("of bad indices a thousand are listed, and all are counted", () => {
  const node = onnx("GatherND", 13);
  const { badIndices, badCount } = explain(node, [
    zeros("float32", [2]),
    full("int64", [5000, 1], 2),
  ]);
  assert.deepEqual([badIndices.length, badCount], [1000, 5000]);
  assert.deepEqual(badIndices[999].at, [999, 0]);
});

test("the output after each update", () => {
  const inputs = [f32([2], [1, 2]), i64([3], [0, 1, 0]), f32([3], [4, 6, 10]), i64([], [0])];
  const afterAll = (attributes: object): unknown[] => {
    const { story } = explain(openvino("ScatterElementsUpdate", 12, attributes), inputs);
    assert.ok(story?.kind === "scatter");
    const { after } = story;
    return [-1, 0, 1, 2, 3, 9, NaN].map((count) => after(count).toArray());
  };
  const [begin, end] = [
    [1, 2],
    [5, 4],
  ];
  assert.deepEqual(afterAll({ reduction: "mean" }), [
    begin,
    begin,
    [5, 2],
    [5, 8],
    end,
    end,
    begin,
  ]);
  assert.deepEqual(afterAll({ reduction: "sum", use_init_val: false }), [
    begin,
    begin,
    [4, 2],
    [4, 6],
    [14, 6],
    [14, 6],
    begin,
  ]);
});

test("a summary names the targets that are hit most, and the rows", () => {
  const rows = [7, 1, 1, 2, 9, 9, 9, 5, -1];
  const data = zeros("float32", [12, 2]);
  const inputs = [data, i64([9, 1], rows), zeros("float32", [9, 2])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.deepEqual(story?.summary, {
    count: 9,
    targets: 6,
    repeats: 2,
    most: [
      { coordinates: [9], count: 3 },
      { coordinates: [1], count: 2 },
    ],
    rows: [
      [1, 2],
      [5, 5],
      [7, 7],
      [9, 9],
      [11, 11],
    ],
    rowRanges: 5,
    untouched: 12,
    filled: 0,
  });
  const whole = explain(onnx("ScatterND", 18), [
    data,
    zeros("int64", [1, 0]),
    zeros("float32", [1, 12, 2]),
  ]);
  assert.deepEqual(whole.story?.summary.rows, [[0, 11]]);
  const nothing = explain(onnx("ScatterND", 18), [
    data,
    zeros("int64", [0, 1]),
    zeros("float32", [0, 2]),
  ]);
  assert.deepEqual(nothing.story?.summary.rows, []);
});

test("empty slices have no story", () => {
  const inputs = [zeros("float32", [2, 0]), i64([2, 1], [0, 0]), zeros("float32", [2, 0])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.deepEqual([story?.summary.count, story?.targets.length], [0, 0]);
});

test("what is outside is refused or null", () => {
  const inputs = [zeros("float32", [2, 2]), i64([1, 2], [0, 1]), zeros("float32", [1])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.ok(story?.kind === "scatter");
  for (const cell of [[0, 2], [-1, 0], [0], [0, 0.5], 7 as never]) {
    const code = Array.isArray(cell) && cell.length === 2 ? "index-out-of-range" : "rank";
    assertRefused(code, {}, () => story.cell(cell));
  }
  for (const target of [[0, 0], [0, 2], [1]]) assert.equal(story.target(target), null);
  assert.deepEqual(story.target([0, 1])?.count, 1);
  assert.deepEqual([story.updates.at(1), story.updates.at(-1)?.order], [undefined, 0]);
});

test("slices of data that a gather does not read, and elements outside the output", () => {
  const inputs = [f32([3, 2], [1, 2, 3, 4, 5, 6]), i64([3], [2, -3, 2])];
  const { story } = explain(onnx("Gather", 13), inputs);
  assert.ok(story?.kind === "gather");
  for (const target of [[1], [3], [-1], [0, 0]]) assert.equal(story.target(target), null);
  const [twice, once] = [story.target([2]), story.target([0])];
  assert.deepEqual([twice?.count, once?.count], [2, 1]);
  assert.deepEqual(
    Array.from(twice?.reads() ?? [], ({ at }) => at),
    [[0], [2]],
  );
  for (const cell of [[3, 0], [0, 2], [0]]) {
    const code = cell.length === 2 ? "index-out-of-range" : "rank";
    assertRefused(code, { op: "Gather" }, () => story.cell(cell));
  }
  const { coordinates, value, source, index } = story.cell([1, 1]);
  assert.deepEqual([coordinates, value, source], [[1, 1], 2, [0, 1]]);
  assert.deepEqual(index, { at: [1], given: [-3], axes: [0], places: [0] });
});

test("slices of 0 for indices out of range are counted by element", () => {
  const inputs = [f32([2, 2], [1, 2, 3, 4]), i64([4], [5, 1, -3, 1]), i64([], [0])];
  const { story } = explain(openvino("Gather", 8), inputs);
  assert.ok(story?.kind === "gather");
  const { count, targets, repeats, untouched, filled, most } = story.summary;
  assert.deepEqual([count, targets, repeats, untouched, filled], [4, 1, 1, 2, 4]);
  assert.deepEqual(most, [{ coordinates: [1], count: 2 }]);
  assert.deepEqual(story.reads.at(2), {
    at: [2],
    index: { at: [2], given: [-3], axes: [0], places: null },
    target: null,
  });
  assert.equal(story.cell([0, 1]).source, null);
});

test("a step shows the update and the values around it", () => {
  const inputs = [f32([2, 2], [1, 2, 3, 4]), i64([2, 1], [1, 1]), f32([2, 2], [5, 6, 7, 8])];
  const { story } = explain(onnx("ScatterND", 18, { reduction: "mul" }), inputs);
  assert.ok(story?.kind === "scatter");
  const steps = Array.from(story.cell([1, 1]).steps());
  const index = (at: number) => ({ at: [at], given: [1], axes: [0], places: [1] });
  assert.deepEqual(steps, [
    {
      kind: "update",
      by: "mul",
      order: 0,
      at: [0, 1],
      index: index(0),
      before: 4,
      update: 6,
      after: 24,
    },
    {
      kind: "update",
      by: "mul",
      order: 1,
      at: [1, 1],
      index: index(1),
      before: 24,
      update: 8,
      after: 192,
    },
  ]);
  const [target] = story.targets;
  const [first] = target.steps();
  assert.ok(first.kind === "update");
  const { before, update, after } = first;
  assert.deepEqual(
    [before, update, after].map((slice) => slice.toArray()),
    [
      [3, 4],
      [5, 6],
      [15, 24],
    ],
  );
  assert.deepEqual([story.reduction, story.includeSelf, story.addressed], ["mul", true, 1]);
});

test("a million updates are explained without an object for each", () => {
  const count = 1_000_000;
  const indices = new BigInt64Array(count);
  for (let p = 0; p < count; p++) indices[p] = BigInt((p * 7919) % 100_003);
  const inputs = [
    zeros("float32", [200_000]),
    tensor("int64", [count, 1], indices),
    full("float32", [count], 1),
  ];
  const heap = (): number => (WITHOUT_V8 === false ? process.memoryUsage().heapUsed : 0);
  // Garbage of earlier work counts until it is collected, so the least growth counts. Each story is kept: freeing it
  // would hide the growth of the next.
  const stories = Array.from({ length: 4 }, () => {
    const before = heap();
    const { story } = explain(onnx("ScatterND", 18, { reduction: "add" }), inputs);
    return { story, growth: heap() - before };
  });
  const growths = stories.map(({ growth }) => growth);
  assert.ok(Math.min(...growths) < 16_000_000, `typed arrays lie outside the heap: ${growths}`);
  const [{ story }] = stories;
  assert.ok(story?.kind === "scatter");
  const { summary } = story;
  assert.deepEqual(
    [summary.count, summary.targets, summary.repeats, summary.untouched],
    [count, 100_003, 100_003, 99_997],
  );
  // 7919 and 100003 are prime: 10^6 = 9 * 100003 + 99973, so that but 30 targets are hit a tenth time.
  assert.deepEqual([summary.rows, summary.most[0].count], [[[0, 100_002]], 10]);
  const cell = story.cell([7919]);
  assert.deepEqual([cell.count, cell.value], [10, 10]);
  const orders = Array.from(cell.steps(), (step) => step.kind === "update" && step.order);
  assert.deepEqual(
    orders,
    Array.from({ length: 10 }, (_, i) => 1 + i * 100_003),
  );
});
