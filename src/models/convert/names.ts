/** The names used in a model, and unused names for new values and nodes. */

import { MAX_BODY_DEPTH, type Constant, type Graph } from "../model/model.ts";
import { bodiesOf, tooDeep, usesOf } from "../model/uses.ts";

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
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type !== "other") continue;
        for (const body of bodiesOf(attribute.graphs)) this.#collect(body, depth + 1);
      }
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

/**
 * Returns the constants of a converted graph, without constants that the conversion made unused and without unused
 * added constants.
 */
export function withoutUnused(added: readonly Constant[], before: Graph, after: Graph): Constant[] {
  const were = usesOf(before);
  const are = usesOf(after);
  return [
    ...before.constants.filter(({ name }) => are.has(name) || !were.has(name)),
    ...added.filter(({ name }) => are.has(name)),
  ];
}
