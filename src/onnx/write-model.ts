/**
 * The plain `Model` into ONNX's `ModelProto`: over what the model's file said, where it came from one, else afresh.
 */

import { create, fromBinary, isMessage, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { DTYPES } from "../tensor/dtype.ts";
import { TensorError } from "../errors.ts";
import {
  domainName,
  nodeTitle,
  SOURCE,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import type { Dim } from "../tensor/shape.ts";
import { ATTRIBUTE_TYPES, readType } from "./read-model.ts";
import {
  AttributeProtoSchema,
  DimensionSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  TensorProtoSchema,
  TypeProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type Dimension,
  type GraphProto,
  type NodeProto,
  type OperatorSetIdProto,
  type TypeProto,
  type ValueInfoProto,
} from "./schema_pb.ts";
import { isHeader } from "./tensor-proto.ts";
import { encodedAs, encodeText, writeTensor } from "./tensor.ts";

/**
 * A serialized `ModelProto`. A model that was read is written with everything its file held, known here or not, and
 * with the changes made since; constants that were not replaced are written as their bytes, external data as the
 * reference that it is.
 *
 * @throws TensorError `attribute` for an attribute value that its type cannot hold, `dtype` for an unknown data type or
 * for text that UTF-8 cannot hold, `shape-mismatch` for a dimension that is no size, `unsupported-model` for a node
 * with an operator set version of its own, `too-large`.
 */
export function writeModel(model: Model): Uint8Array {
  const message = create(ModelProtoSchema);
  if (isMessage(model[SOURCE], ModelProtoSchema)) Object.assign(message, model[SOURCE]);
  if (message.functions.length !== (model.functions?.length ?? 0)) {
    throw new TensorError(
      "unsupported-model",
      "functions of a model can only be kept, not made or removed",
    );
  }
  const irVersion = toInt64(model.irVersion, "irVersion");
  if (message.irVersion !== irVersion) message.irVersion = irVersion;
  if (message.producerName !== model.producer) message.producerName = model.producer;
  message.opsetImport = opsetMessages(model.opsets, message.opsetImport);
  message.graph = graphMessage(model.graph, model.opsets);
  return encodedAs("the model", () => toBinary(ModelProtoSchema, message));
}

/** The imports, each as it was in the file where its version still holds: `ai.onnx` has two spellings. */
function opsetMessages(
  opsets: Readonly<Record<string, number>>,
  before: readonly OperatorSetIdProto[],
): OperatorSetIdProto[] {
  const kept = before.filter(({ domain }) => Object.hasOwn(opsets, domainName(domain)));
  const known = new Set(kept.map(({ domain }) => domainName(domain)));
  const added = Object.keys(opsets)
    .filter((domain) => !known.has(domainName(domain)))
    .map((domain) => create(OperatorSetIdProtoSchema, { domain: spelling(domain) }));
  return [...kept, ...added].map((one) => {
    const version = toInt64(opsets[domainName(one.domain)] ?? opsets[one.domain], "an opset");
    return Object.assign(create(OperatorSetIdProtoSchema), one, { version });
  });
}

/** How most tools write ONNX's own domain. */
const spelling = (domain: string): string => (domain === "ai.onnx" ? "" : domain);

function graphMessage(graph: Graph, opsets: Readonly<Record<string, number>>): GraphProto {
  const message = create(GraphProtoSchema);
  if (isMessage(graph[SOURCE], GraphProtoSchema)) Object.assign(message, graph[SOURCE]);
  if (message.name !== graph.name) message.name = graph.name;
  message.input = graph.inputs.map(valueInfoMessage);
  message.output = graph.outputs.map(valueInfoMessage);
  message.initializer = graph.constants.map(constantBytes);
  message.node = graph.nodes.map((node) => nodeMessage(node, opsets));
  message.valueInfo = (graph.values ?? []).map(valueInfoMessage);
  return message;
}

function nodeMessage(node: ModelNode, opsets: Readonly<Record<string, number>>): NodeProto {
  const { name, op, domain, opset, inputs, outputs, attributes } = node;
  if (opset !== undefined && opset !== opsets[domainName(domain)]) {
    throw new TensorError(
      "unsupported-model",
      `${nodeTitle(node)} has operator set version ${opset} of its own, but ONNX has one for all of a domain`,
      { op },
    );
  }
  const message = create(NodeProtoSchema);
  if (isMessage(node[SOURCE], NodeProtoSchema)) Object.assign(message, node[SOURCE]);
  message.input = [...inputs];
  message.output = [...outputs];
  if (message.name !== name) message.name = name;
  message.opType = op;
  if (domainName(message.domain) !== domainName(domain)) message.domain = spelling(domain);
  message.attribute = Object.entries(attributes).map(([key, attribute]) =>
    attributeMessage(key, attribute, node, opsets),
  );
  return message;
}

function attributeMessage(
  name: string,
  attribute: Attribute,
  node: ModelNode,
  opsets: Readonly<Record<string, number>>,
): AttributeProto {
  const source = isMessage(attribute[SOURCE], AttributeProtoSchema) ? attribute[SOURCE] : undefined;
  const wrong = (why: string): TensorError =>
    new TensorError("attribute", `attribute ${JSON.stringify(name)} of ${nodeTitle(node)} ${why}`, {
      op: node.op,
    });
  const message = create(AttributeProtoSchema, { name });
  if (attribute.type === "other") {
    if (source === undefined)
      throw wrong(`is of type ${attribute.value}, which can only be kept, not made`);
    Object.assign(message, source, { name });
    const [first, ...more] = attribute.graphs ?? [];
    if (first === undefined) return message;
    if (attribute.value === "GRAPH") {
      message.g = bodyBytes(first, source.g, opsets);
    } else {
      const { graphs } = source;
      message.graphs = [first, ...more].map((body, at) => bodyBytes(body, graphs[at], opsets));
    }
    return message;
  }
  if (attribute.type === "boolean") throw wrong("is true or false, which ONNX says as an int");
  const type = ATTRIBUTE_TYPES.indexOf(attribute.type);
  // The value is written anew over what the file says; of an attribute with another type only the unknown is kept.
  if (source?.type === type) Object.assign(message, source, { name });
  else if (source?.$unknown !== undefined) message.$unknown = source.$unknown;
  message.type = type;
  const integer = (value: number | bigint): bigint => {
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw wrong(`holds ${value}, which is no integer`);
    const whole = BigInt(value);
    if (BigInt.asIntN(64, whole) !== whole)
      throw wrong(`holds ${value}, which does not fit in 64 bits`);
    return whole;
  };
  switch (attribute.type) {
    case "int":
      message.i = integer(attribute.value);
      break;
    case "ints":
      message.ints = attribute.value.map(integer);
      break;
    case "float":
      message.f = Math.fround(attribute.value);
      break;
    case "floats":
      message.floats = attribute.value.map(Math.fround);
      break;
    case "string":
      message.s = encodeText(attribute.value);
      break;
    case "strings":
      message.strings = attribute.value.map(encodeText);
      break;
    case "tensor":
      message.t = constantBytes(attribute.value);
      break;
    case "tensors":
      message.tensors = attribute.value.map(constantBytes);
      break;
  }
  return message;
}

/** A body as its file had it where nothing in it was changed, since bytes can say one thing in several ways. */
function bodyBytes(
  body: Graph,
  before: Uint8Array | undefined,
  opsets: Readonly<Record<string, number>>,
): Uint8Array {
  const message = graphMessage(body, opsets);
  const after = encodedAs("a body", () => toBinary(GraphProtoSchema, message));
  if (before === undefined) return after;
  const unchanged = toBinary(GraphProtoSchema, fromBinary(GraphProtoSchema, before));
  const isSame =
    after.length === unchanged.length && after.every((byte, at) => byte === unchanged[at]);
  return isSame ? before : after;
}

/** A `TensorProto` as its file had it; a new name goes behind it, where the last one counts. */
function constantBytes(constant: Constant): Uint8Array {
  const { name } = constant;
  const header = constant[SOURCE];
  if (!isHeader(header)) return writeTensor(constant.read(), name === "" ? undefined : name);
  if (header.name === name) return header.bytes;
  const { number } = TensorProtoSchema.field.name;
  return new BinaryWriter()
    .raw(header.bytes)
    .tag(number, WireType.LengthDelimited)
    .string(name)
    .finish();
}

function valueInfoMessage({ name, type, [SOURCE]: source }: ValueInfo): ValueInfoProto {
  const message = create(ValueInfoProtoSchema);
  if (isMessage(source, ValueInfoProtoSchema)) Object.assign(message, source);
  message.name = name;
  // A type that says no more than it did is left alone: it may hold what is not shown here.
  if (!sameType(type, readType(message.type))) {
    if (type === null) delete message.type;
    else message.type = typeMessage(type, name);
  }
  return message;
}

function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.dtype !== b.dtype) return false;
  if (a.shape === null || b.shape === null) return a.shape === b.shape;
  const { shape } = b;
  return a.shape.length === shape.length && a.shape.every((dim, axis) => dim === shape[axis]);
}

function typeMessage({ dtype, shape }: TensorType, name: string): TypeProto {
  const row = Object.hasOwn(DTYPES, dtype) ? DTYPES[dtype] : null;
  if (row === null) {
    throw new TensorError(
      "dtype",
      `${String(dtype)} is no data type, for ${JSON.stringify(name)}`,
      { input: name },
    );
  }
  return create(TypeProtoSchema, {
    tensorType: {
      elemType: row.onnx.number,
      ...(shape === null ? {} : { shape: { dim: shape.map((dim) => dimMessage(dim, name)) } }),
    },
  });
}

function dimMessage(dim: Dim, name: string): Dimension {
  if (dim === null) return create(DimensionSchema);
  if (typeof dim === "string")
    return create(DimensionSchema, { value: { case: "dimParam", value: dim } });
  if (Number.isSafeInteger(dim) && dim >= 0) {
    return create(DimensionSchema, { value: { case: "dimValue", value: BigInt(dim) } });
  }
  throw new TensorError(
    "shape-mismatch",
    `${JSON.stringify(name)} has the dimension ${dim}, which is no size`,
    {
      input: name,
    },
  );
}

function toInt64(value: number, what: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new TensorError("unsupported-model", `${what} must be an integer, got ${String(value)}`);
}
