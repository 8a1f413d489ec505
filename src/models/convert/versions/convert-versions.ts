/** Converts a node that is neither a scatter nor a gather between ONNX opsets, one version at a time. */

import { isTensorError, sentenceOf, TensorError, type ErrorCode } from "../../../core/errors.ts";
import type { ModelNode } from "../../model/model.ts";
import type { GraphContext } from "../context.ts";
import { refusal } from "../meaning.ts";
import { SHARED, type Facts } from "./facts.ts";
import { INPUTS } from "./inputs.ts";
import { MEANINGS } from "./meanings.ts";
import { Step, trimmed } from "./step.ts";
import { historyOf, titleAt, type Change } from "./table.ts";

/** The changes that rows of the table name. */
export const FACTS: Facts = { ...SHARED, ...INPUTS, ...MEANINGS };

/** Throws `unsupported-model` for a feature that the target version cannot express. */
export function convertVersions(
  node: ModelNode,
  opset: number,
  context: GraphContext,
): readonly ModelNode[] {
  const notes = new Set<string>();
  const { log, target } = context;
  const nodes = opset === target.opset ? [node] : advance(node, opset, context, notes);
  const to = nodes.map(({ op }) => titleAt(op, target.opset)).join(", ");
  return log.converted(node, nodes, { from: titleAt(node.op, opset), to }, notes);
}

function advance(
  node: ModelNode,
  opset: number,
  context: GraphContext,
  notes: Set<string>,
): ModelNode[] {
  const { opset: target } = context.target;
  const versions = historyOf(node.op);
  if (versions.length === 0) throw refusal(`this package does not know the versions of ${node.op}`);
  const [{ since: first }, ...changes] = versions;
  if (target < first)
    throw refusal(`opset ${target} does not have ${node.op} yet; opset ${first} has it`);
  const isUp = target > opset;
  const change = isUp
    ? changes.find(({ since }) => since > opset && since <= target)
    : changes.findLast(({ since }) => since <= opset && since > target);
  if (change === undefined) return [node];
  const reached = isUp ? change.since : change.since - 1;
  const step = new Step(isUp ? node : trimmed(node), reached, notes, context);
  apply(change, isUp, step);
  return [...step.front, step.node].flatMap((one) => advance(one, reached, context, notes));
}

function apply({ since, facts }: Change, isUp: boolean, step: Step): void {
  try {
    for (const [name, ...settings] of facts) FACTS[name][isUp ? "up" : "down"]?.(step, ...settings);
  } catch (cause) {
    if (isUp || !isTensorError(cause, "unsupported-model")) throw cause;
    const sentence = `${sentenceOf(cause)}; opset ${since} supports it`;
    throw new TensorError<ErrorCode>(cause.code, sentence, cause, { cause });
  }
}
