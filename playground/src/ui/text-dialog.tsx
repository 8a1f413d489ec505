/** A whole tensor as text, in a dialog, so that nothing moves on the page. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "./session.ts";
import { bracketed, TextEditor } from "./text-editor.tsx";

interface TextDialogProps {
  /** The position of the input; null while no text is shown. */
  readonly shown: number | null;
  readonly session: Session;
  onClose(): void;
}

export function TextDialog({ shown, session, onClose }: TextDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown === null) {
      dialog.current?.close();
      return;
    }
    // What reads texts is there before anybody has changed one.
    void session.page.load().catch(() => null);
    dialog.current?.showModal();
  }, [shown]);
  const { state, version, edits } = session;
  const input = shown === null ? null : state.inputs[shown];
  const name = shown === null ? "" : (version?.inputs[shown]?.name ?? `input ${shown}`);
  return (
    <dialog ref={dialog} aria-label={`${name} as text`} onClose={onClose}>
      {shown !== null && input != null && (
        <TextEditor
          name={name}
          text={bracketed(input.values, input.shape)}
          onText={edits[shown].onText}
          onClose={() => dialog.current?.close()}
        />
      )}
    </dialog>
  );
}
