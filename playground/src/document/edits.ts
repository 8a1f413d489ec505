/** Edits of the state by the page's controls: of an input, of an attribute, and adding an input. */

import { operators, type OperatorVersion } from "ndscatter";
import { withDType, withValue, type Edited } from "./edit.ts";
import { dtypesOf } from "../values/schema.ts";
import { coordinatesOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import type { Page } from "./use-page.ts";
import type { DTypeChoice, Edits } from "../stage/lane-props.ts";

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
    onShape: (shape) => page.reshape(position, shape),
    onGrow: () => page.grow(position),
    onValue: (element, value) =>
      put(withValue(mine(), coordinatesOf(element, mine().shape), value)),
    onText: (text) => {
      const edited = page.texts?.withText(mine(), text) ?? NOT_LOADED;
      if ("error" in edited) return edited.error;
      page.replace(position, edited.input);
      return null;
    },
    onPaste: async (element, text) => {
      const reader = await page.load().catch(() => null);
      const edited = reader?.withPaste(mine(), element, text) ?? NOT_LOADED;
      if ("error" in edited) page.show(page.state(), [edited.error]);
      else if (isBlock(edited.input, mine())) put(edited.input);
      else page.replace(position, edited.input);
    },
    onLeaveOut: schema?.optional === true ? () => put(null) : null,
  };
}

const NOT_LOADED: Edited = {
  error: "The part of the page that reads texts is not loaded yet: try again, or reload the page.",
};

/** True if a paste changed only cells, not the data type or the shape. */
const isBlock = (after: TensorText, before: TensorText): boolean =>
  after.dtype === before.dtype && String(after.shape) === String(before.shape);

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
