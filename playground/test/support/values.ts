/** What the texts of cells stand for, to compare what the page shows with what the library computes. */

import { DTYPES, tensor, type DType, type Tensor } from "ndscatter";
import type { TensorText } from "../../src/values/state.ts";

/** The value that the text of a cell stands for. */
function valueOf(dtype: DType, text: string): unknown {
  const { family } = DTYPES[dtype];
  if (family === "string") return text;
  if (family === "bool") return text === "true";
  if (family === "int64") return BigInt(text);
  if (family === "complex") {
    const [, re, im] = /^(.*?[^e])([+-][^+-]*(?:e[+-]?\d+)?)j$/.exec(text) ?? [];
    return [valueOf("float64", re), valueOf("float64", im)];
  }
  return Number(text.replace("inf", "Infinity"));
}

/** A tensor of the data type and the shape of another one, with the values of texts. */
export const shownAs = ({ dtype, shape }: Tensor, texts: readonly string[]): Tensor =>
  tensor(dtype, shape, texts.flatMap((text) => valueOf(dtype, text)) as never);

/** Returns a function that converts nested lists of numbers to a tensor. */
const maker =
  (dtype: DType) =>
  (nested: unknown): TensorText => {
    const shape: number[] = [];
    for (let list = nested; Array.isArray(list); list = list[0]) shape.push(list.length);
    const values = [nested]
      .flat(shape.length)
      .map((one) => (Object.is(one, -0) ? "-0" : String(one)));
    return { dtype, shape, values };
  };

export const f32 = maker("float32");
export const i64 = maker("int64");
