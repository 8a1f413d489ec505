/** Provides the initial value of an omitted optional input. */

import type { OperatorVersion } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import { dtypesOf } from "./schema.ts";
import type { State } from "./state.ts";
import { zerosText } from "./tensor-text.ts";

/** Returns the state with an optional input added: one zero for each index on the first axis of data. */
export function withGiven(state: State, version: OperatorVersion | null, position: number): State {
  const schema = version?.inputs[position];
  if (version === null || schema === undefined) return state;
  const shape = roleOf(schema) === "axis" ? [] : (state.inputs[0]?.shape.slice(0, 1) ?? []);
  const text = zerosText(dtypesOf(version, schema)[0], shape);
  return { ...state, inputs: state.inputs.with(position, text) };
}
