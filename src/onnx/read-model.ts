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
  type ModelFunction,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import type { Dim } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { ReadOptions } from "./external.ts";
import {
  FunctionProtoSchema,
  GraphProtoSchema,
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
import { checkMessage, decodeText, malformedAs, partsOf, type Parts } from "./wire.ts";

/**
 * The model that `bytes`, a serialized `ModelProto`, hold. Constants are views of `bytes` until they are read, so
 * `bytes` must not change while the model is in use.
 *
 * @throws TensorError `malformed-file` where the bytes are no model: no graph, a node without `op_type` or with two
 * attributes of one name, a negative dimension of a constant. `too-large` for a model of more than 2^21 parts.
 */
export const readModel = (bytes: Uint8Array, options: ReadOptions = {}): Model =>
  decodeModel(asBytes(bytes), options);

/** A tensor that is not all there, and where the rest of it is. */
export interface WholeTensors {
  /** The bytes of the whole message of which `part` is there, or null where that is all. */
  wholeOf(part: Uint8Array): (() => Uint8Array) | null;
}

/** What the parts of one model are read with. */
interface Reading extends ReadOptions {
  readonly parts: Parts;
  /** Where tensors are not all there. Such a model is not a file's any more: its parts have no `SOURCE`. */
  readonly whole: WholeTensors | null;
}

/** {@link readModel}, also of bytes from which values of tensors were left out. */
export function decodeModel(
  bytes: Uint8Array,
  options: ReadOptions,
  whole: WholeTensors | null = null,
): Model {
  const reading: Reading = { external: options.external, parts: partsOf(bytes), whole };
  checkMessage(ModelProtoSchema, bytes, reading.parts);
  const source = malformedAs("the model", () => fromBinary(ModelProtoSchema, bytes));
  if (source.graph === undefined) throw malformed("the model has no graph");
  const functions = source.functions.map((one) => readFunction(one, reading));
  return {
    irVersion: toNumber(source.irVersion, "ir_version"),
    producer: source.producerName,
    opsets: readOpsets(source.opsetImport),
    graph: readGraph(source.graph, reading, 0),
    ...(functions.length > 0 && { functions }),
    ...sourced(source, reading),
  };
}

/** `SOURCE` for a part of a model that is all there. */
const sourced = (source: unknown, { whole }: Reading): { [SOURCE]?: unknown } =>
  whole === null ? { [SOURCE]: source } : {};

/** The schema does not know what a function's or a subgraph's bytes are, so they are checked when they are read. */
function readFunction(bytes: Uint8Array, reading: Reading): ModelFunction {
  checkMessage(FunctionProtoSchema, bytes, reading.parts);
  const source = malformedAs("a function", () => fromBinary(FunctionProtoSchema, bytes));
  const { name, domain, input, output, node, valueInfo } = source;
  return {
    name,
    domain: domainName(domain),
    opsets: readOpsets(source.opsetImport),
    graph: {
      name,
      inputs: input.map(untyped),
      outputs: output.map(untyped),
      nodes: node.map((one, position) => readNode(one, position, reading, 0)),
      constants: [],
      values: valueInfo.map((one) => readValueInfo(one, reading)),
    },
  };
}

const untyped = (name: string): ValueInfo => ({ name, type: null });

/** A body in a body is 2 deep. More than a few come only from files that are made to hurt. */
export const MAX_DEPTH = 16;

/** The graphs of an attribute, or null where they lie too deep. */
function readSubgraphs(
  sources: readonly Uint8Array[],
  reading: Reading,
  depth: number,
): readonly Graph[] | null {
  if (depth >= MAX_DEPTH) return null;
  return sources.map((bytes) => {
    checkMessage(GraphProtoSchema, bytes, reading.parts);
    const source = malformedAs("a subgraph", () => fromBinary(GraphProtoSchema, bytes));
    return readGraph(source, reading, depth + 1);
  });
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

const readGraph = (source: GraphProto, reading: Reading, depth: number): Graph => ({
  name: source.name,
  inputs: source.input.map((one) => readValueInfo(one, reading)),
  outputs: source.output.map((one) => readValueInfo(one, reading)),
  nodes: source.node.map((node, position) => readNode(node, position, reading, depth)),
  constants: source.initializer.map((bytes) => readConstant(bytes, reading)),
  values: source.valueInfo.map((one) => readValueInfo(one, reading)),
  ...sourced(source, reading),
});

function readNode(source: NodeProto, position: number, reading: Reading, depth: number): ModelNode {
  const { name, opType, domain, input, output, attribute } = source;
  if (opType === "") throw malformed(`node ${position} of the graph has no op_type`);
  const attributes = new Map<string, Attribute>();
  for (const one of attribute) {
    if (attributes.has(one.name)) {
      throw malformed(
        `node ${position} of the graph, ${opType}, has two attributes ${JSON.stringify(one.name)}`,
      );
    }
    attributes.set(one.name, { ...readAttribute(one, reading, depth), ...sourced(one, reading) });
  }
  return {
    name,
    op: opType,
    domain: domainName(domain),
    inputs: [...input],
    outputs: [...output],
    // Not by assignment: a file may call an attribute `__proto__`.
    attributes: Object.fromEntries(attributes),
    ...sourced(source, reading),
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

function readAttribute(source: AttributeProto, reading: Reading, depth: number): Attribute {
  const type = ATTRIBUTE_TYPES[source.type];
  if (source.refAttrName !== "") {
    const { refAttrName: reference } = source;
    return { type: "other", value: type ?? `type ${source.type}`, reference };
  }
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
      return { type, value: readConstant(source.t, reading) };
    case "tensors":
      return { type, value: source.tensors.map((bytes) => readConstant(bytes, reading)) };
    case "GRAPH":
    case "GRAPHS": {
      const graphs = type === "GRAPH" ? [source.g] : source.graphs;
      return { type: "other", value: type, graphs: readSubgraphs(graphs, reading, depth) };
    }
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

function readConstant(bytes: Uint8Array, reading: Reading): Constant {
  const header = readHeader(bytes);
  const { name, dtype, shape } = header;
  const whole = reading.whole?.wholeOf(bytes) ?? null;
  const read = (): Tensor => decodeTensor(whole === null ? header : readHeader(whole()), reading);
  return { name, dtype, shape, read, ...sourced(header, reading) };
}

const readValueInfo = (source: ValueInfoProto, reading: Reading): ValueInfo => ({
  name: source.name,
  type: readType(source.type),
  ...sourced(source, reading),
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
