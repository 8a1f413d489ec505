/**
 * A node as type rules see it: its attributes and the known facts about its inputs. An attribute is unknown, which
 * differs from absent, if its type is wrong or a function's caller sets it.
 */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import type { TensorType } from "../../../core/operators/operator.ts";
import { dtypeOfNumber } from "../element-type.ts";
import { NOTHING_KNOWN, type Known } from "../known.ts";
import type { Attribute, Constant, ModelNode } from "../model.ts";
import { unknownDims, wrongNode } from "./dims.ts";
import { clampedIntegers, elementsOf, MAX_ELEMENTS } from "./elements.ts";

/**
 * Returns the known facts about the outputs of a node, in order; trailing unknown outputs may be omitted. A rule throws
 * a TensorError if a node is certainly wrong, so that its outputs are unknown.
 */
export type TypeRule = (view: NodeView) => readonly Known[];

export class NodeView {
  readonly node: ModelNode;
  /** The operator set version of the node's domain. */
  readonly opset: number;
  readonly #inputs: readonly Known[];

  constructor(node: ModelNode, opset: number, inputs: readonly Known[]) {
    this.node = node;
    this.opset = opset;
    this.#inputs = inputs;
  }

  get count(): number {
    return this.node.inputs.length;
  }

  /** Returns true if the node has an input at a position and does not omit it. */
  has(position: number): boolean {
    return (this.node.inputs[position] ?? "") !== "";
  }

  input(position: number): Known {
    return this.has(position) ? (this.#inputs[position] ?? NOTHING_KNOWN) : NOTHING_KNOWN;
  }

  inputs(): readonly Known[] {
    return this.node.inputs.map((_, position) => this.input(position));
  }

  dtype(position: number): DType | null {
    return this.input(position).type?.dtype ?? null;
  }

  shape(position: number): PartialShape {
    return this.input(position).type?.shape ?? null;
  }

  /** Returns the common data type of inputs, if the data type of any of them is known. */
  sharedDType(positions: readonly number[]): DType | null {
    const known = positions.map((position) => this.dtype(position)).filter((one) => one !== null);
    if (new Set(known).size > 1) throw wrongNode(`data types differ: ${known.join(", ")}`);
    return known[0] ?? null;
  }

  /** Returns the elements of an input; nulls if only their number is known, or null if even the number is unknown. */
  elements(position: number): readonly Dim[] | null {
    const known = this.input(position);
    const [length = null, ...others] = known.type?.shape ?? [null, null];
    const isList = typeof length === "number" && length <= MAX_ELEMENTS && others.length === 0;
    return elementsOf(known) ?? (isList ? unknownDims(length) : null);
  }

  /** Returns the integers of an input if all are known, or null otherwise. */
  integers(position: number): readonly number[] | null {
    const elements = elementsOf(this.input(position));
    return elements?.every((one) => typeof one === "number") === true ? elements : null;
  }

  /** Returns the integer of an input of rank 0 or of one element. */
  integer(position: number): Dim {
    const elements = elementsOf(this.input(position));
    return elements?.length === 1 ? elements[0] : null;
  }

  /** Like {@link elements}, but accepts numbers near the limits of int64, which mean the end of an axis. */
  bounds(position: number): readonly Dim[] | null {
    return clampedIntegers(this.input(position)) ?? this.elements(position);
  }

  #attribute(name: string): Attribute | undefined {
    const { attributes } = this.node;
    return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  }

  hasAttribute(name: string): boolean {
    return this.#attribute(name) !== undefined;
  }

  /** @returns null if the value is unknown */
  int<T extends number | null>(name: string, absent: T): number | T | null {
    const attribute = this.#attribute(name);
    if (attribute === undefined) return absent;
    return attribute.type === "int" ? integerFrom(attribute.value) : null;
  }

  /** @returns undefined if the attribute is absent, null if its value is unknown */
  ints(name: string): readonly number[] | null | undefined {
    const attribute = this.#attribute(name);
    if (attribute === undefined) return undefined;
    return attribute.type === "ints" ? attribute.value.map(clamped) : null;
  }

  string(name: string, absent: string): string | null {
    const attribute = this.#attribute(name);
    if (attribute === undefined) return absent;
    return attribute.type === "string" ? attribute.value : null;
  }

  tensor(name: string): Constant | null {
    const attribute = this.#attribute(name);
    return attribute?.type === "tensor" ? attribute.value : null;
  }

  floats(name: string): readonly number[] | null | undefined {
    const attribute = this.#attribute(name);
    if (attribute === undefined) return undefined;
    return attribute.type === "floats" ? attribute.value : null;
  }

  /** Returns the data type that an attribute gives by ONNX's number, or null if this package lacks it. */
  dtypeOf(name: string, absent: DType | null): DType | null {
    if (!this.hasAttribute(name)) return absent;
    const number = this.int(name, null);
    return number === null ? null : dtypeOfNumber(number);
  }
}

const integerFrom = (value: number | bigint): number | null =>
  Number.isSafeInteger(Number(value)) ? Number(value) : null;

/** ONNX's exporters write the largest int64 for the end of an axis. */
const clamped = (value: number | bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));

export const typeOnly = (type: TensorType): Known => ({ type, constant: null, elements: null });

/** Returns an output whose shape is known, partly known or unknown. Without a data type, nothing is known. */
export const output = (dtype: DType | null, shape: PartialShape): Known =>
  dtype === null ? NOTHING_KNOWN : typeOnly({ dtype, shape });
