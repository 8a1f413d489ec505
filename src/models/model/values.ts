/**
 * What is known of the values of a graph before it runs: one walk over the nodes, for `inspect` and `convert` alike.
 *
 * Every value has two answers, because a model may declare types that are no longer true: no runtime holds a value
 * between two nodes to the shape that is declared for it. What follows from the model's inputs, its constants and the
 * nodes between is certain. What the model declares beyond that is believed, and marked as such.
 *
 * What a node makes of its inputs is a rule of `types/`. The one operator that this file knows is `If`, because its
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
  /** What follows from the model's inputs, from constants, and from the nodes between. */
  readonly certain: Known;
  /** What is certain, completed by what is declared; the same object where declarations add nothing. */
  readonly believed: Known;
}

const certainly = (known: Known): Value => ({ certain: known, believed: known });

/** Whether declarations add nothing to what is certain. */
export const isCertain = ({ certain, believed }: Value): boolean => certain === believed;

/** Since this IR version of ONNX a constant need not be an input; one that is both is only the input's default. */
export const DEFAULTS_SINCE = 4;

/** The values of a graph, and behind them those of the graphs around it. */
export class Scope {
  readonly #outer: Scope | null;
  /** How many graphs are around this one. */
  readonly #depth: number;
  /** Names that this graph gives to values: they hide those of the graphs around it. */
  readonly #own: ReadonlySet<string>;
  readonly #outputs: ReadonlySet<string>;
  readonly #declared: ReadonlyMap<string, TensorType>;
  readonly #values = new Map<string, Value>();

  /**
   * @param outer of the graph around a body, whose values the body sees; null for a model's own graph and a function's
   * @param irVersion where the format is known to have no defaults before version 4: constants that are inputs as well
   * count there, because nobody may replace them
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
    for (const constant of constants) {
      if (!hasDefaults || !this.#values.has(constant.name)) this.add(constant);
    }
  }

  /** Callers are held to the inputs of the model alone: those of a body, and of a function, come from other nodes. */
  #inputValue(name: string, type: TensorType | null): Value {
    if (this.#outer === null && type !== null) return certainly({ ...NOTHING_KNOWN, type });
    return {
      certain: NOTHING_KNOWN,
      believed: withDeclared(NOTHING_KNOWN, type ?? this.declared(name)),
    };
  }

  /** What is known of a value, `""` for one that is left out. */
  get(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    if (this.#outer !== null && !this.#own.has(name)) return this.#outer.get(name);
    return { certain: NOTHING_KNOWN, believed: withDeclared(NOTHING_KNOWN, this.declared(name)) };
  }

  /** The type that is believed, null where none is known. */
  typeOf(name: string): TensorType | null {
    return this.get(name).believed.type;
  }

  /** The constant that the value certainly is, null where it is none, or one by declared types alone. */
  constantOf(name: string): Constant | null {
    return this.get(name).certain.constant;
  }

  /** The type that this graph declares for a value that is no input. */
  declared(name: string): TensorType | null {
    return this.#declared.get(name) ?? null;
  }

  /** Whether a value is an output of the model, and not only of a body in it. */
  isModelOutput(name: string): boolean {
    return this.#outer === null && this.#outputs.has(name);
  }

  add(constant: Constant): void {
    this.#values.set(constant.name, certainly(knownConstant(constant)));
  }

  /**
   * Takes note of what a node makes; nodes are passed in the order in which they run.
   * @param opset of the node's domain, null where the model imports none
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

  /** @param certain, believed what is known of the outputs of a node */
  #take(node: ModelNode, certain: readonly Known[], believed: readonly Known[]): void {
    for (const [position, name] of node.outputs.entries()) {
      if (name === "") continue;
      const { [position]: known = NOTHING_KNOWN } = certain;
      // Where declarations alone make the node wrong, what is certain still holds.
      const { [position]: more = known } = believed;
      const inferred = sameKnown(more, known) ? known : more;
      const believedValue = withDeclared(inferred, this.declared(name));
      this.#values.set(name, { certain: known, believed: believedValue });
    }
  }

  /** What a branch of a node makes. Of other domains than the node's its versions are not known here. */
  #outputsOf(branch: Graph, { domain }: ModelNode, opset: number | null): readonly Value[] {
    const scope = new Scope(branch, this);
    for (const node of branch.nodes) {
      scope.learn(node, node.domain === domain ? opset : (node.opset ?? null));
    }
    return branch.outputs.map(({ name }) => scope.get(name));
  }
}

/** The two branches of an `If` that make as many values, null for other nodes. */
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
