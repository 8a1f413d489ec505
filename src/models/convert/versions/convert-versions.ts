/** Converts a node that is neither a scatter nor a gather between ONNX opsets, one version at a time. */

import type { ModelNode } from "../../model/model.ts";
import { isTensorError, sentenceOf, TensorError, type ErrorCode } from "../../../core/errors.ts";
import type { GraphContext } from "../context.ts";
import type { Revised } from "../log.ts";
import { refusal } from "../meaning.ts";
import { trimmed } from "./node-edits.ts";
import { Step } from "./step.ts";
import { HISTORIES } from "./table.ts";

/** Throws `unsupported-model` for a feature that the target version cannot express. */
export function convertVersions(node: ModelNode, opset: number, context: GraphContext): Revised {
  const notes = new Set<string>();
  const isSame = opset === context.target.opset;
  const nodes = isSame ? [node] : advance(node, opset, context, notes);
  const { opset: target } = context.target;
  const to = nodes.map((one) => versionName(one.op, target)).join(", ");
  return { nodes, from: versionName(node.op, opset), to, notes };
}

function advance(
  node: ModelNode,
  opset: number,
  context: GraphContext,
  notes: Set<string>,
): ModelNode[] {
  const { opset: target } = context.target;
  const [first, ...changes] = historyOf(node.op);
  if (target < first)
    throw refusal(`opset ${target} does not have ${node.op} yet; opset ${first} has it`);
  const isUp = target > opset;
  const change = isUp
    ? changes.find(({ since }) => since > opset && since <= target)
    : changes.findLast(({ since }) => since <= opset && since > target);
  if (change === undefined) return [node];
  const reached = isUp ? change.since : change.since - 1;
  const step = new Step(versionName(node.op, reached), reached, notes, context);
  const changed = isUp
    ? change.up(node, step)
    : orAdvice(change.since, () => change.down(trimmed(node), step));
  return [...step.front, changed].flatMap((one) => advance(one, reached, context, notes));
}

function orAdvice<T>(since: number, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!isTensorError(cause, "unsupported-model")) throw cause;
    const sentence = `${sentenceOf(cause)}; opset ${since} supports it`;
    throw new TensorError<ErrorCode>(cause.code, sentence, cause, { cause });
  }
}

function historyOf(op: string): (typeof HISTORIES)[string] {
  if (Object.hasOwn(HISTORIES, op)) return HISTORIES[op];
  throw refusal(`this package does not know the versions of ${op}`);
}

/**
 * Returns the title of an operator's version in an opset, such as `Softmax-11`. An operator outside the table has only
 * its name.
 */
function versionName(op: string, opset: number): string {
  if (!Object.hasOwn(HISTORIES, op)) return op;
  const [first, ...changes] = HISTORIES[op];
  return `${op}-${changes.findLast(({ since }) => since <= opset)?.since ?? first}`;
}
