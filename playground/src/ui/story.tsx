/** The story of a cell: what happens to it, in order. */

import type { JSX } from "preact";
import type { Tuple } from "./links.ts";
import type { Tale } from "./tale.ts";

interface StoryProps {
  readonly tale: Tale | null;
  readonly tuples: readonly Tuple[];
  /** What is said while there is no tale. */
  readonly hint: string;
}

export function Story({ tale, tuples, hint }: StoryProps): JSX.Element {
  return (
    <section class="story" aria-label="story">
      <h2>Story</h2>
      {tale === null ? (
        <p class="hint">{hint}</p>
      ) : (
        <>
          <p class="title">{tale.title}</p>
          <ol>
            {tale.lines.map(({ tuple, text, result }, number) => (
              <li key={number}>
                {tuple !== null && tuples[tuple] !== undefined && (
                  <b class={`letter hue-${tuples[tuple].colour}`}>{tuples[tuple].label}</b>
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

/** The tale as one text, to be read aloud. */
export const aloud = (tale: Tale, tuples: readonly Tuple[]): string =>
  [
    tale.title,
    ...tale.lines.map(({ tuple, text, result }) => {
      const letter = tuple === null ? "" : `${tuples[tuple]?.label ?? ""}: `;
      return letter + text + (result === undefined ? "" : `: ${result}`);
    }),
  ].join(". ");
