/**
 * The call's title: an example with its note and a toggle for the other side of its pair, or the user's own call. The
 * title's height never changes.
 */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Side } from "../examples/pairs.ts";
import { readState } from "../document/read-state.ts";
import { withCode } from "../story/with-code.tsx";
import type { RepairProps } from "../document/broken-link.tsx";
import { later } from "../widgets/later.tsx";
import type { Session } from "../cells/session.ts";
import { visible } from "../values/visible.ts";

const Repair = later<RepairProps>(async () => (await import("../document/broken-link.tsx")).Repair);

const LINKED_NOTE = "This call came with the link. Change any number, and the picture follows.";
const OWN_NOTE =
  "The link of this page contains the whole call. Opening an example does not erase this call.";

interface TitleProps {
  readonly session: Session;
}

/**
 * The one entrance for the user's own numbers, with a shorter label on small screens. Files can be dropped, and text can
 * be pasted, anywhere on the page.
 */
const OwnData = ({ session: { act } }: TitleProps): JSX.Element => (
  <button
    type="button"
    class="own-data"
    aria-haspopup="dialog"
    aria-label="Try with your own numbers"
    onClick={() => act({ do: "show", panel: "Open" })}
  >
    <span class="long">Try with your own numbers</span>
    <span class="brief">Own numbers</span>
  </button>
);

export function Title({
  session,
  isFrame,
}: TitleProps & { readonly isFrame: boolean }): JSX.Element {
  const { state, version, broken } = session;
  if (isFrame) {
    // An embedded page shows neither a bar nor a note, so its heading is only for screen readers.
    return (
      <h1 class="hidden">
        {state.op}-{version?.sinceVersion ?? state.opset}, cell by cell
      </h1>
    );
  }
  if (broken !== null) {
    return (
      <div class="broken">
        <Repair
          link={broken}
          onOpen={(text) => session.act({ do: "link", text })}
          onDrop={() => session.act({ do: "drop" })}
        />
      </div>
    );
  }
  return <Note session={session} />;
}

/**
 * Shows the question and note of an example; for any other call, what the call does, with the sender's question.
 */
function Note({ session }: TitleProps): JSX.Element {
  const { preset, example, isLinked, headline, question, known, edition } = session;
  // Until all examples are loaded, the first call may be an example.
  const isUnknown = known === null && edition === 0 && question === "";
  const title = example?.question ?? (isUnknown ? "" : headline);
  const own = question !== "" ? `Asked: “${question}”` : isLinked ? LINKED_NOTE : OWN_NOTE;
  const note = example?.note ?? (isUnknown ? "" : own);
  const [isOpen, setOpen] = useState(false);
  const text = useRef<HTMLDivElement>(null);
  const isCut = useCut(text, title + note, isOpen);
  useEffect(() => setOpen(false), [title]);
  const classes = ["title-line", isOpen ? "open" : "", question === "" ? "" : "asked"];
  return (
    <div
      class={classes.join(" ").trim()}
      onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
    >
      <div ref={text} id="note">
        <h2 title={example?.title}>{withCode(title)}</h2>
        <p class="note-of-preset">{visible(note)}</p>
      </div>
      {isCut && (
        <button
          type="button"
          class="quiet whole-note"
          aria-expanded={isOpen}
          aria-controls="note"
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "less" : "more"}
          <span class="hidden"> of the note</span>
        </button>
      )}
      <div class="ways">
        {preset !== null && <Sides session={session} preset={preset} />}
        <button
          type="button"
          class="link long"
          aria-haspopup="dialog"
          onClick={() => session.act({ do: "show", panel: "Examples" })}
        >
          More questions
        </button>
        <OwnData session={session} />
      </div>
    </div>
  );
}

/** Checks whether a box is too small for its title or note. The result does not change while the full text is shown. */
function useCut(
  box: { readonly current: HTMLElement | null },
  text: string,
  isOpen: boolean,
): boolean {
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || isOpen) return;
    const measure = (): void =>
      setCut(
        // A note that does not fit below the title moves to a separate column.
        [current, ...current.children].some(
          ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
            scrollWidth > clientWidth || scrollHeight > clientHeight + 1,
        ),
      );
    measure();
    const observer = new ResizeObserver(measure);
    // The box has no layout of its own while its texts are in the grid of the title line.
    for (const one of [current, ...current.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [text, isOpen]);
  return isCut;
}

/** Toggles between the two sides of a pair. */
function Sides({
  session,
  preset,
}: {
  readonly session: Session;
  readonly preset: string;
}): JSX.Element | null {
  const { rule, act, known } = session;
  const pair = known?.pairOf(preset) ?? null;
  const isOfSystems = pair?.sides.some(({ dialect }) => dialect !== undefined) ?? false;
  const show = (side: Side): void => {
    if (side.preset !== preset) act({ do: "example", id: side.preset });
    else if (side.dialect !== undefined) void showSystem(session, side);
  };
  // When two systems are compared, the first system is shown initially.
  useEffect(() => {
    if (pair !== null && isOfSystems) show(pair.sides[0]);
  }, [preset, pair]);
  if (pair === null) return null;
  const isShown = ({ preset: id, dialect, label }: Side): boolean =>
    dialect === undefined ? id === preset : rule?.name === label;
  return (
    <div class="sides" role="group" aria-label={pair.by}>
      {pair.sides.map((side) => (
        <button
          type="button"
          key={side.label}
          aria-pressed={isShown(side)}
          onClick={() => show(side)}
        >
          {side.label}
        </button>
      ))}
    </div>
  );
}

/** Shows the picture under another system's rule. */
async function showSystem(
  { state, act, latest }: Session,
  { dialect, label }: Side,
): Promise<void> {
  if (dialect === undefined) return;
  const { ruleFor } = await import("../why/on-demand.ts");
  const { node, inputs } = readState(state);
  const rule = ruleFor(node, inputs, dialect);
  if (rule !== null && latest() === state) act({ do: "show", rule: { ...rule, name: label } });
}
