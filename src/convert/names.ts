/** Names of values and nodes: which a model has, which are free, and which values are used. */

import { TensorError } from "../errors.ts";
import type { Constant, Graph } from "../model/model.ts";

export class Names {
  readonly #taken = new Set<string>();

  /** Takes all names in a graph and in the bodies of its nodes, which see the names around them. */
  constructor(graph: Graph) {
    this.#collect(graph);
  }

  #collect({ inputs, nodes, constants, values = [] }: Graph): void {
    for (const { name } of [...inputs, ...constants, ...values]) this.#taken.add(name);
    for (const node of nodes) {
      for (const name of [node.name, ...node.inputs, ...node.outputs]) this.#taken.add(name);
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type !== "other") continue;
        for (const body of bodiesOf(attribute.graphs)) this.#collect(body);
      }
    }
  }

  /** A name that is not taken: `base`, or `base` with a number behind it. It is taken from then on. */
  fresh(base: string): string {
    let name = base;
    for (let count = 1; this.#taken.has(name); count++) name = `${base}_${count}`;
    this.#taken.add(name);
    return name;
  }
}

/**
 * The graphs of an attribute.
 * @throws TensorError `too-large` for graphs that are nested too deep to be read
 */
export function bodiesOf(graphs: readonly Graph[] | null | undefined): readonly Graph[] {
  if (graphs !== null) return graphs ?? [];
  throw new TensorError("too-large", "the model has bodies in bodies, too deep to be converted");
}

/** The names of values that a graph uses, also in the bodies of its nodes. */
export function usesOf({ nodes, outputs }: Graph, uses = new Set<string>()): Set<string> {
  for (const { name } of outputs) uses.add(name);
  for (const { inputs, attributes } of nodes) {
    for (const name of inputs) uses.add(name);
    for (const attribute of Object.values(attributes)) {
      if (attribute.type !== "other") continue;
      for (const body of bodiesOf(attribute.graphs)) usesOf(body, uses);
    }
  }
  return uses;
}

/**
 * The constants of a converted graph: those that it had, without those that the conversion has made useless, and those of
 * `added` that are used. Constants that nothing used before stay.
 */
export function withoutUnused(added: readonly Constant[], before: Graph, after: Graph): Constant[] {
  const were = usesOf(before);
  const are = usesOf(after);
  return [
    ...before.constants.filter(({ name }) => are.has(name) || !were.has(name)),
    ...added.filter(({ name }) => are.has(name)),
  ];
}
