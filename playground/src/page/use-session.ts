/** Combines the page's hooks, and derives its content from the state and the user's actions. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Fix } from "../document/fixes.ts";
import { EXAMPLES } from "../examples/menu.ts";
import type { Preset } from "../examples/presets.ts";
import type { TensorId } from "../stage/layout.ts";
import { verbOf } from "../stage/wiring.ts";
import { routeOf } from "../story/route.ts";
import { summaryOf } from "../story/summary.ts";
import { aloud, describeCell, describeFault, describeStep } from "../story/describe.ts";
import { suffixIn } from "../document/hash.ts";
import { usePage } from "../document/use-page.ts";
import { usePicture, useSpots, useTensors, type OutputRule } from "../cells/use-picture.ts";
import type { ShownActual } from "../why/use-why.ts";
import type { CallView, Picture } from "../cells/view.ts";
import type { Description, Spot } from "../story/vocabulary.ts";
import { questionIn } from "../writing/question.ts";

const NO_FIXES: readonly Fix[] = [];

export type Session = ReturnType<typeof useSession>;

export function useSession() {
  const others = useOthers();
  const spots = useSpots();
  const { spot, pointed, onSpot } = spots;
  const last = useRef<Picture | null>(null);
  /** A counter that increases when another call is shown. */
  const generation = useRef(0);
  const { step, isPlaying, setPlaying, onStep, reset } = usePlayed(spots);
  const { shown, page, ...visit } = usePage((change) => {
    reset();
    others.clear();
    if (change === "link" || change === "example" || change === "file") {
      last.current = null;
      generation.current++;
    }
    if (change === "example") spots.setFocused(null);
  });
  const drawn = usePicture(shown.state, last);
  const { call, picture } = drawn;
  const links = picture?.links ?? null;
  const count = links?.count ?? 0;
  // The number of steps that are shown.
  const at = drawn.isStale ? count : Math.min(step ?? count, count);
  const tensors = useTensors(drawn, page, at, others);
  const { asked, example } = useTitle(shown, generation.current);
  const description = useMemo(() => describe(call, spot, step), [call, spot, step]);
  return {
    ...visit,
    page,
    ...shown,
    ...drawn,
    ...tensors,
    call,
    explanation: call.explanation,
    fixes: useFixes(call),
    summary: useMemo(() => summaryAt(call), [call]),
    route: useMemo(() => (call.picture === null ? "" : routeOf(call.picture.explanation)), [call]),
    headline: useMemo(() => headlineOf(call), [call]),
    asked,
    example,
    generation: generation.current,
    links,
    count,
    step,
    at,
    onStep,
    isPlaying,
    setPlaying,
    spot,
    isPointed: pointed !== null,
    onSpot,
    onScrub: useScrub(picture, onStep),
    description,
    toHear: isPlaying || pointed !== null ? "" : toHear(description, example),
    others,
    verb: verbOf(picture),
  };
}

/** Returns the sender's question, which a changed call no longer shows, or else the example whose question is the title. */
function useTitle(
  { preset, isLinked, edition }: ReturnType<typeof usePage>["shown"],
  generation: number,
): { readonly asked: string; readonly example: Preset | null } {
  const question = useMemo(() => questionIn(suffixIn(location.hash)), [generation]);
  const asked = isLinked || edition === 0 ? question : "";
  const found = EXAMPLES.find(({ id }) => id === preset) ?? null;
  return { asked, example: asked === "" ? found : null };
}

/** Returns the text for screen readers: the described cell or step, or else the current example. */
function toHear(description: Description | null, example: Preset | null): string {
  return description === null && example !== null
    ? `${example.question} ${example.note}`
    : aloud(description);
}

/** Moving to a step deselects the cell, so that the step is described. */
function usePlayed({ setFocused, setPointed }: ReturnType<typeof useSpots>) {
  /** The player's current step; null while all steps are shown. */
  const [step, setStep] = useState<number | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const onStep = useCallback((next: number) => {
    setFocused(null);
    setPointed(null);
    setStep(next);
  }, []);
  const reset = (): void => {
    setStep(null);
    setPlaying(false);
  };
  return { step, isPlaying, setPlaying, onStep, reset };
}

const summaryAt = ({ picture, state }: CallView): readonly string[] =>
  picture === null ? [] : summaryOf(picture.explanation, state.attributes["reduction"]);

/** Returns what the call does, or that it fails, as one sentence. */
function headlineOf(call: CallView): string {
  const [first] = summaryAt(call);
  if (first !== undefined) return first;
  const { size: count } = new Set(call.faults.map(({ sentence }) => sentence));
  return `No output, because of ${count === 1 ? "one error" : `${count} errors`}.`;
}

/** The code that finds fixes is loaded with the first error. */
function useFixes(call: CallView): readonly Fix[] {
  const [found, setFound] = useState<{
    readonly call: CallView;
    readonly fixes: readonly Fix[];
  } | null>(null);
  useEffect(() => {
    if (call.picture !== null) return;
    let isLatest = true;
    void import("../document/fixes.ts").then(
      ({ fixesOf }) => isLatest && setFound({ call, fixes: fixesOf(call.state) }),
      // The error is shown even if no fix is known.
      () => null,
    );
    return () => {
      isLatest = false;
    };
  }, [call]);
  return found?.call === call ? found.fixes : NO_FIXES;
}

/** Provides other systems' results: an output computed by a system's rule, or a runtime's pasted output. */
function useOthers() {
  const [rule, setRule] = useState<OutputRule | null>(null);
  const [actual, setActual] = useState<ShownActual | null>(null);
  const clear = (): void => {
    setRule(null);
    setActual(null);
  };
  return { rule, setRule, actual, setActual, clear };
}

/** Describes the selected cell or the current step; returns null if the whole call should be described. */
function describe(call: CallView, spot: Spot | null, step: number | null): Description | null {
  if (call.picture === null) return describeFault(call, spot);
  if (spot !== null) return describeCell(call.picture, spot);
  return step === null || step === 0 ? null : describeStep(call.picture, step - 1);
}

/** Returns the drag handler, which moves the player to the element under the pointer. */
function useScrub(
  picture: Picture | null,
  onStep: (step: number) => void,
): (id: TensorId, element: number) => void {
  const latest = useRef(picture);
  useEffect(() => {
    latest.current = picture;
  });
  return useCallback((id, element) => {
    const { current } = latest;
    if (current === null) return;
    const { links, explanation } = current;
    const role = id === "output" ? "output" : explanation.inputs[id]?.role;
    const order =
      role === (links.kind === "gather" ? "output" : "updates") ? links.carried[element] : -1;
    if (order >= 0) onStep(order + 1);
  }, []);
}
