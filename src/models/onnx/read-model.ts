/**
 * Reads ONNX models (`ModelProto`) into the plain `Model`. Reading does not check a graph's consistency, so that a
 * faulty model can be inspected. Running a model checks its graph (`model/graph.ts`).
 */

import { malformed } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import { dtypeOfNumber } from "../model/element-type.ts";
import {
  domainName,
  MAX_BODY_DEPTH,
  SOURCE,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { HEAD, plainBytes, type Bytes } from "../../core/tensor/bytes.ts";
import type { Dim } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { readOptionsFrom, type ReadOptions } from "./external.ts";
import { namingFormat } from "./other-format.ts";
import {
  FUNCTION,
  GRAPH,
  MODEL,
  type ATTRIBUTE,
  type DIMENSION,
  type MessageOf,
  type NODE,
  type OPSET,
  type TYPE,
  type VALUE_INFO,
} from "./schema.ts";
import { decodeSparse, SparseSource } from "./sparse.ts";
import { readTensorHeader } from "./tensor-proto.ts";
import { decodeTensor } from "./tensor.ts";
import { decode, decodeUtf8, Parts } from "./wire.ts";

/**
 * Reads a model from `bytes`, a serialized `ModelProto`. Constants are views of `bytes` until they are read, so `bytes`
 * must not change while the model is in use.
 *
 * @param bytes the whole file
 * @param options `external` reads external data
 * @throws TensorError `malformed-file` for bytes that are not a valid model (without a graph, a node without `op_type`
 * or with two attributes of one name, a negative dimension of a constant); `unsupported-file` for another format, and
 * for a constant of more than 64 dimensions; `too-large` for a model of more than 2^21 parts, or of more than one part
 * per 8 bytes beyond the first 65,536.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * console.log(model.opsets); // { "ai.onnx": 18 }
 * ```
 */
export function readModel(bytes: Bytes, options: ReadOptions = {}): Model {
  const plain = modelBytes(bytes);
  const checked = readOptionsFrom(options);
  return namingFormat(
    () => plain.subarray(0, HEAD),
    () => decodeModel(plain, checked),
  );
}

/** Returns a reader for the complete message of a tensor that is in an outline; null for a complete tensor. */
export type WholeOf = (part: Uint8Array) => (() => Uint8Array) | null;

interface Reading extends ReadOptions {
  readonly parts: Parts;
  /** The number of graphs around the part that is read. */
  readonly depth: number;
  /**
   * The reader of complete tensors, only for an outline. Models from an outline have no `SOURCE`, because an outline
   * lacks the data that a writer would write back.
   */
  readonly wholeOf: WholeOf | null;
}

/** Throws `malformed-file` for a value that is not bytes. */
export const modelBytes = (bytes: unknown): Uint8Array =>
  plainBytes(bytes, "an ONNX model is read from", true);

/** Decodes a complete model, or an outline, which lacks the values of large tensors. */
export function decodeModel(
  bytes: Uint8Array,
  options: ReadOptions,
  wholeOf: WholeOf | null = null,
): Model {
  const reading: Reading = {
    external: options.external,
    parts: new Parts(bytes),
    depth: 0,
    wholeOf,
  };
  const source = decode(MODEL, bytes, "the file", reading.parts);
  if (source.graph === undefined) throw malformed("the model has no graph", { key: "graph" });
  const functions = source.functions.map((one) => decodeFunction(one, reading));
  return {
    irVersion: toNumber(source.irVersion, "ir_version"),
    producer: source.producerName,
    ...decodeOpsets(source.opsetImport),
    graph: decodeGraph(source.graph, reading),
    ...(functions.length > 0 && { functions }),
    ...sourced(source, reading),
  };
}

/** Returns the file data that a writer of ONNX files writes back; empty for an outline. */
const sourced = (source: unknown, { wholeOf }: Reading): { [SOURCE]?: unknown } =>
  wholeOf === null ? { [SOURCE]: source } : {};

/**
 * Decodes a function. Functions and subgraphs are checked separately from the model, because the schema declares them
 * as bytes.
 */
function decodeFunction(bytes: Uint8Array, reading: Reading): ModelFunction {
  const source = decode(FUNCTION, bytes, "a function", reading.parts);
  const { name, domain, input, output, node, valueInfo, attributeProto } = source;
  const defaults = attributeProto.map((one) => [one.name, decodeOwn(one, reading)] as const);
  return {
    name,
    domain: domainName(domain),
    ...decodeOpsets(source.opsetImport),
    graph: {
      name,
      inputs: input.map(untyped),
      outputs: output.map(untyped),
      nodes: node.map((one, position) => decodeNode(one, position, reading)),
      constants: [],
      values: valueInfo.map((one) => decodeValueInfo(one, reading)),
    },
    ...(defaults.length > 0 && { attributes: Object.fromEntries(defaults) }),
  };
}

const untyped = (name: string): ValueInfo => ({ name, type: null });

function decodeBodies(sources: readonly Uint8Array[], reading: Reading): readonly Graph[] | null {
  if (reading.depth >= MAX_BODY_DEPTH) return null;
  const inner = { ...reading, depth: reading.depth + 1 };
  return sources.map((bytes) =>
    decodeGraph(decode(GRAPH, bytes, "a subgraph", reading.parts), inner),
  );
}

/**
 * Returns the opset version of each domain. If a file imports a domain twice, the last version counts, as in ONNX
 * Runtime. ONNX's own documentation (onnx.proto, `opset_import`) prescribes the highest version.
 */
function decodeOpsets(
  imports: readonly MessageOf<typeof OPSET>[],
): Pick<Model, "opsets" | "otherOpsets"> {
  const opsets = new Map<string, number>();
  const others = new Map<string, number[]>();
  for (const { domain, version } of imports) {
    const name = domainName(domain);
    const before = opsets.get(name);
    if (before !== undefined) others.set(name, [...(others.get(name) ?? []), before]);
    opsets.set(name, toNumber(version, "version"));
  }
  return {
    opsets: Object.fromEntries(opsets),
    ...(others.size > 0 && { otherOpsets: Object.fromEntries(others) }),
  };
}

const decodeGraph = (source: MessageOf<typeof GRAPH>, reading: Reading): Graph => ({
  name: source.name,
  inputs: source.input.map((one) => decodeValueInfo(one, reading)),
  outputs: source.output.map((one) => decodeValueInfo(one, reading)),
  nodes: source.node.map((node, position) => decodeNode(node, position, reading)),
  constants: [
    ...source.initializer.map((bytes) => decodeConstant(bytes, reading)),
    ...source.sparseInitializer.map((bytes) => decodeSparseOne(bytes, reading)),
  ],
  values: source.valueInfo.map((one) => decodeValueInfo(one, reading)),
  ...sourced(source, reading),
});

function decodeNode(source: MessageOf<typeof NODE>, position: number, reading: Reading): ModelNode {
  const { name, opType, domain, input, output, attribute } = source;
  if (opType === "")
    throw malformed(`node ${position} of the graph has no op_type`, {
      key: "op_type",
      at: [position],
    });
  const attributes = new Map<string, Attribute>();
  for (const one of attribute) {
    if (attributes.has(one.name)) {
      throw malformed(
        `node ${position} of the graph, ${opType}, has two attributes ${printValue(one.name)}`,
        { key: one.name, at: [position] },
      );
    }
    attributes.set(one.name, decodeOwn(one, reading));
  }
  return {
    name,
    op: opType,
    domain: domainName(domain),
    inputs: [...input],
    outputs: [...output],
    // Plain assignments would be unsafe, because a file may contain an attribute named `__proto__`.
    attributes: Object.fromEntries(attributes),
    ...sourced(source, reading),
  };
}

const decodeOwn = (one: MessageOf<typeof ATTRIBUTE>, reading: Reading): Attribute => ({
  ...decodeAttribute(one, reading),
  ...sourced(one, reading),
});

type ValueField = "f" | "i" | "s" | "t" | "floats" | "ints" | "strings" | "tensors";

/** ONNX's attribute types, by number, and the fields of their values. Types without a field are not decoded. */
export const ATTRIBUTE_TYPES: readonly (readonly [type: string, field?: ValueField])[] = [
  ["UNDEFINED"],
  ["float", "f"],
  ["int", "i"],
  ["string", "s"],
  ["tensor", "t"],
  ["GRAPH"],
  ["floats", "floats"],
  ["ints", "ints"],
  ["strings", "strings"],
  ["tensors", "tensors"],
  ["GRAPHS"],
  ["SPARSE_TENSOR"],
  ["SPARSE_TENSORS"],
  ["TYPE_PROTO"],
  ["TYPE_PROTOS"],
];

function decodeAttribute(source: MessageOf<typeof ATTRIBUTE>, reading: Reading): Attribute {
  const [type = `type ${source.type}`, field] = ATTRIBUTE_TYPES[source.type] ?? [];
  if (source.refAttrName !== "")
    return { type: "other", value: type, reference: source.refAttrName };
  if (type === "GRAPH" || type === "GRAPHS") {
    const graphs = type === "GRAPH" ? [source.g] : source.graphs;
    return { type: "other", value: type, graphs: decodeBodies(graphs, reading) };
  }
  if (field === undefined) return { type: "other", value: type };
  const { [field]: encoded } = source;
  const value = Array.isArray(encoded)
    ? encoded.map((one) => decodeValue(field, one, reading))
    : decodeValue(field, encoded, reading);
  // ONNX strings may also contain bytes that are not text.
  if (value === null || (type === "strings" && (value as unknown[]).includes(null)))
    return { type: "other", value: `${type} of bytes` };
  return { type, value } as Attribute;
}

/** Decodes a value of an attribute; returns null for a string that is not text. */
function decodeValue(
  field: ValueField,
  value: bigint | number | Uint8Array,
  reading: Reading,
): unknown {
  if (typeof value === "bigint") return toInteger(value);
  if (typeof value === "number") return value;
  return field === "t" || field === "tensors" ? decodeConstant(value, reading) : textOrNull(value);
}

function textOrNull(bytes: Uint8Array): string | null {
  try {
    return decodeUtf8(bytes, "a string");
  } catch {
    return null;
  }
}

function decodeConstant(bytes: Uint8Array, reading: Reading): Constant {
  const header = readTensorHeader(bytes);
  const { name, dtype, shape } = header;
  const whole = reading.wholeOf?.(bytes) ?? null;
  const read = (): Tensor =>
    decodeTensor(whole === null ? header : readTensorHeader(whole()), reading);
  return { name, dtype, shape, read, ...sourced(header, reading) };
}

function decodeSparseOne(bytes: Uint8Array, reading: Reading): Constant {
  const one = decodeSparse(bytes, reading.parts, (tensor) => decodeConstant(tensor, reading));
  return { ...one, ...sourced(new SparseSource(bytes, one.name), reading) };
}

const decodeValueInfo = (source: MessageOf<typeof VALUE_INFO>, reading: Reading): ValueInfo => ({
  name: source.name,
  type: decodeType(source.type),
  ...sourced(source, reading),
});

/**
 * Returns a tensor type; null for other types. A missing shape means an unknown rank, and an empty shape means a
 * scalar.
 * @internal
 */
export function decodeType(source: MessageOf<typeof TYPE> | undefined): TensorType | null {
  const tensor = source?.tensorType;
  const dtype = dtypeOfNumber(tensor?.elemType ?? 0);
  if (tensor === undefined || dtype === null) return null;
  return { dtype, shape: tensor.shape === undefined ? null : tensor.shape.dim.map(decodeDim) };
}

/**
 * Decodes a dimension. A dimension without a value or name is unknown. Some tools write a negative value for an unknown
 * dimension.
 */
function decodeDim(dim: MessageOf<typeof DIMENSION>): Dim {
  if (!Object.hasOwn(dim, "dimValue")) return dim.dimParam === "" ? null : dim.dimParam;
  return dim.dimValue < 0n ? null : toNumber(dim.dimValue, "a dimension");
}

function toNumber(value: bigint, what: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw malformed(`${what} is ${value}, which is beyond 2^53`, { got: value });
}

const toInteger = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
