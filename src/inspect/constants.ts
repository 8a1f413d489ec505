/** The constants that are read: indices and axes. All others stay where they are. */

import { isTensorError } from "../errors.ts";
import type { Constant } from "../model/model.ts";
import { product } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";

/** More indices than this are not looked at; as int64 they take 8 MB. Planning them takes 45 ms. */
export const MAX_INDICES = 2 ** 20;

/** A constant as a tensor, or why it is none. */
export function readConstant(constant: Constant, input: string): Tensor | Finding {
  const count = product(constant.shape);
  if (count > MAX_INDICES) {
    const sentence = `the ${count} constant ${input} were not looked at: ${MAX_INDICES} are at most`;
    return finding("indices-not-checked", sentence, { input });
  }
  try {
    return constant.read();
  } catch (error) {
    const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
    return findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error);
  }
}
