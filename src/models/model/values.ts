/**
 * Types and constants of a graph's values before the graph runs. One walk over the nodes serves both `inspect` and
 * `convert`.
 *
 * Every value has two records of facts, because declared types may be outdated: runtimes do not enforce the declared
 * shape of a value between two nodes. Certain facts follow from the model's inputs, its constants and its nodes.
 * Believed facts also rely on other declarations.
 *
 * The rules in `types/` derive a node's outputs from its inputs. This file only handles `If`, because its branches are
 * graphs.
 */

import type { TensorType } from "../../core/operators/operator.ts";
import {
  eitherKnown,
  knownConstant,
  sameKnown,
  NOTHING_KNOWN,
  typeOnly,
  withDeclared,
  type Known,
} from "./known.ts";
import {
  MAX_BODY_DEPTH,
  valueNames,
  type Constant,
  type Graph,
  type ModelNode,
  type ValueInfo,
} from "./model.ts";
import { outputsOf } from "./types/table.ts";

export interface Value {
  /** Facts that follow from the model's inputs, constants and nodes. */
  readonly certain: Known;
  /**
   * The certain facts, completed by declarations. If declarations add nothing, this field is the same object as
   * `certain`.
   */
  readonly believed: Known;
}

const certainly = (known: Known): Value => ({ certain: known, believed: known });

/** Returns true if declarations add nothing to the certain facts. */
export const isCertain = ({ certain, believed }: Value): boolean => certain === believed;

/**
 * The first ONNX IR version in which a constant need not be an input. A constant that is also an input is the input's
 * default.
 */
export const DEFAULTS_SINCE = 4;

/** A graph's values, with access to values of enclosing graphs. */
export class Scope {
  readonly #outer: Scope | null;
  readonly #depth: number;
  /** The names of the graph's own values, which hide names of enclosing graphs. */
  readonly #own: ReadonlySet<string>;
  readonly #outputs: ReadonlySet<string>;
  readonly #declared: ReadonlyMap<string, TensorType>;
  readonly #values = new Map<string, Value>();

  /**
   * Creates the scope of a graph. A body can use the values of `outer`, which is null for the model's graph and for
   * function graphs. Before IR version 4, an input that is also a constant counts as a constant, because callers cannot
   * replace it.
   */
  constructor(graph: Graph, outer: Scope | null = null, irVersion = DEFAULTS_SINCE) {
    const { inputs, outputs, values = [], constants } = graph;
    this.#outer = outer;
    this.#depth = outer === null ? 0 : outer.#depth + 1;
    this.#own = new Set(valueNames(graph));
    this.#outputs = new Set(outputs.map(({ name }) => name));
    this.#declared = new Map([...values, ...outputs].flatMap(declarationOf));
    for (const { name, type } of inputs) this.#values.set(name, this.#inputValue(name, type));
    const hasDefaults = outer !== null || irVersion >= DEFAULTS_SINCE;
    const isInput = new Set(hasDefaults ? inputs.map(({ name }) => name) : []);
    // If two constants have the same name, the last one counts, as in ONNX Runtime.
    for (const constant of constants) if (!isInput.has(constant.name)) this.add(constant);
  }

  /**
   * Returns the facts about an input. Only a model's own inputs enforce their types, because other nodes supply the
   * inputs of a body or a function.
   */
  #inputValue(name: string, type: TensorType | null): Value {
    if (this.#outer === null && type !== null) return certainly(typeOnly(type));
    return {
      certain: NOTHING_KNOWN,
      believed: withDeclared(NOTHING_KNOWN, type ?? this.declared(name)),
    };
  }

  /** Returns the facts about a value; `""` stands for an omitted value. */
  get(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    if (this.#outer !== null && !this.#own.has(name)) return this.#outer.get(name);
    return { certain: NOTHING_KNOWN, believed: withDeclared(NOTHING_KNOWN, this.declared(name)) };
  }

  /** Returns the believed type; null if unknown. */
  typeOf(name: string): TensorType | null {
    return this.get(name).believed.type;
  }

  /**
   * Returns the constant that a value certainly is; null for other values, and for a value that is constant only
   * according to declared types.
   */
  constantOf(name: string): Constant | null {
    return this.get(name).certain.constant;
  }

  /** Returns the declared type of a value that is not an input. */
  declared(name: string): TensorType | null {
    return this.#declared.get(name) ?? null;
  }

  /** Returns true if a value is an output of the model itself, not only of a body. */
  isModelOutput(name: string): boolean {
    return this.#outer === null && this.#outputs.has(name);
  }

  add(constant: Constant): void {
    this.#values.set(constant.name, certainly(knownConstant(constant)));
  }

  /**
   * Records a node's outputs. Call this method in execution order. If the model does not import the node's domain,
   * `opset` is null.
   */
  learn(node: ModelNode, opset: number | null): void {
    const branches = this.#depth < MAX_BODY_DEPTH ? branchesOf(node) : null;
    if (branches !== null) {
      const [some, others] = branches.map((branch) => this.#outputsOf(branch, node, opset));
      const either = (view: keyof Value): readonly Known[] =>
        some.map((value, position) => eitherKnown(value[view], others[position][view]));
      this.#take(node, either("certain"), either("believed"));
      return;
    }
    const inputs = node.inputs.map((name) => this.get(name));
    const [certain, believed] = [
      inputs.map((one) => one.certain),
      inputs.map((one) => one.believed),
    ];
    const made = outputsOf(node, opset, certain);
    this.#take(node, made, inputs.every(isCertain) ? made : outputsOf(node, opset, believed));
  }

  /** Records certain and believed facts about a node's outputs. */
  #take(node: ModelNode, certain: readonly Known[], believed: readonly Known[]): void {
    for (const [position, name] of node.outputs.entries()) {
      if (name === "") continue;
      const known = certain[position] ?? NOTHING_KNOWN;
      // If only a declaration makes the node invalid, the certain facts remain valid.
      const more = believed[position] ?? known;
      const inferred = sameKnown(more, known) ? known : more;
      this.#values.set(name, {
        certain: known,
        believed: withDeclared(inferred, this.declared(name)),
      });
    }
  }

  /** Returns the facts about the outputs of an If's branch. Opset versions of other domains are unknown here. */
  #outputsOf(branch: Graph, { domain }: ModelNode, opset: number | null): readonly Value[] {
    const scope = new Scope(branch, this);
    for (const node of branch.nodes) {
      scope.learn(node, node.domain === domain ? opset : (node.opset ?? null));
    }
    return branch.outputs.map(({ name }) => scope.get(name));
  }
}

/** Returns the branches of an `If` with equal numbers of outputs; null for other nodes. */
function branchesOf({ domain, op, attributes }: ModelNode): readonly Graph[] | null {
  if (domain !== "ai.onnx" || op !== "If") return null;
  const branches = [attributes["then_branch"], attributes["else_branch"]].flatMap((one) =>
    one?.type === "other" ? (one.graphs ?? []) : [],
  );
  const [some, others] = branches;
  const isPair = branches.length === 2 && some.outputs.length === others.outputs.length;
  return isPair ? branches : null;
}

const declarationOf = ({ name, type }: ValueInfo): [string, TensorType][] =>
  type === null ? [] : [[name, type]];
