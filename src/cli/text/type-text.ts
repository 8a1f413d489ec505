/** Parses and prints tensor types such as `float32[N, 4, ?]`. */

import { DTYPES, isDType, type TensorType } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { wrongUsage } from "../failure.ts";
import { quote } from "./layout.ts";
import { didYouMean } from "./names.ts";

export const TYPE_HELP = `A type is a data type and a shape, such as float32[2,3]. A dimension is a size, a
name for an unknown size (N), or ? for any size. float32[] is a scalar; float32[...]
and float32 have an unknown rank. In a shell, put types in quotes.`;

/** Throws a `Failure` for text that is not a type. */
export function parseType(text: string): TensorType {
  const [, dtype, list] = /^([^[\]]+)(?:\[([^[\]]*)\])?$/.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (dtype === undefined) {
    throw wrongUsage(`a type must look like 'float32[N,4]', got ${quote(text)}`);
  }
  if (!isDType(dtype)) {
    const known = Object.keys(DTYPES);
    const hint = didYouMean(dtype, known, `the data types are ${known.join(", ")}`);
    throw wrongUsage(`the data type ${quote(dtype)} is unknown; ${hint}`);
  }
  if (list === undefined || list === "...") return { dtype, shape: null };
  if (list === "") return { dtype, shape: [] };
  return { dtype, shape: list.split(",").map((dim) => parseDim(dim, text)) };
}

function parseDim(text: string, type: string): number | string | null {
  if (text === "?") return null;
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  // Dimension names begin with a letter, so -1 and 1.5 are errors.
  if (/^[\p{L}_]/u.test(text)) return text;
  throw wrongUsage(
    `a dimension must be a size, a name, or ? if it is unknown, got ${quote(text)} in ${quote(type)}`,
  );
}

export const printType = ({ dtype, shape }: TensorType): string =>
  dtype + (shape === null ? "[...]" : printShape(shape));
