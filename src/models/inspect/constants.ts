/** The constants whose values are read: indices, axes and small constants. Other constants stay unread. */

import { isTensorError } from "../../core/errors.ts";
import { readConstant, type Constant } from "../model/model.ts";
import { DTYPES, isDType } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";

/** The maximum number of indices that are read. This many int64 indices take 8 MB, and planning them takes 45 ms. */
const MAX_INDICES = 2 ** 20;

/** Returns constant indices as a tensor, or a finding that explains why the indices were not read. */
export function readIndexConstant(constant: Constant): Tensor | Finding {
  const count = product(constant.shape);
  if (count > MAX_INDICES) {
    const sentence = `the ${count} constant indices were not checked, because the limit is ${MAX_INDICES}`;
    return finding("indices-not-checked", sentence, { input: "indices" });
  }
  try {
    return readConstant(constant);
  } catch (error) {
    return unreadable(error);
  }
}

/**
 * The maximum number of elements in a constant that is shown. Axes, index tuples and shapes are usually this short, and
 * weights are longer.
 */
const MAX_SHOWN = 8;

/**
 * Returns a constant that is small enough to show; undefined for other values, and for a constant that cannot be read.
 */
export function readSmallConstant(constant: Constant): Tensor | undefined {
  try {
    const { dtype, shape } = constant;
    // Text is not read, because a text may have any length.
    if (!isDType(dtype) || DTYPES[dtype].family === "string") return;
    const size = product(shape);
    if (size === 0 || size > MAX_SHOWN) return;
    return readConstant(constant);
  } catch {
    // An unreadable value is simply not shown.
    return;
  }
}

/** Converts an error of reading a constant to a finding. */
export function unreadable(error: unknown): Finding {
  const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
  return findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error);
}
