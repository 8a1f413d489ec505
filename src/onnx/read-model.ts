/**
 * ONNX models (`ModelProto`) into the plain `Model`. Reading is lenient in what a model says: what it means for a graph
 * to be sound is checked where a graph is run (`model/graph.ts`), so that a faulty model can still be looked at.
 */

import { fromBinary } from "@bufbuild/protobuf";

import { malformed } from "../errors.ts";
import {
  domainName,
  SOURCE,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import type { Dim } from "../shape.ts";
import type { ReadOptions } from "./external.ts";
import {
  ModelProtoSchema,
  type AttributeProto,
  type Dimension,
  type GraphProto,
  type NodeProto,
  type OperatorSetIdProto,
  type TypeProto,
  type ValueInfoProto,
} from "./schema_pb.ts";
import { dtypeOfNumber, readHeader } from "./tensor-proto.ts";
import { asBytes, decodeTensor } from "./tensor.ts";
import { checkMessage, decodeText, malformedAs } from "./wire.ts";

/**
 * The model that `bytes`, a serialized `ModelProto`, hold. Constants are views of `bytes` until they are read, so
 * `bytes` must not change while the model is in use.
 *
 * @throws TensorError `malformed-file` where the bytes are no model: no graph, a node without `op_type` or with two
 * attributes of one name, a negative dimension of a constant. `too-large` for a model of more than 2^21 parts.
 */
export function readModel(bytes: Uint8Array, options: ReadOptions = {}): Model {
  checkMessage(ModelProtoSchema, asBytes(bytes));
  const source = malformedAs("the model", () => fromBinary(ModelProtoSchema, bytes));
  if (source.graph === undefined) throw malformed("the model has no graph");
  return {
    irVersion: toNumber(source.irVersion, "ir_version"),
    producer: source.producerName,
    opsets: readOpsets(source.opsetImport),
    graph: readGraph(source.graph, options),
    [SOURCE]: source,
  };
}

/** Of two versions for one domain, the larger counts; ONNX has no rule for it. */
function readOpsets(imports: readonly OperatorSetIdProto[]): Record<string, number> {
  const opsets = new Map<string, number>();
  for (const { domain, version } of imports) {
    const name = domainName(domain);
    opsets.set(name, Math.max(opsets.get(name) ?? 0, toNumber(version, "version")));
  }
  return Object.fromEntries(opsets);
}

const readGraph = (source: GraphProto, options: ReadOptions): Graph => ({
  name: source.name,
  inputs: source.input.map(readValueInfo),
  outputs: source.output.map(readValueInfo),
  nodes: source.node.map((node, position) => readNode(node, position, options)),
  constants: source.initializer.map((bytes) => readConstant(bytes, options)),
  [SOURCE]: source,
});

function readNode(source: NodeProto, position: number, options: ReadOptions): ModelNode {
  const { name, opType, domain, input, output, attribute } = source;
  if (opType === "") throw malformed(`node ${position} of the graph has no op_type`);
  const attributes = new Map<string, Attribute>();
  for (const one of attribute) {
    if (attributes.has(one.name)) {
      throw malformed(
        `node ${position} of the graph, ${opType}, has two attributes ${JSON.stringify(one.name)}`,
      );
    }
    attributes.set(one.name, { ...readAttribute(one, options), [SOURCE]: one });
  }
  return {
    name,
    op: opType,
    domain: domainName(domain),
    inputs: [...input],
    outputs: [...output],
    // Not by assignment: a file may call an attribute `__proto__`.
    attributes: Object.fromEntries(attributes),
    [SOURCE]: source,
  };
}

/** ONNX's names of attribute types by number; those with a name in small letters are decoded. */
export const ATTRIBUTE_TYPES = [
  "UNDEFINED",
  "float",
  "int",
  "string",
  "tensor",
  "GRAPH",
  "floats",
  "ints",
  "strings",
  "tensors",
  "GRAPHS",
  "SPARSE_TENSOR",
  "SPARSE_TENSORS",
  "TYPE_PROTO",
  "TYPE_PROTOS",
] as const;

function readAttribute(source: AttributeProto, options: ReadOptions): Attribute {
  const type = ATTRIBUTE_TYPES[source.type];
  switch (type) {
    case "int":
      return { type, value: toInteger(source.i) };
    case "ints":
      return { type, value: source.ints.map(toInteger) };
    case "float":
      return { type, value: source.f };
    case "floats":
      return { type, value: source.floats };
    case "string":
    case "strings": {
      const texts = (type === "string" ? [source.s] : source.strings).map(textOrNull);
      const known = texts.filter((text) => text !== null);
      // ONNX also keeps bytes that are no text in strings.
      if (known.length < texts.length) return { type: "other", value: `${type} of bytes` };
      return type === "string" ? { type, value: known[0] } : { type, value: known };
    }
    case "tensor":
      return { type, value: readConstant(source.t, options) };
    case "tensors":
      return { type, value: source.tensors.map((bytes) => readConstant(bytes, options)) };
    default:
      return { type: "other", value: type ?? `type ${source.type}` };
  }
}

function textOrNull(bytes: Uint8Array): string | null {
  try {
    return decodeText(bytes, "a string");
  } catch {
    return null;
  }
}

function readConstant(bytes: Uint8Array, options: ReadOptions): Constant {
  const header = readHeader(bytes);
  const { name, dtype, shape } = header;
  return { name, dtype, shape, read: () => decodeTensor(header, options), [SOURCE]: header };
}

const readValueInfo = (source: ValueInfoProto): ValueInfo => ({
  name: source.name,
  type: readType(source.type),
  [SOURCE]: source,
});

/** The type of a tensor. A missing shape is an unknown rank, an empty one a scalar. */
export function readType(source: TypeProto | undefined): TensorType | null {
  const tensor = source?.tensorType;
  const dtype = dtypeOfNumber(tensor?.elemType ?? 0);
  if (tensor === undefined || dtype === null) return null;
  return { dtype, shape: tensor.shape === undefined ? null : tensor.shape.dim.map(readDim) };
}

/** A dimension with neither value nor name is unknown; so is a negative one, which tools write for the same. */
function readDim({ value }: Dimension): Dim {
  if (value.case === "dimParam") return value.value === "" ? null : value.value;
  return value.case === undefined || value.value < 0n ? null : toNumber(value.value, "a dimension");
}

function toNumber(value: bigint, what: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw malformed(`${what} is ${value}, which is beyond 2^53`);
}

const toInteger = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
