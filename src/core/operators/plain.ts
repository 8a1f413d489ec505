/** The operator that each plain function runs, by function name. Engines create their functions from this table. */

import { gatherElements, scatterElements, scatter } from "./elements.ts";
import { gatherND, scatterND } from "./tuples.ts";
import { gather } from "./slices.ts";
import type { Operator } from "./operator.ts";
import { tensorScatter } from "./sequences.ts";

/** Name of a plain function. The union is written out, because declarations would otherwise name the operators. */
export type FunctionName =
  | "scatterND"
  | "scatterElements"
  | "scatter"
  | "tensorScatter"
  | "gatherND"
  | "gatherElements"
  | "gather";

export const FUNCTIONS: Readonly<Record<FunctionName, Operator>> = {
  scatterND,
  scatterElements,
  scatter,
  tensorScatter,
  gatherND,
  gatherElements,
  gather,
};

/** Operators whose indices can be compiled to a kept plan, by function name. */
export const PLAN_FUNCTIONS = {
  planScatterND: scatterND,
  planScatterElements: scatterElements,
  planGatherND: gatherND,
  planGatherElements: gatherElements,
  planGather: gather,
} as const satisfies Readonly<Record<string, Operator>>;

/** Calls `make` for each operator in a table, and returns the results under the same names. */
export function forEach<N extends string, F>(
  table: Readonly<Record<N, Operator>>,
  make: (operator: Operator) => F,
): Record<N, F> {
  const entries = Object.entries<Operator>(table).map(([name, operator]) => [name, make(operator)]);
  return Object.fromEntries(entries);
}
