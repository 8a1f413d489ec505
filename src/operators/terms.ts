/** Shapes that follow from others, put together from their terms: inference, errors and explanations all say these. */

import { printShape, type Dim } from "../tensor/shape.ts";
import type { Derivation, Term } from "./operator.ts";

/** The whole shape of an input, as a term. */
export const wholeOf = (input: string, shape: readonly Dim[]): Term => ({
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

/** The output of a scatter is like data. */
export const likeData = (data: readonly Dim[], name = "data"): Derivation => ({
  of: "output",
  terms: [wholeOf(name, data)],
});
