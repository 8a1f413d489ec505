/**
 * Creates and prints the terms of derived shapes. Inference, error messages and explanations all use the same terms.
 */

import { printShape, type Dim } from "../tensor/shape.ts";
import type { Derivation, Term } from "./operator.ts";

/** Returns the whole shape of an input as a term. */
export const wholeShape = (input: string, shape: readonly Dim[]): Term => ({
  text: `${input}.shape`,
  shape,
});

/** Returns the shape that consists of the given terms. */
export function joinTerms(terms: readonly Term[]): Dim[] {
  const joined: Dim[] = [];
  for (const { shape } of terms) joined.push(...shape);
  return joined;
}

/** Prints terms, such as `indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4]`. */
export function printTerms(terms: readonly Term[]): string {
  const texts = terms.map(({ text }) => text).join(" ++ ");
  const shapes = terms.map(({ shape }) => printShape(shape)).join(" ++ ");
  const sum = terms.length === 1 ? "" : ` = ${printShape(joinTerms(terms))}`;
  return `${texts} = ${shapes}${sum}`;
}

/** Derives the output shape of a scatter, which is the shape of data. */
export const outputLikeData = (data: readonly Dim[], name = "data"): Derivation => ({
  of: "output",
  terms: [wholeShape(name, data)],
});
