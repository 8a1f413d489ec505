/** Makes inputs for a model, as `ndscatter verify --random` does. */

import { tensor, zeros, type DType, type Tensor } from "ndscatter";
import { comparedValues, indexedSizes, type Model, type ValueInfo } from "ndscatter/onnx";
import { sizeOf } from "../values/shape.ts";
import { printNames } from "../values/names.ts";

/** A larger tensor repeats its first elements, because generating elements is slower than copying them. */
const BLOCK = 2 ** 14;

/** More elements do not fit in memory together with the results. */
const LARGEST = 2 ** 27;

type Sizes = Map<string, number>;

/** Usual sizes of named dimensions. */
const USUAL: readonly (readonly [RegExp, number])[] = [
  [/batch/i, 1],
  [/seq|len|time|token/i, 16],
  [/height|width|^[hw]$/i, 224],
];

/** Returns a size that many models accept for an axis of unknown size. */
function likelySize(dim: string | null, axis: number, rank: number): number {
  const usual = USUAL.find(([name]) => dim !== null && name.test(dim));
  if (usual !== undefined) return usual[1];
  // Tensors with four axes are usually pictures.
  if (rank >= 4) return axis === 0 ? 1 : axis === 1 ? 3 : 224;
  return dim === null && axis === 0 ? 1 : 4;
}

/** Returns the shape of an input, in which dimensions with the same name have the same size. */
function shapeOf({ type }: ValueInfo, sizes: Sizes): number[] | null {
  if (type === null || type.shape === null) return null;
  return type.shape.map((dim, axis, { length }) => {
    if (typeof dim === "number") return dim;
    const size = (dim === null ? undefined : sizes.get(dim)) ?? likelySize(dim, axis, length);
    if (dim !== null) sizes.set(dim, size);
    return size;
  });
}

/** Returns integers within the bounds of the axes that they index, and other numbers between -1 and 1. */
function elements(
  dtype: DType,
  count: number,
  bounds: readonly number[],
  value: bigint | undefined,
): unknown[] {
  const draw = (at: number): unknown => {
    if (dtype === "string") return "";
    if (bounds.length > 0) return Math.floor(Math.random() * bounds[at % bounds.length]);
    if (dtype.includes("float")) return Math.round(Math.random() * 2000) / 1000 - 1;
    return value ?? (dtype === "bool" ? false : 0);
  };
  return Array.from({ length: count }, (_, at) => draw(at));
}

function made(dtype: DType, shape: number[], bounds: readonly number[], value?: bigint): Tensor {
  const size = sizeOf(shape);
  const width = Math.max(bounds.length, 1);
  const count = Math.min(size, BLOCK * width);
  const block = tensor(dtype, [count], elements(dtype, count, bounds, value) as never);
  if (count === size) return tensor(dtype, shape, block.data as never);
  const whole = zeros(dtype, shape);
  const [from, to] = [block.data, whole.data] as [Float64Array, Float64Array];
  for (let done = 0; done < to.length; done += from.length)
    to.set(from.subarray(0, Math.min(from.length, to.length - done)), done);
  return whole;
}

/** The inputs of a run, with a sentence about those that are made up; or the reason why there are none. */
export type Inputs =
  | { readonly feeds: Readonly<Record<string, Tensor>>; readonly remarks: readonly string[] }
  | { readonly error: string };

/** Returns the given tensors by the names of the model's inputs, and made-up tensors for all other inputs. */
export function withMadeUp(model: Model, given: ReadonlyMap<string, Tensor>): Inputs {
  const { inputs, constants } = model.graph;
  const defaults = new Set(constants.map(({ name }) => name));
  const sizes: Sizes = new Map();
  const shapes: Record<string, readonly number[]> = {};
  for (const { name, type } of inputs) {
    const { shape = null } = given.get(name) ?? {};
    if (shape === null) continue;
    shapes[name] = shape;
    type?.shape?.forEach((dim, axis) => typeof dim === "string" && sizes.set(dim, shape[axis]));
  }
  const open = inputs.filter(({ name }) => !given.has(name) && !defaults.has(name));
  for (const one of open) {
    const shape = shapeOf(one, sizes);
    if (shape === null) {
      return {
        error: `The model does not say what the input ${one.name} is, so none can be made up; drop its tensor with the model, as ${one.name}.npy.`,
      };
    }
    if (sizeOf(shape) > LARGEST) {
      return { error: `A made-up input ${one.name} of shape [${shape.join(", ")}] is too large.` };
    }
    shapes[one.name] = shape;
  }
  const indexed = indexedSizes(model, shapes);
  const compared = comparedValues(model);
  const feeds = Object.fromEntries(given);
  for (const { name, type } of open) {
    if (type === null) continue;
    // Some models select a branch by comparing a single integer with a constant.
    const [value] = sizeOf(shapes[name]) === 1 ? (compared.get(name) ?? []) : [];
    feeds[name] = made(type.dtype, [...shapes[name]], indexed.get(name) ?? [], value);
  }
  const remarks = open.map(
    ({ name, type }) => `${name} ${type?.dtype}[${shapes[name].join(", ")}]`,
  );
  return { feeds, remarks: open.length === 0 ? [] : [remarkOn(remarks)] };
}

const remarkOn = (names: readonly string[]): string =>
  `${printNames(names)} ${names.length === 1 ? "is" : "are"} made up: floats are between -1 and 1, and indices are within their axes, so bad indices are not found. Drop .npy files named like the inputs with the model to check real ones.`;
