/** The state of a conversion: names, added constants and nodes, and the log of changed, unchanged and refused nodes. */

import { printCount } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { rowOf, type DType } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { MAX_NAMES } from "../model/graph.ts";
import {
  constant,
  MAX_BODY_DEPTH,
  nodeTitle,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
} from "../model/model.ts";
import { bodiesIn, tooDeep } from "../model/uses.ts";
import type { Scope } from "../model/values.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

export interface ModelContext {
  readonly model: Model;
  readonly target: CheckedTarget;
  readonly names: Names;
  readonly log: ConversionLog;
}

export interface GraphContext {
  readonly target: CheckedTarget;
  readonly scope: Scope;
  readonly additions: Additions;
  /** True if `force` lets nodes stay unchanged when the conversion cannot check them. */
  readonly force: boolean;
}

/** A converted node. */
export interface Converted {
  /** Replacement nodes, the last of which computes the outputs. If the node is unchanged, it is the only entry. */
  readonly nodes: readonly ModelNode[];
  /** The node's titles before and after the conversion, such as `Softmax-11` and `Flatten, Softmax-13`. */
  readonly from: string;
  readonly to: string;
  readonly notes: Iterable<string>;
}

/** The names used in a model, and unused names for new values and nodes. */
export class Names {
  readonly #taken = new Set<string>();
  /**
   * The last number appended to each base name. The numbers are stored because many nodes may need the same base name.
   */
  readonly #counts = new Map<string, number>();

  /**
   * Records all names in a graph and in its nodes' bodies, because a body can use names of enclosing graphs. Throws
   * `too-large` for bodies nested too deeply, so that later walks need no depth check.
   */
  constructor(graph: Graph) {
    this.#collect(graph);
  }

  #collect({ inputs, nodes, constants, values = [] }: Graph, depth = 0): void {
    if (depth > MAX_BODY_DEPTH) throw tooDeep();
    for (const { name } of [...inputs, ...constants, ...values]) this.#taken.add(name);
    for (const node of nodes) {
      for (const name of [node.name, ...node.inputs, ...node.outputs]) this.#taken.add(name);
      for (const body of bodiesIn(node)) this.#collect(body, depth + 1);
    }
  }

  /** Reserves an unused name: `base`, or `base` with a number appended. */
  fresh(base: string): string {
    let name = base;
    let count = this.#counts.get(base) ?? 0;
    while (this.#taken.has(name)) name = `${base}_${++count}`;
    this.#counts.set(base, count);
    this.#taken.add(name);
    return name;
  }
}

/** The constants and nodes that a conversion adds to a graph. */
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

  /** Adds a node derived from the value `base`, or reuses an equal node, and returns the name of its output. */
  added(
    base: string,
    suffix: string,
    details: unknown,
    make: (output: string) => ModelNode,
  ): string {
    return this.#once(base, suffix, details, (name) => {
      const node = make(name);
      this.#nodes.push(node);
      this.#scope.learn(node, node.opset ?? null);
    });
  }

  cast(base: string, dtype: DType): string {
    return this.added(base, dtype, null, (output) => this.castNode(base, output, dtype));
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

/** Returns the attributes with which Cast computes what OpenVINO's Convert computes. */
function likeConvert(dtype: DType): Readonly<Record<string, Attribute>> {
  if (dtype === "float8e8m0") return { round_mode: { type: "string", value: "nearest" } };
  return saturatesByAttribute(dtype) ? { saturate: { type: "int", value: 0 } } : {};
}

export const saturatesByAttribute = (dtype: DType): boolean =>
  rowOf(dtype).family === "minifloat" && rowOf(dtype).bits === undefined && dtype !== "float8e8m0";

/** The conversion log: changed nodes, unchanged nodes, assumptions, and refusals. */
export class ConversionLog {
  readonly changes: string[] = [];
  readonly notes = new Set<string>();
  readonly unchecked = new Map<string, number>();
  readonly force: boolean;
  readonly #refused: { readonly node: ModelNode; readonly error: TensorError }[] = [];
  readonly #target: CheckedTarget;

  constructor(target: CheckedTarget, force: boolean) {
    this.#target = target;
    this.force = force;
  }

  /**
   * Returns the result of `action`; if `action` refuses the node, records the refusal and returns the result of
   * `instead`. All refusals are reported together at the end.
   */
  attempt<T>(node: ModelNode, action: () => T, instead: () => T): T {
    const { length } = this.changes;
    try {
      return action();
    } catch (error) {
      if (!isTensorError(error)) throw error;
      // The node stays unchanged, so changes in its body are discarded.
      this.changes.length = length;
      const isLeft = this.force && error.code === "unsupported-model" && !isOperator(node);
      if (!isLeft) this.#refused.push({ node, error });
      else this.unchecked.set(node.op, (this.unchecked.get(node.op) ?? 0) + 1);
      return instead();
    }
  }

  /** Records a converted node, and returns the nodes that replace it. */
  converted(before: ModelNode, { nodes, from, to, notes }: Converted): readonly ModelNode[] {
    for (const note of notes) this.notes.add(`${nodeTitle(before)}: ${note}`);
    if (nodes.length > 1 || nodes[0] !== before) this.changed(before, `${from} to ${to}`);
    return nodes;
  }

  changed(node: ModelNode, how: string): void {
    this.changes.push(`${nodeTitle(node)}: ${how}`);
  }

  /**
   * Throws if nodes were refused. Refusals with the same operator and reason are counted together, and the first node
   * is named. Throws the only refusal, or `unsupported-model` with up to 20 reasons.
   */
  check(): void {
    const [first, ...more] = this.#refused;
    if (first === undefined) return;
    const target = `cannot be converted to ${printTarget(this.#target)}`;
    const where = { node: nodeTitle(first.node) };
    if (more.length === 0) {
      const { code, message, op: _, opset: _opset, ...fields } = first.error;
      const sentence = `${where.node} ${target}: ${message}`;
      throw new TensorError(code, sentence, { ...fields, ...where }, { cause: first.error });
    }
    const groups = new Map<string, ModelNode[]>();
    for (const { node, error } of this.#refused) {
      const key = JSON.stringify([node.op, error.message]);
      const group = groups.get(key) ?? [];
      group.push(node);
      groups.set(key, group);
    }
    const all = [...groups].map(([key, [node, ...others]]) => {
      const title = nodeTitle(node);
      const [op, message] = JSON.parse(key) as readonly string[];
      const count = others.length + 1;
      return `${count > 1 ? `${count} ${op} nodes, first ${title}` : title}: ${message}`;
    });
    const rest = all.length > MAX_NAMES ? `; and ${all.length - MAX_NAMES} more reasons` : "";
    const reasons = all.slice(0, MAX_NAMES).join("; ") + rest;
    const count = this.#refused.length;
    const sentence = `${printCount(count, "node")} ${target}: ${reasons}`;
    throw new TensorError("unsupported-model", sentence, { ...where, got: count });
  }
}
