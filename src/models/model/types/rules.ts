/** Type rules, and their kinds. Most operators have a row in `table.ts` of a kind, a shape and data types. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { dtypeOfNumber } from "../element-type.ts";
import {
  clamped,
  clampedIntegers,
  elementsOf,
  MAX_ELEMENTS,
  NOTHING_KNOWN,
  typeOnly,
  type Known,
} from "../known.ts";
import type { Attribute, Constant, ModelNode } from "../model.ts";
import { broadcastShapes, unifyShapes, unknownDims, wrongNode } from "./dims.ts";

/**
 * Returns the known facts about a node's outputs, in order. Trailing unknown outputs may be omitted. A rule throws a
 * TensorError if the node is certainly invalid, and the outputs are then unknown.
 */
export type TypeRule = (view: NodeView) => readonly Known[];

/**
 * A node as type rules see it, with its attributes and the known facts about its inputs. An attribute is unknown if its
 * type is wrong, or if a function's caller sets it. An unknown attribute differs from an absent attribute.
 */
export class NodeView {
  readonly node: ModelNode;
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

  /** Returns true if the node has an input at this position and does not omit it. */
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

  /** Returns the data type that several inputs share, if it is known for one of them. */
  sharedDType(positions: readonly number[]): DType | null {
    const known = positions.map((position) => this.dtype(position)).filter((one) => one !== null);
    const [first = null] = known;
    if (known.some((one) => one !== first)) throw wrongNode("data types differ");
    return first;
  }

  /**
   * Returns an input's elements. If only the number of elements is known, every element is null. The result is null if
   * the number is unknown.
   */
  elements(position: number): readonly Dim[] | null {
    const traced = elementsOf(this.input(position));
    const shape = this.shape(position);
    if (traced !== null || shape?.length !== 1) return traced;
    const [length] = shape;
    return typeof length === "number" && length <= MAX_ELEMENTS ? unknownDims(length) : null;
  }

  /** Returns an input's integers if all are known; null otherwise. */
  integers(position: number): readonly number[] | null {
    const elements = elementsOf(this.input(position));
    return elements?.every((one) => typeof one === "number") === true ? elements : null;
  }

  integer(position: number): Dim {
    const elements = elementsOf(this.input(position));
    return elements?.length === 1 ? elements[0] : null;
  }

  /**
   * Returns an input's elements, including numbers near the limits of int64, which exporters use for the end of an
   * axis.
   */
  bounds(position: number): readonly Dim[] | null {
    return clampedIntegers(this.input(position)) ?? this.elements(position);
  }

  hasAttribute(name: string): boolean {
    return Object.hasOwn(this.node.attributes, name);
  }

  /** Returns an attribute; undefined if it is absent, and null if its value is unknown. */
  #attribute<T extends Attribute["type"]>(name: string, type: T): OfType<T> | null | undefined {
    if (!this.hasAttribute(name)) return undefined;
    const { [name]: attribute } = this.node.attributes;
    return isOf(attribute, type) ? attribute : null;
  }

  /** Returns an integer attribute; null if the value is unknown. */
  int<T extends number | null>(name: string, absent: T): number | T | null {
    const attribute = this.#attribute(name, "int");
    if (attribute === undefined) return absent;
    const value = Number(attribute?.value);
    return Number.isSafeInteger(value) ? value : null;
  }

  /**
   * Returns an integer list from an attribute; undefined if the attribute is absent, and null if its value is unknown.
   * Integers are clamped, because ONNX exporters write the largest int64 for the end of an axis.
   */
  ints(name: string): readonly number[] | null | undefined {
    const attribute = this.#attribute(name, "ints");
    return attribute && attribute.value.map(clamped);
  }

  string(name: string, absent: string): string | null {
    const attribute = this.#attribute(name, "string");
    return attribute === undefined ? absent : attribute && attribute.value;
  }

  tensor(name: string): Constant | null {
    return this.#attribute(name, "tensor")?.value ?? null;
  }

  floats(name: string): readonly number[] | null {
    return this.#attribute(name, "floats")?.value ?? null;
  }

  /** Returns the data type whose ONNX number is in an attribute; null if this package lacks the data type. */
  dtypeOf(name: string, absent: DType | null): DType | null {
    if (!this.hasAttribute(name)) return absent;
    const number = this.int(name, null);
    return number === null ? null : dtypeOfNumber(number);
  }
}

type OfType<T> = Extract<Attribute, { readonly type: T }>;

const isOf = <T extends Attribute["type"]>(one: Attribute, type: T): one is OfType<T> =>
  one.type === type;

/** Returns facts about an output with a known, partly known or unknown shape. Without a data type, nothing is known. */
export const output = (dtype: DType | null, shape: PartialShape): Known =>
  dtype === null ? NOTHING_KNOWN : typeOnly({ dtype, shape });

/** Type rules by operator. */
export type Table = Readonly<Record<string, TypeRule>>;

export type ShapeOf = (view: NodeView) => PartialShape;

/** An output's data type: the data type itself, the position of an input with this data type, or a rule. */
export type Typed = DType | number | ((view: NodeView) => DType | null);

/** The rule for outputs that share a shape. Without data types, the rule has one output, with the first input's. */
export function rule(shapeOf: ShapeOf, ...types: readonly Typed[]): TypeRule {
  const outputs = types.length === 0 ? [0] : types;
  return (view) => {
    const shape = shapeOf(view);
    return outputs.map((type) => output(dtypeFrom(view, type), shape));
  };
}

function dtypeFrom(view: NodeView, type: Typed): DType | null {
  if (typeof type === "number") return view.dtype(type);
  return typeof type === "string" ? type : type(view);
}

/** Derives a shape from the first input's dimensions. If these are unknown, the shape is unknown. */
export const fromFirst =
  (change: (dims: readonly Dim[], view: NodeView) => PartialShape): ShapeOf =>
  (view) => {
    const dims = view.shape(0);
    return dims && change(dims, view);
  };

export const firstShape: ShapeOf = (view) => view.shape(0);

const positionsOf = (view: NodeView): number[] => [...view.node.inputs.keys()];

/** The data type that all inputs share. */
export const shared: Typed = (view) => view.sharedDType(positionsOf(view));

export const sharedBy =
  (...positions: readonly number[]): Typed =>
  (view) =>
    view.sharedDType(positions);

/** Booleans, from inputs that share a data type. */
export const compared: Typed = (view) => {
  view.sharedDType(positionsOf(view));
  return "bool";
};

/** The data type whose ONNX number is in an attribute. */
export const given =
  (name: string, absent: DType | null): Typed =>
  (view) =>
    view.dtypeOf(name, absent);

/**
 * The first version of arithmetic operators that broadcasts both inputs. Earlier versions broadcast only the second
 * input.
 */
const BROADCAST_SINCE = 7;

export const broadcast: ShapeOf = (view) =>
  view.opset < BROADCAST_SINCE
    ? view.shape(0)
    : broadcastShapes(positionsOf(view).map((position) => view.shape(position)));

/** The shape of an operator whose inputs all have one shape. */
export const alike: ShapeOf = (view) =>
  view
    .inputs()
    .reduce<PartialShape>((all, { type }) => unifyShapes(all, type?.shape ?? null), null);

/**
 * `Sum`, `Mean`, `Max` and `Min` broadcast all inputs since version 8. In earlier versions, all inputs have the same
 * shape.
 */
export const variadic: ShapeOf = (view) => (view.opset >= 8 ? broadcast : alike)(view);
