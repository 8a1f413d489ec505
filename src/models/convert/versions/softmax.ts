/**
 * The operators Softmax, LogSoftmax and Hardmax. Before version 13, these operators reshaped the input to a matrix and
 * normalized each row. The axes before `axis` became rows, and the other axes became columns. Since version 13, these
 * operators normalize along one axis.
 */

import type { ModelNode } from "../../model/model.ts";
import { quote } from "../../model/graph.ts";
import type { Dim } from "../../../core/tensor/shape.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";
import { fromFront, inputOf, int, intOf, ints, withAttribute } from "./node-edits.ts";
import type { Step } from "./step.ts";

/** The default axis before version 13, and since version 13. */
const ABSENT_BEFORE = 1;
const ABSENT_NOW = -1;

/**
 * The first opset in which Reshape can read a 0 as an empty axis. In earlier opsets, a 0 copies the input's dimension.
 */
const ALLOWS_ZERO = 14;

export const alongOneAxis: Part = {
  up(node, step) {
    const axis = intOf(node, "axis", ABSENT_BEFORE);
    if (isLast(axis, node, step)) return withAttribute(node, "axis", int(-1));
    const [input] = node.inputs;
    const matrix = step.put("Flatten", node, [input], { axis: int(axis) });
    const result = step.put(node.op, node, [matrix], { axis: int(-1) });
    const shape = step.put("Shape", node, [input]);
    if (step.target < ALLOWS_ZERO && mayBeEmpty(input, axis, step)) {
      step.notes.add(
        `${quote(input)} must have elements, because opsets below ${ALLOWS_ZERO} cannot reshape empty tensors`,
      );
    }
    const reshape = { ...node, op: "Reshape", inputs: [result, shape], attributes: {} };
    return step.target >= ALLOWS_ZERO ? withAttribute(reshape, "allowzero", int(1)) : reshape;
  },
  down(node, step) {
    const axis = intOf(node, "axis", ABSENT_NOW);
    const rank = step.rankOf(inputOf(node, 0));
    if (isLast(axis, node, step))
      return withAttribute(node, "axis", int(rank === null ? -1 : rank - 1));
    if (rank === null) {
      throw refusal(
        `${step.title} normalizes along the last axes, and the rank of its input is unknown`,
      );
    }
    // The axis becomes the last axis before the Softmax, and returns to its place afterwards.
    const order = Array.from({ length: rank }, (_, at) => at);
    const counted = fromFront(axis, rank);
    [order[counted], order[rank - 1]] = [rank - 1, counted];
    const perm = ints(order);
    const turned = step.put("Transpose", node, node.inputs, { perm });
    const result = step.put(node.op, node, [turned], { axis: int(rank - 1) });
    return { ...node, op: "Transpose", inputs: [result], attributes: { perm } };
  },
};

/** Returns true if a 0 in the target shape might not copy the number of matrix rows. */
function mayBeEmpty(input: string, axis: number, step: Step): boolean {
  const shape = step.shapeOf(input);
  const isSize = (dim: Dim, at: number): boolean =>
    dim === 0 || typeof dim !== "number" ? at === 0 && axis > 0 : true;
  return shape === null || !shape.every(isSize);
}

function isLast(axis: number, node: ModelNode, step: Step): boolean {
  const rank = step.rankOf(inputOf(node, 0));
  return axis === -1 || axis + 1 === rank;
}
