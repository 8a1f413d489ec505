/** Checks the number and order of the arguments of the functions that create tensors. */

import { factOf, isArray, printValue, TensorError } from "../errors.ts";
import { isDType, rowOf } from "./dtype.ts";
import { isList } from "./values.ts";

/**
 * Returns the arguments, unless one is left over or the shape and another argument are exchanged.
 * @throws TensorError `shape-mismatch`, or `dtype` if the first argument is not a data type
 */
export function checkArguments(
  names: readonly string[],
  args: readonly unknown[],
): readonly unknown[] {
  const [dtype, shape, value] = args;
  const isType = isDType(dtype);
  // A complex value is a pair.
  const isPair = isType && rowOf(dtype).lanes === 2 && isArray(shape);
  const isListed = names[2] === "value" && isList(value) && !isPair;
  const isSwapped = names[2] !== "values" && typeof shape === "string";
  if (args.length <= names.length && !isListed && !isSwapped) return args;
  const [first, ...dims] = args.map(printValue);
  const isSpread = args.slice(1).every((dim) => typeof dim === "number");
  const example = isSpread ? `, such as (${first}, [${dims.join(", ")}])` : "";
  const got = `(${args.map(printValue).join(", ")})`;
  const sentence = `the arguments must be (${names.join(", ")})${example}, got ${got}`;
  throw isType
    ? new TensorError("shape-mismatch", sentence, { key: "arguments", got })
    : new TensorError("dtype", sentence, { key: "dtype", got: factOf(dtype) });
}
