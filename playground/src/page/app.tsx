/** The whole page, filled from the session. */

import type { JSX } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import { useCorners, type Windows } from "../stage/use-corners.ts";
import { useKeys } from "./use-keys.ts";
import { later } from "../widgets/later.tsx";
import { PlayButton, Player } from "../story/player.tsx";
import { isEmbedded, useLayout, useRoom, useRoomAbove } from "../stage/use-room.ts";
import type { Session } from "../cells/session.ts";
import { useSession } from "./use-session.ts";
import { Shapes } from "../inputs/shapes.tsx";
import { leftOutHeight, Stage } from "../stage/stage.tsx";
import { Story } from "../story/story.tsx";
import { TensorDialog } from "../inputs/tensor-dialog.tsx";
import { Title } from "./title.tsx";
import { Top } from "./top.tsx";
import { useTravel } from "../story/use-travel.ts";
import { rulesBeside } from "../document/faults.ts";
import type { State } from "../values/state.ts";
import { cellId } from "../values/spot.ts";
import { visible } from "../values/visible.ts";
import type { WhyProps } from "../why/use-why.ts";

const WhyPanel = later<WhyProps>(async () => (await import("../why/why-panel.tsx")).Why);

export function App(): JSX.Element {
  const session = useSession();
  const middle = useRef<HTMLDivElement>(null);
  const whole = useRoom(middle);
  const { state, generation, edition, asked, act } = session;
  const room = useRoomAbove(whole, leftOutHeight(state, whole));
  const layout = useLayout(session, room);
  const windows = useCorners(layout, `${generation} ${state.op}`);
  const onText = useCallback((input: number) => act({ do: "text", input }), []);
  const isFrame = isEmbedded();
  useTravel(session);
  useKeys(session);
  const classes = ["page", isFrame ? "embedded" : "", asked === undefined ? "" : "asking"];
  return (
    <div class={classes.join(" ").trim()} data-edition={edition}>
      {!isFrame && <Top session={session} layout={layout} windows={windows} />}
      <main tabIndex={-1}>
        <Title session={session} isFrame={isFrame} />
        <div class="middle" ref={middle}>
          <Stage session={session} layout={layout} windows={windows} onText={onText} />
        </div>
        <Player session={session} />
        <Side session={session} isFrame={isFrame} onReveal={windows.onReveal} />
        <p class="hidden" role="status" id="aloud">
          {session.toHear}
        </p>
      </main>
      <TensorDialog session={session} />
    </div>
  );
}

interface SideProps extends Pick<Windows, "onReveal"> {
  readonly session: Session;
  readonly isFrame: boolean;
}

/** Joins remarks, and ends every remark except the last with a full stop. */
const inOneParagraph = (remarks: readonly string[]): string =>
  remarks
    .map((text, at) => (at === remarks.length - 1 || /[.:?!]$/.test(text) ? text : `${text}.`))
    .join(" ");

/**
 * Shows the description and the shapes, or the comparison panel. On a small screen, the content is collapsed to one
 * line, which the user can expand.
 */
function Side({ session, isFrame, onReveal }: SideProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { state, asked, remarks } = session;
  return (
    // The side panel scrolls, so it must be reachable by keyboard.
    <aside
      class={isOpen || asked !== undefined ? "open" : undefined}
      aria-label="story"
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.currentTarget.querySelector<HTMLElement>(".opener")?.focus();
        setOpen(false);
      }}
    >
      {isFrame && <PlayButton session={session} />}
      {asked === undefined ? (
        <>
          <button
            type="button"
            class="opener"
            aria-expanded={isOpen}
            aria-label={isOpen ? "less of the story" : "more of the story"}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "▾" : "▴"}
          </button>
          {/* This element is always present, because screen readers announce only text that is added to an existing element. */}
          <div class="said" role="status">
            {/* All remarks are in one paragraph, which leaves space for the story and for errors. */}
            {remarks.length > 0 && <p>{visible(inOneParagraph(remarks))}</p>}
          </div>
          <Story session={session} />
          <ShapeRules session={session} />
        </>
      ) : (
        <Comparing session={session} onReveal={onReveal} />
      )}
      {isFrame && <Whole state={state} />}
    </aside>
  );
}

/** Shows the comparison panel with the story of the selected cell, which is the first differing cell at first. */
function Comparing({ session, onReveal }: Omit<SideProps, "isFrame">): JSX.Element {
  const { state, generation, explanation, asked, act, isStale, description } = session;
  const onDiffering = (element: number): void => {
    onReveal("output", element);
    session.onSpot({ tensor: "output", element }, true);
    const id = cellId("output", element);
    requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView({ block: "nearest" }));
  };
  return (
    <>
      {/* The faults of the call and their fixes are always visible. */}
      {(isStale || description !== null) && <Story session={session} />}
      <WhyPanel
        state={state}
        explanation={explanation}
        actual={asked?.actual}
        dialect={asked?.dialect}
        link={asked?.link}
        generation={generation}
        onAddress={(compared) => act({ do: "compare", compared })}
        onRule={(rule) => act({ do: "rule", rule })}
        onActual={(actual) => act({ do: "actual", actual })}
        onDiffering={onDiffering}
        onClose={() => act({ do: "ask", asked: undefined })}
      />
    </>
  );
}

/** In an embedded page, shows the operator with its reduction and a link to the full page. */
function Whole({ state: { op, attributes } }: { readonly state: State }): JSX.Element {
  const { reduction = "" } = attributes;
  return (
    <a
      class="whole"
      href={`./${location.hash}`}
      target="_blank"
      rel="noopener"
      aria-label={`${op} ${reduction} ↗ open in ndscatter`}
      title="open in ndscatter"
    >
      <b>{op}</b> {reduction} ↗<span> open in ndscatter</span>
    </a>
  );
}

function ShapeRules({ session }: { readonly session: Session }): JSX.Element | null {
  const { explanation, version, edits, fixes } = session;
  const shapes = rulesBeside(explanation);
  const unfit = shapes.find(({ fits }) => !fits);
  const isOffered = fixes.some(({ label }) => label.startsWith(`make ${unfit?.of} `));
  return (
    <Shapes
      shapes={shapes}
      onFit={
        isOffered
          ? null
          : (name, shape) => {
              const position = version?.inputs.findIndex((one) => one.name === name) ?? -1;
              edits[position]?.onShape(shape);
            }
      }
    />
  );
}
