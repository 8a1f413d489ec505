/**
 * Replaces a node that the runtime computes correctly, but whose output is not the expected output, by the intended
 * node.
 */

import { tensor } from "../../core/tensor/tensor.ts";
import { attributeOf } from "../convert/context.ts";
import type { ExpectedChange } from "../verify/expected.ts";
import type { NodeCure } from "./candidates.ts";
import type { Words } from "./words.ts";

/** The end of a backward Slice: a position before the first element of an axis. */
const BEFORE_FIRST = -(2 ** 31) + 1;

/**
 * Returns the nodes of a change that gives the expected output; null if no node can express the change. The `ranks` are
 * those of the inputs.
 */
export function meantNode(
  { node: meant, changes }: ExpectedChange,
  ranks: readonly number[],
): NodeCure | null {
  if (meant === null) return null;
  return {
    faults: [],
    // Slice has an input for steps since opset 10. Constant nodes need at most opset 13.
    opset: Math.max(meant.opset ?? 1, changes.length > 0 ? 13 : 1),
    write(node, words) {
      const inputs = [...node.inputs];
      const op = meant.op ?? node.op;
      for (const change of changes) changeInput(words, inputs, change, op, ranks);
      const attributes = Object.entries(meant.attributes ?? {}).map(
        ([name, value]) => [name, attributeOf(value as number | string)] as const,
      );
      const { name, domain, outputs } = node;
      const own = { name, op, domain, inputs, outputs: [...outputs] };
      return [...words.nodes, { ...own, attributes: Object.fromEntries(attributes) }];
    },
  };
}

function changeInput(
  words: Words,
  inputs: string[],
  change: ExpectedChange["changes"][number],
  op: string,
  ranks: readonly number[],
): void {
  if (change.is === "exchange") {
    const [a, b] = change.inputs;
    [inputs[a], inputs[b]] = [inputs[b], inputs[a]];
  } else if (change.is === "cut") inputs[2] = cut(words, inputs, change.without, op, ranks[2]);
  else {
    const { input, axes } = change;
    const write = change.is === "swap" ? transposed : reversed;
    inputs[input] = write(words, inputs[input], axes, ranks[input]);
  }
}

function cut(
  words: Words,
  [data, indices, updates]: readonly string[],
  without: number | null,
  op: string,
  rank: number,
): string {
  const first = (axis: number): string =>
    words.put("Gather", [updates, words.value(tensor("int64", [], 0n))], { axis });
  const whole = without === null ? updates : first(without);
  const [sizes, all] = [indices, data].map((name) => words.put("Shape", [name]));
  const slice = (): string => {
    const last = words.part(sizes, words.list(-1));
    const lead = words.part(sizes, words.list(0), words.list(-1));
    return words.put("Concat", [lead, words.part(all, last)], { axis: 0 });
  };
  const ends = op === "ScatterND" ? slice() : sizes;
  const zeros = Array.from({ length: without === null ? rank : rank - 1 }, () => 0);
  return words.put("Slice", [whole, words.list(...zeros), ends]);
}

function transposed(words: Words, name: string, [a, b]: readonly number[], rank: number): string {
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[a], perm[b]] = [b, a];
  return words.put("Transpose", [name], { perm });
}

function reversed(words: Words, name: string, axes: readonly number[]): string {
  const each = (value: number): string => words.list(...axes.map(() => value));
  return words.put("Slice", [name, each(-1), each(BEFORE_FIRST), words.list(...axes), each(-1)]);
}
