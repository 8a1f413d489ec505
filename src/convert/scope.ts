/** What is known of the values of a graph before it runs: their types, and which of them are constants. */

import { isTensorError } from "../errors.ts";
import { constantOf, destinationOf, inlineOperator } from "../model/inline.ts";
import { attributesOf } from "../model/run-model.ts";
import type { Constant, Graph, ModelNode } from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import { infer } from "../call/infer.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { versionOf } from "./meaning.ts";

export class Scope {
  readonly #outer: Scope | null;
  readonly #own: Set<string>;
  readonly #types = new Map<string, TensorType>();
  readonly #constants = new Map<string, Constant>();

  /** @param outer of the graph around it, whose values a body sees */
  constructor({ inputs, outputs, values = [], nodes, constants }: Graph, outer: Scope | null) {
    this.#outer = outer;
    this.#own = new Set(inputs.map(({ name }) => name));
    for (const one of constants) {
      // What is an input as well may be replaced by whoever runs the model.
      if (this.#own.has(one.name)) continue;
      this.add(one);
    }
    for (const node of nodes) for (const name of node.outputs) this.#own.add(name);
    for (const { name, type } of [...outputs, ...values, ...inputs]) {
      if (type !== null) this.#types.set(name, type);
    }
  }

  typeOf(name: string): TensorType | null {
    if (this.#own.has(name)) return this.#types.get(name) ?? null;
    return this.#outer?.typeOf(name) ?? null;
  }

  constantOf(name: string): Constant | null {
    if (this.#own.has(name)) return this.#constants.get(name) ?? null;
    return this.#outer?.constantOf(name) ?? null;
  }

  add(one: Constant, name = one.name): void {
    const { dtype, shape } = one;
    this.#own.add(name);
    this.#constants.set(name, one);
    if (dtype !== null) this.#types.set(name, { dtype, shape });
  }

  setType(name: string, type: TensorType): void {
    this.#own.add(name);
    // What is declared was known before, but may say less.
    const declared = this.#types.get(name);
    if (declared === undefined || declared.shape === null) this.#types.set(name, type);
  }

  /** Takes note of what a node makes. */
  learn(node: ModelNode, opset: number): void {
    const [output = ""] = node.outputs;
    if (output === "") return;
    const [input = ""] = node.inputs;
    const source = this.constantOf(input);
    if (source !== null) this.#learnConstant(node, opset, source, output);
    const one = constantOf(node, opset);
    if (one !== null) this.add(one, output);
    const type = this.#typeOfOutput(node, opset);
    if (type !== null) this.setType(output, type);
  }

  /** What is made of a constant is one, and no more read than that. */
  #learnConstant(node: ModelNode, opset: number, source: Constant, output: string): void {
    if (isIdentity(node)) this.add(source, output);
    const dtype = destinationOf(node);
    const operator = inlineOperator(node);
    if (dtype === null || operator === null) return;
    const read = (): Tensor => operator(node, [source.read()], opset)[0];
    this.add({ name: output, dtype, shape: source.shape, read });
  }

  #typeOfOutput(node: ModelNode, opset: number): TensorType | null {
    const { domain, op, inputs } = node;
    const [first = null] = inputs.map((name) => this.typeOf(name));
    if (isIdentity(node)) return first;
    const dtype = destinationOf(node);
    if (dtype !== null) return { dtype, shape: first?.shape ?? null };
    if (versionOf(node, opset) === null) return null;
    try {
      const types = inputs.map((name) => (name === "" ? undefined : this.#known(name)));
      if (types.includes(null)) return null;
      const [type] = infer(
        { domain, op, opset, attributes: attributesOf(node) },
        types as (TensorType | undefined)[],
      );
      return type;
    } catch (error) {
      // Of a node that is wrong nothing is known.
      if (isTensorError(error)) return null;
      throw error;
    }
  }

  /** A type, or the tensor itself of a constant as small as an axis, whose value tells a shape. */
  #known(name: string): TensorType | null {
    const one = this.constantOf(name);
    const isSmall = one !== null && one.dtype !== null && one.shape.length <= 1;
    return isSmall && (one.shape[0] ?? 1) === 1 ? one.read() : this.typeOf(name);
  }
}

const isIdentity = ({ domain, op }: ModelNode): boolean =>
  domain === "ai.onnx" && op === "Identity";
