/** The edits that the page's controls make to an input. */

import { operators, type OperatorVersion } from "ndscatter";
import { dtypesOf } from "../values/schema.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import type { Edited } from "./edit.ts";
import type { Action } from "./state.ts";

export interface DTypeChoice {
  readonly name: string;
  /** The reason why the type cannot be chosen, or null. */
  readonly reason: string | null;
}

export interface Edits {
  readonly dtypes: readonly DTypeChoice[];
  onDType(dtype: string): void;
  onShape(shape: readonly number[]): void;
  onGrow(): void;
  onValue(element: number, text: string): void;
  /** Replaces the tensor with the given text; returns an error if the text is not a tensor. */
  onText(text: string): string | null;
  /** Pastes into the cells from `element` on, or into the whole tensor if `element` is null. */
  onPaste(element: number | null, text: string): Promise<void>;
  /** Omits an optional input; null for a required input. */
  readonly onLeaveOut: (() => void) | null;
}

/** The parser for pasted text. */
export interface TextReader {
  withText(before: TensorText, text: string): Edited;
  withPaste(before: TensorText, element: number | null, text: string): Edited;
}

export interface Editor {
  act(action: Action): void;
  /** Returns the newest state, which may not be drawn yet. */
  latest(): State;
  /** The parser; null until it is loaded. */
  readonly reader: TextReader | null;
  load(): Promise<TextReader>;
}

export function editsOf(version: OperatorVersion | null, input: number, editor: Editor): Edits {
  const { act, latest } = editor;
  const mine = (): TensorText => latest().inputs[input] ?? zerosText("float32", []);
  return {
    dtypes: version === null ? [] : dtypeChoices(version, input),
    onDType: (dtype) => act({ do: "dtype", input, dtype }),
    onShape: (shape) => act({ do: "shape", input, shape }),
    onGrow: () => act({ do: "grow", input }),
    onValue: (element, text) => act({ do: "value", input, element, text }),
    onText: (text) => {
      const edited = editor.reader?.withText(mine(), text) ?? NOT_LOADED;
      if ("error" in edited) return edited.error;
      act({ do: "replace", input, text: edited.input });
      return null;
    },
    onPaste: async (element, text) => {
      const reader = await editor.load().catch(() => null);
      const edited = reader?.withPaste(mine(), element, text) ?? NOT_LOADED;
      if ("error" in edited) act({ do: "say", remarks: [edited.error] });
      else {
        const isBlock = areAlike(edited.input, mine());
        act({ do: isBlock ? "put" : "replace", input, text: edited.input });
      }
    },
    onLeaveOut:
      version?.inputs[input]?.optional === true
        ? () => act({ do: "put", input, text: null })
        : null,
  };
}

const NOT_LOADED: Edited = {
  error: "The text reader is not loaded yet. Try again, or reload the page.",
};

/** Checks whether a paste changed only values, not the data type or shape. */
const areAlike = (after: TensorText, before: TensorText): boolean =>
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
