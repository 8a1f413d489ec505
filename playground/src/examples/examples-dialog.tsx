/** The examples, to be looked through and searched. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EXAMPLES } from "./menu.ts";

interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null where there is none. */
  readonly onOwn: (() => void) | null;
  onClose(): void;
}

/** The content of the dialog. */
export function Examples({ chosen, onPreset, onOwn, onClose }: ExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = EXAMPLES.filter(({ group, title, note }) => {
    const text = `${group} ${title} ${note}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  // One's own call has no id.
  const choose = (id: string): void => {
    if (id === "") onOwn?.();
    else onPreset(id);
    onClose();
  };
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
        <div class="columns">
          {onOwn !== null && (
            <Group
              title="Yours"
              examples={[{ id: "", title: "Your own call" }]}
              chosen={chosen ?? ""}
              onChoice={choose}
            />
          )}
          {groups.map((group) => (
            <Group
              key={group}
              title={group}
              examples={found.filter((one) => one.group === group)}
              chosen={chosen}
              onChoice={choose}
            />
          ))}
          {found.length === 0 && <p>No example has these words.</p>}
        </div>
      </div>
    </>
  );
}

interface GroupProps {
  readonly title: string;
  readonly examples: readonly { readonly id: string; readonly title: string }[];
  readonly chosen: string | null;
  onChoice(id: string): void;
}

const Group = ({ title, examples, chosen, onChoice }: GroupProps): JSX.Element => (
  <section>
    <h3>{title}</h3>
    <ul>
      {examples.map(({ id, title: name }) => (
        <li key={id}>
          <button
            type="button"
            class="quiet"
            data-example={id}
            aria-current={id === chosen ? "true" : undefined}
            onClick={() => onChoice(id)}
          >
            {name}
          </button>
        </li>
      ))}
    </ul>
  </section>
);
