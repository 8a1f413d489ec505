/** The state that is edited: one way to change it, and the address that holds it. It knows nothing of pictures. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fromHash, toHash } from "../model/hash.ts";
import type { State } from "../model/state.ts";
import { EXAMPLES } from "./examples.ts";

/** The state, and the one way to change it. */
export interface Page {
  state(): State;
  /** @param remarks sentences that explain the change */
  show(next: State, remarks?: readonly string[]): void;
}

/** A state, with the remarks on how it came to be. */
interface Shown {
  readonly state: State;
  readonly remarks: readonly string[];
  /** The preset that the state is, as long as nothing has been changed. */
  readonly preset: string | null;
  /** Increases with every change. */
  readonly edition: number;
}

/** How a state came to be: somebody edited the one before, followed a link, or chose a preset. */
export type Change = "edit" | "link" | "preset";

/** Milliseconds after the last change, when the address is written. */
const REST = 200;

/** The state of a link; the first preset where there is none, or where it cannot be read. */
function shownAt(hash: string): Shown {
  const [first] = EXAMPLES;
  const plain: Shown = { state: first.state, remarks: [], preset: first.id, edition: 0 };
  if (hash.replace(/^#/, "") === "") return plain;
  const found = fromHash(hash);
  if ("error" in found) return { ...plain, remarks: [found.error] };
  const text = toHash(found.state);
  const preset = EXAMPLES.find(({ state }) => toHash(state) === text)?.id ?? null;
  return { state: found.state, remarks: [], preset, edition: 0 };
}

/** @param onChange is called before each change */
export function usePage(onChange: (change: Change) => void): {
  readonly shown: Shown;
  readonly page: Page;
  showPreset(id: string): void;
} {
  const [shown, setShown] = useState(() => shownAt(location.hash));
  const { state } = shown;
  // Two changes may come before the page is drawn again, so the state of the last drawing may be old.
  const latest = useRef(state);
  latest.current = state;
  const changed = useRef(onChange);
  changed.current = onChange;

  const page = useMemo(
    (): Page => ({
      state: () => latest.current,
      show(next, remarks = []) {
        const isSame = next === latest.current;
        latest.current = next;
        changed.current("edit");
        setShown((before) => ({
          state: next,
          remarks,
          preset: isSame ? before.preset : null,
          edition: before.edition + 1,
        }));
      },
    }),
    [],
  );
  const showPreset = (id: string): void => {
    const chosen = EXAMPLES.find((one) => one.id === id);
    if (chosen === undefined) return;
    changed.current("preset");
    const { edition } = shown;
    setShown({ state: chosen.state, remarks: [], preset: id, edition: edition + 1 });
  };

  useEffect(() => {
    const timer = setTimeout(() => {
      const hash = `#${toHash(state)}`;
      if (hash !== location.hash) history.replaceState(null, "", hash);
    }, REST);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    const onHash = (): void => {
      changed.current("link");
      setShown((before) => ({ ...shownAt(location.hash), edition: before.edition + 1 }));
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);
  return { shown, page, showPreset };
}
