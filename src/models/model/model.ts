/**
 * A model as plain data, independent of formats: readers create it from files, and writers create files from it. Every
 * field may be edited in place, and nodes may be written as literals.
 *
 * The fields of a model cover the parts of a file that this package understands. The rest of its file (metadata, types
 * of sequences, fields newer than the package) is attached to the parts of the model under the symbol `SOURCE`. Object
 * spread copies the attachment, and a writer of the same format writes it back.
 */

import type { DType } from "../../core/tensor/dtype.ts";
import { malformed, printValue, wrongOption } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";

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
 * @throws TensorError `attribute` for a name that is not text, `dtype` for a value that is not a tensor
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
  if (typeof name !== "string") throw wrongOption("name", "text", name);
  const value = asTensor(tensor, {}, name);
  return { name, dtype: value.dtype, shape: value.shape, read: () => value };
}

/** Returns `ai.onnx` for its other name `""`, and other domains unchanged. */
export const domainName = (domain: string): string => (domain === "" ? "ai.onnx" : domain);

/** Returns the name of a node in sentences: its own name, or otherwise a name from its outputs. */
export function nodeTitle({ name, op, outputs }: ModelNode): string {
  if (name !== "") return `node ${printValue(name)}`;
  return outputs.length > 0 ? `the ${op} that makes ${printValue(outputs[0])}` : `an unnamed ${op}`;
}
