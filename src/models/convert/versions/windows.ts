/** Window positions of pooling operators and ConvTranspose. */

import type { ModelNode } from "../../model/model.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";
import { attributeValue, inputOf, intOf, intsOf } from "./node-edits.ts";
import type { Step } from "./step.ts";

/**
 * Version 22 drops pooling windows that start beyond the input and its leading padding. Earlier versions do not define
 * such windows. They occur only with `ceil_mode` and a stride larger than the window.
 */
export const ignoredWindows: Part = { up: refuseBehind, down: refuseBehind };

function refuseBehind(node: ModelNode, { title }: Step): ModelNode {
  const mode = intOf(node, "ceil_mode", 0);
  if (mode === 0) return node;
  const kernel = listOf(node, "kernel_shape") ?? [];
  const strides = listOf(node, "strides");
  const dilations = listOf(node, "dilations");
  const pads = listOf(node, "pads");
  const isInside = kernel.every((size, axis) => {
    const after = pads?.[kernel.length + axis] ?? 0;
    return after + (strides?.[axis] ?? 1) <= (size - 1) * (dilations?.[axis] ?? 1) + 1;
  });
  if (isInside && !padsItself(node)) return node;
  throw refusal(`${title} has a different meaning with ceil_mode ${mode}`);
}

/**
 * ConvTranspose's padding computed from the output size. If the total padding is odd, versions 1 and 11 put the larger
 * half on opposite sides. They also disagree about the output size if only `auto_pad` is given.
 */
export const oddPadding: Part = { up: refuseOdd, down: refuseOdd };

function refuseOdd(node: ModelNode, step: Step): ModelNode {
  const sizes = listOf(node, "output_shape");
  if (sizes === undefined && !padsItself(node)) return node;
  const shape = step.shapeOf(inputOf(node, 0))?.slice(2);
  const kernel = listOf(node, "kernel_shape") ?? step.shapeOf(inputOf(node, 1))?.slice(2);
  const setting = (name: string, axis: number, absent: number): number =>
    listOf(node, name)?.[axis] ?? absent;
  const isEven = sizes?.every((size, axis) => {
    const [input, width] = [shape?.[axis], kernel?.[axis]];
    if (typeof input !== "number" || typeof width !== "number") return false;
    const covered = (width - 1) * setting("dilations", axis, 1) + 1;
    const whole = (input - 1) * setting("strides", axis, 1) + covered;
    return (whole + setting("output_padding", axis, 0) - size) % 2 === 0;
  });
  if (isEven === true) return node;
  throw refusal(
    `${step.title} puts an odd padding element on the other side, and this node's padding may be odd`,
  );
}

function padsItself(node: ModelNode): boolean {
  const word = attributeValue(node, "auto_pad");
  return word === "SAME_UPPER" || word === "SAME_LOWER";
}

const listOf = (node: ModelNode, name: string): readonly number[] | undefined =>
  intsOf(node, name)?.map(Number);
