/**
 * The part of ONNX's model format that this package reads and writes, with the names and numbers of ONNX's
 * `onnx.proto`. Other fields, such as metadata, are kept as bytes and survive a round trip.
 *
 * Tensors, subgraphs and functions are messages, but are declared as `bytes`, which have the same encoding: they stay
 * as they are in the file until they are read. `nested` names their schemas. Enums are int32, because numbers that are
 * newer than this package must survive.
 */

/** The encodings of a record's payload. */
export const WIRE = { varint: 0, bit64: 1, length: 2, bit32: 5 } as const;

/** The encoding of each kind of scalar, and its value in messages that omit the field. */
const SCALARS = {
  int32: { wire: WIRE.varint, zero: 0 },
  int64: { wire: WIRE.varint, zero: 0n },
  uint64: { wire: WIRE.varint, zero: 0n },
  float: { wire: WIRE.bit32, zero: 0 },
  double: { wire: WIRE.bit64, zero: 0 },
  string: { wire: WIRE.length, zero: "" },
  bytes: { wire: WIRE.length, zero: new Uint8Array() as Uint8Array },
};

type Scalar = keyof typeof SCALARS;

/** How a value is encoded: as a scalar of protobuf, or as a message of another schema. */
export type Kind = Scalar | Schema<Fields>;

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  readonly isList: boolean;
  /** Returns the schema of a message that is declared as `bytes`. */
  readonly nested?: () => AnySchema;
}

type Fields = Readonly<Record<string, Field>>;

export interface Schema<F extends Fields> {
  /** The message's name in `onnx.proto`. */
  readonly name: string;
  readonly fields: F;
  /** True if at most one field has a value: the last in the file. */
  readonly isChoice: boolean;
  /** The fields in the order of their numbers, which is the order in which they are written. */
  readonly byNumber: ReadonlyMap<number, NamedField>;
  /** The values of fields that a message omits. */
  readonly defaults: object;
}

export type AnySchema = Schema<Fields>;

export interface NamedField extends Field {
  /** The key in messages, such as `opType`. */
  readonly key: string;
  /** The name in `onnx.proto`, such as `op_type`. */
  readonly name: string;
  /** The encoding of a value's payload. */
  readonly wire: number;
  /** Returns the schema of a value that is a message, or is a message declared as `bytes`. */
  readonly inner?: (() => AnySchema) | undefined;
}

type Values = { [K in Scalar]: (typeof SCALARS)[K]["zero"] };

type Value<K extends Kind> = K extends Scalar
  ? Values[K]
  : K extends Schema<infer F>
    ? Message<F>
    : never;

type FieldValue<F extends Field> = F["isList"] extends true
  ? Value<F["kind"]>[]
  : F["kind"] extends string
    ? Value<F["kind"]>
    : Value<F["kind"]> | undefined;

/**
 * A decoded message. A field that the file omits is not an own property. It reads as 0 or as empty, and a message reads
 * as undefined.
 */
export type Message<F extends Fields> = { -readonly [K in keyof F]: FieldValue<F[K]> } & {
  /** The records of fields that the schema does not have. */
  unknown: Uint8Array[];
};

/** The message type of a schema. */
export type MessageOf<S> = S extends Schema<infer F> ? Message<F> : never;

/** An empty list that messages share, because a hostile file may contain millions of empty messages. */
const NONE: readonly never[] = Object.freeze([]);

function schema<F extends Fields>(name: string, fields: F, isChoice = false): Schema<F> {
  const named = Object.entries(fields).map(([key, field]) => {
    const { kind } = field;
    const isScalar = typeof kind === "string";
    return {
      ...field,
      key,
      name: key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      wire: isScalar ? SCALARS[kind].wire : WIRE.length,
      inner: isScalar ? field.nested : () => kind,
    };
  });
  const defaults: Record<string, unknown> = { unknown: NONE };
  for (const { key, kind, isList } of named) {
    if (isList) defaults[key] = NONE;
    else if (typeof kind === "string") defaults[key] = SCALARS[kind].zero;
  }
  const byNumber = new Map(named.map((field) => [field.number, field]));
  return { name, fields, isChoice, byNumber, defaults };
}

