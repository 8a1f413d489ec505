/** One step of a node's conversion, from one version to the next, with the known facts about its values. */

import { readConstant, type Attribute, type ModelNode } from "../../model/model.ts";
import { MAX_RANK, product, type PartialShape } from "../../../core/tensor/shape.ts";
import { reader } from "../../../core/tensor/scalar.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import type { DType, Scalar } from "../../../core/tensor/dtype.ts";
import type { GraphContext } from "../context.ts";
import { certainShape, onlyDeclared } from "../meaning.ts";

/** Returns the base name for values that a step adds: the node's first output. */
const baseOf = ({ op, outputs }: ModelNode): string => outputs.find((name) => name !== "") ?? op;

/** The maximum length of constant lists that a step reads. Axes need one entry per axis, and pads need two. */
const LONGEST = 2 * MAX_RANK;

export class Step {
  /** The title of the version after the step, such as `Slice-10`. */
  readonly title: string;
  /** Nodes that the step inserts before the node, in execution order. */
  readonly front: ModelNode[] = [];
  /** Sentences about assumptions of the step. */
  readonly notes: Set<string>;
  readonly #opset: number;
  readonly #context: GraphContext;

  /** @param opset the opset after the step, which inserted nodes use */
  constructor(title: string, opset: number, notes: Set<string>, context: GraphContext) {
    this.title = title;
    this.notes = notes;
    this.#opset = opset;
    this.#context = context;
  }

  /** The final opset of the conversion, which may be several steps away. */
  get target(): number {
    return this.#context.target.opset;
  }

  dtypeOf(name: string): DType | null {
    return this.#context.scope.typeOf(name)?.dtype ?? null;
  }

  shapeOf(name: string): PartialShape {
    const { scope } = this.#context;
    const shape = scope.typeOf(name)?.shape ?? null;
    const certain = certainShape(name, scope);
    const isCertain = shape?.every((dim, axis) => dim === certain?.[axis]) ?? true;
    if (!isCertain)
      this.notes.add(onlyDeclared("shape", name, "the conversion relies on this shape"));
    return shape;
  }

  rankOf(name: string): number | null {
    const { scope } = this.#context;
    const rank = scope.typeOf(name)?.shape?.length ?? null;
    if (rank !== null && certainShape(name, scope) === null)
      this.notes.add(onlyDeclared("rank", name, "the conversion counts axes with this rank"));
    return rank;
  }

  /** Returns the integers of a short constant list or scalar; null for other values. */
  integersOf(name: string): readonly bigint[] | null {
    const found = this.constantOf(name);
    const isList = found !== null && found.shape.length <= 1 && found.size <= LONGEST;
    if (!isList || (found.dtype !== "int64" && found.dtype !== "int32")) return null;
    return Array.from(found.data as Iterable<number | bigint>, BigInt);
  }

  /** Returns the element of a single-element constant; null for other values. */
  scalarOf(name: string): Scalar | null {
    const found = this.constantOf(name);
    return found === null || found.size !== 1 ? null : reader(found.dtype, found.data)(0);
  }

  constantOf(name: string): Tensor | null {
    const found = this.#context.scope.constantOf(name);
    if (found === null || found.dtype === null || product(found.shape) > LONGEST) return null;
    return readConstant(found);
  }

  list(node: ModelNode, suffix: string, values: readonly (number | bigint)[]): string {
    return this.constant(node, suffix, tensor("int64", [values.length], values.map(BigInt)));
  }

  constant(node: ModelNode, suffix: string, value: Tensor): string {
    const { dtype, shape, data } = value;
    // The key includes the value, because nodes without a first output share a name.
    const details = [dtype, shape, Array.from(data as Iterable<unknown>, String)];
    return this.#context.additions.constant(baseOf(node), suffix, () => value, details);
  }

  /** Inserts a node before the converted node, and returns the name of its output. */
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
