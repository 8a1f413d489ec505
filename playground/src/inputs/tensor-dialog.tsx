/**
 * A dialog for editing a whole input: data type, shape, and elements as text. Opening the dialog does not move the
 * page's content.
 */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { TensorText } from "../values/state.ts";
import { Dialog } from "../widgets/dialog.tsx";
import { DTypeMenu } from "./dtype-menu.tsx";
import type { Edits } from "../document/edits.ts";
import type { Session } from "../cells/session.ts";
import { ShapeEditor } from "./shape-editor.tsx";
import { bracketed, TextEditor } from "./text-editor.tsx";

export function TensorDialog({ session }: { readonly session: Session }): JSX.Element {
  const { text: shown, state, version, edits, act, load } = session;
  // The text parser is loaded before the user can edit a text.
  useEffect(() => {
    if (shown !== null) void load().catch(() => null);
  }, [shown]);
  const input = shown === null ? null : state.inputs[shown];
  const name = shown === null ? "" : (version?.inputs[shown]?.name ?? `input ${shown}`);
  return (
    <Dialog
      label={name}
      isOpen={input != null}
      isKept
      onClose={() => act({ do: "text", input: null })}
      content={(close) =>
        shown !== null &&
        input != null && (
          <>
            <TypeAndShape name={name} input={input} edits={edits[shown]} onClose={close} />
            <TextEditor
              // A new shape changes the key, which creates a new field, because the field's text depends on the shape.
              key={`${input.dtype} ${input.shape.join()}`}
              name={name}
              text={bracketed(input.values, input.shape)}
              onText={edits[shown].onText}
              onClose={close}
            />
          </>
        )
      }
    />
  );
}

interface PartProps {
  readonly name: string;
  readonly input: TensorText;
  readonly edits: Edits;
  onClose(): void;
}

const NO_AXES: ReadonlySet<number> = new Set();

const TypeAndShape = ({ name, input, edits, onClose }: PartProps): JSX.Element => (
  <div class="kinds">
    <DTypeMenu name={name} dtype={input.dtype} edits={edits} />
    <ShapeEditor
      name={name}
      shape={input.shape}
      wrong={NO_AXES}
      describedBy={undefined}
      onShape={edits.onShape}
      onGrow={edits.onGrow}
    />
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
);
