/** Writes a sequence of ONNX nodes, with names that are new in the model. */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import {
  bodyAttribute,
  constant,
  type Attribute,
  type Graph,
  type ModelNode,
} from "../model/model.ts";
import type { Names } from "../convert/names.ts";

type Given = number | string | Attribute;

const attributeOf = (given: Given): Attribute => {
  if (typeof given === "number") return { type: "int", value: given };
  return typeof given === "string" ? { type: "string", value: given } : given;
};

/** The end of an axis in `Slice`, for any size of the axis. */
const END = 2 ** 31 - 1;

export class Words {
  readonly nodes: ModelNode[] = [];
  readonly #names: Names;
  readonly #base: string;

  /** @param base the prefix of new names */
  constructor(names: Names, base: string) {
    this.#names = names;
    this.#base = base;
  }

  /**
   * Writes a node with one output, and returns the output's name. Constants are nodes too, because functions have no
   * other constants.
   */
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

  /** Returns a list of int64. */
  list(...values: readonly number[]): string {
    return this.value(tensor("int64", [values.length], values.map(BigInt)));
  }

  scalar(dtype: DType, value: number): string {
    return this.value(tensor(dtype, [], value as never));
  }

  cast(value: string, dtype: DType): string {
    return this.put("Cast", [value], { to: DTYPES[dtype].onnx.number });
  }

  /** Returns the elements of a list from `start` to `end`; `end` defaults to the end of the list. */
  part(list: string, start: string, end = this.list(END)): string {
    return this.put("Slice", [list, start, end]);
  }

  /** Reshapes a value. A size of 0 stays 0, so empty tensors need no special case. */
  reshape(value: string, shape: string): string {
    return this.put("Reshape", [value, shape], { allowzero: 1 });
  }

  /** Returns the product of a list of sizes, as a list of one element; 1 for an empty list. */
  product(sizes: string): string {
    return this.put("ReduceProd", [this.put("Concat", [this.list(1), sizes], { axis: 0 })], {
      keepdims: 1,
    });
  }

  /** Returns a body whose nodes `write` adds. The body sees the values of enclosing graphs. */
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
