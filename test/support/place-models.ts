/** ONNX files with nodes of the family in bodies and functions, put together by hand. */

import { bytes, file, int, text, type Bytes } from "../onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  dim,
  FUNCTION,
  GRAPH,
  head,
  initializer,
  MODEL,
  NODE,
  nodeMessage,
  opset,
  tensorType,
  TENSOR,
  valueInfo,
} from "./onnx-parts.ts";
import { layer, net } from "./ir.ts";

const FLOAT = 1;
const INT64 = 7;

/** A node by its operator, its inputs, what it makes and its name. */
const node = (
  op: string,
  inputs: readonly string[],
  output: string,
  name = "",
  ...parts: readonly Bytes[]
): Bytes =>
  nodeMessage(
    op,
    ...inputs.map((one) => text(NODE.input, one)),
    text(NODE.output, output),
    name === "" ? [] : text(NODE.name, name),
    ...parts,
  );

/** A graph of nodes whose last value is its output. */
const graph = (name: string, output: string, ...nodes: readonly Bytes[]): Bytes => [
  ...nodes.flatMap((one) => bytes(GRAPH.node, one)),
  ...text(GRAPH.name, name),
  ...bytes(GRAPH.output, valueInfo(output)),
];

const body = (name: string, inside: Bytes): Bytes =>
  attribute(name, "GRAPH", bytes(ATTRIBUTE.g, inside));

/** A constant of int64 as a part of a graph. */
const indices = (name: string, ...values: readonly number[]): Bytes =>
  initializer(
    head("int64", values.length, 1),
    text(TENSOR.name, name),
    values.flatMap((one) => int(TENSOR.int64Data, one)),
  );

const branches = (then: Bytes, otherwise: Bytes): readonly Bytes[] => [
  body("then_branch", then),
  body("else_branch", otherwise),
];

/** Index 1 from the model, index 0 from a graph of its own, and an index that a Constant around both makes. */
const DEEP = graph(
  "deep",
  "d3",
  node("GatherND", ["x", "i"], "d1", "outer index"),
  node("GatherND", ["x", "made"], "d2", "made index"),
  node("GatherND", ["x", "hidden"], "d3", "inner index"),
).concat(indices("hidden", 0));

const THEN = graph(
  "then graph",
  "t2",
  node("GatherND", ["x", "i"], "t1", "take"),
  node("Constant", [], "made", "", attribute("value_ints", "INTS", int(ATTRIBUTE.ints, 2))),
  node(
    "If",
    ["c"],
    "t2",
    "again",
    ...branches(DEEP, graph("plain", "p", node("Relu", ["x"], "p"))),
  ),
);

const LOOP = graph("loop graph", "l", node("GatherND", ["carried", "i"], "l")).concat(
  bytes(GRAPH.input, valueInfo("carried")),
  bytes(GRAPH.input, valueInfo("i")),
);

/** A function of the domain `d` whose Gather has the axis that the caller decides. */
const FUNCTION_F: Bytes = [
  ...text(FUNCTION.name, "F"),
  ...["X", "I"].flatMap((one) => text(FUNCTION.input, one)),
  ...text(FUNCTION.output, "Y"),
  ...bytes(FUNCTION.node, node("GatherND", ["X", "I"], "q", "first")),
  ...bytes(
    FUNCTION.node,
    node(
      "Gather",
      ["q", "I"],
      "Y",
      "second",
      attribute("axis", "INT", text(ATTRIBUTE.refAttrName, "where")),
    ),
  ),
  ...opset(13, undefined, FUNCTION.opsetImport),
  ...text(FUNCTION.domain, "d"),
];

/**
 * A model of opset 18: an If `choose` with a node `take` in each branch and three nodes in an If in it, a Loop, a
 * function of opset 13, and beside them a node `own`. `hidden` is index 3 to all but the innermost graph.
 */
export const placesFile = (): Uint8Array =>
  file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "y",
        node(
          "If",
          ["c"],
          "y",
          "choose",
          ...branches(THEN, graph("else", "e", node("GatherND", ["x", "i"], "e", "take"))),
        ),
        node("Loop", ["n", "c", "x"], "looped", "", body("body", LOOP)),
        node("F", ["x", "i"], "called", "call", text(NODE.domain, "d")),
        node("GatherND", ["x", "hidden"], "o", "own"),
      ),
      ...indices("i", 1),
      ...indices("hidden", 3),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim("N"), dim(2)))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
      ...bytes(GRAPH.input, valueInfo("n", tensorType(INT64))),
    ]),
    opset(18),
    opset(1, "d"),
    bytes(MODEL.functions, FUNCTION_F),
  );

/** Two nodes of one name with a body each, which an index must tell apart. */
export const twinsFile = (): Uint8Array => {
  const twin = (output: string): Bytes => {
    const inside = graph("g", `${output}1`, node("GatherND", ["x", "i"], `${output}1`, "take"));
    return node("If", ["c"], output, "twin", ...branches(inside, inside));
  };
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, graph("main", "b", twin("a"), twin("b"))),
    opset(18),
  );
};

/** A node `inmost` in the last of `depth` bodies, each in the one before. */
export function deepFile(depth: number): Uint8Array {
  let inside = graph("inmost", "y", node("GatherND", ["x", "i"], "y", "inmost"));
  for (let level = depth; level > 0; level--) {
    inside = graph(
      "g",
      `y${level}`,
      node("If", ["c"], `y${level}`, "", body("then_branch", inside)),
    );
  }
  const inputs = [...bytes(GRAPH.input, valueInfo("x")), ...indices("i", 1)];
  return file(int(MODEL.irVersion, 8), bytes(MODEL.graph, [...inside, ...inputs]), opset(18));
}

/** An IR with the layers of a net in the body of a TensorIterator. */
export const iteratorNet = (inner: string): string =>
  net(
    [
      layer(0, {
        type: "TensorIterator",
        name: "loop",
        outputs: ["FP32 4"],
        parts: `<port_map/><body>${/<layers>[^]*<\/edges>/.exec(inner)?.[0] ?? ""}</body>`,
      }),
    ],
    [],
  );

/** A model whose Loop turns x round by `turn`, a Gather with the outer indices 1, 2, 0, in each iteration. */
export const loopFile = (): Uint8Array => {
  const inside = [
    ...graph(
      "body",
      "again",
      node("Identity", ["go"], "again"),
      node("Gather", ["state", "perm"], "turned", "turn"),
    ),
    ...bytes(GRAPH.output, valueInfo("turned")),
    ...["at", "go", "state"].flatMap((name) => bytes(GRAPH.input, valueInfo(name))),
  ];
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph("main", "y", node("Loop", ["n", "c", "x"], "y", "loop", body("body", inside))),
      ...initializer(
        head("int64", 3),
        text(TENSOR.name, "perm"),
        [1, 2, 0].flatMap((one) => int(TENSOR.int64Data, one)),
      ),
      ...bytes(GRAPH.input, valueInfo("n", tensorType(INT64))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(3)))),
    ]),
    opset(18),
  );
};
