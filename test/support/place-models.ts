/** ONNX files with scatters and gathers in bodies and functions, assembled by hand. */

import { bytes, file, int, text, type Bytes } from "./onnx-encoder.ts";
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

/** A node by its operator, its inputs, its output and its name. */
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

/** Index 1 from the model, index 0 from its own graph, and an index from a Constant in the graph around both. */
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

/** A function of the domain `d` whose Gather gets its axis from the caller. */
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
 * A model of opset 18: an If `choose` with a node `take` in each branch and three nodes in an inner If, a Loop, a
 * function of opset 13, and a node `own` beside them. `hidden` is index 3 in all graphs except the innermost.
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

/** Two nodes of the same name with a body each, distinguishable only by an index. */
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

/** A node `inmost` in the last of `depth` nested bodies. */
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

/** A Loop that rotates x by `turn`, a Gather with the outer indices 1, 2, 0, in each iteration. */
const TURNING = node(
  "Loop",
  ["n", "c", "x"],
  "y",
  "loop",
  body("body", [
    ...graph(
      "body",
      "again",
      node("Identity", ["go"], "again"),
      node("Gather", ["state", "perm"], "turned", "turn"),
    ),
    ...bytes(GRAPH.output, valueInfo("turned")),
    ...["at", "go", "state"].flatMap((name) => bytes(GRAPH.input, valueInfo(name))),
  ]),
);

const withTurns = (main: Bytes): Uint8Array =>
  file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...main,
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

/** A model that is a Loop: {@link TURNING}. */
export const loopFile = (): Uint8Array => withTurns(graph("main", "y", TURNING));

/** A model with the Loop in the If branch for a false `c`, and a Gather `own` beside the If. */
export const loopInBranchFile = (): Uint8Array => {
  const then = graph("then", "t", node("Identity", ["x"], "t"));
  const choose = node("If", ["c"], "z", "if", ...branches(then, graph("else", "y", TURNING)));
  return withTurns(graph("main", "o", choose, node("Gather", ["x", "perm"], "o", "own")));
};

/** An attribute that refers to an attribute of the function's call. */
const reference = (name: string, from: string): Bytes =>
  attribute(name, "INT", text(ATTRIBUTE.refAttrName, from));

const integer = (name: string, value: number): Bytes =>
  attribute(name, "INT", int(ATTRIBUTE.i, value));

/** A function of the domain `d`; the last value of its nodes is its output. */
const functionOf = (
  name: string,
  inputs: readonly string[],
  output: string,
  nodes: readonly Bytes[],
  ...more: readonly Bytes[]
): Bytes =>
  bytes(MODEL.functions, [
    ...text(FUNCTION.name, name),
    ...inputs.flatMap((one) => text(FUNCTION.input, one)),
    ...text(FUNCTION.output, output),
    ...nodes.flatMap((one) => bytes(FUNCTION.node, one)),
    ...opset(13, undefined, FUNCTION.opsetImport),
    ...opset(1, "d", FUNCTION.opsetImport),
    // The last import of a domain counts.
    ...more.flat(),
    ...text(FUNCTION.domain, "d"),
  ]);

/**
 * A model of `x` [2, 3] with functions that gather: `Take` along the axis `where` of its call, `Column` along axis 1,
 * the default of `where`; `Twice` calls `Column`; nothing calls `Alone`, and only `Never` calls itself, which runtimes
 * refuse. The first call of `Take` is in a branch.
 */
export const functionsFile = (hasNever = true): Uint8Array => {
  const call = (op: string, from: string, to: string, ...more: readonly Bytes[]): Bytes =>
    node(op, [from, "i"], to, "", text(NODE.domain, "d"), ...more);
  const inner = graph("then", "t", call("Take", "x", "t", integer("where", 1)));
  const outer = graph("else", "e", node("Identity", ["x"], "e"));
  const gather = node("Gather", ["X", "I"], "Y", "take", reference("axis", "where"));
  // The calls omit the third input.
  const take = functionOf("Take", ["X", "I", "unused"], "Y", [gather]);
  const column = functionOf(
    "Column",
    ["X", "I"],
    "Y",
    [gather],
    bytes(FUNCTION.attributeProto, [
      ...text(ATTRIBUTE.name, "where"),
      ...int(ATTRIBUTE.i, 1),
      ...int(ATTRIBUTE.type, 2),
    ]),
  );
  const twice = functionOf("Twice", ["x", "i"], "z", [
    call("Column", "x", "y"),
    node("Gather", ["y", "i"], "z", "again"),
  ]);
  const never = functionOf("Never", ["x", "i"], "y", [
    call("Never", "x", "r"),
    node("Gather", ["r", "i"], "y", "never"),
  ]);
  const alone = functionOf("Alone", ["x", "i"], "y", [node("Gather", ["x", "i"], "y", "alone")]);
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "b",
        node("If", ["c"], "a", "choose", ...branches(inner, outer)),
        call("Take", "x", "b", integer("where", 0)),
        call("Twice", "x", "twice"),
      ),
      ...indices("i", 1),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(2), dim(3)))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
    ]),
    opset(18),
    opset(1, "d"),
    take,
    column,
    twice,
    alone,
    hasNever ? never : [],
  );
};

