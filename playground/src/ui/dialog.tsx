/** A button that opens a dialog. The content is there only while it is open. */

import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";

interface DialogProps {
  /** The text of the button. */
  readonly button: ComponentChildren;
  /** The name of the dialog, and of the button where its text is no word. */
  readonly label: string;
  readonly title?: string;
  readonly class?: string;
  content(close: () => void): ComponentChildren;
}

export function DialogButton({
  button,
  label,
  title,
  class: name,
  content,
}: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        aria-label={label}
        aria-haspopup="dialog"
        title={title}
        onClick={() => {
          setOpen(true);
          dialog.current?.showModal();
        }}
      >
        {button}
      </button>
      <dialog
        ref={dialog}
        class={name}
        aria-label={label}
        onClose={() => setOpen(false)}
        // A click beside the dialog closes it.
        onClick={(event) => {
          event.stopPropagation();
          if (event.target === dialog.current) close();
        }}
      >
        {isOpen && (
          <div class="dialog">
            <div class="head">
              <h2>{label}</h2>
              <button type="button" class="quiet" aria-label="close" onClick={close}>
                ×
              </button>
            </div>
            {content(close)}
          </div>
        )}
      </dialog>
    </>
  );
}
