/** One step of a node from a version to the next: what is known around it, and what is put in front of it. */

import { readConstant, type Attribute, type ModelNode } from "../../model/model.ts";
import { MAX_RANK, product, type PartialShape } from "../../../core/tensor/shape.ts";
import { reader } from "../../../core/tensor/scalar.ts";
import { tensor, type Tensor } from "../../../core/tensor/tensor.ts";
import type { DType, Scalar } from "../../../core/tensor/dtype.ts";
import type { GraphContext } from "../context.ts";
import { certainShape, onlyDeclared } from "../meaning.ts";

/** What a node adds is called after the first value that it makes. */
const baseOf = ({ op, outputs }: ModelNode): string => outputs.find((name) => name !== "") ?? op;

/** Lists of sizes, axes and the like are as long as a shape, or twice as long. */
const LONGEST = 2 * MAX_RANK;

export class Step {
  /** The version that the node becomes, as sentences call it: `Slice-10`. */
  readonly title: string;
  /** Nodes that were put in front of the node, in the order in which they run. */
  readonly front: ModelNode[] = [];
  /** What the step relies on without knowing it for certain, a sentence each. */
  readonly notes: Set<string>;
  readonly #opset: number;
  readonly #context: GraphContext;

  /** @param opset that the step leads to, of which the nodes in front are */
  constructor(title: string, opset: number, notes: Set<string>, context: GraphContext) {
    this.title = title;
    this.notes = notes;
    this.#opset = opset;
    this.#context = context;
  }

  /** The opset that the model is converted to, which may be some steps away. */
  get target(): number {
    return this.#context.target.opset;
  }

  dtypeOf(name: string): DType | null {
    return this.#context.scope.typeOf(name)?.dtype ?? null;
  }

  /** The shape of a value, null where not even the rank is known. */
  shapeOf(name: string): PartialShape {
    const { scope } = this.#context;
    const shape = scope.typeOf(name)?.shape ?? null;
    const certain = certainShape(name, scope);
    const isCertain = shape?.every((dim, axis) => dim === certain?.[axis]) ?? true;
    if (!isCertain) this.notes.add(onlyDeclared("shape", name, "the conversion goes by it"));
    return shape;
  }

  /** The rank of a value, null where it is not known. */
  rankOf(name: string): number | null {
    const { scope } = this.#context;
    const rank = scope.typeOf(name)?.shape?.length ?? null;
    if (rank !== null && certainShape(name, scope) === null)
      this.notes.add(onlyDeclared("rank", name, "axes were counted by it"));
    return rank;
  }

  /** The integers of a constant of rank 0 or 1; null for what is no constant, and for a longer one. */
  integersOf(name: string): readonly bigint[] | null {
    const found = this.constantOf(name);
    const isList = found !== null && found.shape.length <= 1 && found.size <= LONGEST;
    if (!isList || (found.dtype !== "int64" && found.dtype !== "int32")) return null;
    return Array.from(found.data as Iterable<number | bigint>, BigInt);
  }

  /** The one element of a constant; null for what is no constant. */
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

  /** Adds a constant that is called after the first output of the node, and returns its name. */
  constant(node: ModelNode, suffix: string, value: Tensor): string {
    const { dtype, shape, data } = value;
    // Not the name alone: of two nodes the first output may be left out.
    const details = [dtype, shape, Array.from(data as Iterable<unknown>, String)];
    return this.#context.additions.constant(baseOf(node), suffix, () => value, details);
  }

  /** Puts a node in front, and returns the name of its one output. */
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
