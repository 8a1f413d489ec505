/** The examples, to be looked through and searched: cards with a picture and a question, and a list of the rest behind. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EXAMPLES, START_GROUP } from "./menu.ts";
import { CONFUSIONS_GROUP, type Preset } from "./presets.ts";
import { Thumb } from "./thumb.tsx";

export interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null where there is none. */
  readonly onOwn: (() => void) | null;
  onClose(): void;
}

const isCard = ({ group }: Preset): boolean => group === START_GROUP || group === CONFUSIONS_GROUP;

/** `GatherND-13`, and the attributes that are given. */
const kindOf = ({ state: { op, opset, attributes } }: Preset): string =>
  [`${op}-${opset}`, ...Object.entries(attributes).map(([name, text]) => `${name} ${text}`)].join(
    " ",
  );

/** The examples that have all words, those first whose question has them. */
export function foundExamples(words: string): readonly Preset[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (text: string): boolean =>
    wanted.every((word) => text.toLowerCase().includes(word));
  const found = EXAMPLES.filter((one) =>
    hasAll(`${one.question} ${one.group} ${one.title} ${one.note} ${kindOf(one)}`),
  );
  const asked = found.filter(({ question }) => hasAll(question));
  return [...asked, ...found.filter((one) => !asked.includes(one))];
}

/** The field has the focus at first, except where that would open the keyboard of a phone over the cards. */
const focused = (field: HTMLInputElement | null): void => {
  if (field !== null && matchMedia("(hover: hover)").matches) field.focus();
};

/** The content of the dialog. */
export function Examples({ chosen, onPreset, onOwn, onClose }: ExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const found = foundExamples(words);
  const cards = found.filter(isCard);
  const rest = found.filter((one) => !isCard(one));
  const groups = [...new Set(rest.map(({ group }) => group))];
  const choose = (id: string): void => {
    onPreset(id);
    onClose();
  };
  const common = (id: string) => ({
    "data-example": id,
    "aria-current": id === chosen ? ("true" as const) : undefined,
    onClick: () => choose(id),
  });
  return (
    <>
      <input
        type="search"
        ref={focused}
        aria-label="search examples"
        placeholder="Type a question or a word: twice, batch, negative …"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <div class="examples">
        {onOwn !== null && (
          <button
            type="button"
            data-example=""
            aria-current={chosen === null ? "true" : undefined}
            onClick={() => {
              onOwn();
              onClose();
            }}
          >
            Your own call
          </button>
        )}
        {cards.length > 0 && (
          <ul class="cards">
            {cards.map((one) => (
              <li key={one.id}>
                <button type="button" class="card" {...common(one.id)}>
                  <Thumb state={one.state} />
                  <b>{one.question}</b>
                  <small class="kind">{kindOf(one)}</small>
                </button>
              </li>
            ))}
          </ul>
        )}
        {rest.length > 0 && (
          <details open={words !== ""}>
            <summary>
              {rest.length} examples of the documents of ONNX and OpenVINO, by their names
            </summary>
            <div class="rest">
              {groups.map((group) => (
                <section key={group}>
                  <h3>{group}</h3>
                  <ul>
                    {rest
                      .filter((one) => one.group === group)
                      .map((one) => (
                        <li key={one.id}>
                          <button type="button" {...common(one.id)}>
                            {one.question}
                            <small>{one.title}</small>
                          </button>
                        </li>
                      ))}
                  </ul>
                </section>
              ))}
            </div>
          </details>
        )}
        {found.length === 0 && <p>No example has these words. Try fewer, or another word.</p>}
      </div>
    </>
  );
}
