/** The page: its parts, and what they show of the session. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Bar } from "./bar.tsx";
import { useCorners } from "./corners.ts";
import { ExamplesButton } from "./examples-dialog.tsx";
import { EXAMPLES } from "./examples.ts";
import { HelpButton } from "./help.tsx";
import { OpenFile } from "./open-file.tsx";
import { controlsOf, Player } from "./player.tsx";
import { useLayout, useRoom } from "./room.ts";
import { useSession, type Session } from "./session.ts";
import { Shapes } from "./shapes.tsx";
import { sceneOf, type SceneOf } from "./scene-of.ts";
import { ShareButton } from "./share.tsx";
import { Stage } from "./stage.tsx";
import { Story } from "./story.tsx";
import { TextDialog, type Shown } from "./text-dialog.tsx";
import { isCalm, useTravel } from "./travel.ts";

export function App(): JSX.Element {
  const session = useSession();
  const middle = useRef<HTMLDivElement>(null);
  const room = useRoom(middle);
  const { state, version, picture, generation } = session;
  const layout = useLayout(state, version, picture, room, generation);
  const windows = useCorners(layout);
  const [text, setText] = useState<Shown | null>(null);
  const [isOpen, setOpen] = useState(false);
  useTravel(session);
  useKeys(session);
  useFirstVisit(session);
  return (
    <div class="page" data-edition={session.edition}>
      <Bar session={session}>
        <Actions
          session={session}
          sceneOf={(isMoving) => sceneOf(session, layout, windows, isMoving)}
        />
      </Bar>
      <main>
        <Title session={session} />
        <div class="middle" ref={middle}>
          <Stage
            session={session}
            layout={layout}
            windows={windows}
            onText={(id, pasted) => setText({ id, pasted })}
          />
        </div>
        <Player session={session} />
        <aside class={isOpen ? "open" : undefined}>
          <button
            type="button"
            class="opener"
            aria-expanded={isOpen}
            aria-label={isOpen ? "less of the story" : "more of the story"}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "▾" : "▴"}
          </button>
          {/* Always there, because screen readers announce what is added to it. */}
          <div class="said" role="status">
            {session.remarks.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
          <Story session={session} />
          <ShapeRules session={session} />
        </aside>
        <p class="hidden" role="status" id="aloud">
          {session.toHear}
        </p>
      </main>
      <TextDialog shown={text} session={session} onClose={() => setText(null)} />
    </div>
  );
}

interface ActionsProps {
  readonly session: Session;
  readonly sceneOf: SceneOf;
}

function Actions({ session, sceneOf: scene }: ActionsProps): JSX.Element {
  const { state, page, version, preset, showPreset, forget } = session;
  return (
    <>
      <ExamplesButton chosen={preset} onPreset={showPreset} />
      <OpenFile
        inputs={version?.inputs.map(({ name }) => name) ?? []}
        onTensor={(input, position, remarks) =>
          page.show({ ...state, inputs: state.inputs.with(position, input) }, remarks)
        }
        onState={(next, remarks) => {
          forget();
          page.show(next, remarks);
        }}
        onRefusal={(sentence) => page.show(state, [sentence])}
      />
      <ShareButton state={state} sceneOf={scene} />
      <HelpButton />
    </>
  );
}

/** What is shown: an example with its note, or one's own call. It has the same height always. */
function Title({ session: { preset } }: { readonly session: Session }): JSX.Element {
  const example = EXAMPLES.find(({ id }) => id === preset);
  return (
    <div class="title-line">
      <h2>{example?.title ?? "Your own call"}</h2>
      <p class="note-of-preset" title={example?.note}>
        {example?.note ?? "The address of this page holds it: share it as a link."}
      </p>
    </div>
  );
}

function ShapeRules({ session }: { readonly session: Session }): JSX.Element | null {
  const { explanation, version, edits } = session;
  return (
    <Shapes
      shapes={explanation?.shapes ?? []}
      onFit={(name, shape) => {
        const position = version?.inputs.findIndex((one) => one.name === name) ?? -1;
        edits[position]?.onShape(shape);
      }}
    />
  );
}

/** Keys of the page: they do nothing while a control has the focus that takes them itself. */
function useKeys(session: Session): void {
  const latest = useRef(session);
  latest.current = session;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
      const { target } = event;
      const isField = target instanceof Element && target.matches("input, textarea, select");
      const isCell = target instanceof Element && target.closest("td") !== null;
      const controls = controlsOf(latest.current);
      const isFree = !isField && !event.ctrlKey && !event.metaKey;
      if (isFree && event.key === " " && !(target instanceof HTMLButtonElement)) controls.toggle();
      else if (isFree && !isCell && event.key === "ArrowRight") controls.forward();
      else if (isFree && !isCell && event.key === "ArrowLeft") controls.back();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

const SEEN = "ndscatter-seen";

/** The picture plays once by itself, for those who are here for the first time. */
function useFirstVisit(session: Session): void {
  const latest = useRef(session);
  latest.current = session;
  useEffect(() => {
    if (location.hash !== "" || isCalm() || isSeen()) return;
    const timer = setTimeout(() => {
      if (latest.current.step === null && latest.current.edition === 0)
        controlsOf(latest.current).toggle();
    }, 900);
    return () => clearTimeout(timer);
  }, []);
}

/** Whether the page was here before; it remembers that it was. Storage may be forbidden, then nothing plays. */
function isSeen(): boolean {
  try {
    const isKnown = localStorage.getItem(SEEN) !== null;
    localStorage.setItem(SEEN, "yes");
    return isKnown;
  } catch {
    return true;
  }
}
