/** The text field in the bar, which accepts dropped files and pasted text. */

import type { JSX, TargetedClipboardEvent, TargetedInputEvent } from "preact";
import { useState } from "preact/hooks";
import type { Files } from "./use-files.ts";

export interface WayInProps {
  readonly files: Pick<Files, "takeFiles" | "takeText">;
  /** Called when a file or text is given, before it is read, so that a dialog can close. */
  onGiven?(): void;
}

/** The state of a text field, whose text is read when it is pasted or submitted. */
export function useText({ files, onGiven }: WayInProps) {
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

/** Shows the one-line version, which accepts dropped files and pasted text. */
export function WayInLine(props: WayInProps): JSX.Element {
  const { text, field, read } = useText(props);
  return (
    <textarea
      {...field}
      class="way-in-line"
      rows={1}
      aria-label="paste a call, an array or an error message of your own"
      placeholder="Drop files, or paste a call or an error"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        read(text);
      }}
    />
  );
}
