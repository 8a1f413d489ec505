/** Manages the current lesson, its steps, and their effects on the picture. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lesson, LessonStep } from "../cells/session.ts";
import type { Picture } from "../cells/view.ts";
import type { Action, Look } from "../document/state.ts";
import { isCalm } from "../widgets/calm.ts";

/** The delay in milliseconds between framing an update and moving it. */
const PAUSE = 700;

const NONE: readonly LessonStep[] = [];

/** Returns the lesson about a picture, which the state opens. */
export function useLesson(
  picture: Picture | null,
  { step, lesson: at }: Look,
  act: (action: Action) => void,
): Lesson {
  const setAt = (next: number | null): void => act({ do: "lesson", at: next });
  const goStep = (next: number | null): void => act({ do: "step", step: next, isOfLesson: true });
  const isOn = at !== null && picture !== null;
  const lessonOf = useTexts(isOn, () => setAt(null));
  const steps = useMemo(
    () => (isOn && lessonOf !== null ? lessonOf(picture) : NONE),
    [isOn, lessonOf, picture],
  );
  const now = at === null ? null : (steps[at] ?? null);
  const shown = useRef(step);
  shown.current = step;
  const end = (): void => {
    setAt(null);
    goStep(null);
  };
  useLayoutEffect(() => {
    if (now === null) return;
    const before = now.step - 1;
    const isMoving = now.isMoving && !isCalm();
    const isReady = shown.current === before;
    goStep(isMoving && !isReady ? before : now.step);
    if (!isMoving || isReady) return;
    const timer = setTimeout(() => goStep(now.step), PAUSE);
    return () => clearTimeout(timer);
  }, [now]);
  useLessonKeys(now === null ? null : at, setAt, steps.length, end);
  return {
    isOn,
    now,
    at: at ?? 0,
    count: steps.length,
    isThere: picture !== null && picture.links.count > 0,
    go: (next) => (next >= 0 && next < Math.max(steps.length, 1) ? setAt(next) : end()),
    choose(preset) {
      act({ do: "example", id: preset });
      setAt(0);
    },
    end,
  };
}

type LessonOf = (typeof import("./lesson.ts"))["lessonOf"];

/** Loads the lesson texts with the first lesson; null until they are loaded. */
function useTexts(isOn: boolean, onFailure: () => void): LessonOf | null {
  const [found, setFound] = useState<{ readonly lessonOf: LessonOf } | null>(null);
  useEffect(() => {
    // The page works without lessons if their texts fail to load.
    if (isOn && found === null) void import("./lesson.ts").then(setFound, onFailure);
  }, [isOn]);
  return found?.lessonOf ?? null;
}

/**
 * Handles lesson keys, unless a cell, field or dialog handles the key: arrow keys change the step, Escape ends the
 * lesson.
 */
function useLessonKeys(
  at: number | null,
  setAt: (at: number) => void,
  count: number,
  end: () => void,
): void {
  useEffect(() => {
    if (at === null) return;
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, altKey, ctrlKey, metaKey } = event;
      const element = target instanceof Element ? target : null;
      const isTaken =
        event.defaultPrevented ||
        altKey ||
        ctrlKey ||
        metaKey ||
        document.querySelector("dialog[open]") !== null ||
        element?.closest("input, select, textarea") != null;
      if (isTaken) return;
      const isCell = element?.closest("td") != null;
      if (key === "Escape") end();
      // At its first and last step, the lesson also handles arrow keys. Otherwise, the player would handle these keys
      // and end the lesson.
      else if (key === "ArrowRight" && !isCell) setAt(Math.min(at + 1, count - 1));
      else if (key === "ArrowLeft" && !isCell) setAt(Math.max(at - 1, 0));
      else return;
      event.preventDefault();
    };
    // This listener runs before the page's own listener, which ignores handled events.
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, [at, count, end]);
}
