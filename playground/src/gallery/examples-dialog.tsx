/** The searchable example list: cards with a picture and a question, followed by examples without cards. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Preset } from "../examples/preset.ts";
import { CONFUSIONS_GROUP, EXAMPLES } from "../examples/presets.ts";
import { START_GROUP } from "../examples/start.ts";
import { searchIn } from "../widgets/query.ts";
import { useTheme } from "../widgets/theme.tsx";
import { Thumb } from "./thumb.tsx";

export interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null if the user has not edited a call. */
  readonly onOwn: (() => void) | null;
  onClose(): void;
}

const isCard = ({ group }: Preset): boolean => group === START_GROUP || group === CONFUSIONS_GROUP;

/** Returns the operator version and its non-default attributes, such as `GatherND-13`. */
const kindOf = ({ state: { op, opset, attributes } }: Preset): string =>
  [`${op}-${opset}`, ...Object.entries(attributes).map(([name, text]) => `${name} ${text}`)].join(
    " ",
  );

const search = searchIn(
  EXAMPLES,
  (one) => ({
    question: one.question,
    title: one.title,
    text: `${one.group} ${one.note} ${kindOf(one)}`,
  }),
  { question: 4, title: 3, text: 1 },
);

/**
 * Returns the examples that match all words of a query, best first. If no example matches all words, examples that
 * match some words are returned.
 */
export function foundExamples(query: string): readonly Preset[] {
  if (query.trim() === "") return EXAMPLES;
  const found = search(query, "AND");
  return (found.length > 0 ? found : search(query, "OR")).map(({ item }) => item);
}

/** Focuses the search field, except on phones, where the on-screen keyboard would cover the cards. */
const focused = (field: HTMLInputElement | null): void => {
  if (field !== null && matchMedia("(hover: hover)").matches) field.focus();
};

export function Examples({ chosen, onPreset, onOwn, onClose }: ExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const theme = useTheme();
  const found = foundExamples(words);
  const cards = found.filter(isCard);
  const rest = found.filter((one) => !isCard(one));
  const choose = (id: string): void => {
    // Only presets have an id; the user's own call does not.
    if (id === "") onOwn?.();
    else onPreset(id);
    onClose();
  };
  const common = (id: string) => ({
    type: "button" as const,
    "data-example": id,
    "aria-current": id === (chosen ?? "") ? ("true" as const) : undefined,
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
        {onOwn !== null && <button {...common("")}>Your own call</button>}
        <ul class="cards">
          {cards.map((one) => (
            <li key={one.id}>
              <button class="card" {...common(one.id)}>
                <Thumb state={one.state} theme={theme} />
                <b>{one.question}</b>
                <small class="kind">{kindOf(one)}</small>
              </button>
            </li>
          ))}
        </ul>
        {rest.length > 0 && <Rest examples={rest} isOpen={words !== ""} common={common} />}
        {/* The status element always stays in the page, because screen readers announce only changes of its text. */}
        <p class="no-example" role="status">
          {found.length === 0 && "No example contains these words. Try fewer or other words."}
        </p>
      </div>
    </>
  );
}

interface RestProps {
  readonly examples: readonly Preset[];
  readonly isOpen: boolean;
  common(id: string): JSX.IntrinsicElements["button"];
}

/** Lists the examples in the specifications, with their original titles. */
function Rest({ examples, isOpen, common }: RestProps): JSX.Element {
  const groups = [...new Set(examples.map(({ group }) => group))];
  return (
    <details open={isOpen}>
      <summary>
        {examples.length} {examples.length === 1 ? "example" : "examples"} of the documents of ONNX
        and OpenVINO
      </summary>
      <div class="rest">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <ul>
              {examples
                .filter((one) => one.group === group)
                .map(({ id, question, title }) => (
                  <li key={id}>
                    <button {...common(id)}>
                      {question}
                      <small>{title}</small>
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </details>
  );
}
