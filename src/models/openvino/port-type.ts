/** Value types in an IR. The data type is a word, and the shape is a text or a list of `dim` elements. */

import { factOf, printValue } from "../../core/foreign.ts";
import { malformed, unsupported } from "../../core/errors.ts";
import { dtypeOfElementType, elementTypeOf } from "../model/element-type.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { parseDecimal } from "../model/decimal.ts";
import { MAX_RANK, type Dim, type PartialShape } from "../../core/tensor/shape.ts";
import { element, type Element } from "./xml.ts";

/** Returns the port precision for an `element_type`, such as `FP32` for `f32`. */
function precisionOf(name: string): string {
  const [, width] = /^f(\d+)$/.exec(name) ?? [];
  if (width !== undefined) return `FP${width}`;
  return name === "boolean" ? "BOOL" : name.toUpperCase();
}

const NO_PRECISION = "UNSPECIFIED";

/** Returns the declared type of a port; null if this package lacks the data type. */
export function readPort(port: Element, who: string): TensorType | null {
  const dims = port.children.filter(({ name }) => name === "dim");
  checkDimCount(dims, who);
  const shape = dims.map(({ text }) => parseDimText(text, who));
  const dtype = dtypeOfElementType(port.attributes.get("precision") ?? NO_PRECISION);
  // In an IR, scalars and values of unknown rank both have ports without dimensions.
  return dtype === null ? null : { dtype, shape: shape.length === 0 ? null : shape };
}

/** Creates a port with a number and the known part of a type. */
export function writePort(id: number, type: TensorType | null): Element {
  const name = type && elementTypeOf(type.dtype);
  const precision = name === null ? NO_PRECISION : precisionOf(name);
  const dims = type?.shape?.map((dim) => element("dim", [], [], printDim(dim, "-1"))) ?? [];
  return element(
    "port",
    [
      ["id", String(id)],
      ["precision", precision],
    ],
    dims,
  );
}

/**
 * Parses a shape such as `4,?,1..10,-1`. Every dimension except a plain size is unknown. `""` means a scalar, and `...`
 * means any rank. Brackets around the shape are ignored. Throws `malformed-file` for other texts, `unsupported-file`
 * for more than 64 dimensions.
 */
export function parseShapeText(text: string, who: string): PartialShape {
  const plain = text.trim().replace(/^\[(.*)\]$/s, "$1");
  if (plain === "...") return null;
  const dims = plain === "" ? [] : plain.split(",", MAX_RANK + 1);
  checkDimCount(dims, who);
  return dims.map((dim) => parseDimText(dim, who));
}

export const printShapeText = (shape: PartialShape): string =>
  shape === null ? "..." : shape.map((dim) => printDim(dim, "?")).join(",");

/** Prints a dimension. A named dimension is printed as `unknown`, because an IR has no dimension names. */
const printDim = (dim: Dim, unknown: string): string =>
  typeof dim === "number" ? String(dim) : unknown;

function parseDimText(text: string, who: string): Dim {
  const plain = text.trim();
  if (plain === "?" || plain === "-1") return null;
  const [, from = plain, to = plain] = /^(\d*)\.\.(\d*)$/.exec(plain) ?? [];
  const low = from === "" ? 0 : (parseDecimal(from) ?? NaN);
  const high = to === "" ? Infinity : (parseDecimal(to) ?? NaN);
  // A range with equal bounds is a fixed size.
  if (plain !== "" && low <= high) return low === high ? low : null;
  throw malformed(
    `${who} has the dimension ${printValue(text)}, which must be a size below 2^53, a range or ?`,
    { key: "dim", got: factOf(text) },
  );
}

function checkDimCount(dims: readonly unknown[], who: string): void {
  if (dims.length > MAX_RANK)
    throw unsupported(`${who} has more than ${MAX_RANK} dimensions`, {
      key: "dim",
      limit: MAX_RANK,
    });
}
