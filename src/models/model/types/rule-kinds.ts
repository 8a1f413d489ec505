/** Kinds of type rules. Most operators have a row in `table.ts` that consists of a kind, a shape and data types. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { broadcastShapes, unifyShapes } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

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