/** A model that calls `Outer` of x, then of z; `Outer` calls `Inner`, where `take` gathers row 1. */
export const twoCallsFile = (): Uint8Array => {
  const call = (op: string, from: string, to: string): Bytes =>
    node(op, [from, "i"], to, "", text(NODE.domain, "d"));
  const type = tensorType(FLOAT, dim(2), dim(3));
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph("main", "b", call("Outer", "x", "a"), call("Outer", "z", "b")),
      ...indices("i", 1),
      ...bytes(GRAPH.input, valueInfo("x", type)),
      ...bytes(GRAPH.input, valueInfo("z", type)),
    ]),
    opset(18),
    opset(1, "d"),
    functionOf("Inner", ["x", "i"], "y", [node("Gather", ["x", "i"], "y", "take")]),
    functionOf("Outer", ["x", "i"], "z", [call("Inner", "x", "z")]),
  );
};

/**
 * A model that calls `Outer` of x with the axis 0, then of z with the axis 1. In the branch of `Outer` chosen by `c`,
 * `take` gathers row or column 1, and a call of `Inner`, the only one, gathers row 1.
 */
export const branchInFunctionFile = (): Uint8Array => {
  const call = (op: string, inputs: readonly string[], to: string, ...more: Bytes[]): Bytes =>
    node(op, inputs, to, "", text(NODE.domain, "d"), ...more);
  const then = graph(
    "then",
    "t",
    call("Inner", ["x", "i"], "inner"),
    node("Gather", ["x", "i"], "t", "take", reference("axis", "where")),
  );
  const otherwise = graph("else", "e", node("Identity", ["x"], "e"));
  const type = tensorType(FLOAT, dim(2), dim(3));
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "b",
        call("Outer", ["x", "i", "c"], "a", integer("where", 0)),
        call("Outer", ["z", "i", "c"], "b", integer("where", 1)),
      ),
      ...indices("i", 1),
      ...bytes(GRAPH.input, valueInfo("x", type)),
      ...bytes(GRAPH.input, valueInfo("z", type)),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
    ]),
    opset(18),
    opset(1, "d"),
    functionOf("Inner", ["x", "i"], "y", [node("Gather", ["x", "i"], "y", "row")]),
    functionOf("Outer", ["x", "i", "c"], "z", [
      node("If", ["c"], "z", "if", ...branches(then, otherwise)),
    ]),
  );
};

/**
 * A model whose branches make `a` and `b`, from which `first` and `second` gather element 1. `b` gathers element 9 of x
 * first, which fails.
 */
export const failingBranchFile = (): Uint8Array => {
  const plain = graph("plain", "p", node("Identity", ["x"], "p"));
  const failing = graph("failing", "f", node("Gather", ["x", "far"], "f", "in branch"));
  const choose = (output: string, then: Bytes): Bytes =>
    node("If", ["c"], output, `if ${output}`, ...branches(then, plain));
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "second",
        choose("a", plain),
        choose("b", failing),
        node("Gather", ["a", "i"], "first", "first"),
        node("Gather", ["b", "i"], "second", "second"),
      ),
      ...indices("i", 1),
      ...indices("far", 9),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(3)))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
    ]),
    opset(18),
  );
};

/**
 * A Scan over the columns of x [2, 3], last column first, whose state is rotated by `turn` in each iteration.
 * @param isPlain true for a Scan over the rows in their order, which needs no attribute
 */
