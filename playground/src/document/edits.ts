/** Applies the edits that the page's controls make to inputs and attributes. */

import { operators, type OperatorVersion } from "ndscatter";
import { withDType, withValue, type Edited } from "./edit.ts";
import { dtypesOf } from "../values/schema.ts";
import { coordinatesOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import type { Page } from "./use-page.ts";
import type { DTypeChoice, Edits } from "../stage/lane-props.ts";

export function editsOf(version: OperatorVersion | null, position: number, page: Page): Edits {
  const schema = version?.inputs[position];
  const put = (text: TensorText | null): void => {
    const state = page.state();
    page.show({ ...state, inputs: state.inputs.with(position, text) });
  };
  const mine = (): TensorText => page.state().inputs[position] ?? zerosText("float32", []);
  // Inputs with the same type constraint must have the same data type.
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
  error: "The text reader is not loaded yet. Try again, or reload the page.",
};

/** Checks whether a paste changed only values, not the data type or shape. */
const isBlock = (after: TensorText, before: TensorText): boolean =>
  after.dtype === before.dtype && String(after.shape) === String(before.shape);

/** Returns the data types that a version accepts, followed by types that only other versions accept. */
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
      choices.push({ name, reason: `version ${other.sinceVersion} accepts it` });
    }
  }
  return choices;
}

/** Returns the state with a new attribute text. An attribute that equals its default is not stored. */
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
