/** The story of a cell, which is the description of what happens to it, in order. */

import type { JSX } from "preact";
import type { Tuple } from "../model/links.ts";
import type { Description } from "./vocabulary.ts";

interface StoryProps {
  readonly description: Description | null;
  readonly tuples: readonly Tuple[];
  /** The text while there is no description. */
  readonly hint: string;
}

export function Story({ description, tuples, hint }: StoryProps): JSX.Element {
  return (
    <section class="story" aria-label="story">
      <h2>Story</h2>
      {description === null ? (
        <p class="hint">{hint}</p>
      ) : (
        <>
          <p class="title">{description.title}</p>
          <ol>
            {description.lines.map(({ tuple, text, result }, number) => (
              <li key={number}>
                {tuple !== null && tuples[tuple] !== undefined && (
                  <b class={`letter hue-${tuples[tuple].colour}`}>{tuples[tuple].letter}</b>
                )}
                <span>
                  {text}
                  {result !== undefined && <code class="result">{result}</code>}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

/** A description as one text, for screen readers. */
export const aloud = (description: Description, tuples: readonly Tuple[]): string =>
  [
    description.title,
    ...description.lines.map(({ tuple, text, result }) => {
      const letter = tuple === null ? "" : `${tuples[tuple]?.letter ?? ""}: `;
      return letter + text + (result === undefined ? "" : `: ${result}`);
    }),
  ].join(". ");
