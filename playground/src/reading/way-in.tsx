/** Lets users enter their own data: a drop zone for files with a text field. */

import type { JSX } from "preact";
import { useId, useRef } from "preact/hooks";
import { useText, type WayInProps } from "./way-in-line.tsx";

const HINT = `x = np.array([[1, 2], [3, 4]])
x[[0, 1]] = [[5, 6], [7, 8]]
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
        accept=".npy,.npz,.pb,.onnx,.xml,.bin"
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

function PasteField(props: WayInProps): JSX.Element {
  const { text, field, read } = useText(props);
  const id = useId();
  return (
    <form
      class="paste-field stack"
      onSubmit={(event) => {
        event.preventDefault();
        read(text);
      }}
    >
      <label for={id}>
        <b>Paste a call</b>, an array, or an error message
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
