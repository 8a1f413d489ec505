/** Keeps the page's state, and derives what the page shows from it. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Description, Session } from "../cells/session.ts";
import { usePicture, useTensors } from "../cells/use-picture.ts";
import type { CallView, Picture } from "../cells/view.ts";
import { editsOf, type Editor, type TextReader } from "../document/edits.ts";
import type { Fix } from "../document/fixes.ts";
import type { Action, PageState } from "../document/state.ts";
import { examplesOf } from "../document/arrival.ts";
import { Store } from "../document/store.ts";
import { verbOf } from "../stage/wiring.ts";
import { isCall, textAbout } from "../document/suffix.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import { useResolved } from "../widgets/resolved.ts";

const NO_FIXES: readonly Fix[] = [];

export function useSession(): Session {
  const { page, store, editor } = useStore();
  const { act } = store;
  const { state, preset, own } = page.history.present;
  const drawn = usePicture(state, page.generation);
  const { call, picture, version } = drawn;
  const { links = null } = picture ?? {};
  const { count = 0 } = links ?? {};
  const { step, pointed, focused, isPlaying } = page;
  const at = drawn.isStale ? count : Math.min(step ?? count, count);
  const tensors = useTensors(drawn, at, page);
  const edits = useMemo(
    () => state.inputs.map((_, position) => editsOf(version, position, editor)),
    [version, state.inputs.length],
  );
  const spot = pointed ?? focused;
  const words = useWords();
  const description = useMemo(
    () => words && describe(words, call, spot, step),
    [words, call, spot, step],
  );
  const { question, example, isLinked } = useTitle(page);
  return {
    ...page,
    ...drawn,
    ...tensors,
    state,
    preset,
    example,
    edits,
    isLinked,
    hasOwn: own !== null,
    canUndo: page.history.past.length > 0,
    canRedo: page.history.future.length > 0,
    act,
    latest: editor.latest,
    load: editor.load,
    explanation: call.explanation,
    fixes: useFixes(call),
    ...useMemo(() => wholeOf(words, call), [words, call]),
    question,
    links,
    count,
    at,
    spot,
    isPointed: pointed !== null,
    onSpot: useSpotting(act),
    onStep: useCallback((next: number) => act({ do: "step", step: next }), []),
    onScrub: useScrub(picture, act),
    description,
    toHear: isPlaying || pointed !== null ? "" : (words?.toHear(description, example) ?? ""),
    verb: verbOf(picture),
  };
}

/** Returns the sender's question, or else the example whose question is the title. */
function useTitle({
  history,
  suffix,
  linked,
  known,
}: PageState): Pick<Session, "question" | "example" | "isLinked"> {
  const { state, preset } = history.present;
  const question = useMemo(() => textAbout(suffix.question, state), [suffix.question, state]);
  const isLinked = useMemo(() => isCall(linked, state), [linked, state]);
  const example = useMemo(
    () => examplesOf({ known }).find(({ id }) => id === preset) ?? null,
    [known, preset],
  );
  return { question, example: question === "" ? example : null, isLinked };
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

/** Loads the descriptions of cells after the first picture, which can be seen without them. */
const useWords = (): Words | null => useResolved(null, () => import("../story/words.ts"));

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

/** Describes the whole call: its summary, how values move, and what the call does, or that it fails, as one sentence. */
function wholeOf(
  words: Words | null,
  { picture, state, faults }: CallView,
): Pick<Session, "summary" | "route" | "headline"> {
  if (words === null) return { summary: [], route: "", headline: "" };
  if (picture === null) {
    const { size: count } = new Set(faults.map(({ sentence }) => sentence));
    const headline = `No output, because of ${count === 1 ? "one error" : `${count} errors`}.`;
    return { summary: [], route: "", headline };
  }
  const { explanation, links } = picture;
  const summary = words.summaryOf(explanation, links.tuples, state.attributes["reduction"]);
  return { summary, route: words.routeOf(explanation), headline: summary[0] ?? "" };
}

/** The code that finds fixes is loaded with the first error, which is shown even if no fix is known. */
const useFixes = (call: CallView): readonly Fix[] =>
  useResolved(call, () =>
    call.picture === null
      ? import("../document/fixes.ts").then(({ fixesOf }) => fixesOf(call.state))
      : null,
  ) ?? NO_FIXES;

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
