/** The examples, to be looked through and searched. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { DialogButton } from "./dialog.tsx";
import { EXAMPLES } from "./examples.ts";

interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null where there is none. */
  readonly onOwn: (() => void) | null;
}

export const ExamplesButton = (props: ExamplesProps): JSX.Element => (
  <DialogButton
    button="Examples"
    label="Examples"
    class="wide"
    content={(close) => <Examples {...props} onClose={close} />}
  />
);

function Examples({
  chosen,
  onPreset,
  onOwn,
  onClose,
}: ExamplesProps & { onClose(): void }): JSX.Element {
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = EXAMPLES.filter(({ group, title, note }) => {
    const text = `${group} ${title} ${note}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const groups = [...new Set(found.map(({ group }) => group))];
  return (
    <>
      <input
        type="search"
        aria-label="search examples"
        placeholder="search: axis, batch, negative …"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <div class="examples">
        {onOwn !== null && (
          <section>
            <h3>Yours</h3>
            <button
              type="button"
              class="quiet"
              aria-current={chosen === null ? "true" : undefined}
              onClick={() => {
                onOwn();
                onClose();
              }}
            >
              Your own call
            </button>
          </section>
        )}
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <ul>
              {found
                .filter((one) => one.group === group)
                .map(({ id, title }) => (
                  <li key={id}>
                    <button
                      type="button"
                      class="quiet"
                      data-example={id}
                      aria-current={id === chosen ? "true" : undefined}
                      onClick={() => {
                        onPreset(id);
                        onClose();
                      }}
                    >
                      {title}
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        {found.length === 0 && <p>No example has these words.</p>}
      </div>
    </>
  );
}
