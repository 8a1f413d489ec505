/** What is found of a node through the types of the operators around it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  buildModel,
  convertModel,
  inspectModel,
  type AttributeInput,
  type Model,
  type ModelNodeSpec,
} from "../../src/entries/onnx.ts";
import type { TensorType } from "../../src/core/operators/operator.ts";
import { BOOL, F32, I64, i64 } from "../support/node-models.ts";
import { assertRefused } from "../support/refusal.ts";

type Attributes = Readonly<Record<string, AttributeInput>>;

/** `Gather x i -> y` */
function node(text: string, attributes: Attributes = {}): ModelNodeSpec {
  const [op, ...names] = text.split(" ");
  const arrow = names.indexOf("->");
  const [inputs, outputs] = [names.slice(0, arrow), names.slice(arrow + 1)];
  const domain = op === "Unknown" ? "com.example" : "";
  return { op, domain, name: outputs[0], inputs, outputs, attributes };
}

type Types = Readonly<Record<string, TensorType>>;

/** Constants: `one` is [1], `four` the number 4, `minus` [-1], `flat` [-1, 4], `tuple` [[7]]. */
function modelOf(inputs: Types, nodes: readonly ModelNodeSpec[], values: Types = {}): Model {
  const model = buildModel({
    opsets: { "": 13, "com.example": 1 },
    inputs,
    constants: {
      one: i64([1], 1),
      four: i64([], 4),
      minus: i64([1], -1),
      zero: i64([1], 0),
      flat: i64([2], -1, 4),
      tuple: i64([1, 1], 7),
    },
    nodes,
    outputs: Object.fromEntries((nodes.at(-1)?.outputs ?? []).map((name) => [name, null])),
  });
  model.graph.values = Object.entries(values).map(([name, type]) => ({ name, type }));
  return model;
}

const findingsOf = (model: Model): string[] =>
  inspectModel(model).nodes.flatMap(({ name, findings }) =>
    findings.map(({ id, severity }) => `${name} ${id} ${severity}`),
  );

/** The shape of x, of which the second dimension is taken, joined with -1 and used to reshape x. */
const FOLLOWED = [
  node("Shape x -> shape"),
  node("Gather shape index -> dim"),
  node("Unsqueeze dim zero -> list"),
  node("Concat minus list -> target", { axis: 0 }),
  node("Reshape x target -> v"),
];
const INDEX = node("Constant -> index", { value_int: 1 });

const ROWS: readonly (readonly [name: string, model: Model, found: readonly string[]])[] = [
  [
    "indices that are cast to int32",
    modelOf({ x: F32(8, 4), i: I64(1, 1), u: F32(1, 4) }, [
      node("Cast i -> cast", { to: 6 }),
      node("ScatterND x cast u -> z"),
    ]),
    ["z index-type-not-taken wrong"],
  ],
  [
    "a dimension that a shape does not have",
    modelOf({ x: F32(1, 2, 3, 4) }, [node("Shape x -> shape"), node("Gather shape four -> z")]),
    ["z index-out-of-range wrong"],
  ],
  [
    "nor the shape of what two more nodes make",
    modelOf({ x: F32("N", 2, 3, 4) }, [
      node("Relu x -> relu"),
      node("Transpose relu -> turned"),
      node("Shape turned -> shape"),
      node("Gather shape four -> z"),
    ]),
    ["z index-out-of-range wrong"],
  ],
  [
    "updates of a wrong shape behind Relu",
    modelOf({ x: F32(8, 4), u: F32(1, 5) }, [
      node("Relu u -> v"),
      node("ScatterND x tuple v -> z"),
    ]),
    ["z shape-does-not-fit wrong"],
  ],
  [
    "an index outside of what a shape that is followed makes",
    modelOf({ x: F32(5, 4) }, [INDEX, ...FOLLOWED, node("GatherND v tuple -> z")]),
    ["z index-out-of-range wrong"],
  ],
  [
    "but not where a dimension has a name",
    modelOf({ x: F32("N", 4) }, [INDEX, ...FOLLOWED, node("GatherND v tuple -> z")]),
    [],
  ],
  [
    "a shape that is only declared makes what is followed risky",
    modelOf(
      { y: F32(5, 4) },
      [INDEX, node("Unknown y -> x"), ...FOLLOWED, node("GatherND v tuple -> z")],
      { x: F32(5, 4) },
    ),
    ["z index-out-of-range risky"],
  ],
  [
    "indices that follow from a shape are looked at",
    modelOf({ x: F32(5, 9) }, [INDEX, ...FOLLOWED.slice(0, 3), node("Gather x list -> z")]),
    ["z index-out-of-range wrong"],
  ],
  [
    "what follows from the certain part of a type is certain",
    modelOf(
      { x: F32("N", 4), data: F32(3) },
      [
        node("Relu x -> v"),
        node("Shape v -> shape"),
        node("Gather shape one -> size"),
        node("Gather data size -> z"),
      ],
      { v: F32(5, 4) },
    ),
    ["z index-out-of-range wrong"],
  ],
  [
    "of what a wrong node makes nothing is known",
    modelOf({ x: F32(5, 4), u: F32(3) }, [node("Add x u -> v"), node("GatherND v tuple -> z")]),
    [],
  ],
];

