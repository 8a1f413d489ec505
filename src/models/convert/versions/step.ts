/** One step of a node's conversion, from one version to the next: the node, and the known facts about its values. */

import { malformed } from "../../../core/errors.ts";
import type { TensorError } from "../../../core/errors.ts";
import type { DType, Scalar } from "../../../core/tensor/dtype.ts";
import { reader } from "../../../core/tensor/scalar.ts";
import { MAX_RANK, product, type PartialShape } from "../../../core/tensor/shape.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import { isReference, readConstant, type Attribute, type ModelNode } from "../../model/model.ts";
import { attributeOf, onnxNode, type AttributeValue, type GraphContext } from "../context.ts";
import { certainShape, constantAt, onlyDeclared, refusal } from "../meaning.ts";
import { titleAt } from "./table.ts";

/** The maximum length of constant lists that a step reads. Axes need one entry per axis, and pads need two. */
const LONGEST = 2 * MAX_RANK;

type Value = number | string | boolean | readonly (number | bigint | string)[];

/** Changes one node. Inputs are named by their position, and an omitted input has an empty name. */
export class Step {
  node: ModelNode;
  /** The title of the version after the step, such as `Slice-10`. */
  readonly title: string;
  /** Nodes that the step inserts before the node, in execution order. */
  readonly front: ModelNode[] = [];
  /** Sentences about assumptions of the step. */
  readonly notes: Set<string>;
  readonly #opset: number;
  readonly #context: GraphContext;

  /** @param opset the opset after the step, which inserted nodes use */
  constructor(node: ModelNode, opset: number, notes: Set<string>, context: GraphContext) {
    this.node = node;
    this.title = titleAt(node.op, opset);
    this.notes = notes;
    this.#opset = opset;
    this.#context = context;
  }

  /** The final opset of the conversion, which may be several steps away. */
  get target(): number {
    return this.#context.target.opset;
  }

  /** Returns the error for a node that the version after the step cannot express. */
  refusal(reason: string): TensorError {
    return refusal(`${this.title} ${reason}`);
  }

  /** Refuses a node for which `isPossible` is false. */
  require(isPossible: boolean, reason: string): void {
    if (!isPossible) throw this.refusal(reason);
  }

  input(at: number): string {
    return this.node.inputs[at] ?? "";
  }

  dtype(at: number): DType | null {
    return this.dtypeOf(this.input(at));
  }

  dtypeOf(name: string): DType | null {
    return this.#context.scope.typeOf(name)?.dtype ?? null;
  }

  shape(at: number): PartialShape {
    const { scope } = this.#context;
    const name = this.input(at);
    const shape = scope.typeOf(name)?.shape ?? null;
    const certain = certainShape(name, scope);
    if (shape?.some((dim, axis) => dim !== certain?.[axis]) === true)
      this.notes.add(onlyDeclared("shape", name, "the conversion relies on this shape"));
    return shape;
  }

  rank(at: number): number | null {
    const { scope } = this.#context;
    const name = this.input(at);
    const rank = scope.typeOf(name)?.shape?.length ?? null;
    if (rank !== null && certainShape(name, scope) === null)
      this.notes.add(onlyDeclared("rank", name, "the conversion counts axes with this rank"));
    return rank;
  }

  /** Returns the integers of a short constant list or scalar; null for other values. */
  integers(at: number): readonly bigint[] | null {
    const found = this.constant(at);
    const isList = found !== null && found.shape.length <= 1 && found.size <= LONGEST;
    if (!isList || (found.dtype !== "int64" && found.dtype !== "int32")) return null;
    return Array.from(found.data as Iterable<number | bigint>, BigInt);
  }

  /** Returns the element of a single-element constant; null for other values. */
  scalar(at: number): Scalar | null {
    const found = this.constant(at);
    return found === null || found.size !== 1 ? null : reader(found.dtype, found.data)(0);
  }

