/** The story describes the selected cell, or else the whole call, or the call's faults and their fixes. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { FAULTS_ID } from "../values/spot.ts";
import { isEmbedded } from "../stage/use-room.ts";
import { visible } from "../values/visible.ts";
import type { Description, Session } from "../cells/session.ts";
import { greyIn } from "./grey.ts";
import { withCode } from "./with-code.tsx";

const MOST_FAULTS = 4;

export function Story({ session }: { readonly session: Session }): JSX.Element {
  const { isStale } = session;
  // A sentence is omitted if the list of errors contains it.
  const isSaid = ({ title }: Description): boolean =>
    isStale && session.call.faults.some(({ sentence }) => sentence === title);
  const { description: described } = session;
  const description = described === null || isSaid(described) ? null : described;
  return (
    <section class="story">
      {description !== null ? (
        <Cell description={description} />
      ) : isStale ? (
        <Wrong session={session} />
      ) : (
        <Summary session={session} />
      )}
      {description !== null && isStale && <Wrong session={session} />}
    </section>
  );
}

function Cell({ description }: { readonly description: Description }): JSX.Element {
  return (
    <>
      <p class="title">{visible(description.title)}</p>
      <ol>
        {description.lines.map(({ text, result }, number) => (
          <li key={number}>
            <span>
              {visible(text)}
              {result !== undefined && <code class="result">{visible(result)}</code>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function Wrong({ session: { call, fixes, act } }: { readonly session: Session }): JSX.Element {
  const sentences = [...new Set(call.faults.map(({ sentence }) => sentence))];
  return (
    <div class="faults" id={FAULTS_ID} role="alert">
      {sentences.slice(0, MOST_FAULTS).map((sentence) => (
        <p key={sentence}>{visible(sentence)}</p>
      ))}
      {sentences.length > MOST_FAULTS && <p>and {sentences.length - MOST_FAULTS} more</p>}
      {fixes.length > 0 && (
        <p class="fixes row">
          {fixes.map(({ label, state }) => (
            <button
              type="button"
              key={label}
              onClick={({ currentTarget }) => {
                // The button disappears together with the error, so the focus must move.
                currentTarget.closest("aside")?.focus();
                act({ do: "edit", state });
              }}
            >
              {label}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

function Summary({ session }: { readonly session: Session }): JSX.Element {
  const { summary, picture, route, example } = session;
  // The title has the first sentence, except above an example, whose title is a question, and in a frame without title.
  const isTitled = example === null && !isEmbedded();
  const [first, ...others] = isTitled
    ? [route, ...summary.slice(1)]
    : [summary[0], route, ...summary.slice(1)];
  const rest = others.filter((one) => one !== "").join(" ");
  const grey = useMemo(() => (picture === null ? null : greyIn(picture)), [picture]);
  return (
    <>
      {first !== undefined && first !== "" && <p class="title">{withCode(first)}</p>}
      {rest !== "" && <p>{withCode(rest)}</p>}
      <p class="hint of-mouse">
        {grey} Point at a cell to see where it comes from; type to change it.
      </p>
      <p class="hint of-finger">
        {grey} Tap a cell to see where its value comes from. Tap it twice to change it.
      </p>
    </>
  );
}
