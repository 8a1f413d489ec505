/** The constants whose values are read: indices, axes, and what is small. All others stay where they are. */

import { isTensorError } from "../../core/errors.ts";
import { readConstant, type Constant } from "../model/model.ts";
import { DTYPES, isDType } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
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
    return readConstant(constant);
  } catch (error) {
    return unreadable(error);
  }
}

/** In elements. Most axes, index tuples and shapes are as short, and no weights are. */
const MAX_SHOWN = 8;

/** A constant that is small enough to be shown, undefined for any other and for one that cannot be read. */
export function readSmallConstant(constant: Constant): Tensor | undefined {
  try {
    const { dtype, shape } = constant;
    // A text may be of any length.
    if (!isDType(dtype) || DTYPES[dtype].family === "string") return;
    const size = product(shape);
    if (size === 0 || size > MAX_SHOWN) return;
    return readConstant(constant);
  } catch {
    // Nothing depends on a value that is only shown.
    return;
  }
}

/** The finding for what reading a constant has thrown. */
export function unreadable(error: unknown): Finding {
  const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
  return findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error);
}
