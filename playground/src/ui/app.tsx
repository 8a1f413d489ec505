/** The page: its parts, and what they show of the session. */

import type { JSX } from "preact";
import { withAttribute } from "./edits.ts";
import { EXAMPLES } from "./examples.ts";
import { Header } from "./header.tsx";
import { OperatorBar } from "./operator-bar.tsx";
import { Player } from "./player.tsx";
import { useSession, type Session } from "./session.ts";
import { Shapes } from "./shapes.tsx";
import { Stage } from "./stage.tsx";
import { Story } from "./story.tsx";

const HINT =
  "Point at a cell, or move to it with Tab and the arrow keys, and its story appears here. " +
  "Type, or click twice, to change the cell.";
const HINT_AFTER_ERROR = "The story appears again when the error is corrected.";

export function App(): JSX.Element {
  const session = useSession();
  const { state, preset, version, faults, page, edits, picture, isStale, tuples } = session;
  const note = EXAMPLES.find(({ id }) => id === preset)?.note ?? "";
  const onFit = (name: string, shape: readonly number[]): void => {
    const position = version?.inputs.findIndex((one) => one.name === name) ?? -1;
    edits[position]?.onShape(shape);
  };
  return (
    <div class="page">
      <Header session={session} />
      <main>
        {note !== "" && <p class="note-of-preset">{note}</p>}
        <OperatorBar
          state={state}
          version={version}
          faults={faults.attributes}
          onChoice={page.choose}
          onAttribute={(name, text) => page.show(withAttribute(state, version, name, text))}
        />
        <Messages session={session} />
        <Shapes shapes={session.explanation?.shapes ?? []} onFit={onFit} />
        <Player
          noun={picture?.links.kind === "gather" ? "reads" : "updates"}
          count={session.count}
          step={session.at}
          isDisabled={isStale}
          edition={session.edition}
          onStep={session.onStep}
          onPlaying={session.setPlaying}
        />
        <div class="columns">
          <Stage session={session} />
          <aside>
            <Story
              description={session.description}
              tuples={tuples}
              hint={isStale ? HINT_AFTER_ERROR : HINT}
            />
          </aside>
        </div>
        <p class="hidden" role="status" id="aloud">
          {session.toHear}
        </p>
      </main>
    </div>
  );
}

/** Remarks on the last change, and what is wrong with the call as a whole. */
function Messages({ session: { remarks, faults } }: { readonly session: Session }): JSX.Element {
  return (
    <>
      {/* Always there, because screen readers announce what is added to it. */}
      <div class="said" role="status">
        {remarks.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {faults.whole.length > 0 && (
        <div class="faults" role="alert">
          {faults.whole.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
      )}
    </>
  );
}
