/** The types of values as an IR writes them: the data type as a word, the shape as text or as elements `dim`. */

import { malformed } from "../errors.ts";
import { dtypeOfElementType, elementTypeOf } from "../model/element-type.ts";
import type { TensorType } from "../operators/operator.ts";
import { MAX_RANK, type Dim, type PartialShape } from "../tensor/shape.ts";
import { element, type Element } from "./xml.ts";

/** What ports call a data type whose `element_type` is `name`: `FP32` for `f32`. */
function precisionOf(name: string): string {
  const [, width] = /^f(\d+)$/.exec(name) ?? [];
  if (width !== undefined) return `FP${width}`;
  return name === "boolean" ? "BOOL" : name.toUpperCase();
}

const UNKNOWN = "UNSPECIFIED";

/** The type that a port declares, or null where it names no data type that is known here. */
export function readPort(port: Element, who: string): TensorType | null {
  const dims = port.children.filter(({ name }) => name === "dim");
  checkRank(dims, who);
  const shape = dims.map(({ text }) => dimension(text, who));
  const dtype = dtypeOfElementType(port.attributes.get("precision") ?? UNKNOWN);
  // Without dimensions a port is a scalar or of any rank: an IR writes both alike.
  return dtype === null ? null : { dtype, shape: shape.length === 0 ? null : shape };
}

/** A port with its number and what is known of its value's type. */
export function writePort(id: number, type: TensorType | null): Element {
  const name = type && elementTypeOf(type.dtype);
  const precision = name === null ? UNKNOWN : precisionOf(name);
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
 * A shape such as `4,?,1..10,-1`: what is no size is unknown. `""` is a scalar, `...` of any rank;
 * brackets around it say nothing.
 * @throws TensorError `malformed-file`
 */
export function parseShape(text: string, who: string): PartialShape {
  const plain = text.trim().replace(/^\[(.*)\]$/s, "$1");
  if (plain === "...") return null;
  const dims = plain === "" ? [] : plain.split(",", MAX_RANK + 1);
  checkRank(dims, who);
  return dims.map((dim) => dimension(dim, who));
}

export const printShapeText = (shape: PartialShape): string =>
  shape === null ? "..." : shape.map((dim) => printDim(dim, "?")).join(",");

/** An IR has no names for dimensions. */
const printDim = (dim: Dim, unknown: string): string =>
  typeof dim === "number" ? String(dim) : unknown;

function dimension(text: string, who: string): Dim {
  const plain = text.trim();
  if (plain === "?" || plain === "-1") return null;
  const [, from = plain, to = plain] = /^(\d*)\.\.(\d*)$/.exec(plain) ?? [];
  const low = from === "" ? 0 : sizeOrNaN(from);
  const high = to === "" ? Infinity : sizeOrNaN(to);
  // A range of one size is that size.
  if (plain !== "" && low <= high) return low === high ? low : null;
  throw malformed(
    `${who} has the dimension ${JSON.stringify(text)}, which is no size below 2^53, no range and not ?`,
  );
}

function sizeOrNaN(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(size) ? size : NaN;
}

function checkRank(dims: readonly unknown[], who: string): void {
  if (dims.length > MAX_RANK) throw malformed(`${who} has more than ${MAX_RANK} dimensions`);
}

/** Whether two declared types say the same. */
export function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dtype === b.dtype && sameDims(a.shape, b.shape);
}

export function sameDims(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}
