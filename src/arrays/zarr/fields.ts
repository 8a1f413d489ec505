/**
 * Parses single values of metadata. Errors call the file `where`. `name` names the value, such as `level of gzip`; its
 * first word is the key in the metadata.
 */

import { TensorError, type FieldsOf } from "../../core/errors.ts";
import { wrongValue } from "../../core/foreign.ts";
import { MAX_RANK } from "../../core/tensor/shape.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";

/** Creates a `malformed-file` error: `the order of a.zarr must be "C" or "F", got 3`. */
export const wrongField = (
  name: string,
  where: string,
  must: string,
  got: Json | undefined,
  more: { readonly allowed?: readonly string[]; readonly expected?: number | number[] } = {},
): TensorError => {
  const fields = { key: name.split(" ")[0], file: where, ...more };
  return wrongValue("malformed-file", `the ${name} of ${where} must be ${must}`, got, fields);
};

/** Creates the error for a codec, or a setting of one, that is valid but not supported. */
export const unsupportedCodec = (
  sentence: string,
  file: string,
  more: Partial<FieldsOf<"unsupported-codec">> = {},
): TensorError => new TensorError("unsupported-codec", sentence, { key: "codecs", file, ...more });

export function objectIn(value: Json | undefined, name: string, where: string): JsonObject {
  if (isObject(value)) return value;
  throw wrongField(name, where, "an object", value);
}

/** Returns `value` if it is one of the allowed words. */
export function oneOf<W extends string>(
  value: Json | undefined,
  name: string,
  allowed: readonly W[],
  where: string,
): W {
  const word = allowed.find((one) => one === value);
  if (word !== undefined) return word;
  const words = allowed.map((one) => `"${one}"`);
  const last = words.pop();
  throw wrongField(name, where, `${words.join(", ")} or ${last}`, value, { allowed });
}

export function integerIn(
  value: Json,
  name: string,
  low: number,
  high: number,
  where: string,
): number {
  const isOne = typeof value === "number" && Number.isInteger(value);
  if (isOne && value >= low && value <= high) return value;
  const expected = [low, high];
  throw wrongField(name, where, `an integer from ${low} to ${high}`, value, { expected });
}

/** Parses a list of dimensions. Throws a `malformed-file`, `rank` or `too-large` error. */
export function parseShape(value: Json | undefined, name: string, where: string): number[] {
  if (!isList(value)) throw wrongField(name, where, "a list of integers", value);
  const fields = { key: name.split(" ")[0], file: where };
  if (value.length > MAX_RANK) {
    const sentence = `the ${name} of ${where} has ${value.length} axes, more than ${MAX_RANK}`;
    throw new TensorError("rank", sentence, { ...fields, got: value.length, limit: MAX_RANK });
  }
  return value.map((dim) => {
    if (typeof dim === "number" && Number.isSafeInteger(dim) && dim >= 0) return dim + 0;
    if (typeof dim !== "bigint" || dim < 0) {
      throw wrongField(name, where, "a list of integers of 0 or more", dim);
    }
    const sentence = `the ${name} of ${where} has the dimension ${dim}, greater than 2^53 - 1`;
    const limit = Number.MAX_SAFE_INTEGER;
    throw new TensorError("too-large", sentence, { ...fields, got: dim, limit });
  });
}
