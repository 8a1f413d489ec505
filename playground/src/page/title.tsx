/** What is shown: an example with its note and its other side, or one's own call. It has the same height always. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { pairOf, type Side } from "../examples/pairs.ts";
import { readState } from "../document/read-state.ts";
import { EXAMPLES } from "../examples/menu.ts";
import { LESSON_OPENER, LessonStrip } from "../story/lesson-strip.tsx";
import type { RepairProps } from "../document/broken-link.tsx";
import { later } from "../widgets/later.tsx";
import type { Session } from "./use-session.ts";

const Repair = later<RepairProps>(async () => (await import("../document/broken-link.tsx")).Repair);

/** What the page is, for those who begin with a lesson. */
const WHAT = "Scatter and gather, cell by cell: change anything, and the picture follows.";
const OWN = "Your own call";
const OWN_NOTE =
  "The address of this page holds the whole call, so its link shares it. Examples do not erase it.";

interface TitleProps {
  readonly session: Session;
  onExamples(): void;
}

export function Title({ session, onExamples }: TitleProps): JSX.Element {
  const { preset, lesson, broken } = session;
  if (broken !== null) {
    return (
      <div class="title-line teaching">
        <Repair link={broken} onOpen={session.openLink} onDrop={session.dropLink} />
      </div>
    );
  }
  if (lesson.isOn) {
    return (
      <div class="title-line teaching">
        <h2>{WHAT}</h2>
        <LessonStrip session={session} sentence={lesson.now?.sentence ?? ""} />
      </div>
    );
  }
  const example = EXAMPLES.find(({ id }) => id === preset);
  const note = example?.note ?? OWN_NOTE;
  return (
    <div class="title-line">
      <div>
        <h2 title={example?.title}>{example?.question ?? OWN}</h2>
        <p class="note-of-preset" title={note}>
          {note}
        </p>
      </div>
      <div class="ways">
        {preset !== null && <Sides session={session} preset={preset} />}
        {lesson.isThere && (
          <button type="button" id={LESSON_OPENER} class="link" onClick={() => lesson.go(0)}>
            <span class="long">Explain in </span>4 steps
          </button>
        )}
        <button type="button" class="link long" aria-haspopup="dialog" onClick={onExamples}>
          More questions
        </button>
      </div>
    </div>
  );
}

/** A toggle between the two sides of a pair. */
function Sides({
  session,
  preset,
}: {
  readonly session: Session;
  readonly preset: string;
}): JSX.Element | null {
  const pair = pairOf(preset);
  const { others, showPreset } = session;
  const isOfSystems = pair?.sides.some(({ dialect }) => dialect !== undefined) ?? false;
  const show = (side: Side): void => {
    if (side.preset !== preset) showPreset(side.preset);
    else if (side.dialect !== undefined) void showSystem(session, side);
  };
  // A pair of systems begins with its first.
  useEffect(() => {
    if (pair !== null && isOfSystems) show(pair.sides[0]);
  }, [preset]);
  if (pair === null) return null;
  const isShown = ({ preset: id, dialect, label }: Side): boolean =>
    dialect === undefined ? id === preset : others.rule?.name === label;
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

/** The picture under the rule of another system. */
async function showSystem(
  { state, others, page }: Session,
  { dialect, label }: Side,
): Promise<void> {
  if (dialect === undefined) return;
  const { ruleFor } = await import("../why/on-demand.ts");
  const { node, inputs } = readState(state);
  const rule = ruleFor(node, inputs, dialect);
  if (rule !== null && page.state() === state) others.setRule({ ...rule, name: label });
}
