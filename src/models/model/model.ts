/**
 * A model as plain data, independent of formats: readers create it from files, and writers create files from it. Every
 * field may be edited in place, and nodes may be written as literals.
 *
 * The fields of a model cover the parts of a file that this package understands. The rest of its file (metadata, types
 * of sequences, fields newer than the package) is attached to the parts of the model under the symbol `SOURCE`. Object
 * spread copies the attachment, and a writer of the same format writes it back.
 */

import { checkNames, namesOf } from "../../core/tensor/options.ts";
import { isDType, type DType } from "../../core/tensor/dtype.ts";
import { factOf, isArray, malformed, printValue, TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { listFrom, recordFrom } from "./foreign.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";

/** The key under which a part of a model keeps its file's data, for the writer of the same format. */
export const SOURCE: unique symbol = Symbol("source");

interface Sourced {
  readonly [SOURCE]?: unknown;
}

/** A model of any format as plain data, which may be changed. */
export interface Model extends Sourced {
  /** The version of the file format: `ir_version` of ONNX, the `version` of the `net` of OpenVINO. */
  irVersion: number;
  /** The tool that wrote the file; may be empty. */
  producer: string;
  /** The operator set version of each domain; ONNX's own domain is `ai.onnx` here, never `""`. */
  opsets: Record<string, number>;
  /** All versions except the last of each domain that the file imports more than once; a writer writes one import. */
  readonly otherOpsets?: OtherOpsets;
  graph: Graph;
  /** The operators that the model defines. They cannot be added or removed; their nodes and opsets may change. */
  readonly functions?: readonly ModelFunction[];
}

/** Versions by domain, in the order of the file. */
type OtherOpsets = Readonly<Record<string, readonly number[]>>;

/** An operator defined by a graph. Its inputs have no types, because its callers determine them. */
export interface ModelFunction {
  readonly name: string;
  readonly domain: string;
  /** The operator set versions of its nodes, which may differ from the model's. */
  readonly opsets: Readonly<Record<string, number>>;
  /** The same field as that of a model. */
  readonly otherOpsets?: OtherOpsets;
  readonly graph: Graph;
  /** Default attribute values for calls; a writer keeps those of the file. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

/** Nodes, and the named values between them. A value is an input, a constant or an output of a node. */
export interface Graph extends Sourced {
  name: string;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  /** Nodes, in an executable order. */
  nodes: ModelNode[];
  constants: Constant[];
  /** Declared types of values that are neither inputs nor outputs; not enforced in a run. */
  values?: ValueInfo[];
  /** Further names of values, by value name, for formats with several names per value (OpenVINO). */
  aliases?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The depth to which bodies are read; a body within a body is at depth 2. Only hostile files nest deeper than a few
 * levels.
 */
export const MAX_BODY_DEPTH = 16;

/** A value and its type. The type is null if undeclared, and for values other than tensors of a known data type. */
export interface ValueInfo extends Sourced {
  name: string;
  type: TensorType | null;
}

/** A node of a graph. */
export interface ModelNode extends Sourced {
  /** The node's name, possibly empty and not necessarily unique. */
  name: string;
  op: string;
  domain: string;
  /**
   * The node's own operator set version, in formats that have one (OpenVINO); otherwise the model's version for the
   * domain applies.
   */
  opset?: number;
  /** Names of input values; `""` is an omitted optional input. */
  inputs: string[];
  outputs: string[];
  attributes: Record<string, Attribute>;
}

/** An attribute with its type in the file: an int 1 and a float 1 are different. */
export type Attribute = Sourced &
  (
    | { readonly type: "int"; readonly value: number | bigint }
    | { readonly type: "float"; readonly value: number }
    | { readonly type: "string"; readonly value: string }
    /** A boolean, only in formats with booleans (OpenVINO). */
    | { readonly type: "boolean"; readonly value: boolean }
    | { readonly type: "tensor"; readonly value: Constant }
    | { readonly type: "ints"; readonly value: readonly (number | bigint)[] }
    | { readonly type: "floats"; readonly value: readonly number[] }
    | { readonly type: "strings"; readonly value: readonly string[] }
    | { readonly type: "tensors"; readonly value: readonly Constant[] }
    /** Other attributes, by ONNX's name of their type (`GRAPH`); written back unchanged. */
    | {
        readonly type: "other";
        readonly value: string;
        /**
         * The graphs in the attribute: the bodies of If, Loop and Scan. Null if they are nested too deeply to be read.
         */
        readonly graphs?: readonly Graph[] | null;
        /** The name of the caller's attribute that supplies the value, in a function. */
        readonly reference?: string;
      }
  );

/** Returns true if the value is an attribute of the caller of the enclosing function. */
export const isReference = (
  attribute: Attribute,
): attribute is Attribute & { readonly reference: string } =>
  attribute.type === "other" && attribute.reference !== undefined;

/** Returns an attribute with a new graph, such as the body of a loop. */
export const bodyAttribute = (graph: Graph): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [graph],
});

/** A named tensor that is decoded when it is read. */
export interface Constant extends Sourced {
  readonly name: string;
  /** The data type; null if this package lacks it. */
  readonly dtype: DType | null;
  readonly shape: readonly number[];
  /**
   * Decodes the tensor into new memory on each call.
   * @throws TensorError `malformed-file`, `too-large`, and `unsupported-model` for external data that is not available
   */
  read(): Tensor;
}

/**
 * Returns the tensor of a constant, from any maker.
 * @throws TensorError as {@link Constant.read}, and `malformed-file` for a tensor that contradicts the constant. Other
 *   errors of `read`, such as those of an external file, are passed on.
 */
export function readConstant(one: Constant): Tensor {
  const { name, dtype, shape } = one;
  const value = asTensor(one.read(), {}, name);
  if (value.dtype === dtype && sameShape(value.shape, shape)) return value;
  const what = `the constant ${printValue(name)} is of ${dtype ?? "an unknown data type"}`;
  const says = `${what} and shape ${printShape(shape)}`;
  throw malformed(`${says}, but reads as ${value.dtype} of shape ${printShape(value.shape)}`);
}

/** Returns a constant under another name. `read` is called as a method. */
export const renamed = (one: Constant, name: string): Constant =>
  one.name === name ? one : { ...one, name, read: () => one.read() };

/**
 * Returns a tensor as a constant of a model. The tensor is not copied.
 *
 * @param name the name of the value
 * @param tensor the value of the constant
 * @throws TensorError `dtype` for a value that is not a tensor
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const ids = constant("ids", tensor("int64", [1, 1], [2]));
 * model.graph.constants.push(ids);
 * ids.read().toArray(); // [[2n]]
 * ```
 */
export function constant(name: string, tensor: Tensor): Constant {
  const value = asTensor(tensor, {}, typeof name === "string" ? name : undefined);
  return { name, dtype: value.dtype, shape: value.shape, read: () => value };
}

/**
 * Attribute values for {@link buildModel}: whole numbers are ints, others floats; lists likewise, and `[]` is a list of
 * ints.
 */
export type AttributeInput =
  | Attribute
  | Tensor
  | number
  | bigint
  | string
  | boolean
  | readonly (number | bigint)[]
  | readonly string[];

/** A node for {@link buildModel}. */
export interface ModelNodeSpec {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly name?: string;
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, AttributeInput>>;
}

/** A model as a literal for {@link buildModel}. */
export interface ModelSpec {
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs?: Readonly<Record<string, TensorType>>;
  readonly outputs: Readonly<Record<string, TensorType | null>>;
  readonly constants?: Readonly<Record<string, Tensor>>;
  readonly nodes: readonly ModelNodeSpec[];
  readonly name?: string;
  readonly irVersion?: number;
  readonly producer?: string;
}

/**
 * The IR version of ONNX 1.10 to 1.13. All runtimes in use read files of this version, with operator sets of any age.
 */
export const IR_VERSION = 8;

/**
 * Makes a model from literals.
 *
 * @param spec opsets, inputs, constants, nodes and outputs, by name
 * @throws TensorError `attribute` for a value outside {@link AttributeInput}, `dtype` for an unknown data type
 *
 * @example
 * ```ts
 * const model = buildModel({
 *   opsets: { "ai.onnx": 18 },
 *   inputs: { data: { dtype: "float32", shape: ["N", 4] }, updates: { dtype: "float32", shape: [1, 4] } },
 *   constants: { indices: tensor("int64", [1, 1], [2]) },
 *   nodes: [
 *     {
 *       op: "ScatterND",
 *       inputs: ["data", "indices", "updates"],
 *       outputs: ["y"],
 *       attributes: { reduction: "add" },
 *     },
 *   ],
 *   outputs: { y: { dtype: "float32", shape: ["N", 4] } },
 * });
 * const file = writeModel(model); // the bytes of an `.onnx` file
 * console.log(readModel(file).graph.nodes.length); // 1
 * ```
 */
export function buildModel(spec: ModelSpec): Model {
  const {
    opsets,
    inputs = {},
    outputs,
    constants = {},
    nodes,
    name = "graph",
    irVersion = IR_VERSION,
    producer = "ndscatter",
  } = knownFrom("a model", spec, MODEL_KEYS);
  return {
    irVersion,
    producer,
    opsets: byDomain(Object.entries(recordFrom("the opsets of a model", opsets))),
    graph: {
      name,
      inputs: valuesFrom("the inputs of a model", inputs),
      outputs: valuesFrom("the outputs of a model", outputs),
      nodes: listFrom<ModelNodeSpec>("the nodes of a model", nodes).map(nodeOf),
      constants: Object.entries(recordFrom("the constants of a model", constants)).map(
        ([value, tensor]) => constant(value, tensor),
      ),
    },
  };
}

const MODEL_KEYS = /* @__PURE__ */ namesOf<ModelSpec>({
  opsets: true,
  inputs: true,
  outputs: true,
  constants: true,
  nodes: true,
  name: true,
  irVersion: true,
  producer: true,
});
const NODE_KEYS = /* @__PURE__ */ namesOf<ModelNodeSpec>({
  op: true,
  inputs: true,
  outputs: true,
  name: true,
  domain: true,
  attributes: true,
});
const TYPE_KEYS = /* @__PURE__ */ namesOf<TensorType>({ dtype: true, shape: true });

/** @throws TensorError `attribute` for a key that is not known */
function knownFrom<T extends object>(what: string, given: T, known: readonly string[]): T {
  const record = recordFrom(what, given);
  checkNames(`key of ${what}`, record, known, {});
  return record;
}

const valuesFrom = (
  what: string,
  types: Readonly<Record<string, TensorType | null>>,
): ValueInfo[] =>
  Object.entries(recordFrom(what, types)).map(([name, type]) => valueInfo(name, type));

function nodeOf(spec: ModelNodeSpec): ModelNode {
  const node = knownFrom("a node", spec, NODE_KEYS);
  const { op, inputs, outputs, name = "", domain = "", attributes = {} } = node;
  return {
    name,
    op,
    domain: domainName(domain),
    inputs: listFrom("the inputs of a node", inputs),
    outputs: listFrom("the outputs of a node", outputs),
    attributes: mapValues(recordFrom("the attributes of a node", attributes), attributeFrom),
  };
}

function valueInfo(name: string, type: TensorType | null): ValueInfo {
  if (type === null) return { name, type };
  const { dtype } = Tensor.isTensor(type) ? type : knownFrom("a type", type, TYPE_KEYS);
  if (isDType(dtype)) return { name, type };
  throw new TensorError(
    "dtype",
    `the data type of ${printValue(name)} is unknown: ${typeof dtype === "string" ? dtype : printValue(dtype)}`,
    { input: name, got: factOf(dtype) },
  );
}

/** Returns an attribute from a bare value. */
function attributeFrom(value: AttributeInput, name: string): Attribute {
  if (value instanceof Tensor) return { type: "tensor", value: constant("", value) };
  if (typeof value === "string") return { type: "string", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if (typeof value === "bigint" || Number.isInteger(value))
    return { type: "int", value: value as number };
  if (typeof value === "number") return { type: "float", value };
  if (isArray(value)) {
    const list = listFrom<unknown>(`the attribute ${printValue(name)}`, value);
    if (list.every(isWhole)) return { type: "ints", value: list };
    if (list.every((item) => typeof item === "string")) return { type: "strings", value: list };
    if (list.every((item) => typeof item === "number")) return { type: "floats", value: list };
  } else if (typeof value === "object" && value !== null) {
    const record = recordFrom(`the attribute ${printValue(name)}`, value);
    if ("type" in record) return record;
  }
  throw new TensorError(
    "attribute",
    `attribute ${printValue(name)} has a value that no attribute can hold`,
    { key: name, got: factOf(value) },
  );
}

const isWhole = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || Number.isInteger(value);

/** Returns `ai.onnx` for its other name `""`, and other domains unchanged. */
export const domainName = (domain: string): string => (domain === "" ? "ai.onnx" : domain);

/**
 * Returns operator set versions by domain. `fromEntries` also keeps a domain called `__proto__`, which an assignment
 * loses.
 */
const byDomain = (entries: readonly (readonly [string, number])[]): Record<string, number> =>
  Object.fromEntries(entries.map(([domain, version]) => [domainName(domain), version]));

/** Returns a copy of `record` in which every value is mapped. */
const mapValues = <T, U>(
  record: Readonly<Record<string, T>>,
  map: (value: T, key: string) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));

/** Returns the name of a node in sentences: its own name, or otherwise a name from its outputs. */
export function nodeTitle({ name, op, outputs }: ModelNode): string {
  if (name !== "") return `node ${printValue(name)}`;
  return outputs.length > 0 ? `the ${op} that makes ${printValue(outputs[0])}` : `an unnamed ${op}`;
}
