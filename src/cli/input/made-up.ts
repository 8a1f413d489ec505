/** Tensors that are made up for the inputs of a model, the same ones every time. */

import * as os from "node:os";
import { isTensorError, printShape, tensor, zeros, type Tensor } from "../../entries/index.ts";
import { wrongUsage } from "../failure.ts";
import { escapeControls, quote } from "../text/layout.ts";

/**
 * A step that is coprime to 2001, so that 2001 values go through every number of three decimals from -1 to 1 in a mixed
 * order.
 */
const STEP = 617;
const VALUES = Array.from({ length: 2001 }, (_, at) => (((at + 1) * STEP) % 2001) / 1000 - 1);

/** @throws Failure for a tensor that does not fit in memory */
export function madeUp(name: string, dtype: Tensor["dtype"], shape: readonly number[]): Tensor {
  const made = zerosOf(name, dtype, shape);
  if (!dtype.includes("float") || made.size === 0) return made;
  // The values repeat, so they are encoded once and then copied.
  const [all, some] = [made.data, tensor(dtype, [VALUES.length], VALUES as never).data].map(
    (data) => data as Float64Array,
  );
  all.set(some.subarray(0, made.size));
  for (let done = VALUES.length; done < made.size; done *= 2) all.copyWithin(done, 0, done);
  return made;
}

/**
 * Tensors of the input's size that must fit in memory: the result of the runtime and the exact result may be as large, and
 * the comparison takes memory too.
 */
const COPIES = 4;

/** Zeros for an input. Linux grants more memory than it has, so a tensor that the machine cannot hold is refused here. */
function zerosOf(name: string, dtype: Tensor["dtype"], shape: readonly number[]): Tensor {
  const title = `the input ${quote(name)}`;
  const advice = "give smaller sizes with --dim, or the tensor with --feed";
  try {
    const made = zeros(dtype, shape);
    const bytes = ArrayBuffer.isView(made.data) ? made.data.byteLength : 0;
    if (COPIES * bytes <= os.totalmem()) return made;
  } catch (error) {
    if (!isTensorError(error, "too-large")) throw error;
    throw wrongUsage(escapeControls(`${title}: ${error.message}; ${advice}`), error);
  }
  const sentence = `${title} of shape ${printShape(shape)} does not fit in memory; ${advice}`;
  throw wrongUsage(escapeControls(sentence));
}
