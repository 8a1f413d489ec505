/** Nodes of ONNX that are written one after the other, with names that the model does not have yet. */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { constant, type Attribute, type Graph, type ModelNode } from "../model/model.ts";
import type { Names } from "../convert/names.ts";
import { bodyAttribute } from "../onnx/body-attribute.ts";

type Given = number | string | Attribute;

const attributeOf = (given: Given): Attribute => {
  if (typeof given === "number") return { type: "int", value: given };
  return typeof given === "string" ? { type: "string", value: given } : given;
};

/** The end of an axis in `Slice`, whatever the axis's size. */
const END = 2 ** 31 - 1;

export class Words {
  readonly nodes: ModelNode[] = [];
  readonly #names: Names;
  readonly #base: string;

  /** @param base what new names begin with */
  constructor(names: Names, base: string) {
    this.#names = names;
    this.#base = base;
  }

  /** Writes a node with one output, and returns the output's name. Constants are nodes too, because functions have no others. */
  put(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Given>> = {},
  ): string {
    return this.putNode(op, inputs, [this.fresh(op)], attributes)[0];
  }

  putNode(
    op: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Given>> = {},
  ): readonly string[] {
    const own = Object.entries(attributes).map(([name, value]) => [name, attributeOf(value)]);
    this.nodes.push({
      name: outputs[0],
      op,
      domain: "ai.onnx",
      inputs: [...inputs],
      outputs: [...outputs],
      attributes: Object.fromEntries(own) as Record<string, Attribute>,
    });
    return outputs;
  }

  fresh(suffix: string): string {
    return this.#names.fresh(`${this.#base}/${suffix}`);
  }

  value(value: Tensor): string {
    return this.put("Constant", [], { value: { type: "tensor", value: constant("", value) } });
  }

  /** A list of int64. */
  list(...values: readonly number[]): string {
    return this.value(tensor("int64", [values.length], values.map(BigInt)));
  }

  scalar(dtype: DType, value: number): string {
    return this.value(tensor(dtype, [], value as never));
  }

  cast(value: string, dtype: DType): string {
    return this.put("Cast", [value], { to: DTYPES[dtype].onnx.number });
  }

  /** Some elements of a list: those from `start` on, as long as no `end` is given. */
  part(list: string, start: string, end = this.list(END)): string {
    return this.put("Slice", [list, start, end]);
  }

  /** Sizes of 0 stay 0, so tensors without elements are reshaped like others. */
  reshape(value: string, shape: string): string {
    return this.put("Reshape", [value, shape], { allowzero: 1 });
  }

  /** The product of a list of sizes as a list of one; 1 for an empty list. */
  product(sizes: string): string {
    return this.put("ReduceProd", [this.put("Concat", [this.list(1), sizes], { axis: 0 })], {
      keepdims: 1,
    });
  }

  /** A body whose nodes `write` writes. It sees the values around it. */
  body(
    inputs: readonly (readonly [name: string, dtype: DType, shape: readonly (number | null)[]])[],
    write: (words: Words) => readonly string[],
  ): Attribute {
    const words = new Words(this.#names, this.#base);
    const outputs = write(words);
    const graph: Graph = {
      name: this.fresh("body"),
      inputs: inputs.map(([name, dtype, shape]) => ({ name, type: { dtype, shape } })),
      outputs: outputs.map((name) => ({ name, type: null })),
      nodes: words.nodes,
      constants: [],
    };
    return bodyAttribute(graph);
  }
}
