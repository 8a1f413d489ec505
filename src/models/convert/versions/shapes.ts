/** Reshape and Shape, whose newer attributes affect single dimensions. */

import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";
import { known, listToInput } from "./axes.ts";
import {
  exactIntOf,
  inputOf,
  intOf,
  ints,
  withAttribute,
  withInputs,
  withoutAttributes,
} from "./node-edits.ts";

/** Reshape's target shape, which became an input. */
export const reshapeInput: Part = {
  up: (node, step) => listToInput(node, step, "shape", 1),
  down: (node, step) => {
    const values = known(step, inputOf(node, 1), "shape");
    return withAttribute(withInputs(node, { 1: "" }), "shape", ints(values));
  },
};

/**
 * A 0 in Reshape's target shape. The newer version may read it as an empty dimension; earlier versions always copied
 * the input's dimension.
 */
export const reshapeZero: Part = {
  down(node, step) {
    const plain = withoutAttributes(node, "allowzero");
    if (intOf(node, "allowzero", 0) === 0) return plain;
    if (known(step, inputOf(node, 1), "shape").every((size) => size !== 0n)) return plain;
    throw refusal(`${step.title} does not read a 0 in a shape as an empty axis`);
  },
};

/** Shape's range attributes. Older versions need a Slice of the whole shape instead. */
export const shapeBounds: Part = {
  down(node, step) {
    const start = exactIntOf(node, "start", 0n);
    const end = exactIntOf(node, "end", null);
    const plain = withoutAttributes(node, "start", "end");
    if (start === 0n && end === null) return plain;
    const whole = step.put("Shape", node, node.inputs);
    const bounds = [
      step.list(node, "starts", [start]),
      step.list(node, "ends", [end ?? 2n ** 63n - 1n]),
    ];
    return { ...plain, op: "Slice", inputs: [whole, ...bounds] };
  },
};
