/** Chooses another operator or version for a document. */

import { freshWork, NO_RESERVE, type Document } from "./document.ts";
import { reserveOf, withState } from "./inputs.ts";
import { readState } from "./read-state.ts";
import type { Changed, OperatorChoice } from "./state.ts";
import { operatorKey } from "../values/schema.ts";
import type { State } from "../values/state.ts";
import { withOperator } from "./with-operator.ts";

/**
 * Returns the document with another operator or operator version. An operator that was used before gets its tensors
 * back, in the chosen version.
 */
export function withChoice(document: Document, choice: OperatorChoice): Required<Changed> {
  const { state } = document;
  const { [operatorKey(choice)]: left, ...others } = document.kept;
  if (operatorKey(choice) === operatorKey(state)) return withVersion(document, choice);
  const { reserves, dropped } = document;
  const kept = { ...others, [operatorKey(state)]: { state, reserves, dropped } };
  if (left !== undefined) {
    const back = withVersion({ ...document, ...left, kept, preset: null }, choice);
    const sentence = `the ${choice.op} tensors are as you left them`;
    return { ...back, remarks: [sentence, ...back.remarks] };
  }
  const chosen = withOperator(state, choice, document.preset === null);
  if (chosen.state === state) return { document, remarks: chosen.remarks };
  // A tensor keeps its removed elements in reserve if the new operator accepts the tensor unchanged.
  const carried = chosen.state.inputs.map((text) =>
    text === null ? NO_RESERVE : reserveOf(document, state.inputs.indexOf(text)),
  );
  const fresh = { ...freshWork(chosen.state), reserves: carried, kept };
  return { document: { ...document, ...fresh, preset: null }, remarks: chosen.remarks };
}

/**
 * Returns the document with another version of the same operator. Inputs and attributes that an older version did not
 * accept are restored.
 */
function withVersion(document: Document, choice: OperatorChoice): Required<Changed> {
  const { state: before } = document;
  const { state, remarks } = withOperator(before, choice);
  const attributes = { ...state.attributes };
  const back: string[] = [];
  for (const [name, text] of Object.entries(document.dropped)) {
    // A value that was chosen since replaces the former value.
    if (Object.hasOwn(before.attributes, name) || Object.hasOwn(attributes, name)) continue;
    const restored = { ...attributes, [name]: text };
    if (!isAttribute({ ...state, attributes: restored }, name)) continue;
    attributes[name] = text;
    back.push(`${name} = ${text} is back`);
  }
  const texts = Object.entries({ ...document.dropped, ...before.attributes });
  const dropped = Object.fromEntries(texts.filter(([name]) => !Object.hasOwn(attributes, name)));
  const next = back.length === 0 ? state : { ...state, attributes };
  if (next === before) return { document, remarks };
  return { document: { ...withState(document, next), dropped }, remarks: [...remarks, ...back] };
}

/** Checks whether the state's operator version accepts an attribute value. */
function isAttribute(state: State, name: string): boolean {
  const { version, faults } = readState(state);
  const isKnown = version?.attributes.some((one) => one.name === name) ?? false;
  return isKnown && !faults.some(({ place }) => "attribute" in place && place.attribute === name);
}
