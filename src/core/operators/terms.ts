/** Terms of derived shapes. Inference, error messages and explanations all use the same terms. */

import { printShape, type Dim } from "../tensor/shape.ts";
import type { Derivation, Term } from "./operator.ts";

/** The whole shape of an input as a term. */
export const wholeShape = (input: string, shape: readonly Dim[]): Term => ({
  text: `${input}.shape`,
  shape,
});

/** The shape that the terms make, one after the other. */
export function joinTerms(terms: readonly Term[]): Dim[] {
  const joined: Dim[] = [];
  for (const { shape } of terms) joined.push(...shape);
  return joined;
}

/** `indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4]` */
export function printTerms(terms: readonly Term[]): string {
  const texts = terms.map(({ text }) => text).join(" ++ ");
  const shapes = terms.map(({ shape }) => printShape(shape)).join(" ++ ");
  const sum = terms.length === 1 ? "" : ` = ${printShape(joinTerms(terms))}`;
  return `${texts} = ${shapes}${sum}`;
}

/** The output of a scatter has the shape of data. */
export const outputLikeData = (data: readonly Dim[], name = "data"): Derivation => ({
  of: "output",
  terms: [wholeShape(name, data)],
});
