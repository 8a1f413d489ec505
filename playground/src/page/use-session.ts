/** Combines the page's hooks, and derives its content from the state and the user's actions. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Fix } from "../document/fixes.ts";
import { EXAMPLES } from "../examples/menu.ts";
import type { TensorId } from "../stage/layout.ts";
import type { Tuple } from "../cells/links.ts";
import { summaryOf } from "../story/summary.ts";
import { aloud, describeCell, describeFault, describeStep } from "../story/describe.ts";
import type { LessonStep } from "../story/lesson.ts";
import { useLesson } from "../story/use-lesson.ts";
import { usePage } from "../document/use-page.ts";
import { usePicture, useSpots, useTensors, type OutputRule } from "../cells/use-picture.ts";
import type { ShownActual } from "../why/use-why.ts";
import type { CallView, Picture } from "../cells/view.ts";
import type { Description, Spot } from "../story/vocabulary.ts";

const NO_TUPLES: readonly Tuple[] = [];
const NO_FIXES: readonly Fix[] = [];

export type Session = ReturnType<typeof useSession>;

export function useSession() {
  const others = useOthers();
  const spots = useSpots();
  const { spot, pointed, onSpot } = spots;
  const last = useRef<Picture | null>(null);
  /** A counter that increases when another call is shown. */
  const generation = useRef(0);
  /** Ends the lesson, because a change invalidates the lesson. */
  const leaveLesson = useRef(() => {});
  const { step, isPlaying, setPlaying, goStep, onStep, reset } = usePlayed(spots, leaveLesson);
  const { shown, page, ...visit } = usePage((change) => {
    reset();
    others.clear();
    leaveLesson.current();
    if (change === "link" || change === "example" || change === "file") {
      last.current = null;
      generation.current++;
    }
    if (change === "example") spots.setFocused(null);
  });
  const drawn = usePicture(shown.state, last);
  const { call, picture } = drawn;
  const { links, tuples, count } = linksIn(picture);
  // The number of steps that are shown.
  const at = drawn.isStale ? count : Math.min(step ?? count, count);
  const tensors = useTensors(drawn, page, at, others);
  const lesson = useLesson(call.picture, step, goStep, visit.showPreset);
  leaveLesson.current = lesson.leave;
  const description = useDescription(call, spot, step, lesson.now);
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
    generation: generation.current,
    links,
    tuples,
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
    lesson,
    toHear: isPlaying || pointed !== null ? "" : toHear(description, tuples, shown.preset),
    others,
    verb: verbOf(picture),
  };
}

/** Returns the text for screen readers: the described cell, step or lesson sentence, or else the current example. */
function toHear(
  description: Description | null,
  tuples: readonly Tuple[],
  preset: string | null,
): string {
  const example = EXAMPLES.find(({ id }) => id === preset);
  return description === null && example !== undefined
    ? `${example.question} ${example.note}`
    : aloud(description, tuples);
}

/** Moving to a step deselects the cell, so that the step is described. */
function usePlayed(
  { setFocused, setPointed }: ReturnType<typeof useSpots>,
  leaveLesson: { readonly current: () => void },
) {
  /** The player's current step; null while all steps are shown. */
  const [step, setStep] = useState<number | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const goStep = useCallback((next: number | null) => {
    setFocused(null);
    setPointed(null);
    setStep(next);
  }, []);
  const onStep = useCallback((next: number) => {
    leaveLesson.current();
    goStep(next);
  }, []);
  const reset = (): void => {
    setStep(null);
    setPlaying(false);
  };
  return { step, isPlaying, setPlaying, goStep, onStep, reset };
}

/** The selected cell is described first, because it is the user's latest request; then the lesson, then the player. */
function useDescription(
  call: CallView,
  spot: Spot | null,
  step: number | null,
  taught: LessonStep | null,
): Description | null {
  const described = useMemo(() => describe(call, spot, step), [call, spot, step]);
  return spot === null ? (taught?.description ?? described) : described;
}

const linksIn = (picture: Picture | null) => ({
  links: picture?.links ?? null,
  tuples: picture?.links.tuples ?? NO_TUPLES,
  count: picture?.links.count ?? 0,
});

const summaryAt = ({ picture, state }: CallView): readonly string[] =>
  picture === null ? [] : summaryOf(picture.explanation, state.attributes["reduction"]);

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

/** Returns the verb above the lines from updates to data. */
function verbOf(picture: Picture | null): string {
  const story = picture?.explanation.story;
  if (story?.kind !== "scatter") return "";
  return story.reduction === "none" ? "replace" : story.reduction;
}
