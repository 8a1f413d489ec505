/**
 * Types and constants of a graph's values before it runs: one walk over the nodes, shared by `inspect` and `convert`.
 *
 * Every value has two records of facts, because the types that a model declares may be outdated: runtimes do not
 * enforce the declared shape of a value between two nodes. Facts are certain if they follow from the model's inputs,
 * its constants and the nodes between. Other declarations of the model are believed, and marked as such.
 *
 * Rules in `types/` derive a node's outputs from its inputs. This file handles only the operator `If`, because its
 * branches are graphs.
 */

import type { TensorType } from "../../core/operators/operator.ts";
import {
  eitherKnown,
  knownConstant,
  sameKnown,
  NOTHING_KNOWN,
  withDeclared,
  type Known,
} from "./known.ts";
import {
  MAX_BODY_DEPTH,
  type Constant,
  type Graph,
  type ModelNode,
  type ValueInfo,
} from "./model.ts";
import { outputsOf } from "./types/outputs.ts";

export interface Value {
  /** The facts that follow from the model's inputs, from constants, and from the nodes between. */
  readonly certain: Known;
  /** The certain facts completed by declarations; the same object if declarations add nothing. */
  readonly believed: Known;
}

const certainly = (known: Known): Value => ({ certain: known, believed: known });

/** Returns true if declarations add nothing to the certain facts. */
export const isCertain = ({ certain, believed }: Value): boolean => certain === believed;

/**
 * The first IR version of ONNX in which a constant need not be an input; a constant that is also an input is its
 * default.
 */
export const DEFAULTS_SINCE = 4;

/** The values of a graph, with access to those of enclosing graphs. */
export class Scope {
  readonly #outer: Scope | null;
  /** The number of enclosing graphs. */
  readonly #depth: number;
  /** Names of this graph's own values, which hide those of enclosing graphs. */
  readonly #own: ReadonlySet<string>;
  readonly #outputs: ReadonlySet<string>;
  readonly #declared: ReadonlyMap<string, TensorType>;
  readonly #values = new Map<string, Value>();

  /**
   * @param outer the scope around a body, whose values the body sees; null for a model's own graph and a function's
   * @param irVersion before version 4 constants that are also inputs count as constants, because nobody may replace
   *   them
   */
  constructor(graph: Graph, outer: Scope | null = null, irVersion = DEFAULTS_SINCE) {
    const { inputs, outputs, values = [], nodes, constants } = graph;
    this.#outer = outer;
    this.#depth = outer === null ? 0 : outer.#depth + 1;
    this.#own = new Set([
      ...[...inputs, ...constants].map(({ name }) => name),
      ...nodes.flatMap((node) => node.outputs),
    ]);
    this.#outputs = new Set(outputs.map(({ name }) => name));
    this.#declared = new Map([...values, ...outputs].flatMap(declarationOf));
    for (const { name, type } of inputs) this.#values.set(name, this.#inputValue(name, type));
    const hasDefaults = outer !== null || irVersion >= DEFAULTS_SINCE;
    const isInput = new Set(hasDefaults ? inputs.map(({ name }) => name) : []);
    // The last constant of a repeated name counts, as in ONNX Runtime.
    for (const constant of constants) if (!isInput.has(constant.name)) this.add(constant);
  }

  /**
   * Returns the facts about an input. Only a model's own inputs enforce their types on callers, because other nodes
   * supply the inputs of a body or a function.
   */
  #inputValue(name: string, type: TensorType | null): Value {
    if (this.#outer === null && type !== null) return certainly({ ...NOTHING_KNOWN, type });
    return {
      certain: NOTHING_KNOWN,
      believed: withDeclared(NOTHING_KNOWN, type ?? this.declared(name)),
    };
  }

  /** Returns the facts about a value; `""` is an omitted value. */
  get(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    if (this.#outer !== null && !this.#own.has(name)) return this.#outer.get(name);
    return { certain: NOTHING_KNOWN, believed: withDeclared(NOTHING_KNOWN, this.declared(name)) };
  }

  /** Returns the believed type, or null if unknown. */
  typeOf(name: string): TensorType | null {
    return this.get(name).believed.type;
  }

  /**
   * Returns the constant that the value certainly is, or null for other values or for a constant by declared types
   * alone.
   */
  constantOf(name: string): Constant | null {
    return this.get(name).certain.constant;
  }

  /** Returns the type that this graph declares for a value that is not an input. */
  declared(name: string): TensorType | null {
    return this.#declared.get(name) ?? null;
  }

  /** Returns true if a value is an output of the model, not only of a body in it. */
  isModelOutput(name: string): boolean {
    return this.#outer === null && this.#outputs.has(name);
  }

  add(constant: Constant): void {
    this.#values.set(constant.name, certainly(knownConstant(constant)));
  }

  /**
   * Records the outputs of a node; call it in execution order.
   * @param opset the opset of the node's domain; null if the model does not import the domain
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
    const made = (view: keyof Value): readonly Known[] =>
      outputsOf(
        node,
        opset,
        inputs.map((value) => value[view]),
      );
    const certain = made("certain");
    this.#take(node, certain, inputs.every(isCertain) ? certain : made("believed"));
  }

  /** @param certain, believed facts about the outputs of a node */
  #take(node: ModelNode, certain: readonly Known[], believed: readonly Known[]): void {
    for (const [position, name] of node.outputs.entries()) {
      if (name === "") continue;
      const { [position]: known = NOTHING_KNOWN } = certain;
      // The certain facts are still valid if only declarations make the node invalid.
      const { [position]: more = known } = believed;
      const inferred = sameKnown(more, known) ? known : more;
      const believedValue = withDeclared(inferred, this.declared(name));
      this.#values.set(name, { certain: known, believed: believedValue });
    }
  }

  /** Returns the outputs of a branch of a node. The versions of other domains are unknown at this point. */
  #outputsOf(branch: Graph, { domain }: ModelNode, opset: number | null): readonly Value[] {
    const scope = new Scope(branch, this);
    for (const node of branch.nodes) {
      scope.learn(node, node.domain === domain ? opset : (node.opset ?? null));
    }
    return branch.outputs.map(({ name }) => scope.get(name));
  }
}

/** Returns the two branches of an `If` with equal numbers of outputs, or null for other nodes. */
function branchesOf({ domain, op, attributes }: ModelNode): readonly Graph[] | null {
  if (domain !== "ai.onnx" || op !== "If") return null;
  const branches = ["then_branch", "else_branch"].flatMap((name) => {
    const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return attribute?.type === "other" ? (attribute.graphs ?? []) : [];
  });
  const [some, others] = branches;
  const isPair = branches.length === 2 && some.outputs.length === others.outputs.length;
  return isPair ? branches : null;
}

const declarationOf = ({ name, type }: ValueInfo): [string, TensorType][] =>
  type === null ? [] : [[name, type]];
