/** Shows a link that cannot be parsed, its error, and a field for correcting the link. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BrokenLink } from "./state.ts";

export interface RepairProps {
  readonly link: BrokenLink;
  onOpen(text: string): void;
  onDrop(): void;
}

export function Repair({ link, onOpen, onDrop }: RepairProps): JSX.Element {
  const [text, setText] = useState(link.text);
  const field = useRef<HTMLTextAreaElement>(null);
  // The quoted part is selected to show the user where the error is.
  useLayoutEffect(() => {
    setText(link.text);
    const { current } = field;
    if (current === null) return;
    const [begin, end] = wrongPart(link);
    current.value = link.text;
    current.focus();
    current.setSelectionRange(begin, end);
  }, [link]);
  return (
    <form
      class="repair stack"
      onSubmit={(event) => {
        event.preventDefault();
        onOpen(text);
      }}
    >
      <p class="faults" role="alert">
        {link.error}
      </p>
      <textarea
        ref={field}
        aria-label="the link"
        spellcheck={false}
        rows={2}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Line breaks are removed, because links contain none.
          if (event.key !== "Enter") return;
          event.preventDefault();
          onOpen(text);
        }}
      />
      <p class="row">
        <button>Open the corrected link</button>
        <button type="button" class="link" onClick={onDrop}>
          Leave it
        </button>
      </p>
    </form>
  );
}

/** Returns the range of text that the error message quotes, or the end of the link if nothing is quoted. */
function wrongPart({ text, error }: BrokenLink): readonly [begin: number, end: number] {
  const [quoted = ""] = /"(?:[^"\\]|\\.)*"/.exec(error) ?? [];
  try {
    const part = String(JSON.parse(quoted)).replace(/…$/, "");
    const begin = part === "" ? -1 : text.indexOf(part);
    if (begin !== -1) return [begin, begin + part.length];
  } catch {
    // If the message quotes nothing, the end of the link is selected.
  }
  return [text.length, text.length];
}
