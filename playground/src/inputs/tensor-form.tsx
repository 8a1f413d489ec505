/** Edits a whole input: data type, shape, and elements as text. */

import type { JSX } from "preact";
import type { Edits } from "../document/edits.ts";
import type { TensorText } from "../values/state.ts";
import { DTypeMenu } from "./dtype-menu.tsx";
import { ShapeEditor } from "./shape-editor.tsx";
import { bracketed, TextEditor } from "./text-editor.tsx";

export interface TensorFormProps {
  readonly name: string;
  readonly input: TensorText;
  readonly edits: Edits;
  onClose(): void;
}

export const TensorForm = ({ name, input, edits, onClose }: TensorFormProps): JSX.Element => (
  <>
    <div class="row">
      <DTypeMenu name={name} dtype={input.dtype} edits={edits} />
      <ShapeEditor name={name} shape={input.shape} onShape={edits.onShape} onGrow={edits.onGrow} />
      {edits.onLeaveOut !== null && (
        <button
          type="button"
          onClick={() => {
            edits.onLeaveOut?.();
            onClose();
          }}
        >
          leave out
        </button>
      )}
    </div>
    <TextEditor
      // A new shape changes the key, which creates a new field, because the field's text depends on the shape.
      key={`${input.dtype} ${input.shape.join()}`}
      name={name}
      text={bracketed(input.values, input.shape)}
      onText={edits.onText}
      onClose={onClose}
    />
  </>
);
