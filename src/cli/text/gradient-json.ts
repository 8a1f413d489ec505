/** Converts explained gradients to JSON data. */

import type { GradientCell, GradientExplanation, Tensor } from "../../entries/index.ts";
import { gradientsOf, type ExplainedGradient, type InputGradient } from "../input/gradient.ts";
import { valuesOf } from "./cells.ts";

/** JSON data about gradients, with the elements whose terms are listed. */
export interface GradientFacts {
  readonly facts: object;
  readonly cells: Iterable<GradientCell>;
}

export function gradientJson(asked: ExplainedGradient): GradientFacts {
  const { explained, outputGradient, ties, cells } = asked;
  const gradients = gradientsOf(asked);
  const inputs = gradients.map(({ name, gradient }) => ({ name, ...factsOf(gradient) }));
  return {
    facts: { ties, outputGradient: factsOf(outputGradient), inputs },
    cells: cells ?? cellsOf(explained, gradients),
  };
}

const factsOf = (tensor: Tensor): object => {
  const { dtype, shape } = tensor;
  return { dtype, shape, values: valuesOf(tensor) };
};

/** Yields the elements that the command explains without --cell. */
function* cellsOf(
  { cell }: GradientExplanation,
  gradients: readonly InputGradient[],
): Iterable<GradientCell> {
  for (const { name, elements } of gradients) {
    for (const at of elements()) yield cell(name, at);
  }
}
