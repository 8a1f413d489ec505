/** What the texts of cells stand for, to compare what the page shows with what the library computes. */

import { DTYPES, tensor, type DType, type Tensor } from "ndscatter";

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
