/** Shows one lesson step: its sentence, and buttons for next, back and end. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../cells/session.ts";
import { otherLessons } from "./lessons.ts";
import { withCode } from "./with-code.tsx";

/** The id of the next-step button, which takes the focus when the user starts a lesson. */
export const LESSON_NEXT = "lesson-next";

/** The id of the button that starts a lesson, which takes the focus when the lesson ends. */
export const LESSON_OPENER = "lesson-opener";

interface StripProps {
  readonly session: Session;
  readonly sentence: string;
}

/** The page's status line announces the lesson sentence to screen readers, so the strip must not announce it again. */
export function LessonStrip({ session, sentence }: StripProps): JSX.Element {
  const { lesson, preset } = session;
  const { at, count, go, end } = lesson;
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current } = strip;
    return () => {
      // The clicked button disappears, so the focus must move.
      const isLost =
        document.activeElement === document.body || current?.contains(document.activeElement);
      if (isLost === true)
        requestAnimationFrame(() => document.getElementById(LESSON_OPENER)?.focus());
    };
  }, []);
  const isLast = at === count - 1;
  return (
    <section class="lesson" aria-label="lesson" ref={strip}>
      <p class="lesson-sentence">{withCode(sentence)}</p>
      <div class="lesson-ways">
        <span class="lesson-at">
          {at + 1} of {count}
        </span>
        <button
          type="button"
          aria-disabled={at === 0}
          title="←"
          onClick={() => at > 0 && go(at - 1)}
        >
          Back
        </button>
        {/* The two states share one element, which keeps the focus. */}
        <button
          type="button"
          id={LESSON_NEXT}
          class="main"
          title={isLast ? "Esc" : "→"}
          onClick={() => go(at + 1)}
        >
          {isLast ? "Done" : "Next"}
        </button>
        {isLast ? (
          otherLessons(preset).map(({ title, preset: id }) => (
            <button type="button" class="link" key={id} onClick={() => lesson.choose(id)}>
              {title}
            </button>
          ))
        ) : (
          <button type="button" class="link" title="Esc" onClick={end}>
            Skip
          </button>
        )}
      </div>
    </section>
  );
}
