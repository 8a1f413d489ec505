/**
 * A field for a number. Typed text takes effect on Enter or when the field loses the focus, because "-1" must not first
 * be read as "-". Arrow keys step, and Escape discards the typed text.
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface NumberFieldProps {
  readonly attributes: JSX.IntrinsicElements["input"];
  readonly text: string;
  onText(text: string): void;
  /** Returns the text of the number one step up or down; null if the current text is not a valid number. */
  stepped(by: 1 | -1): string | null;
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowUp: 1, ArrowDown: -1 };

export function NumberField({ attributes, text, onText, stepped }: NumberFieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState<string | null>(null);
  // The text is selected before editing starts, so that typing replaces it.
  useLayoutEffect(() => {
    if (draft === null && field.current === document.activeElement) field.current?.select();
  }, [draft, text]);
  const commit = (): void => {
    setDraft(null);
    if (draft !== null && draft !== text) onText(draft);
  };
  return (
    <input
      {...attributes}
      ref={field}
      inputMode="numeric"
      autocomplete="off"
      value={draft ?? text}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onFocus={(event) => event.currentTarget.select()}
      // The browser's default would place the caret at the pointer.
      onMouseDown={(event) => {
        if (event.button !== 0 || event.currentTarget === document.activeElement) return;
        event.preventDefault();
        event.currentTarget.focus();
      }}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") setDraft(null);
        const by = STEPS[event.key];
        const next = by === undefined ? null : stepped(by);
        if (next === null) return;
        event.preventDefault();
        setDraft(null);
        onText(next);
      }}
    />
  );
}
