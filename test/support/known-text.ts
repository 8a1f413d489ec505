/**
 * The known facts of a value as text, for rows of tests: `float32[2, N, ?]` is a type, `int64{2, N, ?}` a list with
 * some known elements, `int64(2)` a scalar, `float32[...]` a type of unknown rank, `of float32[2]` a sequence or an
 * optional of such tensors, `?` an unknown value, and `-` an input that is left out.
 */

import {
  elementsOf,
  knownConstant,
  knownElements,
  NOTHING_KNOWN,
  type Known,
} from "../../src/models/model/known.ts";
import { constant } from "../../src/models/model/model.ts";
import { integerRange, isDType } from "../../src/core/tensor/dtype.ts";
import { printShape, type Dim } from "../../src/core/tensor/shape.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";

const dimFrom = (text: string): Dim =>
  text === "?" ? null : /^-?[\d.]+$/.test(text) ? Number(text) : text;

export function knownFrom(text: string): Known {
  if (text === "?" || text === "-") return NOTHING_KNOWN;
  if (text.startsWith("of ")) return { ...NOTHING_KNOWN, item: knownFrom(text.slice(3)).type };
  const [, dtype, open, inside] = /^(\w+)([[({])(.*)[\])}]$/.exec(text) ?? [];
  if (!isDType(dtype)) throw new Error(`no type: ${text}`);
  const dims = inside === "" ? [] : inside.split(", ").map(dimFrom);
  if (open === "[") {
    const shape = inside === "..." ? null : dims;
    return { type: { dtype, shape }, constant: null, elements: null };
  }
  const shape = open === "(" ? [] : [dims.length];
  const texts = inside === "" ? [] : inside.split(", ");
  const isWhole = integerRange(dtype) !== null;
  if (!dims.every((dim) => typeof dim === "number"))
    return knownElements(dtype, shape.length, dims);
  // This also parses integers larger than a number can represent.
  const values = isWhole ? texts.map(BigInt) : dims;
  return knownConstant(constant("", tensor(dtype, shape, values)));
}

export function printKnown(known: Known): string {
  const { type, item = null } = known;
  if (item !== null) return `of ${printKnown({ ...NOTHING_KNOWN, type: item })}`;
  if (type === null) return "?";
  const { dtype, shape } = type;
  if (shape === null) return `${dtype}[...]`;
  const elements = elementsOf(known);
  if (elements === null) return dtype + printShape(shape);
  const inside = printShape(elements).slice(1, -1);
  return shape.length === 0 ? `${dtype}(${inside})` : `${dtype}{${inside}}`;
}
