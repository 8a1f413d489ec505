/** What the controls of the page do to the state: edits of an input, an attribute, an input that is added. */

import { roleOf, operators, type OperatorVersion } from "ndscatter";
import { withDType, withShape, withValue } from "../model/edit.ts";
import { withText } from "../model/paste.ts";
import { dtypesOf } from "../model/schema.ts";
import { coordinatesOf } from "../model/shape.ts";
import type { State, TensorText } from "../model/state.ts";
import { zerosText } from "../model/tensor-text.ts";
import type { Page } from "./page.ts";
import type { DTypeChoice, Edits } from "./lane-props.ts";

/** The edits of one input. */
export function editsOf(version: OperatorVersion | null, position: number, page: Page): Edits {
  const schema = version?.inputs[position];
  const put = (text: TensorText | null): void => {
    const state = page.state();
    page.show({ ...state, inputs: state.inputs.with(position, text) });
  };
  const mine = (): TensorText => page.state().inputs[position] ?? zerosText("float32", []);
  // Inputs of one type constraint have one data type.
  const isAlike = (other: number): boolean => version?.inputs[other]?.type === schema?.type;
  return {
    dtypes: version === null ? [] : dtypeChoices(version, position),
    onDType: (name) => {
      const chosen = version && schema && dtypesOf(version, schema).find((one) => one === name);
      if (!chosen) return;
      const state = page.state();
      const inputs = state.inputs.map((text, other) =>
        text !== null && isAlike(other) ? withDType(text, chosen) : text,
      );
      page.show({ ...state, inputs });
    },
    onShape: (shape) => {
      const edited = withShape(mine(), shape);
      if ("error" in edited) page.show(page.state(), [edited.error]);
      else put(edited.input);
    },
    onValue: (element, value) =>
      put(withValue(mine(), coordinatesOf(element, mine().shape), value)),
    onText: (text) => {
      const edited = withText(mine(), text);
      if ("error" in edited) return edited.error;
      put(edited.input);
      return null;
    },
    onPaste: (text, element) => {
      if (element !== null && !/[[({\n]/.test(text)) {
        put(withValue(mine(), coordinatesOf(element, mine().shape), text.trim()));
        return null;
      }
      const edited = withText(mine(), text);
      if ("error" in edited) return edited.error;
      put(edited.input);
      return null;
    },
    errorOf: (text) => {
      const edited = withText(mine(), text);
      return "error" in edited ? edited.error : null;
    },
    onLeaveOut: schema?.optional === true ? () => put(null) : null,
  };
}

/** The data types that a version takes, then those that only other versions of the operator take. */
function dtypeChoices(version: OperatorVersion, position: number): DTypeChoice[] {
  const schema = version.inputs[position];
  const taken = dtypesOf(version, schema);
  const choices = taken.map((name): DTypeChoice => ({ name, reason: null }));
  for (const other of operators()) {
    const same = other.inputs[position];
    if (other.name !== version.name || other.domain !== version.domain || same === undefined)
      continue;
    for (const name of dtypesOf(other, same)) {
      if (choices.some((one) => one.name === name)) continue;
      choices.push({ name, reason: `version ${other.sinceVersion} takes it` });
    }
  }
  return choices;
}

/** The state with the text of an attribute. A state does not hold attributes that equal the default. */
export function withAttribute(
  state: State,
  version: OperatorVersion | null,
  name: string,
  text: string,
): State {
  const { [name]: _, ...others } = state.attributes;
  const initial = version?.attributes.find((one) => one.name === name)?.default;
  const attributes = String(initial) === text ? others : { ...others, [name]: text };
  return { ...state, attributes };
}

/** The state with an optional input that was left out: zeros, one for each entry of the first axis of data. */
export function withGiven(state: State, version: OperatorVersion | null, position: number): State {
  const schema = version?.inputs[position];
  if (version === null || schema === undefined) return state;
  const shape = roleOf(schema) === "axis" ? [] : (state.inputs[0]?.shape.slice(0, 1) ?? []);
  const text = zerosText(dtypesOf(version, schema)[0], shape);
  return { ...state, inputs: state.inputs.with(position, text) };
}