export const scanFile = (version = 18, isPlain = false): Uint8Array => {
  const inside = [
    ...graph(
      "body",
      "turned",
      node("Gather", ["state", "perm"], "turned", "turn"),
      node("Gather", ["column", "perm"], "picked", "pick"),
    ),
    ...bytes(GRAPH.output, valueInfo("picked")),
    ...["state", "column"].flatMap((name) => bytes(GRAPH.input, valueInfo(name))),
  ];
  const list = (name: string, value: number): Bytes =>
    attribute(name, "INTS", int(ATTRIBUTE.ints, value));
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "last",
        node(
          "Scan",
          ["s", "x"],
          "last",
          "scan",
          body("body", inside),
          integer("num_scan_inputs", 1),
          ...(isPlain ? [] : [list("scan_input_axes", 1), list("scan_input_directions", 1)]),
        ),
      ),
      ...initializer(
        head("int64", 2),
        text(TENSOR.name, "perm"),
        [1, 0].flatMap((one) => int(TENSOR.int64Data, one)),
      ),
      ...bytes(GRAPH.input, valueInfo("s", tensorType(FLOAT, dim(2)))),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(2), dim(3)))),
    ]),
    opset(version),
  );
};

/**
 * A Loop over x [4] whose body reuses names of the graph around it: the constant `n` is the number of iterations
 * outside and the indices 1, 0, 3, 2 inside, where `take` gathers by them. `take` in the branch has its own constant
 * `c`, too. `late` gathers element 7 of the Loop's result.
 */
export const shadowsFile = (number = valueInfo("at")): Uint8Array => {
  const own = (name: string, ...values: readonly number[]): Bytes =>
    initializer(
      head("int64", values.length),
      text(TENSOR.name, name),
      values.flatMap((one) => int(TENSOR.int64Data, one)),
    );
  const inside = [
    ...graph(
      "body",
      "again",
      node("Identity", ["go"], "again"),
      node("Gather", ["state", "n"], "turned", "take"),
      node("Gather", ["state", "at"], "nth", "nth"),
    ),
    ...bytes(GRAPH.output, valueInfo("turned")),
    ...own("n", 1, 0, 3, 2),
    ...bytes(GRAPH.input, number),
    ...["go", "state"].flatMap((name) => bytes(GRAPH.input, valueInfo(name))),
  ];
  const then = [
    ...graph("then", "late", node("Gather", ["x", "c"], "late", "take")),
    ...own("c", 2),
  ];
  const otherwise = graph("else", "e", node("Identity", ["x"], "e"));
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph(
        "main",
        "late",
        node("Loop", ["n", "c", "x"], "y", "loop", body("body", inside)),
        node("If", ["c"], "branch", "if", ...branches(then, otherwise)),
        node("Gather", ["y", "far"], "late", "late"),
      ),
      ...own("far", 7),
      ...bytes(GRAPH.input, valueInfo("n", tensorType(INT64))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(4)))),
    ]),
    opset(18),
  );
};

/** ScatterNDs that repeat a target: `inside` is in a branch, and `put` in a function whose call gives the reduction. */
export const repeatsFile = (): Uint8Array => {
  const put = (data: string, output: string, name: string, ...parts: readonly Bytes[]): Bytes =>
    node("ScatterND", [data, "i", "u"], output, name, ...parts);
  const then = graph("then", "t", put("x", "t", "inside"));
  const otherwise = graph("else", "e", node("Identity", ["x"], "e"));
  const word = attribute("reduction", "STRING", text(ATTRIBUTE.refAttrName, "how"));
  const how = attribute("how", "STRING", text(ATTRIBUTE.s, "add"));
  const call = node("Put", ["x", "i", "u"], "b", "", text(NODE.domain, "d"), how);
  return file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, [
      ...graph("main", "b", node("If", ["c"], "a", "choose", ...branches(then, otherwise)), call),
      ...indices("i", 1, 1),
      ...bytes(GRAPH.input, valueInfo("x", tensorType(FLOAT, dim(3)))),
      ...bytes(GRAPH.input, valueInfo("u", tensorType(FLOAT, dim(2)))),
      ...bytes(GRAPH.input, valueInfo("c", tensorType(9))),
    ]),
    opset(18),
    opset(1, "d"),
    functionOf(
      "Put",
      ["x", "i", "u"],
      "y",
      [put("x", "y", "put", word)],
      opset(18, undefined, FUNCTION.opsetImport),
    ),
  );
};
