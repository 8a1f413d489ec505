/** The way in with one's own data: a place for files, and a field for a text. It needs nothing but the files of the page. */

import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Files } from "./use-files.ts";

interface WayInProps {
  readonly files: Pick<Files, "takeFiles" | "takeText">;
  /** Called when something was given, before it is read: a dialog closes then. */
  onGiven?(): void;
}

const HINT = `x = np.array([[1, 2], [3, 4]])
torch.scatter_add(x, 0, idx, src)
or an error message`;

/** A drop zone with a button for files, and a field for text. */
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

function PasteField({ files, onGiven }: WayInProps): JSX.Element {
  const [text, setText] = useState("");
  const id = useId();
  const read = (given: string): void => {
    if (given.trim() === "") return;
    onGiven?.();
    setText("");
    files.takeText(given);
  };
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
        id={id}
        rows={3}
        placeholder={HINT}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData("text/plain") ?? "";
          // Into an empty field a text is pasted to be read. One that was begun by hand goes on.
          if (text !== "" || pasted.trim() === "") return;
          event.preventDefault();
          read(pasted);
        }}
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
