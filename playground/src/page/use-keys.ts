/** Keys of the whole page, and the lesson that starts at a first visit. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { controlsOf } from "../story/player.tsx";
import type { Session } from "./use-session.ts";

/** Ignored while the focus is on a control that handles the key itself. */
export function useKeys(session: Session, onHelp: () => void): void {
  const latest = useRef({ session, onHelp });
  latest.current = { session, onHelp };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
      const { session, onHelp } = latest.current;
      if (onKeyOf(event, session, onHelp)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** True if the key was one of the page's. */
function onKeyOf(event: KeyboardEvent, session: Session, onHelp: () => void): boolean {
  const { target, key } = event;
  const element = target instanceof Element ? target : null;
  // A field has its own undo, and a menu or a slider its own arrow keys.
  if (element?.matches("input:not([type=range]), textarea") === true) return false;
  const isControl = element?.matches("input, select") === true;
  if (event.ctrlKey || event.metaKey) {
    const isUndo = key.toLowerCase() === "z" && !event.shiftKey;
    const isRedo = (key.toLowerCase() === "z" && event.shiftKey) || key.toLowerCase() === "y";
    if (isUndo) session.undo();
    else if (isRedo) session.redo();
    return isUndo || isRedo;
  }
  if (isControl) return false;
  const controls = controlsOf(session);
  const isCell = element?.closest("td") != null;
  if (key === " " && !(element instanceof HTMLButtonElement)) controls.toggle();
  else if (key === "ArrowRight" && !isCell) controls.forward();
  else if (key === "ArrowLeft" && !isCell) controls.back();
  else if (key === "?") onHelp();
  // The focus stays where it is, and the story describes the whole call again.
  else if (key === "Escape" && isCell) session.onSpot(null, true);
  else return false;
  return true;
}

const SEEN = "ndscatter-seen";

/** First-time visitors get the lesson about the first example. */
export function useFirstVisit({ lesson }: Session, isFrame: boolean): void {
  // The page writes its address later.
  const [isPlain] = useState(() => location.hash === "");
  useLayoutEffect(() => {
    if (!isFrame && isPlain && !isSeen()) lesson.go(0);
  }, []);
}

/**
 * True if the user has visited the page before; records this visit. If storage is forbidden, no lesson starts by
 * itself.
 */
function isSeen(): boolean {
  try {
    const isKnown = localStorage.getItem(SEEN) !== null;
    localStorage.setItem(SEEN, "yes");
    return isKnown;
  } catch {
    return true;
  }
}
