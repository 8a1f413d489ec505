/** The conversion log: changed nodes, unchanged nodes, assumptions, and refusals. */

import { printCount } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { MAX_NAMES } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { versionTitle } from "./meaning.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

export interface Converted {
  readonly node: ModelNode;
  readonly from: OperatorVersion;
  readonly to: OperatorVersion;
  readonly notes: readonly string[];
}

/** A converted node other than a scatter or gather. */
export interface Revised {
  /** Replacement nodes, the last of which computes the outputs. If the node is unchanged, it is the only entry. */
  readonly nodes: readonly ModelNode[];
  /** The node's titles before and after the conversion, such as `Softmax-11` and `Flatten, Softmax-13`. */
  readonly from: string;
  readonly to: string;
  readonly notes: ReadonlySet<string>;
}

export class ConversionLog {
  readonly changes: string[] = [];
  readonly notes = new Set<string>();
  readonly unchecked = new Map<string, number>();
  readonly force: boolean;
  readonly #refused: { readonly node: ModelNode; readonly error: TensorError }[] = [];
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
    try {
      return action();
    } catch (error) {
      if (!isTensorError(error)) throw error;
      const isLeft = this.force && error.code === "unsupported-model" && !isOperator(node);
      if (isLeft) this.#left(node);
      else this.#refused.push({ node, error });
      return instead();
    }
  }

  converted(before: ModelNode, { node, from, to, notes }: Converted): void {
    for (const note of notes) this.notes.add(`${nodeTitle(before)}: ${note}`);
    if (node !== before) this.changed(before, `${versionTitle(from)} to ${versionTitle(to)}`);
  }

  revised(before: ModelNode, { nodes, from, to, notes }: Revised): void {
    for (const note of notes) this.notes.add(`${nodeTitle(before)}: ${note}`);
    if (nodes.length > 1 || nodes[0] !== before) this.changed(before, `${from} to ${to}`);
  }

  changed(node: ModelNode, how: string): void {
    this.changes.push(`${nodeTitle(node)}: ${how}`);
  }

  #left({ op }: ModelNode): void {
    this.unchecked.set(op, (this.unchecked.get(op) ?? 0) + 1);
  }

  /**
   * Throws if nodes were refused. Refusals with the same operator and reason are counted together, and the first node
   * is named. Throws the only refusal, or `unsupported-model` with up to 20 reasons.
   */
  check(): void {
    const [first, ...more] = this.#refused;
    if (first === undefined) return;
    const target = `cannot be converted to ${printTarget(this.#target)}`;
    if (more.length === 0) {
      const { node, error } = first;
      const { code, message, op: _, opset: _opset, ...fields } = error;
      const sentence = `${nodeTitle(node)} ${target}: ${message}`;
      const where = { node: nodeTitle(node) };
      throw new TensorError(code, sentence, { ...fields, ...where }, { cause: error });
    }
    const groups = new Map<string, { readonly node: ModelNode; message: string; count: number }>();
    for (const { node, error } of this.#refused) {
      const key = JSON.stringify([node.op, error.message]);
      const group = groups.get(key) ?? { node, message: error.message, count: 0 };
      group.count += 1;
      groups.set(key, group);
    }
    const all = [...groups.values()].map(({ node, message, count }) => {
      const which =
        count > 1 ? `${count} ${node.op} nodes, first ${nodeTitle(node)}` : nodeTitle(node);
      return `${which}: ${message}`;
    });
    const rest = all.length > MAX_NAMES ? `; and ${all.length - MAX_NAMES} more reasons` : "";
    const sentence = `${printCount(this.#refused.length, "node")} ${target}: `;
    throw new TensorError(
      "unsupported-model",
      sentence + all.slice(0, MAX_NAMES).join("; ") + rest,
      { node: nodeTitle(first.node), got: this.#refused.length },
    );
  }
}
