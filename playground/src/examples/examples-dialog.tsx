/** The searchable examples: cards with a picture and a question, then a list of the other examples. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EXAMPLES, START_GROUP } from "./menu.ts";
import { CONFUSIONS_GROUP, type Preset } from "./presets.ts";
import { leastWords, looseWords, wordsOf } from "../widgets/query.ts";
import { Thumb } from "./thumb.tsx";

export interface ExamplesProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
  /** Shows the user's own call again; null if the user has not edited a call. */
  readonly onOwn: (() => void) | null;
  onClose(): void;
}

const isCard = ({ group }: Preset): boolean => group === START_GROUP || group === CONFUSIONS_GROUP;

/** Returns the operator version, and its non-default attributes: `GatherND-13`. */
const kindOf = ({ state: { op, opset, attributes } }: Preset): string =>
  [`${op}-${opset}`, ...Object.entries(attributes).map(([name, text]) => `${name} ${text}`)].join(
    " ",
  );

/** Counts the words that occur in a text; each word is given with its alternatives. */
const countIn = (text: string, words: readonly (readonly string[])[]): number =>
  words.filter((forms) => forms.some((form) => text.toLowerCase().includes(form))).length;

const textOf = (one: Preset): string =>
  `${one.question} ${one.group} ${one.title} ${one.note} ${kindOf(one)}`;

/**
 * Returns the examples that contain all words, first the examples with the words in their question. Examples with other
 * forms of the words, or with synonyms, come after them. If no example contains all words, half of a question's topic
 * words suffice.
 */
export function foundExamples(query: string): readonly Preset[] {
  const words = wordsOf(query).map((word) => [word]);
  const exact = withWords(EXAMPLES, words, words.length);
  const asked = looseWords(query);
  const least = exact.length > 0 ? asked.length : leastWords(asked.length);
  const others = EXAMPLES.filter((one) => !exact.includes(one));
  return [...exact, ...withWords(others, asked, least)];
}

/**
 * Returns the examples that contain at least the given number of words. Examples with the most words come first, then
 * with the most literal matches, then with matches in the question.
 */
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

/** Focuses the field, except on a phone, where the on-screen keyboard would cover the cards. */
const focused = (field: HTMLInputElement | null): void => {
  if (field !== null && matchMedia("(hover: hover)").matches) field.focus();
};

/** The content of the Examples dialog. */
export function Examples({ chosen, onPreset, onOwn, onClose }: ExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const found = foundExamples(words);
  const cards = found.filter(isCard);
  const rest = found.filter((one) => !isCard(one));
  const choose = (id: string): void => {
    // Only examples have an id, not the user's own call.
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

/** Lists the examples from the specifications, under their names in the specifications. */
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
