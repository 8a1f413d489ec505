/** Writes a sequence of ONNX nodes with unused names. */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import { onnxNode, type AttributeValue, type Names } from "../convert/context.ts";
import {
  bodyAttribute,
  constant,
  type Attribute,
  type Graph,
  type ModelNode,
} from "../model/model.ts";

/** A Slice end that lies beyond every axis. */
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
   * Writes a node with one output, and returns the output's name. Constants are written as nodes, because functions
   * have no initializers.
   */
  put(
    op: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, AttributeValue>>,
  ): string {
    return this.putNode(op, inputs, [this.fresh(op)], attributes)[0];
  }

  putNode(
    op: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes?: Readonly<Record<string, AttributeValue>>,
  ): readonly string[] {
    this.nodes.push(onnxNode(op, inputs, outputs, attributes));
    return outputs;
  }

  fresh(suffix: string): string {
    return this.#names.fresh(`${this.#base}/${suffix}`);
  }

  value(value: Tensor): string {
    return this.put("Constant", [], { value: { type: "tensor", value: constant("", value) } });
  }

  /** Writes a list of int64 numbers. */
  list(...values: readonly number[]): string {
    return this.value(tensor("int64", [values.length], values.map(BigInt)));
  }

  scalar(dtype: DType, value: number): string {
    return this.value(tensor(dtype, [], value as never));
  }

  cast(value: string, dtype: DType): string {
    return this.put("Cast", [value], { to: DTYPES[dtype].onnx.number });
  }

  /** Writes a slice of a list from `start` to `end`. By default, the slice extends to the end of the list. */
  part(list: string, start: string, end = this.list(END)): string {
    return this.put("Slice", [list, start, end]);
  }

  /** Writes a Reshape in which a size of 0 stays 0, so that empty tensors need no special case. */
  reshape(value: string, shape: string): string {
    return this.put("Reshape", [value, shape], { allowzero: 1 });
  }

  /** Writes the product of a list of sizes, as a one-element list. The product of an empty list is 1. */
  product(sizes: string): string {
    return this.put("ReduceProd", [this.put("Concat", [this.list(1), sizes], { axis: 0 })], {
      keepdims: 1,
    });
  }

  /** Creates a body with the nodes that `write` adds. The body can use values of enclosing graphs. */
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
