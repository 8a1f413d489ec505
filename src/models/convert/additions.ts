/** Constants and nodes that a conversion adds to a graph. */

import { rowOf, type DType } from "../../core/tensor/dtype.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { narrowRulesOf } from "../model/inline.ts";
import { constant, type Attribute, type Constant, type ModelNode } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { tensor, type Tensor } from "../../core/tensor/tensor.ts";
import type { Names } from "./names.ts";
import type { CheckedTarget } from "./target.ts";

export class Additions {
  readonly constants: Constant[] = [];
  readonly #names: Names;
  readonly #scope: Scope;
  readonly #target: CheckedTarget;
  /**
   * Names of added values, by source value and settings. Nodes share added values, because many nodes often use the
   * same indices.
   */
  readonly #made = new Map<string, string>();
  #nodes: ModelNode[] = [];

  constructor(target: CheckedTarget, names: Names, scope: Scope) {
    this.#target = target;
    this.#names = names;
    this.#scope = scope;
  }

  takeNodes(): ModelNode[] {
    const nodes = this.#nodes;
    this.#nodes = [];
    return nodes;
  }

  /**
   * Adds a constant derived from the value `base`, or reuses an equal constant. The new name ends in `suffix`;
   * `details` distinguishes constants with the same source.
   */
  constant(base: string, suffix: string, make: () => Tensor, details: unknown = null): string {
    return this.#once(base, suffix, details, (name) => {
      const added = constant(name, make());
      this.constants.push(added);
      this.#scope.add(added);
    });
  }

  cast(base: string, dtype: DType): string {
    return this.#once(base, dtype, null, (name) => {
      const node = this.castNode(base, name, dtype);
      this.#nodes.push(node);
      this.#scope.learn(node, node.opset ?? null);
    });
  }

  /**
   * Adds an OpenVINO Gather that selects the first `size` positions along one axis, and returns the name of its output.
   */
  select(
    base: string,
    { opset, sinceVersion }: OperatorVersion,
    axis: number,
    size: number,
  ): string {
    return this.#once(base, "cut", [axis, size], (name) => {
      const first = (): Tensor =>
        tensor(
          "int64",
          [size],
          BigInt64Array.from({ length: size }, (_, position) => BigInt(position)),
        );
      const positions = this.constant(base, `first_${size}`, first);
      const along = this.constant(base, "axis", () => tensor("int64", [], axis), axis);
      const common = { name, op: "Gather", domain: "openvino", opset: opset ?? sinceVersion };
      const node = { ...common, inputs: [base, positions, along], outputs: [name], attributes: {} };
      this.#nodes.push(node);
      this.#scope.learn(node, node.opset);
    });
  }

  /**
   * Creates an ONNX node whose only output is named after the value `base`. The caller inserts the node into the graph.
   */
  node(
    op: string,
    base: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
  ): ModelNode {
    const output = this.#names.fresh(`${base}/${op}`);
    const common = { name: output, inputs: [...inputs], outputs: [output] };
    return { ...common, op, domain: "ai.onnx", attributes: { ...attributes } };
  }

  castNode(from: string, to: string, dtype: DType): ModelNode {
    const common = { inputs: [from], outputs: [to], name: this.#names.fresh(`${to}/cast`) };
    const { domain, opset } = this.#target;
    if (domain === "ai.onnx") {
      const { number, name = dtype } = rowOf(dtype).onnx;
      // Before opset 6, Cast stores the data type as a word.
      const to: Attribute =
        opset < 6 ? { type: "string", value: name.toUpperCase() } : { type: "int", value: number };
      return { ...common, op: "Cast", domain, attributes: { to, ...likeConvert(dtype) } };
    }
    const value = elementTypeOf(dtype) ?? dtype;
    const destination: Attribute = { type: "string", value };
    const attributes = { destination_type: destination };
    return { ...common, op: "Convert", domain: "openvino", opset: 1, attributes };
  }

  #once(base: string, suffix: string, details: unknown, make: (name: string) => void): string {
    const key = JSON.stringify([base, suffix, details]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const name = this.#names.fresh(`${base}/${suffix}`);
    make(name);
    this.#made.set(key, name);
    return name;
  }
}

function likeConvert(dtype: DType): Readonly<Record<string, Attribute>> {
  if (dtype === "float8e8m0") return { round_mode: { type: "string", value: "nearest" } };
  return saturatesByAttribute(dtype) ? { saturate: { type: "int", value: 0 } } : {};
}

const saturatesByAttribute = (dtype: DType): boolean =>
  rowOf(dtype).family === "minifloat" && rowOf(dtype).bits === undefined && dtype !== "float8e8m0";

/** Describes how a Cast differs from OpenVINO's Convert to the same data type; null if they give equal results. */
export function castDifference(cast: ModelNode, dtype: DType): string | null {
  const { saturates, roundMode } = narrowRulesOf(cast, { op: cast.op });
  if (dtype === "float8e8m0") {
    if (saturates && roundMode === "nearest") return null;
    return "Convert to float8e8m0 saturates and rounds to nearest, which this Cast does not";
  }
  if (!saturates || !saturatesByAttribute(dtype)) return null;
  return `Convert does not saturate: numbers beyond the largest ${dtype} become infinity or NaN`;
}
