/** The report of a conversion: changed nodes, unchanged nodes, assumptions, and refusals. */

import { printCount } from "../../core/print-count.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { MAX_NAMES } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { versionTitle } from "./meaning.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

/** A node in the target's form; the original object if nothing changes. */
export interface Converted {
  readonly node: ModelNode;
  readonly from: OperatorVersion;
  readonly to: OperatorVersion;
  /** Assumptions of the conversion, as sentences. */
  readonly notes: readonly string[];
}

/** A node other than a scatter or gather in the target's form. */
export interface Revised {
  /** The nodes that replace the node, of which the last computes its outputs; the node itself if nothing changes. */
  readonly nodes: readonly ModelNode[];
  /** The titles of the node before and after, such as `Softmax-11` and `Flatten, Softmax-13`. */
  readonly from: string;
  readonly to: string;
  /** Assumptions of the conversion, as sentences. */
  readonly notes: ReadonlySet<string>;
}

export class ConversionLog {
  readonly changes: string[] = [];
  readonly notes = new Set<string>();
  readonly unchecked = new Map<string, number>();
  /** True if nodes other than scatters and gathers stay unchanged when they cannot be converted. */
  readonly force: boolean;
  readonly #refused: { readonly node: ModelNode; readonly error: TensorError }[] = [];
  readonly #target: CheckedTarget;

  constructor(target: CheckedTarget, force: boolean) {
    this.#target = target;
    this.force = force;
  }

  /**
   * Returns the result of `action`, or of `instead` if `action` refuses. All refusals of a model are collected and
   * reported at once.
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
   * Throws if nodes were refused. Refusals with the same operator and reason are counted, and the first node is named.
   * @throws TensorError the one refusal, or `unsupported-model` with up to 20 reasons
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
