/** A whole tensor as text, in a dialog, so that nothing moves on the page. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "./session.ts";
import { bracketed, TextEditor } from "./text-editor.tsx";

export interface Shown {
  /** The position of the input. */
  readonly id: number;
  /** A text that is no tensor; null for the tensor as it is. */
  readonly pasted: string | null;
}

interface TextDialogProps {
  readonly shown: Shown | null;
  readonly session: Session;
  onClose(): void;
}

export function TextDialog({ shown, session, onClose }: TextDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown === null) dialog.current?.close();
    else dialog.current?.showModal();
  }, [shown]);
  const { state, version, edits } = session;
  const input = shown === null ? null : state.inputs[shown.id];
  const name = shown === null ? "" : (version?.inputs[shown.id]?.name ?? `input ${shown.id}`);
  return (
    <dialog ref={dialog} aria-label={`${name} as text`} onClose={onClose}>
      {shown !== null && input != null && (
        <TextEditor
          name={name}
          text={shown.pasted ?? bracketed(input.values, input.shape)}
          error={shown.pasted === null ? null : edits[shown.id].errorOf(shown.pasted)}
          onText={edits[shown.id].onText}
          onClose={() => dialog.current?.close()}
        />
      )}
    </dialog>
  );
}