const one = <const K extends Kind>(number: number, kind: K) =>
  ({ number, kind, isList: false }) as const;

const list = <const K extends Kind>(number: number, kind: K) =>
  ({ number, kind, isList: true }) as const;

const nested = (number: number, inner: () => AnySchema) =>
  ({ number, kind: "bytes", isList: false, nested: inner }) as const;

const nestedList = (number: number, inner: () => AnySchema) =>
  ({ number, kind: "bytes", isList: true, nested: inner }) as const;

export const ENTRY = schema("StringStringEntryProto", {
  key: one(1, "string"),
  value: one(2, "string"),
});

export const TENSOR = schema("TensorProto", {
  dims: list(1, "int64"),
  dataType: one(2, "int32"),
  segment: one(3, "bytes"),
  floatData: list(4, "float"),
  int32Data: list(5, "int32"),
  stringData: list(6, "bytes"),
  int64Data: list(7, "int64"),
  name: one(8, "string"),
  rawData: one(9, "bytes"),
  doubleData: list(10, "double"),
  uint64Data: list(11, "uint64"),
  externalData: list(13, ENTRY),
  dataLocation: one(14, "int32"),
});

export const SPARSE_TENSOR = schema("SparseTensorProto", {
  values: nested(1, () => TENSOR),
  indices: nested(2, () => TENSOR),
  dims: list(3, "int64"),
});

export const DIMENSION = schema(
  "Dimension",
  { dimValue: one(1, "int64"), dimParam: one(2, "string") },
  true,
);

export const TENSOR_SHAPE = schema("TensorShapeProto", { dim: list(1, DIMENSION) });

export const TENSOR_TYPE = schema("TypeProtoTensor", {
  elemType: one(1, "int32"),
  shape: one(2, TENSOR_SHAPE),
});

export const TYPE = schema("TypeProto", { tensorType: one(1, TENSOR_TYPE) });

export const VALUE_INFO = schema("ValueInfoProto", { name: one(1, "string"), type: one(2, TYPE) });

/** The declared result ends the circle of types from a graph to its attributes and back. */
function graphSchema(): AnySchema {
  return GRAPH;
}

export const ATTRIBUTE = schema("AttributeProto", {
  name: one(1, "string"),
  f: one(2, "float"),
  i: one(3, "int64"),
  s: one(4, "bytes"),
  t: nested(5, () => TENSOR),
  g: nested(6, graphSchema),
  floats: list(7, "float"),
  ints: list(8, "int64"),
  strings: list(9, "bytes"),
  tensors: nestedList(10, () => TENSOR),
  graphs: nestedList(11, graphSchema),
  type: one(20, "int32"),
  refAttrName: one(21, "string"),
});

export const NODE = schema("NodeProto", {
  input: list(1, "string"),
  output: list(2, "string"),
  name: one(3, "string"),
  opType: one(4, "string"),
  attribute: list(5, ATTRIBUTE),
  domain: one(7, "string"),
});

export const OPSET = schema("OperatorSetIdProto", {
  domain: one(1, "string"),
  version: one(2, "int64"),
});

export const GRAPH = schema("GraphProto", {
  node: list(1, NODE),
  name: one(2, "string"),
  initializer: nestedList(5, () => TENSOR),
  docString: one(10, "string"),
  input: list(11, VALUE_INFO),
  output: list(12, VALUE_INFO),
  valueInfo: list(13, VALUE_INFO),
  sparseInitializer: nestedList(15, () => SPARSE_TENSOR),
});

export const FUNCTION = schema("FunctionProto", {
  name: one(1, "string"),
  input: list(4, "string"),
  output: list(5, "string"),
  node: list(7, NODE),
  opsetImport: list(9, OPSET),
  domain: one(10, "string"),
  attributeProto: list(11, ATTRIBUTE),
  valueInfo: list(12, VALUE_INFO),
});

export const MODEL = schema("ModelProto", {
  irVersion: one(1, "int64"),
  producerName: one(2, "string"),
  producerVersion: one(3, "string"),
  docString: one(6, "string"),
  graph: one(7, GRAPH),
  opsetImport: list(8, OPSET),
  functions: nestedList(25, () => FUNCTION),
});
