/** Options as callers give them: an object, and nothing in it that is not known. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";

/** @throws TensorError `attribute` for what is no object */
export function objectOf(
  name: string,
  value: unknown,
  fields: ErrorFields,
): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return { ...value };
  const got = printValue(value);
  throw new TensorError("attribute", `${name} must be an object, got ${got}`, fields);
}

/** @throws TensorError `attribute` for what is no object, or has a name that is not known */
export function optionsOf(
  options: unknown,
  known: readonly string[],
  fields: ErrorFields,
): Record<string, unknown> {
  const given = objectOf("options", options, fields);
  const odd = Object.keys(given).find((name) => !known.includes(name));
  if (odd === undefined) return given;
  const sentence = `there is no option ${printValue(odd)}, only ${known.join(", ")}`;
  throw new TensorError("attribute", sentence, fields);
}
