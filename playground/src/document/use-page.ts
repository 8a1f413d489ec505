/** Hook that provides the visible state and the functions that change it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { State } from "../values/state.ts";
import type { History } from "./history.ts";
import { lived, Visit, type BrokenLink, type Change, type Page } from "./visit.ts";

export type { Change, Page } from "./visit.ts";

interface Shown {
  readonly state: State;
  readonly remarks: readonly string[];
  /** The preset that equals the state; null after the first change. */
  readonly preset: string | null;
  /** True if a link opened the state, which nobody has changed. */
  readonly isLinked: boolean;
  readonly edition: number;
  /** The page's link if it cannot be parsed, otherwise null. */
  readonly broken: BrokenLink | null;
}

interface Drawn extends Omit<Shown, "state" | "preset" | "isLinked"> {
  readonly history: History;
}

/** `onChange` is called before each change. */
export function usePage(onChange: (change: Change) => void): {
  readonly shown: Shown;
  readonly page: Page;
  undo(): void;
  redo(): void;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  showPreset(id: string): void;
  /** Shows the user's own call again, as it was before an example was opened. */
  showOwn(): void;
  readonly hasOwn: boolean;
  /** Opens a corrected link, or discards the link. */
  openLink(link: string): void;
  dropLink(): void;
} {
  const [visit] = useState(() => new Visit());
  const { history: first, broken: unread } = visit;
  const [drawn, setDrawn] = useState<Drawn>({
    history: first,
    broken: unread,
    remarks: [],
    edition: 0,
  });
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    visit.onChange = ({ history, broken }, remarks, change) => {
      changed.current(change);
      setDrawn(({ edition }) => ({ history, broken, remarks, edition: edition + 1 }));
    };
    return lived(visit);
  }, []);

  const { history, broken, remarks, edition } = drawn;
  const { state, preset, own } = history.present;
  const { undo, redo, showPreset, showOwn, openLink, dropLink } = visit;
  return {
    shown: { state, remarks, preset, isLinked: state === visit.linked, edition, broken },
    page: visit,
    undo,
    redo,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    showPreset,
    showOwn,
    hasOwn: own !== null,
    openLink,
    dropLink,
  };
}
