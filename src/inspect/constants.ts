/** The constants whose values are read: indices and axes. All others stay where they are. */

import { isTensorError } from "../errors.ts";
import type { Constant } from "../model/model.ts";
import { product } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";

/** More indices are not read: as int64 they take 8 MB, and planning them takes 45 ms. */
const MAX_INDICES = 2 ** 20;

/** Constant indices as a tensor, or why they cannot be looked at. */
export function readIndexConstant(constant: Constant): Tensor | Finding {
  const count = product(constant.shape);
  if (count > MAX_INDICES) {
    const sentence = `the ${count} constant indices were not looked at: ${MAX_INDICES} are at most`;
    return finding("indices-not-checked", sentence, { input: "indices" });
  }
  try {
    return constant.read();
  } catch (error) {
    return unreadable(error);
  }
}

/** The finding for what reading a constant has thrown. */
export function unreadable(error: unknown): Finding {
  const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
  return findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error);
}
