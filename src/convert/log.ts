/** What a conversion reports: nodes that changed, nodes that were left, what was trusted, and what was refused. */

import { isTensorError, TensorError } from "../errors.ts";
import { MAX_NAMES } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import type { Converted } from "./convert-node.ts";
import { versionTitle } from "./meaning.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

export class ConversionLog {
  readonly changes: string[] = [];
  readonly notes = new Set<string>();
  readonly unchecked = new Map<string, number>();
  readonly #refused: TensorError[] = [];
  readonly #target: CheckedTarget;

  constructor(target: CheckedTarget) {
    this.#target = target;
  }

  /** What `action` returns, or `instead` where it refuses: all refusals of a model are reported at once. */
  attempt<T>(node: ModelNode, instead: T, action: () => T): T {
    try {
      return action();
    } catch (cause) {
      if (!isTensorError(cause)) throw cause;
      const { code, message, input } = cause;
      const sentence = `${nodeTitle(node)} cannot be converted to ${printTarget(this.#target)}: ${message}`;
      this.#refused.push(new TensorError(code, sentence, { input }, { cause }));
      return instead;
    }
  }

  converted(before: ModelNode, { node, from, to, notes }: Converted): void {
    for (const note of notes) this.notes.add(`${nodeTitle(before)}: ${note}`);
    if (node !== before) this.changed(before, `${versionTitle(from)} to ${versionTitle(to)}`);
  }

  changed(node: ModelNode, how: string): void {
    this.changes.push(`${nodeTitle(node)}: ${how}`);
  }

  left({ op }: ModelNode): void {
    this.unchecked.set(op, (this.unchecked.get(op) ?? 0) + 1);
  }

  /** @throws TensorError the one refusal, or `unsupported-model` that names up to 20 */
  check(): void {
    const [first, ...more] = this.#refused;
    if (first === undefined) return;
    if (more.length === 0) throw first;
    const all = this.#refused.map(({ message }) => message);
    const rest = all.length > MAX_NAMES ? `; and ${all.length - MAX_NAMES} more` : "";
    throw new TensorError("unsupported-model", all.slice(0, MAX_NAMES).join("; ") + rest);
  }
}
