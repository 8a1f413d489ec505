/**
 * Writes the plain `Model` as ONNX's `ModelProto`. For a model from an ONNX file, the writer keeps all file data that
 * `Model` does not represent.
 */

import { DTYPES } from "../../core/tensor/dtype.ts";
import { factOf, isArray, printValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import {
  domainName,
  nodeTitle,
  readConstant,
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
import { joinBytes } from "../model/byte-source.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { sameType } from "../model/known.ts";
import type { Dim } from "../../core/tensor/shape.ts";
import { ATTRIBUTE_TYPES, decodeType } from "./read-model.ts";
import { encode } from "./encode.ts";
import {
  ATTRIBUTE,
  DIMENSION,
  FUNCTION,
  GRAPH,
  MODEL,
  NODE,
  OPSET,
  TENSOR,
  TENSOR_SHAPE,
  TENSOR_TYPE,
  TYPE,
  VALUE_INFO,
  type AnySchema,
  type MessageOf,
} from "./schema.ts";
import { sparseBytes } from "./sparse.ts";
import { isHeader } from "./tensor-proto.ts";
import { writeTensor } from "./tensor.ts";
import { checkUtf8, create, decode, encodedAs, encodeUtf8, isMessage } from "./wire.ts";

type Opsets = Readonly<Record<string, number>>;

/**
 * Serializes a model as a `ModelProto`. For a model from an ONNX file, the output contains all data of the file,
 * including fields unknown to this package, and all later changes. Unreplaced constants keep their original bytes, and
 * external data stays a reference to the same file.
 *
 * @param given a model of any format
 * @returns the bytes of an `.onnx` file
 * @throws TensorError `malformed-file` for a value that is not a model, `attribute` for an attribute value outside its
 * type, `dtype` for an unknown data type or text that UTF-8 cannot encode, `shape-mismatch` for a dimension that is not
 * a size, `unsupported-model` for a node with its own operator set version and for functions that were added or
 * removed, `too-large` if memory is exhausted
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * model.graph.nodes[0]!.name = "renamed";
 * const again = readModel(writeModel(model));
 * again.graph.nodes.map(({ name }) => name); // ["renamed", "row"]
 * ```
 */
export function writeModel(given: Model): Uint8Array {
  const model = modelFrom(given);
  const message = messageOf(MODEL, model);
  if (message.functions.length !== (model.functions?.length ?? 0)) {
    throw new TensorError(
      "unsupported-model",
      "the functions of a model cannot be added or removed; change their nodes instead",
      { key: "functions", got: model.functions?.length ?? 0, expected: message.functions.length },
    );
  }
  const irVersion = toInt64(model.irVersion, "irVersion");
  if (message.irVersion !== irVersion) message.irVersion = irVersion;
  if (message.producerName !== model.producer) message.producerName = checkUtf8(model.producer);
  message.opsetImport = opsetMessages(model.opsets, message.opsetImport);
  message.graph = graphMessage(model.graph, model.opsets);
  message.functions = message.functions.map((before, at) =>
    functionBytes(model.functions?.[at], before),
  );
  return encodedAs("the model", () => encode(MODEL, message));
}

/** Returns a new message with the values of the part's message in its file, if any. */
const messageOf = <S extends AnySchema>(schema: S, part: { [SOURCE]?: unknown }): MessageOf<S> =>
  create(schema, isMessage(part[SOURCE], schema) ? part[SOURCE] : undefined);

/**
 * Returns one opset import per domain. Existing imports keep their spelling, because ONNX's own domain has two names:
 * `""` and `ai.onnx`.
 */
function opsetMessages(
  opsets: Opsets,
  before: readonly MessageOf<typeof OPSET>[],
): MessageOf<typeof OPSET>[] {
  const last = new Map(before.map((one) => [domainName(one.domain), one]));
  const kept = [...last.values()].filter(({ domain }) => Object.hasOwn(opsets, domainName(domain)));
  const known = new Set(kept.map(({ domain }) => domainName(domain)));
  const added = Object.keys(opsets)
    .filter((domain) => !known.has(domainName(domain)))
    .map((domain) => create(OPSET, { domain: checkUtf8(spelling(domain)) }));
  return [...kept, ...added].map((one) => {
    const version = toInt64(opsets[domainName(one.domain)] ?? opsets[one.domain], "an opset");
    return Object.assign(create(OPSET), one, { version });
  });
}

/** Returns a domain's spelling in new files. Most tools write ONNX's own domain as `""`. */
const spelling = (domain: string): string => (domain === "ai.onnx" ? "" : domain);

function graphMessage(graph: Graph, opsets: Opsets): MessageOf<typeof GRAPH> {
  const message = messageOf(GRAPH, graph);
  if (message.name !== graph.name) message.name = checkUtf8(graph.name);
  message.input = graph.inputs.map(valueInfoMessage);
  message.output = graph.outputs.map(valueInfoMessage);
  const sparse = graph.constants.map(sparseBytes);
  message.initializer = graph.constants.filter((_, at) => sparse[at] === null).map(constantBytes);
  message.sparseInitializer = sparse.filter((one) => one !== null);
  message.node = graph.nodes.map((node) => nodeMessage(node, opsets));
  message.valueInfo = (graph.values ?? []).map(valueInfoMessage);
  return message;
}

function nodeMessage(node: ModelNode, opsets: Opsets): MessageOf<typeof NODE> {
  const { name, op, domain, opset, inputs, outputs, attributes } = node;
  if (opset !== undefined && opset !== opsets[domainName(domain)]) {
    throw new TensorError(
      "unsupported-model",
      `${nodeTitle(node)} has its own operator set version ${opset}, but ONNX has a single version per domain`,
      { op, node: nodeTitle(node), key: "opset", got: opset },
    );
  }
  const message = messageOf(NODE, node);
  message.input = inputs.map(checkUtf8);
  message.output = outputs.map(checkUtf8);
  if (message.name !== name) message.name = checkUtf8(name);
  message.opType = checkUtf8(op);
  if (domainName(message.domain) !== domainName(domain))
    message.domain = checkUtf8(spelling(domain));
  message.attribute = Object.entries(attributes).map(([key, attribute]) =>
    attributeMessage(key, attribute, node, opsets),
  );
  return message;
}

const typeNumber = (type: string): number => ATTRIBUTE_TYPES.findIndex(([one]) => one === type);

function attributeMessage(
  name: string,
  attribute: Attribute,
  node: ModelNode,
  opsets: Opsets,
): MessageOf<typeof ATTRIBUTE> {
  const source = isMessage(attribute[SOURCE], ATTRIBUTE) ? attribute[SOURCE] : undefined;
  const wrong = (why: string): TensorError =>
    new TensorError("attribute", `attribute ${printValue(name)} of ${nodeTitle(node)} ${why}`, {
      op: node.op,
      node: nodeTitle(node),
      key: name,
    });
  const message = create(ATTRIBUTE, { name: checkUtf8(name) });
  if (attribute.type === "other") {
    const { value, graphs } = attribute;
    if (source !== undefined) Object.assign(message, source, { name });
    else if (value === "GRAPH" && graphs?.length === 1) message.type = typeNumber(value);
    else throw wrong(`is of type ${value}, which writeModel can keep but not create`);
    setBodies(message, attribute, opsets);
    return message;
  }
  if (attribute.type === "boolean") throw wrong("is a boolean, which ONNX represents as an int");
  const type = typeNumber(attribute.type);
  const [, field = ""] = ATTRIBUTE_TYPES[type];
  // The attribute's new value replaces the value from the file. If the attribute's type changed, only unknown fields
  // are kept.
  if (source?.type === type) Object.assign(message, source, { name });
  else if (source !== undefined) message.unknown = source.unknown;
  message.type = type;
  const isFloat = attribute.type === "float" || attribute.type === "floats";
  const encodeOne = (value: number | bigint | string | Constant): unknown =>
    encodeValue(isFloat, value, wrong);
  const { value } = attribute;
  const encoded = isArray(value) ? value.map(encodeOne) : encodeOne(value);
  return Object.assign(message, { [field]: encoded });
}

/** Replaces an attribute's bodies. Unchanged bodies keep their original bytes. */
function setBodies(
  message: MessageOf<typeof ATTRIBUTE>,
  { value, graphs }: Extract<Attribute, { type: "other" }>,
  opsets: Opsets,
): void {
  const [first, ...more] = graphs ?? [];
  if (first === undefined) return;
  const bodyBytes = (body: Graph, before: Uint8Array | undefined): Uint8Array =>
    bytesOf(GRAPH, graphMessage(body, opsets), "a body", before);
  const { g, graphs: before } = message;
  if (value === "GRAPH") message.g = bodyBytes(first, g);
  else message.graphs = [first, ...more].map((body, at) => bodyBytes(body, before[at]));
}

/** Encodes a value of an attribute. */
function encodeValue(
  isFloat: boolean,
  value: number | bigint | string | Constant,
  wrong: (why: string) => TensorError,
): unknown {
  if (typeof value === "string") return encodeUtf8(value);
  if (typeof value === "object") return constantBytes(value);
  if (isFloat) return Math.fround(Number(value));
  if (typeof value === "number" && !Number.isSafeInteger(value))
    throw wrong(`must hold integers, got ${value}`);
  const whole = BigInt(value);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  throw wrong(`holds ${value}, which does not fit in 64 bits`);
}

function functionBytes(given: ModelFunction | undefined, before: Uint8Array): Uint8Array {
  if (given === undefined) return before;
  const { opsets, graph } = given;
  const source = decode(FUNCTION, before, "a function");
  const message = create(FUNCTION, source);
  message.opsetImport = opsetMessages(opsets, source.opsetImport);
  message.node = graph.nodes.map((node) => nodeMessage(node, opsets));
  return bytesOf(FUNCTION, message, "a function", before);
}

/** Returns the bytes of a message that is declared as bytes: the original bytes if the message is unchanged. */
function bytesOf<S extends AnySchema>(
  schema: S,
  message: MessageOf<S>,
  what: string,
  before: Uint8Array | undefined,
): Uint8Array {
  const after = encodedAs(what, () => encode(schema, message));
  if (before === undefined) return after;
  // A message may have several encodings, but both arguments come from the same encoder.
  const unchanged = encode(schema, decode(schema, before, what));
  const isSame =
    after.length === unchanged.length && after.every((byte, at) => byte === unchanged[at]);
  return isSame ? before : after;
}

/** Returns the original `TensorProto` of a constant. A new name is appended, because the last name counts. */
function constantBytes(constant: Constant): Uint8Array {
  const { name } = constant;
  const header = constant[SOURCE];
  if (!isHeader(header)) return writeTensor(readConstant(constant), name === "" ? undefined : name);
  if (header.name === name) return header.bytes;
  const renamed = encode(TENSOR, create(TENSOR, { name }));
  return joinBytes([header.bytes, renamed], header.bytes.length + renamed.length);
}

function valueInfoMessage(value: ValueInfo): MessageOf<typeof VALUE_INFO> {
  const { name, type } = value;
  const message = messageOf(VALUE_INFO, value);
  message.name = checkUtf8(name);
  // An unchanged type is written back as it was, because the file may contain more details than `Model`.
  if (!sameType(type, decodeType(message.type))) {
    if (type === null) delete message.type;
    else message.type = typeMessage(type);
  }
  return message;
}

function typeMessage({ dtype, shape }: TensorType): MessageOf<typeof TYPE> {
  const tensorType = create(TENSOR_TYPE, { elemType: DTYPES[dtype].onnx.number });
  if (shape !== null) tensorType.shape = create(TENSOR_SHAPE, { dim: shape.map(dimMessage) });
  return create(TYPE, { tensorType });
}

function dimMessage(dim: Dim): MessageOf<typeof DIMENSION> {
  if (dim === null) return create(DIMENSION);
  if (typeof dim === "string") return create(DIMENSION, { dimParam: checkUtf8(dim) });
  return create(DIMENSION, { dimValue: BigInt(dim) });
}

function toInt64(value: number, what: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new TensorError("unsupported-model", `${what} must be an integer, got ${String(value)}`, {
    key: what,
    got: factOf(value),
  });
}
