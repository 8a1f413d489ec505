/**
 * A model as plain data, independent of file formats. Readers create models from files, and writers create files from
 * models. Every field can be edited in place, and nodes can be written as literals.
 *
 * The fields cover the parts of a file that this package understands. Other file data (metadata, types of sequences,
 * unknown fields) is attached to the model's parts under the symbol `SOURCE`. Object spread copies the attachment, and
 * a writer of the same format writes the data back.
 */

import type { DType } from "../../core/tensor/dtype.ts";
import { malformed } from "../../core/errors.ts";
import { printValue, wrongOption } from "../../core/foreign.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";

/** The key of attached file data, which a writer of the same format writes back. */
export const SOURCE: unique symbol = Symbol("source");

interface Sourced {
  readonly [SOURCE]?: unknown;
}

/** A model of any format as plain data, which may be edited. */
export interface Model extends Sourced {
  /** The version of the file format, such as ONNX's `ir_version`, or the `version` of an OpenVINO `net`. */
  irVersion: number;
  /** The tool that wrote the file; may be empty. */
  producer: string;
  /** The opset version of each domain. ONNX's own domain is always named `ai.onnx`, never `""`. */
  opsets: Record<string, number>;
  /**
   * Earlier imports of a domain that the file imports more than once. The last import is in `opsets`, and a writer
   * writes only this import.
   */
  readonly otherOpsets?: OtherOpsets;
  graph: Graph;
  /**
   * The operators that the model defines as graphs. The list is fixed, but nodes and opsets of each function may be
   * changed.
   */
  readonly functions?: readonly ModelFunction[];
}

/** Opset versions by domain, in file order. */
type OtherOpsets = Readonly<Record<string, readonly number[]>>;

/**
 * An operator that the model defines as a graph. Function inputs have no types, because the callers determine the
 * types.
 */
export interface ModelFunction {
  readonly name: string;
  readonly domain: string;
  /** The opset version for each domain of the function's nodes. These versions may differ from the model's versions. */
  readonly opsets: Readonly<Record<string, number>>;
  readonly otherOpsets?: OtherOpsets;
  readonly graph: Graph;
  /** Default attribute values for calls. Writers ignore changes to these defaults. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

/** A graph of nodes and named values. Each value is an input, a constant or a node output. */
export interface Graph extends Sourced {
  name: string;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  /** The nodes in execution order. */
  nodes: ModelNode[];
  constants: Constant[];
  /** Declared types of inner values. Runs do not enforce these types. */
  values?: ValueInfo[];
  /** Additional names of values. OpenVINO files may give a value several names. */
  aliases?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The maximum depth of bodies that are read. A body inside a body has depth 2. Only hostile files nest deeper than a
 * few levels.
 */
export const MAX_BODY_DEPTH = 16;

/**
 * A value's name and type. The type is null if it is undeclared, or if the value is not a tensor of a known data type.
 */
export interface ValueInfo extends Sourced {
  name: string;
  type: TensorType | null;
}

/** A node of a graph. */
export interface ModelNode extends Sourced {
  /** The node's name, which may be empty or repeated. */
  name: string;
  op: string;
  domain: string;
  /**
   * The node's own opset version, in formats that store a version per node (OpenVINO). Otherwise the model's version
   * for the domain applies.
   */
  opset?: number;
  /** The names of the input values; `""` for an omitted optional input. */
  inputs: string[];
  outputs: string[];
  attributes: Record<string, Attribute>;
}

/** An attribute with its type in the file, because an int 1 and a float 1 differ. */
export type Attribute = Sourced &
  (
    | { readonly type: "int"; readonly value: number | bigint }
    | { readonly type: "float"; readonly value: number }
    | { readonly type: "string"; readonly value: string }
    /** A boolean attribute, which only OpenVINO files contain. */
    | { readonly type: "boolean"; readonly value: boolean }
    | { readonly type: "tensor"; readonly value: Constant }
    | { readonly type: "ints"; readonly value: readonly (number | bigint)[] }
    | { readonly type: "floats"; readonly value: readonly number[] }
    | { readonly type: "strings"; readonly value: readonly string[] }
    | { readonly type: "tensors"; readonly value: readonly Constant[] }
    /**
     * Any other attribute, with ONNX's name for its type, such as `GRAPH`. Writers write the attribute back unchanged.
     */
    | {
        readonly type: "other";
        readonly value: string;
        /**
         * The attribute's graphs, such as the bodies of If, Loop and Scan. The field is null for graphs nested too
         * deeply to be read.
         */
        readonly graphs?: readonly Graph[] | null;
        /** The caller's attribute that supplies the value, in a function. */
        readonly reference?: string;
      }
  );

/** Returns true if a function's caller supplies the attribute's value. */
export const isReference = (
  attribute: Attribute,
): attribute is Attribute & { readonly reference: string } =>
  attribute.type === "other" && attribute.reference !== undefined;

/** Creates an attribute that contains a graph, such as a loop's body. */
export const bodyAttribute = (graph: Graph): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [graph],
});

/** A named tensor that is decoded on demand. */
export interface Constant extends Sourced {
  readonly name: string;
  /** The data type; null if this package lacks the data type. */
  readonly dtype: DType | null;
  readonly shape: readonly number[];
  /**
   * Decodes the tensor; each call allocates new memory.
   * @throws TensorError `malformed-file`, `too-large`, or `unsupported-model` for external data that is not available
   */
  read(): Tensor;
}

/**
 * Reads a constant, and checks the tensor against the constant's data type and shape.
 * @throws TensorError the errors of `Constant.read`; `malformed-file` for a tensor that contradicts the constant.
 * Errors of reading an external file are passed on.
 */
export function readConstant(one: Constant): Tensor {
  const { name, dtype, shape } = one;
  const value = asTensor(one.read(), {}, name);
  if (value.dtype === dtype && sameShape(value.shape, shape)) return value;
  const what = `the constant ${printValue(name)} is of ${dtype ?? "an unknown data type"}`;
  const says = `${what} and shape ${printShape(shape)}`;
  throw malformed(`${says}, but reads as ${value.dtype} of shape ${printShape(value.shape)}`);
}

export const renamed = (one: Constant, name: string): Constant =>
  one.name === name ? one : { ...one, name, read: () => one.read() };

/**
 * Creates a model constant from a tensor, without copying the tensor.
 *
 * @param name the constant's name
 * @param tensor the constant's value
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

/** Returns the names of a graph's inputs, constants and node outputs. */
export function valueNames({ inputs, constants, nodes }: Graph): string[] {
  const names = [...inputs, ...constants].map(({ name }) => name);
  for (const { outputs } of nodes) for (const name of outputs) names.push(name);
  return names;
}

/** Returns `ai.onnx` for ONNX's other domain name `""`, and other domains unchanged. */
export const domainName = (domain: string): string => (domain === "" ? "ai.onnx" : domain);

/** Returns a node's title for sentences, with the node's name or else an output name. */
export function nodeTitle({ name, op, outputs }: ModelNode): string {
  if (name !== "") return `node ${printValue(name)}`;
  return outputs.length > 0 ? `the ${op} that makes ${printValue(outputs[0])}` : `an unnamed ${op}`;
}
