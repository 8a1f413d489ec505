/** ONNX messages assembled by hand: the fields of `onnx.proto` by name, without the schema under test. */

import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { bytes, file, int, text, type Bytes } from "./onnx-encoder.ts";

// prettier-ignore
export const MODEL = {
  irVersion: 1, producerName: 2, producerVersion: 3, domain: 4, modelVersion: 5, docString: 6, graph: 7,
  opsetImport: 8, metadataProps: 14, functions: 25,
} as const;

// prettier-ignore
export const FUNCTION = {
  name: 1, input: 4, output: 5, attribute: 6, node: 7, docString: 8, opsetImport: 9, domain: 10, attributeProto: 11,
  valueInfo: 12,
} as const;

// prettier-ignore
export const GRAPH = {
  node: 1, name: 2, initializer: 5, docString: 10, input: 11, output: 12, valueInfo: 13, quantization: 14,
  sparseInitializer: 15,
} as const;

// prettier-ignore
export const NODE = {
  input: 1, output: 2, name: 3, opType: 4, attribute: 5, docString: 6, domain: 7, overload: 8, metadataProps: 9,
} as const;

// prettier-ignore
export const ATTRIBUTE = {
  name: 1, f: 2, i: 3, s: 4, t: 5, g: 6, floats: 7, ints: 8, strings: 9, tensors: 10, graphs: 11, docString: 13,
  type: 20, refAttrName: 21,
} as const;

// prettier-ignore
export const ATTRIBUTE_TYPE = {
  FLOAT: 1, INT: 2, STRING: 3, TENSOR: 4, GRAPH: 5, FLOATS: 6, INTS: 7, STRINGS: 8, TENSORS: 9, GRAPHS: 10,
} as const;

// prettier-ignore
export const TENSOR = {
  dims: 1, dataType: 2, segment: 3, floatData: 4, int32Data: 5, stringData: 6, int64Data: 7, name: 8, rawData: 9,
  doubleData: 10, uint64Data: 11, docString: 12, externalData: 13, dataLocation: 14,
} as const;

/** The key and the value of metadata and of external data. */
export const entry = (key: string, value: string): Bytes => [...text(1, key), ...text(2, value)];

/** The dimensions and the data type of a tensor. */
export const head = (dtype: DType, ...dims: readonly (number | bigint)[]): Bytes => [
  ...dims.flatMap((dim) => int(TENSOR.dims, dim)),
  ...int(TENSOR.dataType, DTYPES[dtype].onnx.number),
];

/** A sparse initializer, with values and their positions as serialized tensors. */
export const sparseInitializer = (
  values: Uint8Array,
  indices: Uint8Array,
  ...dims: readonly number[]
): Bytes =>
  bytes(GRAPH.sparseInitializer, [
    ...bytes(1, values),
    ...bytes(2, indices),
    ...dims.flatMap((dim) => int(3, dim)),
  ]);

/** The location of a tensor's data in another file. */
export const external = (entries: Readonly<Record<string, string>>): Bytes => [
  ...int(TENSOR.dataLocation, 1),
  ...Object.entries(entries).flatMap(([key, value]) =>
    bytes(TENSOR.externalData, entry(key, value)),
  ),
];

/** A constant of a graph. */
export const initializer = (...parts: readonly Bytes[]): Bytes =>
  bytes(GRAPH.initializer, parts.flat());

/** The content of a node message, for a graph or a function. */
export const nodeMessage = (op: string, ...parts: readonly Bytes[]): Bytes =>
  text(NODE.opType, op).concat(...parts);

/** A node of a graph. */
export const node = (op: string, ...parts: readonly Bytes[]): Bytes =>
  bytes(GRAPH.node, nodeMessage(op, ...parts));

/** A node of a function. */
export const functionNode = (op: string, ...parts: readonly Bytes[]): Bytes =>
  bytes(FUNCTION.node, nodeMessage(op, ...parts));

/** An attribute of a node. */
export const attribute = (
  name: string,
  type: keyof typeof ATTRIBUTE_TYPE | number,
  ...parts: readonly Bytes[]
): Bytes =>
  bytes(
    NODE.attribute,
    text(ATTRIBUTE.name, name).concat(
      ...parts,
      int(ATTRIBUTE.type, typeof type === "number" ? type : ATTRIBUTE_TYPE[type]),
    ),
  );

/** A dimension of a declared type: its value, its name, or nothing. */
export const dim = (value?: number | bigint | string): Bytes =>
  bytes(1, value === undefined ? [] : typeof value === "string" ? text(2, value) : int(1, value));

/** The declared type of a tensor; `elem` is ONNX's number of a data type. */
export const tensorType = (elem: number, ...dims: readonly Bytes[]): Bytes =>
  bytes(2, bytes(1, [...int(1, elem), ...bytes(2, dims.flat())]));

/** A value with its declared type, if any. */
export const valueInfo = (name: string, ...type: readonly Bytes[]): Bytes => [
  ...text(1, name),
  ...type.flat(),
];

/** The import of an operator set, of a model or of a function. */
export const opset = (
  version: number | bigint,
  domain?: string,
  field: number = MODEL.opsetImport,
): Bytes => bytes(field, [...(domain === undefined ? [] : text(1, domain)), ...int(2, version)]);

/** A model of opset 18 with these parts of its graph. */
export const modelFile = (...graph: readonly Bytes[]): Uint8Array =>
  file(int(MODEL.irVersion, 8), bytes(MODEL.graph, graph.flat()), opset(18));
