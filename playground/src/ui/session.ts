/** What the page shows, from the state and from what the user does: all hooks of the page in one place. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import type { Tuple } from "../model/links.ts";
import { describeCell, describeStep } from "./describe.ts";
import { describeFault } from "./faults.ts";
import { usePage } from "./page.ts";
import { usePicture, useSpots, useTensors } from "./picture.ts";
import { aloud } from "./story.tsx";
import type { Picture } from "./view.ts";

const NO_TUPLES: readonly Tuple[] = [];

export type Session = ReturnType<typeof useSession>;

export function useSession() {
  /** Null while all steps are shown. */
  const [step, setStep] = useState<number | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const { spot, pointed, onSpot, setFocused, setPointed } = useSpots();
  const last = useRef<Picture | null>(null);
  const { shown, page, ...visit } = usePage((change) => {
    setStep(null);
    if (change === "link" || change === "example" || change === "file") last.current = null;
    if (change === "example") setFocused(null);
  });
  const { state } = shown;
  const drawn = usePicture(state, last);
  const { call, picture } = drawn;
  const tuples = picture?.links.tuples ?? NO_TUPLES;
  const count = picture?.links.count ?? 0;
  const at = drawn.isStale ? count : Math.min(step ?? count, count);
  const tensors = useTensors(drawn, page, at);
  const description = useMemo(() => {
    if (call.picture === null) return describeFault(call, spot);
    if (spot !== null) return describeCell(call.picture, spot);
    return step === null ? null : describeStep(call.picture, step - 1);
  }, [call, spot, step]);
  const onStep = useCallback((next: number) => {
    setFocused(null);
    setPointed(null);
    setStep(next);
  }, []);
  const forget = (): void => {
    last.current = null;
  };
  const isQuiet = isPlaying || pointed !== null || description === null;
  const toHear = isQuiet ? "" : aloud(description, tuples);
  return {
    ...shown,
    ...drawn,
    ...tensors,
    explanation: call.explanation,
    page,
    ...visit,
    forget,
    tuples,
    count,
    /** The number of steps that are shown. */
    at,
    onStep,
    setPlaying,
    spot,
    onSpot,
    description,
    toHear,
  };
}
