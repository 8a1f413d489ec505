/** The cure of a node that is right in the runtime and does not give the expected output: the node that was meant. */

import type { Attribute } from "../model/model.ts";
import type { ExpectedChange } from "../verify/expected.ts";
import type { NodeCure } from "./cured-node.ts";
import type { Words } from "./words.ts";

/** The end of an axis for a Slice that runs backwards, before its first element. */
const BEFORE_FIRST = -(2 ** 31) + 1;

/**
 * Returns the nodes of a change that gives the expected output; null if no node expresses it.
 * @param ranks of the inputs
 */
export function meantNode(
  { node: meant, changes }: ExpectedChange,
  ranks: readonly number[],
): NodeCure | null {
  if (meant === null) return null;
  return {
    faults: [],
    // Slice has had its steps as an input since opset 10, and Constant nodes need no opset above 13.
    opset: Math.max(meant.opset ?? 1, changes.length > 0 ? 13 : 1),
    write(node, words) {
      const inputs = [...node.inputs];
      for (const { input, axes, is } of changes)
        inputs[input] =
          is === "swap"
            ? transposed(words, inputs[input], axes, ranks[input])
            : reversed(words, inputs[input], axes);
      const attributes = Object.entries(meant.attributes ?? {}).map(
        ([name, value]) => [name, attributeFrom(value)] as const,
      );
      const op = meant.op ?? node.op;
      const { name, domain, outputs } = node;
      const own = { name, op, domain, inputs, outputs: [...outputs] };
      return [...words.nodes, { ...own, attributes: Object.fromEntries(attributes) }];
    },
  };
}

const attributeFrom = (value: unknown): Attribute =>
  typeof value === "string"
    ? { type: "string", value }
    : { type: "int", value: value as number | bigint };

function transposed(words: Words, name: string, [a, b]: readonly number[], rank: number): string {
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[a], perm[b]] = [b, a];
  return words.put("Transpose", [name], { perm: { type: "ints", value: perm } });
}

function reversed(words: Words, name: string, axes: readonly number[]): string {
  const each = (value: number): string => words.list(...axes.map(() => value));
  return words.put("Slice", [name, each(-1), each(BEFORE_FIRST), words.list(...axes), each(-1)]);
}
