/**
 * A modal dialog. The content of a dialog exists only while the dialog is open. `App` draws all dialogs at the end of
 * the page, because a modal dialog inside a hidden part would be invisible and make the whole page inert.
 */

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  /** The name of the dialog, shown as its heading. */
  readonly label: string;
  readonly isOpen: boolean;
  readonly isWide?: boolean;
  /** True if a click outside the dialog leaves it open, so that typed text is not lost. */
  readonly isKept?: boolean;
  onClose(): void;
  content(close: () => void): ComponentChildren;
}

export function Dialog(props: DialogProps): JSX.Element {
  const { label, isOpen, isWide = false, isKept = false, onClose, content } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const isBeside = useRef(false);
  const close = (): void => dialog.current?.close();
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : undefined}
      aria-label={label}
      onClose={() => {
        onClose();
        // The browser returns the focus to the previous element, unless that element was removed.
        if (document.activeElement === document.body) document.querySelector("main")?.focus();
      }}
      // The content covers the dialog, so the dialog itself receives only clicks outside the content. A click outside
      // may also end a text selection that began inside the dialog.
      onPointerDown={(event) => {
        isBeside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && isBeside.current && !isKept) close();
      }}
    >
      {isOpen && (
        <div class="dialog stack">
          <div class="head">
            <h2>{label}</h2>
            <button type="button" class="quiet close" aria-label="close" onClick={close}>
              ×
            </button>
          </div>
          {content(close)}
        </div>
      )}
    </dialog>
  );
}
