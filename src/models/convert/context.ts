/** The state of a conversion: names, added constants and nodes, and the log of changed, unchanged and refused nodes. */

import { printCount } from "../../core/foreign.ts";
import { recovering, TensorError } from "../../core/errors.ts";
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

export interface GraphContext extends ModelContext {
  readonly scope: Scope;
  readonly additions: Additions;
}

export const inGraph = (context: ModelContext, scope: Scope): GraphContext => ({
  ...context,
  scope,
  additions: new Additions(context, scope),
});

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

  constructor({ target, names }: ModelContext, scope: Scope) {
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

  castNode(from: string, output: string, dtype: DType): ModelNode {
    const { domain, opset } = this.#target;
    const name = this.#names.fresh(`${output}/cast`);
    if (domain === "ai.onnx") {
      const { number, name: word = dtype } = rowOf(dtype).onnx;
      // Before opset 6, Cast stores the data type as a word.
      const to = opset < 6 ? word.toUpperCase() : number;
      return { ...onnxNode("Cast", [from], [output], { to, ...likeConvert(dtype) }), name };
    }
    const destination = attributeOf(elementTypeOf(dtype) ?? dtype);
    return {
      ...onnxNode("Convert", [from], [output], { destination_type: destination }),
      ...{ name, domain, opset: 1 },
    };
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

/** An attribute, or its value: an integer, text or a list of integers. */
export type AttributeValue = bigint | number | string | readonly (number | bigint)[] | Attribute;

export function attributeOf(value: AttributeValue): Attribute {
  if (typeof value === "string") return { type: "string", value };
  if (typeof value !== "object") return { type: "int", value };
  return "type" in value ? value : { type: "ints", value };
}

/** Creates a node of ai.onnx that is named after its first output. */
export function onnxNode(
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, AttributeValue>> = {},
): ModelNode {
  const own = Object.entries(attributes).map(
    ([name, value]) => [name, attributeOf(value)] as const,
  );
  const common = { name: outputs[0], op, domain: "ai.onnx", inputs: [...inputs] };
  return { ...common, outputs: [...outputs], attributes: Object.fromEntries(own) };
}

/** Returns the attributes with which Cast computes what OpenVINO's Convert computes. */
function likeConvert(dtype: DType): Readonly<Record<string, AttributeValue>> {
  if (dtype === "float8e8m0") return { round_mode: "nearest" };
  return saturatesByAttribute(dtype) ? { saturate: 0 } : {};
}

export const saturatesByAttribute = (dtype: DType): boolean =>
  rowOf(dtype).family === "minifloat" && rowOf(dtype).bits === undefined && dtype !== "float8e8m0";

/** A node's error, and the number of nodes with the same operator and error. */
interface Refused {
  readonly node: ModelNode;
  readonly error: TensorError;
  count: number;
}

/** The conversion log: changed nodes, unchanged nodes, assumptions, and refusals. */
export class ConversionLog {
  readonly changes: string[] = [];
  readonly notes = new Set<string>();
  readonly unchecked = new Map<string, number>();
  /** True if nodes stay unchanged when the conversion cannot check them. */
  readonly force: boolean;
  readonly #refused = new Map<string, Refused>();
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
    return recovering(action, (error) => {
      // The node stays unchanged, so changes in its body are discarded.
      this.changes.length = length;
      const isLeft = this.force && error.code === "unsupported-model" && !isOperator(node);
      if (isLeft) this.unchecked.set(node.op, (this.unchecked.get(node.op) ?? 0) + 1);
      else this.#refuse(node, error);
      return instead();
    });
  }

  #refuse(node: ModelNode, error: TensorError): void {
    const key = JSON.stringify([node.op, error.message]);
    const known = this.#refused.get(key);
    if (known === undefined) this.#refused.set(key, { node, error, count: 1 });
    else known.count++;
  }

  /** Records the nodes that replace a node, and returns them. The titles are those of the versions. */
  converted(
    before: ModelNode,
    nodes: readonly ModelNode[],
    titles: { readonly from: string; readonly to: string },
    notes: Iterable<string>,
  ): readonly ModelNode[] {
    for (const note of notes) this.notes.add(`${nodeTitle(before)}: ${note}`);
    if (nodes.length > 1 || nodes[0] !== before)
      this.changed(before, `${titles.from} to ${titles.to}`);
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
    const groups = [...this.#refused.values()];
    if (groups.length === 0) return;
    const [{ node: first, error }] = groups;
    const got = groups.reduce((sum, { count }) => sum + count, 0);
    const target = `cannot be converted to ${printTarget(this.#target)}`;
    const where = { node: nodeTitle(first) };
    if (got === 1) {
      const { code, message, op: _, opset: _opset, ...fields } = error;
      const sentence = `${where.node} ${target}: ${message}`;
      throw new TensorError(code, sentence, { ...fields, ...where }, { cause: error });
    }
    const reasons = groups.slice(0, MAX_NAMES).map(({ node, error: { message }, count }) => {
      const title = nodeTitle(node);
      return `${count > 1 ? `${count} ${node.op} nodes, first ${title}` : title}: ${message}`;
    });
    const more = groups.length - MAX_NAMES;
    if (more > 0) reasons.push(`and ${more} more reasons`);
    const sentence = `${printCount(got, "node")} ${target}: ${reasons.join("; ")}`;
    throw new TensorError("unsupported-model", sentence, { ...where, got });
  }
}
