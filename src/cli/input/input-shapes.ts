/** Determines the shapes of generated inputs from the model, --dim and --shape. */

import { type Dim, type PartialShape, type TensorType } from "../../entries/index.ts";
import type { ValueInfo } from "../../entries/onnx.ts";
import { wrongUsage } from "../failure.ts";
import { printName, quote, didYouMean } from "../text/layout.ts";
import { printType } from "../text/cells.ts";
import { parseWhole } from "./numbers.ts";

/** Placeholder name for unnamed dimensions in --dim. */
const NAMELESS = "?";

/** Parses the sizes in --dim by dimension name. Throws a `Failure` if no input has the dimension. */
export function dimSizes(
  texts: readonly string[],
  inputs: readonly ValueInfo[],
): Map<string, number> {
  const sizes = new Map(
    texts.map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw wrongUsage(`--dim takes NAME=SIZE, got ${quote(text)}`);
      const name = text.slice(0, at);
      return [name, parseWhole(text.slice(at + 1), `--dim ${name}`, 0)] as const;
    }),
  );
  const dims = new Set(
    inputs.flatMap(({ type }) => (type?.shape ?? []).map((dim) => dim ?? NAMELESS)),
  );
  const odd = [...sizes.keys()].find((name) => !dims.has(name));
  if (odd === undefined) return sizes;
  const known = [...dims].filter((dim) => typeof dim === "string");
  const all = known.length === 0 ? "all sizes are known" : `its dimensions are ${known.join(", ")}`;
  const hint = didYouMean(odd, known, all);
  throw wrongUsage(`the model has no dimension ${quote(odd)}; ${hint}`);
}

/** Parses the shapes in --shape by input name. Throws a `Failure` if an input cannot have the shape. */
export function givenShapes(
  texts: ReadonlyMap<string, string>,
  inputs: readonly ValueInfo[],
): Map<string, readonly number[]> {
  return new Map(
    [...texts].map(([name, text]) => {
      const option = `--shape ${printName(name)}`;
      const shape = text === "" ? [] : text.split(",").map((one) => parseWhole(one, option, 0));
      const type = inputs.find((one) => one.name === name)?.type;
      const declared = type?.shape ?? shape;
      const fits = declared.every((dim, axis) => typeof dim !== "number" || dim === shape[axis]);
      if (fits && declared.length === shape.length) return [name, shape] as const;
      const is = type ? printType(type) : "";
      throw wrongUsage(`${option} must fit the input, ${is}, got ${text}`);
    }),
  );
}

/** Infers the sizes of named dimensions from input shapes. */
export function boundDims(
  inputs: readonly ValueInfo[],
  shapes: ReadonlyMap<string, readonly number[]>,
): Map<string, number> {
  const bound = new Map<string, number>();
  for (const { name, type } of inputs) {
    for (const [axis, size] of shapes.get(name)?.entries() ?? []) {
      const dim = type?.shape?.[axis];
      if (typeof dim === "string" && !bound.has(dim)) bound.set(dim, size);
    }
  }
  return bound;
}

/** Replaces dimensions in a declared shape with known sizes. */
export const sizedShape = (
  declared: PartialShape,
  sizes: ReadonlyMap<string, number>,
): PartialShape =>
  declared?.map((dim) => (typeof dim === "number" ? dim : (sizes.get(dim ?? NAMELESS) ?? dim))) ??
  null;

/** Formats inputs as a list for messages, such as `x float32[N, 4], i int64[M]`. */
export const listInputs = (inputs: readonly ValueInfo[]): string =>
  inputs
    .map(({ name, type }) => `${printName(name)}${type === null ? "" : ` ${printType(type)}`}`)
    .join(", ");

/**
 * Returns command-line options that set all unknown dimensions, ready to copy; empty if all dimensions are known.
 * Inputs with unnamed dimensions use --shape, because --dim cannot distinguish unnamed dimensions.
 */
export function sizeOptions(
  inputs: readonly ValueInfo[],
  sizes: ReadonlyMap<string, number>,
): string {
  const chosen = new Map<string, number>();
  const shapes: string[] = [];
  const shaped = new Set<string>();
  for (const { name, type } of inputs) {
    if (type === null) continue;
    const shape = sizedShape(type.shape, sizes) ?? [null, null];
    const likely = shape.map((dim, axis) => {
      if (typeof dim === "number") return dim;
      const size =
        (dim === null ? undefined : chosen.get(dim)) ?? likelySize({ ...type, shape }, axis);
      if (dim !== null) chosen.set(dim, size);
      return size;
    });
    if (!shape.includes(null)) continue;
    for (const dim of shape) if (typeof dim === "string") shaped.add(dim);
    shapes.push(`--shape ${inShell(`${name}=${likely.join(",")}`)}`);
  }
  const dims = [...chosen].flatMap(([dim, size]) =>
    shaped.has(dim) ? [] : [`--dim ${inShell(`${dim}=${size}`)}`],
  );
  return [...dims, ...shapes].join(" ");
}

/** Quotes a shell argument. */
export const inShell = (text: string): string =>
  /^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Typical sizes by dimension name. */
const USUAL_SIZES: readonly (readonly [RegExp, number])[] = [
  [/batch/i, 1],
  [/seq|len|time|token/i, 16],
  [/height|width|^[hw]$/i, 224],
];

/**
 * Returns a size that many models accept. Tensors of rank 4 are usually images, and float tensors of rank 2 are usually
 * audio chunks.
 */
function likelySize(
  { dtype, shape }: TensorType & { readonly shape: readonly Dim[] },
  axis: number,
): number {
  const { [axis]: dim, length: rank } = shape;
  const usual = USUAL_SIZES.find(([name]) => typeof dim === "string" && name.test(dim));
  if (usual !== undefined) {
    const isSound = rank === 2 && dtype.includes("float") && usual[1] === 16;
    return isSound ? 512 : usual[1];
  }
  if (typeof dim === "string" && rank < 4) return 4;
  if (axis === 0) return 1;
  if (rank >= 4) return axis === 1 ? 3 : 224;
  if (rank === 2) return dtype.includes("float") ? 512 : 16;
  // In a state tensor, the first axis is the layer axis, and the second is the batch axis.
  return axis === 1 && typeof shape[0] === "number" ? 1 : 16;
}
