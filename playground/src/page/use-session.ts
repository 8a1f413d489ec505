/** Keeps the page's state, and derives what the page shows from it. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Description, LessonStep, Session } from "../cells/session.ts";
import { usePicture, useTensors } from "../cells/use-picture.ts";
import type { CallView, Picture } from "../cells/view.ts";
import { editsOf, type Editor, type TextReader } from "../document/edits.ts";
import type { Fix } from "../document/fixes.ts";
import type { Action, PageState } from "../document/state.ts";
import { examplesOf } from "../document/arrival.ts";
import { Store } from "../document/store.ts";
import { useLesson } from "../story/use-lesson.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import type { Tuple } from "../cells/links.ts";

const NO_TUPLES: readonly Tuple[] = [];
const NO_FIXES: readonly Fix[] = [];

export function useSession(): Session {
  const { page, store, editor } = useStore();
  const { act } = store;
  const { state, preset, own } = page.history.present;
  const drawn = usePicture(state, page.generation);
  const { call, picture, version } = drawn;
  const { links = null } = picture ?? {};
  const { tuples = NO_TUPLES, count = 0 } = links ?? {};
  const { step, pointed, focused, isPlaying } = page;
  const at = drawn.isStale ? count : Math.min(step ?? count, count);
  const tensors = useTensors(drawn, at, page);
  const edits = useMemo(
    () => state.inputs.map((_, position) => editsOf(version, position, editor)),
    [version, state.inputs.length],
  );
  const lesson = useLesson(call.picture, page, act);
  const spot = pointed ?? focused;
  const words = useWords();
  const description = useDescription(words, call, spot, step, lesson.now);
  const example = useMemo(
    () => examplesOf(page).find(({ id }) => id === preset) ?? null,
    [page.known, preset],
  );
  return {
    ...page,
    ...drawn,
    ...tensors,
    state,
    preset,
    example,
    edits,
    isLinked: state === page.linked,
    hasOwn: own !== null,
    canUndo: page.history.past.length > 0,
    canRedo: page.history.future.length > 0,
    act,
    latest: editor.latest,
    load: editor.load,
    explanation: call.explanation,
    fixes: useFixes(call),
    summary: useMemo(() => (words === null ? [] : summaryAt(words, call)), [words, call]),
    links,
    tuples,
    count,
    at,
    spot,
    isPointed: pointed !== null,
    onSpot: useSpotting(act),
    onStep: useCallback((next: number) => act({ do: "step", step: next }), []),
    onScrub: useScrub(picture, act),
    description,
    lesson,
    toHear:
      isPlaying || pointed !== null ? "" : (words?.toHear(description, tuples, example) ?? ""),
    verb: verbOf(picture),
  };
}

/** Returns the state, which is drawn after each action, and the functions that change it. */
function useStore(): {
  readonly page: PageState;
  readonly store: Store;
  readonly editor: Editor;
} {
  const [store] = useState(() => new Store());
  const [page, setPage] = useState(store.page);
  const reader = useRef<TextReader | null>(null);
  const [editor] = useState((): Editor => ({
    act: store.act,
    latest: () => store.page.history.present.state,
    get reader() {
      return reader.current;
    },
    load: async () => (reader.current ??= await import("../reading/paste.ts")),
  }));
  useEffect(() => {
    store.onChange = setPage;
    setPage(store.page);
    // The parser is loaded at the first touch, because the user may soon enter text. A failure to load the parser is
    // reported only when text is entered.
    const prepare = (): void => void editor.load().catch(() => {});
    const touches = ["pointerdown", "keydown"] as const;
    for (const touch of touches) window.addEventListener(touch, prepare, { once: true });
    const stop = store.live();
    return () => {
      stop();
      for (const touch of touches) window.removeEventListener(touch, prepare);
    };
  }, []);
  return { page, store, editor };
}

/**
 * Returns the handler for the cell that is focused or under the pointer. While the user types, a resting pointer is
 * ignored: a browser sends events for it when the element under it is replaced, but the user looks at the focused cell.
 */
function useSpotting(act: (action: Action) => void): Session["onSpot"] {
  const isResting = useRef(false);
  useEffect(() => {
    let at = "";
    const note = (event: Event): void => {
      if (event.type === "keydown") isResting.current = true;
      else if (event.type === "wheel") isResting.current = false;
      else if (event instanceof MouseEvent) {
        const place = `${event.screenX} ${event.screenY}`;
        if (place !== at) isResting.current = false;
        at = place;
      }
    };
    const events = ["keydown", "pointermove", "pointerdown", "mouseover", "wheel"] as const;
    for (const event of events) document.addEventListener(event, note, LISTENING);
    return () => {
      for (const event of events) document.removeEventListener(event, note, LISTENING);
    };
  }, []);
  return useCallback((spot, isFocus) => {
    if (isFocus || !isResting.current) act({ do: "spot", spot, isFocus });
  }, []);
}

/** The events are seen before the cells handle them, and never held up. */
const LISTENING = { capture: true, passive: true } as const;

type Words = typeof import("../story/words.ts");

/** Loads the descriptions of cells after the first picture; null until they are loaded. */
function useWords(): Words | null {
  const [words, setWords] = useState<Words | null>(null);
  useEffect(() => {
    // The picture can be seen without its descriptions.
    void import("../story/words.ts").then(setWords, () => null);
  }, []);
  return words;
}

/** The selected cell is described first, because it is the user's latest request; then the lesson, then the player. */
function useDescription(
  words: Words | null,
  call: CallView,
  spot: Spot | null,
  step: number | null,
  taught: LessonStep | null,
): Description | null {
  const described = useMemo(
    () => words && describe(words, call, spot, step),
    [words, call, spot, step],
  );
  return spot === null ? (taught?.description ?? described) : described;
}

/** Describes the selected cell or the current step; returns null if the whole call should be described. */
function describe(
  words: Words,
  call: CallView,
  spot: Spot | null,
  step: number | null,
): Description | null {
  if (call.picture === null) return words.describeFault(call, spot);
  if (spot !== null) return words.describeCell(call.picture, spot);
  return step === null || step === 0 ? null : words.describeStep(call.picture, step - 1);
}

const summaryAt = (words: Words, { picture, state }: CallView): readonly string[] =>
  picture === null
    ? []
    : words.summaryOf(picture.explanation, picture.links.tuples, state.attributes["reduction"]);

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

/** Returns the drag handler, which moves the player to the element under the pointer. */
function useScrub(
  picture: Picture | null,
  act: (action: Action) => void,
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
    if (order >= 0) act({ do: "step", step: order + 1 });
  }, []);
}

/** Returns the verb above the lines from updates to data. */
function verbOf(picture: Picture | null): string {
  const story = picture?.explanation.story;
  if (story?.kind !== "scatter") return "";
  return story.reduction === "none" ? "replace" : story.reduction;
}
