/** Mistakes that exporters spread over several nodes, and right models that look like them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  inspectModel,
  type FindingId,
  type Model,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { F32, f32, I64, i64, onnxModel } from "../support/node-models.ts";
import { reportSentence } from "../support/sentences.ts";

type Attributes = NonNullable<ModelSpec["nodes"][number]["attributes"]>;

/** `Add a b -> y` */
function node(text: string, attributes: Attributes = {}): ModelSpec["nodes"][number] {
  const [op, ...names] = text.split(" ");
  const arrow = names.indexOf("->");
  const [inputs, outputs] = [names.slice(0, arrow), names.slice(arrow + 1)];
  return { op, name: outputs[0], inputs, outputs, attributes };
}

const modelOf = (
  nodes: readonly ModelSpec["nodes"][number][],
  more: Readonly<Record<string, ReturnType<typeof i64>>> = {},
): Model =>
  onnxModel(16, {
    inputs: { x: F32(4, 3), i: I64(2, 1), e: I64(2, 3), a: I64(2), b: I64(2), u: F32(2, 3) },
    constants: {
      shape: i64([2], 4, 3),
      flat: i64([1], -1),
      none: f32([], 0),
      columns: i64([], 3),
      zeros: f32([4, 3], ...Array<number>(12).fill(0)),
      ...more,
    },
    nodes,
    outputs: { y: null },
  });

const ZEROS = [node("Shape x -> s"), node("ConstantOfShape s -> z")];
const ONES = node("ConstantOfShape s -> z", { value: tensor("float32", [1], [1]) });
const SUM = { reduction: "add" };
const TWICE = { i: i64([2, 1], 1, 1) };
const FLAT = [
  node("Transpose x -> t", { perm: [0, 1] }),
  node("Flatten t -> f", { axis: 2 }),
  node("Mul a columns -> m"),
];

// prettier-ignore
const ROWS: readonly (readonly [title: string, ids: readonly FindingId[], nodes: readonly ModelSpec["nodes"][number][], more?: Parameters<typeof modelOf>[1]])[] = [
  ["index_put(accumulate=True)", ["repeats-lost"], [...ZEROS, node("ScatterND z i u -> p"), node("Add x p -> y")]],
  ["scatter_add before opset 16", ["repeats-lost"],
    [node("ScatterElements zeros e u -> p"), node("Add p x -> y")]],
  ["zeros that are expanded", ["repeats-lost"],
    [node("Expand none shape -> z"), node("ScatterND z i u -> p"), node("Add x p -> y")]],
  ["indices that repeat", ["repeated-target", "repeats-lost"],
    [node("ScatterND zeros two u -> p"), node("Add x p -> y")], { two: TWICE.i }],
  ["constant indices without repeats", [], [node("ScatterND zeros two u -> p"), node("Add x p -> y")],
    { two: i64([2, 1], 0, 1) }],
  ["a sum", ["may-race"], [...ZEROS, node("ScatterND z i u -> p", SUM), node("Add x p -> y")]],
  ["ones", [], [ZEROS[0], ONES, node("ScatterND z i u -> p"), node("Add x p -> y")]],
  ["data that is not zero", [], [node("ScatterND x i u -> p"), node("Add x p -> y")]],
  ["a product", [], [...ZEROS, node("ScatterND z i u -> p"), node("Mul x p -> y")]],
  ["positions of a mask", [],
    [...ZEROS, node("NonZero a -> n"), node("Transpose n -> k", { perm: [1, 0] }), node("ScatterND z k u -> p"),
      node("Add x p -> y")]],

  ["scatter_reduce(mean, include_self=False)", ["mean-lost"],
    [node("Shape u -> us"), node("Expand none us -> w"), node("ScatterElements x e w -> p"),
      node("ScatterElements p e u -> y")]],
  ["a sum without data", [],
    [node("Shape u -> us"), node("Expand none us -> w"), node("ScatterElements x e w -> p"),
      node("ScatterElements p e u -> y", SUM)]],
  ["two scatters of updates", [], [node("ScatterElements x e u -> p"), node("ScatterElements p e u -> y")]],
  ["two scatters along two axes", [],
    [node("Shape u -> us"), node("Expand none us -> w"), node("ScatterElements x e w -> p", { axis: 1 }),
      node("ScatterElements p e u -> y")]],

  ["x[a, b]", ["indices-flattened"], [...FLAT, node("Add b m -> o"), node("Gather f o -> y")]],
  ["x[a, b] in another order", ["indices-flattened"],
    [...FLAT.slice(2), node("Reshape x flat -> f"), node("Add m b -> o"), node("Gather f o -> y")]],
  ["x[a, b] with indices counted from the front", [],
    [...FLAT, node("Less b shape -> l"), node("Add b columns -> c"), node("Where l c b -> w"), node("Add w m -> o"),
      node("Gather f o -> y")]],
  ["x[a, the greatest]", [],
    [...FLAT, node("ArgMax u -> g", { axis: 1, keepdims: 0 }), node("Add g m -> o"), node("Gather f o -> y")]],
  ["offsets of rows", [], [...FLAT.slice(0, 2), node("Add a columns -> o"), node("Gather f o -> y")]],
  ["a gather of rows that are not flat", [], [FLAT[2], node("Add b m -> o"), node("Gather x o -> y")]],
];

for (const [title, ids, nodes, more] of ROWS) {
  test(`patterns: ${title}`, () => {
    const found = inspectModel(modelOf(nodes, more)).nodes.flatMap(({ findings }) => findings);
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
    );
    for (const { id, severity, sentence } of found) {
      if (id === "may-race" || id === "repeated-target") continue;
      assert.equal(severity, "risky");
      reportSentence(`finding ${id}`, sentence);
    }
  });
}

test("patterns: nodes that depend on each other are followed to an end", () => {
  const nodes = [
    node("Add p o -> o"),
    node("Add o o -> p"),
    node("Flatten f -> f"),
    node("Gather f o -> y"),
    node("ScatterND f o f -> f"),
  ];
  assert.equal(inspectModel(modelOf(nodes)).nodes.length, 2);
});
