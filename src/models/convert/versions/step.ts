/** A step of a node from one version to the next: known facts about its values, and the nodes inserted before it. */

import { readConstant, type Attribute, type ModelNode } from "../../model/model.ts";
import { MAX_RANK, product, type PartialShape } from "../../../core/tensor/shape.ts";
import { reader } from "../../../core/tensor/scalar.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import type { DType, Scalar } from "../../../core/tensor/dtype.ts";
import type { GraphContext } from "../context.ts";
import { certainShape, onlyDeclared } from "../meaning.ts";

/** Values added for a node are named after its first output. */
const baseOf = ({ op, outputs }: ModelNode): string => outputs.find((name) => name !== "") ?? op;

/** The maximum length of lists such as sizes and axes: the largest rank, or twice that for pads. */
const LONGEST = 2 * MAX_RANK;

export class Step {
  /** The title of the version that the node becomes, such as `Slice-10`. */
  readonly title: string;
  /** Nodes inserted before the node, in execution order. */
  readonly front: ModelNode[] = [];
  /** Assumptions of the step, as sentences. */
  readonly notes: Set<string>;
  readonly #opset: number;
  readonly #context: GraphContext;

  /** @param opset the opset after the step, which the inserted nodes use */
  constructor(title: string, opset: number, notes: Set<string>, context: GraphContext) {
    this.title = title;
    this.notes = notes;
    this.#opset = opset;
    this.#context = context;
  }

  /** The target opset of the conversion, possibly several steps away. */
  get target(): number {
    return this.#context.target.opset;
  }

  dtypeOf(name: string): DType | null {
    return this.#context.scope.typeOf(name)?.dtype ?? null;
  }

  /** Returns the shape of a value, or null if even the rank is unknown. */
  shapeOf(name: string): PartialShape {
    const { scope } = this.#context;
    const shape = scope.typeOf(name)?.shape ?? null;
    const certain = certainShape(name, scope);
    const isCertain = shape?.every((dim, axis) => dim === certain?.[axis]) ?? true;
    if (!isCertain)
      this.notes.add(onlyDeclared("shape", name, "the conversion relies on this shape"));
    return shape;
  }

  /** Returns the rank of a value, or null if unknown. */
  rankOf(name: string): number | null {
    const { scope } = this.#context;
    const rank = scope.typeOf(name)?.shape?.length ?? null;
    if (rank !== null && certainShape(name, scope) === null)
      this.notes.add(onlyDeclared("rank", name, "the conversion counts axes with this rank"));
    return rank;
  }

  /** Returns the integers of a constant of rank 0 or 1, or null for other values and longer constants. */
  integersOf(name: string): readonly bigint[] | null {
    const found = this.constantOf(name);
    const isList = found !== null && found.shape.length <= 1 && found.size <= LONGEST;
    if (!isList || (found.dtype !== "int64" && found.dtype !== "int32")) return null;
    return Array.from(found.data as Iterable<number | bigint>, BigInt);
  }

  /** Returns the element of a constant with one element, or null for other values. */
  scalarOf(name: string): Scalar | null {
    const found = this.constantOf(name);
    return found === null || found.size !== 1 ? null : reader(found.dtype, found.data)(0);
  }

  constantOf(name: string): Tensor | null {
    const found = this.#context.scope.constantOf(name);
    if (found === null || found.dtype === null || product(found.shape) > LONGEST) return null;
    return readConstant(found);
  }

  /** Adds a list of integers as a constant and returns its name. */
  list(node: ModelNode, suffix: string, values: readonly (number | bigint)[]): string {
    return this.constant(node, suffix, tensor("int64", [values.length], values.map(BigInt)));
  }

  /** Adds a constant named after the node's first output and returns its name. */
  constant(node: ModelNode, suffix: string, value: Tensor): string {
    const { dtype, shape, data } = value;
    // The value is part of the key, because the first output of two nodes may be left out.
    const details = [dtype, shape, Array.from(data as Iterable<unknown>, String)];
    return this.#context.additions.constant(baseOf(node), suffix, () => value, details);
  }

  /** Inserts a node before this node, and returns the name of its output. */
  put(
    op: string,
    node: ModelNode,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string {
    const { scope, additions } = this.#context;
    const made = additions.node(op, baseOf(node), inputs, attributes);
    this.front.push(made);
    scope.learn(made, this.#opset);
    return made.outputs[0];
  }
}
