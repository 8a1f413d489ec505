/** The attention mask, which may be shorter than the keys since version 24. */

import { refusal } from "../meaning.ts";
import { quote } from "../../model/graph.ts";
import type { ModelNode } from "../../model/model.ts";
import type { Part } from "./change.ts";
import type { Step } from "./step.ts";

/**
 * A mask with one column is broadcast to all keys in version 23. Since version 24, such a mask covers only the first
 * key, and the other keys are excluded. Version 23 rejects other short masks.
 */
export const maskOfOneColumn: Part = { up: refuseOneColumn, down: refuseOneColumn };

function refuseOneColumn(node: ModelNode, step: Step): ModelNode {
  const [, keys = "", , mask = "", past = ""] = node.inputs;
  if (mask === "" || step.shapeOf(mask)?.at(-1) !== 1) return node;
  if (past === "" && step.shapeOf(keys)?.at(-2) === 1) return node;
  throw refusal(
    `a mask of one column, such as ${quote(mask)}, has a different meaning in ${step.title}`,
  );
}
