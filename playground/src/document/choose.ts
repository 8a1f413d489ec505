/** Chooses another operator or version for a document. */

import { freshWork, NO_RESERVE, type Document } from "./document.ts";
import { reserveOf, withState } from "./inputs.ts";
import { readState } from "./read-state.ts";
import type { OperatorChoice } from "./state.ts";
import type { State } from "../values/state.ts";
import { withOperator } from "./with-operator.ts";

const keyOf = ({ domain, op }: OperatorChoice): string => `${domain}/${op}`;

/** A document, with remarks about any necessary changes. */
interface Chosen {
  readonly document: Document;
  readonly remarks: readonly string[];
}

/**
 * Returns the document with another operator or operator version. An operator that was used before gets its tensors
 * back, in the chosen version.
 */
export function withChoice(document: Document, choice: OperatorChoice): Chosen {
  const { state } = document;
  const { [keyOf(choice)]: left, ...others } = document.kept;
  if (keyOf(choice) === keyOf(state)) return withVersion(document, choice);
  const { reserves, dropped } = document;
  const kept = { ...others, [keyOf(state)]: { state, reserves, dropped } };
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
function withVersion(document: Document, choice: OperatorChoice): Chosen {
  const { state: before } = document;
  const { state, remarks } = withOperator(before, choice);
  const dropped = { ...document.dropped };
  const attributes = { ...state.attributes };
  const back: string[] = [];
  for (const [name, text] of Object.entries(before.attributes)) {
    if (!Object.hasOwn(attributes, name)) dropped[name] = text;
  }
  for (const [name, text] of Object.entries(dropped)) {
    const isTaken =
      !Object.hasOwn(attributes, name) &&
      !Object.hasOwn(before.attributes, name) &&
      isAttribute({ ...state, attributes: { ...attributes, [name]: text } }, name);
    if (isTaken) {
      attributes[name] = text;
      back.push(`${name} = ${text} is back`);
    }
    if (Object.hasOwn(attributes, name)) delete dropped[name];
  }
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
