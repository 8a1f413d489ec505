/** An ONNX model with something unknown, or something that `Model` does not show, at every level. */

import { bytes, file, float, int, text } from "../onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  dim,
  entry,
  external,
  FUNCTION,
  GRAPH,
  head,
  initializer,
  MODEL,
  node,
  NODE,
  opset,
  TENSOR,
  tensorType,
  valueInfo,
} from "../support/onnx-parts.ts";

// prettier-ignore
const ATTRIBUTES = [
  attribute("then_branch", "GRAPH", bytes(ATTRIBUTE.g, text(GRAPH.name, "subgraph")), text(ATTRIBUTE.docString, "doc")),
  attribute("axis", "INT", int(ATTRIBUTE.i, -1), int(77, 3)),
  attribute("big", "INT", int(ATTRIBUTE.i, 2n ** 60n)),
  attribute("f", "FLOAT", float(ATTRIBUTE.f, 0.1)),
  attribute("s", "STRING", text(ATTRIBUTE.s, "ä")),
  attribute("raw", "STRING", bytes(ATTRIBUTE.s, [0xff])),
  attribute("ints", "INTS", int(ATTRIBUTE.ints, 1), bytes(ATTRIBUTE.ints, [2, 3])),
  attribute("floats", "FLOATS", float(ATTRIBUTE.floats, 1)),
  attribute("strings", "STRINGS", text(ATTRIBUTE.strings, "a"), text(ATTRIBUTE.strings, "")),
  attribute("t", "TENSOR", bytes(ATTRIBUTE.t, [...head("int8", 1), ...bytes(TENSOR.rawData, [7])])),
  attribute("tensors", "TENSORS", bytes(ATTRIBUTE.tensors, [...head("int8"), ...bytes(TENSOR.rawData, [7])])),
  attribute("new", 99),
  attribute("__proto__", "INT", int(ATTRIBUTE.i, 1)),
];

const IF = node(
  "If",
  text(NODE.input, "x"),
  text(NODE.output, "y"),
  text(NODE.name, "n"),
  ATTRIBUTES.flat(),
  text(NODE.docString, "about the node"),
  text(NODE.domain, "my.domain"),
  text(NODE.overload, "overload"),
  bytes(NODE.metadataProps, entry("k", "v")),
);

const VARIED = tensorType(
  1,
  dim(0),
  dim("N"),
  dim(),
  dim(-1),
  // Two records of dimensions make one dimension: the value, and a denotation that is not shown.
  bytes(1, [...int(1, 5), ...text(3, "batch")]),
);
const NO_SHAPE = bytes(2, bytes(1, int(1, 10)));
const SEQUENCE = bytes(2, bytes(4, bytes(1, bytes(1, int(1, 1)))));

export const RICH_MODEL: Uint8Array = file(
  int(MODEL.irVersion, 9),
  text(MODEL.producerName, "tool"),
  text(MODEL.producerVersion, "1.0"),
  text(MODEL.domain, "some.domain"),
  int(MODEL.modelVersion, 7),
  text(MODEL.docString, "about the model"),
  bytes(MODEL.graph, [
    ...IF,
    ...text(GRAPH.name, "g"),
    // Weights of a type that is not known here, and some that are elsewhere.
    ...initializer(
      int(TENSOR.dims, 3),
      int(TENSOR.dataType, 99),
      text(TENSOR.name, "new"),
      bytes(TENSOR.rawData, [1, 2, 3]),
    ),
    ...initializer(head("float32", 2), text(TENSOR.name, "far"), external({ location: "w.bin" })),
    ...text(GRAPH.docString, "about the graph"),
    ...bytes(GRAPH.input, [...valueInfo("x", VARIED), ...text(3, "doc")]),
    ...bytes(GRAPH.input, valueInfo("scalar", tensorType(7))),
    ...bytes(GRAPH.input, valueInfo("rank?", NO_SHAPE)),
    ...bytes(GRAPH.input, valueInfo("newIn", tensorType(99, dim(2)))),
    ...bytes(GRAPH.input, valueInfo("sequence", SEQUENCE)),
    ...bytes(GRAPH.output, valueInfo("y")),
    ...bytes(GRAPH.valueInfo, valueInfo("between")),
    ...bytes(GRAPH.quantization, text(1, "x")),
    ...bytes(GRAPH.sparseInitializer, [1]),
    ...int(99, 1),
  ]),
  opset(18),
  bytes(MODEL.opsetImport, [...text(1, "my.domain"), ...int(2, 3), ...int(9, 1)]),
  bytes(MODEL.metadataProps, entry("k", "v")),
  bytes(MODEL.functions, text(FUNCTION.name, "function")),
  int(1000, 4),
);
