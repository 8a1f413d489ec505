/** Names of values and nodes: which a model has, which are free, and which values are used. */

import { MAX_BODY_DEPTH, type Constant, type Graph } from "../model/model.ts";
import { bodiesOf, tooDeep, usesOf } from "../model/uses.ts";

export class Names {
  readonly #taken = new Set<string>();
  /** The last number behind each name: many nodes may ask for one name. */
  readonly #counts = new Map<string, number>();

  /**
   * Takes all names in a graph and in the bodies of its nodes, which see the names around them.
   * @throws TensorError `too-large` for bodies that are nested too deep, so that whoever has the names of a graph may
   * walk through its bodies
   */
  constructor(graph: Graph) {
    this.#collect(graph);
  }

  #collect({ inputs, nodes, constants, values = [] }: Graph, depth = 0): void {
    if (depth > MAX_BODY_DEPTH) throw tooDeep();
    for (const { name } of [...inputs, ...constants, ...values]) this.#taken.add(name);
    for (const node of nodes) {
      for (const name of [node.name, ...node.inputs, ...node.outputs]) this.#taken.add(name);
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type !== "other") continue;
        for (const body of bodiesOf(attribute.graphs)) this.#collect(body, depth + 1);
      }
    }
  }

  /** A name that is not taken: `base`, or `base` with a number behind it. It is taken from then on. */
  fresh(base: string): string {
    let name = base;
    let count = this.#counts.get(base) ?? 0;
    while (this.#taken.has(name)) name = `${base}_${++count}`;
    this.#counts.set(base, count);
    this.#taken.add(name);
    return name;
  }
}

/**
 * The constants of a converted graph: those that it had, without those that the conversion has made useless, and those
 * of `added` that are used. Constants that nothing used before stay.
 */
export function withoutUnused(added: readonly Constant[], before: Graph, after: Graph): Constant[] {
  const were = usesOf(before);
  const are = usesOf(after);
  return [
    ...before.constants.filter(({ name }) => are.has(name) || !were.has(name)),
    ...added.filter(({ name }) => are.has(name)),
  ];
}