  constant(at: number): Tensor | null {
    const found = constantAt(this.input(at), this.#context.scope);
    return found === null || product(found.shape) > LONGEST ? null : readConstant(found);
  }

  /** Returns the integers of an input that must be a constant. Throws `unsupported-model` for another value. */
  known(at: number, name: string): readonly bigint[] {
    const values = this.integers(at);
    if (values !== null) return values;
    throw this.refusal(`needs a constant ${name}, but the input ${name} is not a constant`);
  }

  /** Throws `unsupported-model` for an attribute whose value comes from a function's caller. */
  attribute(name: string): Attribute | undefined {
    const { attributes } = this.node;
    if (!Object.hasOwn(attributes, name)) return undefined;
    const { [name]: attribute } = attributes;
    if (isReference(attribute))
      throw refusal(`the attribute ${name} depends on the caller of the function`);
    return attribute;
  }

  /**
   * Returns an attribute's value; undefined if the node does not have the attribute. Throws `malformed-file` for a
   * tensor or a graph.
   */
  value(name: string): Value | undefined {
    const attribute = this.attribute(name);
    if (attribute === undefined) return undefined;
    const { type } = attribute;
    if (type === "int") return Number(attribute.value);
    if (type === "other" || type === "tensor" || type === "tensors")
      throw malformed(`the attribute ${name} is of the wrong type`, { key: name });
    return attribute.value;
  }

  /** Throws `malformed-file` for an attribute that is not a number. */
  number<T>(name: string, absent: T): number | T {
    const value = this.value(name);
    if (value === undefined) return absent;
    if (typeof value === "number") return value;
    throw malformed(`the attribute ${name} must be a number`, { key: name });
  }

  /** Returns an integer attribute, rounded if its magnitude exceeds 2^53. */
  int<T>(name: string, absent: T): number | T {
    const value = this.exactInt(name, null);
    return value === null ? absent : Number(value);
  }

  /**
   * Returns an integer attribute exactly, because ONNX exporters write 2^63 - 1 for the end of an axis. Throws
   * `malformed-file` for an attribute that is not an integer.
   */
  exactInt<T>(name: string, absent: T): bigint | T {
    const value = this.number(name, null);
    if (value === null) return absent;
    if (!Number.isInteger(value))
      throw malformed(`the attribute ${name} must be an integer`, { key: name });
    const attribute = this.attribute(name);
    return BigInt(attribute?.type === "int" ? attribute.value : value);
  }

  /**
   * Returns a list of integers from an attribute; undefined if the node does not have the attribute. Throws
   * `malformed-file` for an attribute that is not a list of integers.
   */
  ints(name: string): readonly bigint[] | undefined {
    const attribute = this.attribute(name);
    if (attribute === undefined) return undefined;
    if (attribute.type === "ints" && attribute.value.every((one) => Number.isInteger(Number(one))))
      return attribute.value.map(BigInt);
    throw malformed(`the attribute ${name} must be a list of integers`, { key: name });
  }

  set(name: string, value: AttributeValue): void {
    const attributes = { ...this.node.attributes, [name]: attributeOf(value) };
    this.node = { ...this.node, attributes };
  }

  /** Removes attributes. A node without these attributes stays the same object. */
  drop(...names: readonly string[]): void {
    const entries = Object.entries(this.node.attributes);
    const kept = entries.filter(([name]) => !names.includes(name));
    if (kept.length < entries.length)
      this.node = { ...this.node, attributes: Object.fromEntries(kept) };
  }

  /** Replaces some inputs; `""` omits an input. */
  setInputs(changed: Readonly<Record<number, string>>): void {
    const last = Math.max(this.node.inputs.length - 1, ...Object.keys(changed).map(Number));
    const inputs = Array.from({ length: last + 1 }, (_, at) => changed[at] ?? this.input(at));
    this.node = trimmed({ ...this.node, inputs });
  }

  /** Replaces an attribute by a constant input. */
  toInput(name: string, at: number, value: Tensor): void {
    this.setInputs({ [at]: this.addConstant(name, value) });
    this.drop(name);
  }

  /** Replaces an input by an attribute. */
  toAttribute(name: string, at: number, value: AttributeValue): void {
    this.set(name, value);
    this.setInputs({ [at]: "" });
  }

  list(suffix: string, values: readonly (number | bigint)[]): string {
    return this.addConstant(suffix, int64List(values));
  }

  addConstant(suffix: string, value: Tensor): string {
    const { dtype, shape, data } = value;
    // The key includes the value, because nodes without a first output share a name.
    const details = [dtype, shape, Array.from(data as Iterable<unknown>, String)];
    return this.#context.additions.constant(this.#base, suffix, () => value, details);
  }

  /** Inserts a node before the converted node, and returns the name of its output. */
  put(
    op: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, AttributeValue>>,
  ): string {
    const { scope, names } = this.#context;
    const name = names.fresh(`${this.#base}/${op}`);
    const made = onnxNode(op, inputs, [name], attributes);
    this.front.push(made);
    scope.learn(made, this.#opset);
    return name;
  }

  /** The base name for values that the step adds: the node's first output. */
  get #base(): string {
    const { op, outputs } = this.node;
    return outputs.find((name) => name !== "") ?? op;
  }
}

export const int64List = (values: readonly (number | bigint)[]): Tensor =>
  tensor("int64", [values.length], values.map(BigInt));

/** Returns a copy of the node without trailing empty input names, which older versions may reject. */
export function trimmed(node: ModelNode): ModelNode {
  const last = node.inputs.findLastIndex((name) => name !== "");
  return last + 1 === node.inputs.length
    ? node
    : { ...node, inputs: node.inputs.slice(0, last + 1) };
}
