/** A field for a whole tensor as text, which accepts nested lists and NumPy's array notation. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sizeOf } from "../values/shape.ts";

interface TextEditorProps {
  readonly name: string;
  readonly text: string;
  /** Replaces the tensor with the text; returns an error if the text is not a tensor. */
  onText(text: string): string | null;
  onClose(): void;
}

export function TextEditor(props: TextEditorProps): JSX.Element {
  const { name, text, onText, onClose } = props;
  const [error, setError] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const apply = (): void => {
    const found = onText(field.current?.value ?? "");
    setError(found);
    if (found === null) onClose();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label>
        {name} as a nested list, or as NumPy prints it
        <textarea
          ref={field}
          rows={Math.min(8, text.split("\n").length + 1)}
          defaultValue={text}
          spellcheck={false}
          wrap="off"
          aria-invalid={error === null ? undefined : true}
          aria-describedby={error === null ? undefined : "text-error"}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
          }}
        />
      </label>
      {error !== null && (
        <p class="faults" id="text-error" role="alert">
          {error}
        </p>
      )}
      <div class="row">
        <button type="submit" class="main">
          apply
        </button>
        <button type="button" onClick={onClose}>
          cancel
        </button>
      </div>
    </form>
  );
}

export function bracketed(values: readonly string[], shape: readonly number[]): string {
  if (shape.length === 0) return values[0];
  const nest = (axis: number, begin: number): string => {
    const isInner = axis === shape.length - 1;
    const length = sizeOf(shape.slice(axis + 1));
    const parts = Array.from({ length: shape[axis] }, (_, number) =>
      isInner ? values[begin + number] : nest(axis + 1, begin + number * length),
    );
    return `[${parts.join(isInner ? ", " : `,\n${" ".repeat(axis + 1)}`)}]`;
  };
  return nest(0, 0);
}