for (const [name, model, found] of ROWS) {
  test(name, () => assert.deepEqual(findingsOf(model), found));
}

test("names of dimensions are followed through the arithmetic of shapes", () => {
  const nodes = [INDEX, ...FOLLOWED, node("GatherND v tuple -> z")];
  const report = inspectModel(modelOf({ x: F32("N", "C", 4) }, nodes));
  const { inputs } = report.nodes[1];
  assert.deepEqual(inputs[0].type, F32(null, "C"));
});

test("what declared types make a constant is none for a conversion", () => {
  const nodes = [
    INDEX,
    ...FOLLOWED.slice(0, 2),
    node("Sub dim dim9 -> less"),
    node("Gather data less -> z"),
  ];
  const made = (inputs: Types, before: readonly ModelNodeSpec[], values: Types = {}): Model => {
    const model = modelOf({ data: F32(9), ...inputs }, [...before, ...nodes], values);
    model.graph.nodes.splice(0, 0, node9);
    return model;
  };
  const [node9] = modelOf({}, [node("Constant -> dim9", { value_int: 9 })]).graph.nodes;
  // The index is 4 - 9, which Gather takes since version 11.
  const certain = convertModel(made({ x: F32(5, 4) }, []), { opset: 10 });
  assert.deepEqual(
    certain.model.graph.constants.find((one) => one.name.startsWith("less"))?.read().data,
    new BigInt64Array([4n]),
  );
  const declared = made({ y: F32(5, 4) }, [node("Unknown y -> x")], { x: F32(5, 4) });
  assertRefused("unsupported-model", {}, () => convertModel(declared, { opset: 10 }));
});

/** An `If` that makes z of the outputs of its branches. */
function branching(some: readonly ModelNodeSpec[], others: readonly ModelNodeSpec[]): Model {
  const model = modelOf({ choice: BOOL(), x: F32(5, 4) }, [
    node("If choice -> v"),
    node("GatherND v tuple -> z"),
  ]);
  const graphs = [some, others].map((nodes) => modelOf({}, nodes).graph);
  for (const [at, name] of ["then_branch", "else_branch"].entries()) {
    model.graph.nodes[0].attributes[name] = { type: "other", value: "GRAPH", graphs: [graphs[at]] };
  }
  return model;
}

test("of an If is known in what its branches agree", () => {
  const relu = [node("Relu x -> a")];
  const wide = [node("Concat x x -> b", { axis: 1 })];
  const long = [node("Concat x x -> b", { axis: 0 })];
  const cast = [node("Cast x -> b", { to: 7 })];
  const typeOf = (model: Model): unknown => inspectModel(model).nodes[0].inputs[0].type;
  assert.deepEqual(typeOf(branching(relu, relu)), F32(5, 4));
  assert.deepEqual(findingsOf(branching(relu, relu)), ["z index-out-of-range wrong"]);
  assert.deepEqual(typeOf(branching(relu, wide)), F32(5, null));
  assert.deepEqual(findingsOf(branching(relu, wide)), ["z index-out-of-range wrong"]);
  assert.deepEqual(typeOf(branching(relu, long)), F32(null, 4));
  assert.deepEqual(findingsOf(branching(relu, long)), []);
  assert.equal(typeOf(branching(relu, cast)), null);
  assert.equal(typeOf(branching(relu, [node("Unknown x -> b")])), null);
  const nested = branching(relu, relu).graph.nodes[0];
  const model = branching(relu, relu);
  model.graph.nodes[0].attributes["else_branch"] = {
    type: "other",
    value: "GRAPH",
    graphs: [{ ...modelOf({}, []).graph, nodes: [nested], outputs: [{ name: "v", type: null }] }],
  };
  assert.deepEqual(typeOf(model), F32(5, 4));
});
