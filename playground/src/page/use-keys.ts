/** Handles the page's keyboard shortcuts. */

import { useEffect, useRef } from "preact/hooks";
import { controlsOf } from "../story/player.tsx";
import type { Session } from "../cells/session.ts";

/** Handles shortcuts, unless the focused control handles the key itself. */
export function useKeys(session: Session): void {
  const latest = useRef(session);
  latest.current = session;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
      if (onKeyOf(event, latest.current)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Handles a key, and returns true if the key is a shortcut. */
function onKeyOf(event: KeyboardEvent, session: Session): boolean {
  const { target, key } = event;
  const element = target instanceof Element ? target : null;
  // Text fields have their own undo, and menus and sliders use the arrow keys.
  if (element?.matches("input:not([type=range]), textarea") === true) return false;
  const isControl = element?.matches("input, select") === true;
  if (event.ctrlKey || event.metaKey) {
    const isUndo = key.toLowerCase() === "z" && !event.shiftKey;
    const isRedo = (key.toLowerCase() === "z" && event.shiftKey) || key.toLowerCase() === "y";
    if (isUndo) session.act({ do: "undo" });
    else if (isRedo) session.act({ do: "redo" });
    return isUndo || isRedo;
  }
  if (isControl) return false;
  const controls = controlsOf(session);
  const isCell = element?.closest("td") != null;
  if (key === " " && !(element instanceof HTMLButtonElement)) controls.toggle();
  else if (key === "ArrowRight" && !isCell) controls.forward();
  else if (key === "ArrowLeft" && !isCell) controls.back();
  else if (key === "?") session.act({ do: "show", panel: "Help" });
  // The focus stays on the cell, and the text describes the whole call again.
  else if (key === "Escape" && isCell) session.onSpot(null, true);
  else return false;
  return true;
}
