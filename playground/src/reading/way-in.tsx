/** Lets users enter their own data: a drop zone for files with a text field, and a one-line version in the bar. */

import type { JSX, TargetedClipboardEvent, TargetedInputEvent } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Files } from "./use-files.ts";

interface WayInProps {
  readonly files: Pick<Files, "takeFiles" | "takeText">;
  /** Called when a file or text is given, before it is read, so that a dialog can close. */
  onGiven?(): void;
}

const HINT = `x = np.array([[1, 2], [3, 4]])
torch.scatter_add(x, 0, idx, src)
or an error message`;

/** Shows a drop zone, a button for choosing files, and a text field. */
export const WayIn = (props: WayInProps): JSX.Element => (
  <section class="way-in" aria-label="your own data">
    <DropZone {...props} />
    <PasteField {...props} />
  </section>
);

function DropZone({ files, onGiven }: WayInProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  return (
    <div class="drop-zone">
      <p>
        <b>Drop files here</b> or anywhere on the page
      </p>
      <button type="button" onClick={() => field.current?.click()}>
        Choose files
      </button>
      <input
        ref={field}
        type="file"
        hidden
        multiple
        aria-label="file"
        accept=".npy,.pb,.onnx,.xml,.bin"
        onChange={(event) => {
          const chosen = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          if (chosen.length === 0) return;
          onGiven?.();
          files.takeFiles(chosen);
        }}
      />
    </div>
  );
}

function useText({ files, onGiven }: WayInProps) {
  const [text, setText] = useState("");
  const read = (given: string): void => {
    if (given.trim() === "") return;
    onGiven?.();
    setText("");
    files.takeText(given);
  };
  const field = {
    spellcheck: false,
    autocomplete: "off",
    value: text,
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLTextAreaElement>) =>
      setText(currentTarget.value),
    onPaste: (event: TargetedClipboardEvent<HTMLTextAreaElement>): void => {
      const pasted = event.clipboardData?.getData("text/plain") ?? "";
      // Text pasted into an empty field is read immediately. Text pasted into a filled field is only inserted.
      if (text !== "" || pasted.trim() === "") return;
      event.preventDefault();
      read(pasted);
    },
  } as const;
  return { text, field, read };
}

function PasteField(props: WayInProps): JSX.Element {
  const { text, field, read } = useText(props);
  const id = useId();
  return (
    <form
      class="paste-field"
      onSubmit={(event) => {
        event.preventDefault();
        read(text);
      }}
    >
      <label for={id}>
        <b>Paste code</b>, an array, or an error message
      </label>
      <textarea
        {...field}
        id={id}
        rows={3}
        placeholder={HINT}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          read(text);
        }}
      />
      <button type="submit" aria-disabled={text.trim() === ""}>
        Read
      </button>
    </form>
  );
}

/** Shows the one-line version, which accepts dropped files and pasted text. */
export function WayInLine(props: WayInProps): JSX.Element {
  const { text, field, read } = useText(props);
  return (
    <textarea
      {...field}
      class="way-in-line"
      rows={1}
      aria-label="paste code, an array or an error message of your own"
      placeholder="Drop files, or paste code or an error"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        read(text);
      }}
    />
  );
}
