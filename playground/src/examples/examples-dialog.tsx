/** The searchable examples: cards with a picture and a question, then a list of the others. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EXAMPLES, START_GROUP } from "./menu.ts";
import { CONFUSIONS_GROUP, type Preset } from "./presets.ts";
import { leastWords, looseWords, wordsOf } from "../widgets/query.ts";
import { Thumb } from "./thumb.tsx";

export interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null if the user has made none. */
  readonly onOwn: (() => void) | null;
  onClose(): void;
}

const isCard = ({ group }: Preset): boolean => group === START_GROUP || group === CONFUSIONS_GROUP;

/** `GatherND-13`, and the attributes that are given. */
const kindOf = ({ state: { op, opset, attributes } }: Preset): string =>
  [`${op}-${opset}`, ...Object.entries(attributes).map(([name, text]) => `${name} ${text}`)].join(
    " ",
  );

/** How many of the words a text has; each word is given by the forms that count for it. */
const countIn = (text: string, words: readonly (readonly string[])[]): number =>
  words.filter((forms) => forms.some((form) => text.toLowerCase().includes(form))).length;

const textOf = (one: Preset): string =>
  `${one.question} ${one.group} ${one.title} ${one.note} ${kindOf(one)}`;

/**
 * The examples that contain all words; those with the words in their question come first. Examples that have the words
 * with other endings, or words that mean the same, come after them. If no example contains all words, half of those that
 * a question is about suffice.
 */
export function foundExamples(query: string): readonly Preset[] {
  const words = wordsOf(query).map((word) => [word]);
  const exact = withWords(EXAMPLES, words, words.length);
  const asked = looseWords(query);
  const least = exact.length > 0 ? asked.length : leastWords(asked.length);
  const others = EXAMPLES.filter((one) => !exact.includes(one));
  return [...exact, ...withWords(others, asked, least)];
}

/** The examples that have so many of the words: most words first, then most as they were asked, then in the question. */
function withWords(
  examples: readonly Preset[],
  words: readonly (readonly string[])[],
  least: number,
): readonly Preset[] {
  return examples
    .map((one) => ({
      one,
      count: countIn(textOf(one), words),
      asAsked: countIn(
        textOf(one),
        words.map(([asked]) => [asked]),
      ),
      inQuestion: countIn(one.question, words),
    }))
    .filter(({ count }) => count >= least)
    .toSorted((a, b) => b.count - a.count || b.asAsked - a.asAsked || b.inQuestion - a.inQuestion)
    .map(({ one }) => one);
}

/** The field gets the focus, except on a phone, where its keyboard would cover the cards. */
const focused = (field: HTMLInputElement | null): void => {
  if (field !== null && matchMedia("(hover: hover)").matches) field.focus();
};

/** The content of the dialog. */
export function Examples({ chosen, onPreset, onOwn, onClose }: ExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const found = foundExamples(words);
  const cards = found.filter(isCard);
  const rest = found.filter((one) => !isCard(one));
  const choose = (id: string): void => {
    // The user's own call has no id.
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
                <Thumb state={one.state} />
                <b>{one.question}</b>
                <small class="kind">{kindOf(one)}</small>
              </button>
            </li>
          ))}
        </ul>
        {rest.length > 0 && <Rest examples={rest} isOpen={words !== ""} common={common} />}
        {/* The status stays in the page, because screen readers announce only changes of its text. */}
        <p class="no-example" role="status">
          {found.length === 0 && "No example has these words. Try fewer, or another word."}
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

/** The examples of documents, named as the documents name them. */
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
