/** Reads the call in a link. */

import type { Preset } from "../examples/preset.ts";
import { START } from "../examples/start.ts";
import type { State } from "../values/state.ts";
import { documentOf, withOpened, type Document } from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import { historyOf } from "./history.ts";
import { unpacked } from "./packed.ts";
import { historyAround, taken } from "./refuge.ts";
import { WHOLE, type BrokenLink, type PageState } from "./state.ts";
import { NOTHING, readSuffix, textAbout, withUrl, type About, type Suffix } from "./suffix.ts";

/** A document, with the broken link if the URL could not be parsed. */
interface Arrival {
  readonly document: Document;
  readonly broken: BrokenLink | null;
}

/** Checks whether the corresponding inputs of two states have equal numbers of elements. */
const areAlike = ({ inputs: some }: State, { inputs: others }: State): boolean =>
  some.every((input, i) => input?.values.length === others[i]?.values.length);

type Knowing = Pick<PageState, "known">;

/** Returns all examples that are loaded. */
export const examplesOf = ({ known }: Knowing): readonly Preset[] => known?.examples ?? START;

/** Returns the example that equals a state, or null. */
export function presetOf(state: State, page: Knowing): string | null {
  // Large states are skipped, because serializing them is slow and no example is large.
  const alike = examplesOf(page).filter(
    ({ state: one }) => one.op === state.op && areAlike(one, state),
  );
  if (alike.length === 0) return null;
  const text = toHash(state);
  return alike.find((one) => toHash(one.state) === text)?.id ?? null;
}

/**
 * Returns the state in a link. If the link cannot be parsed, the document stays the same; at the start of a visit, the
 * first example is shown.
 */
export function arrivalAt(hash: string, before: Document | null, page: Knowing): Arrival {
  const [first] = START;
  const { text, error } = unpacked(hash);
  const found = error !== null ? { error } : text === "" ? { state: first.state } : fromHash(text);
  const broken = "error" in found ? { text, error: found.error } : null;
  if (broken !== null && before !== null) return { document: before, broken };
  const state = "error" in found ? first.state : found.state;
  const preset = presetOf(state, page);
  const document = before === null ? documentOf(state, preset) : withOpened(before, state, preset);
  return { document, broken };
}

/**
 * Returns the page's first state: the call in the URL, or what was not written when this tab left the page.
 * @param key the key of the browser's history entry
 */
export function firstPage(key: string | null): PageState {
  const left = taken();
  const url = location.hash;
  // After a reload in WebKit, a frame retains its URL but not its history key.
  const isHere = left !== null && ([left.at, left.was].includes(url) || left.stop === key);
  const hash = isHere ? (left.to ?? url) : url;
  const found = arrivalAt(hash, null, { known: null });
  const own = left?.own == null ? null : fromHash(left.own);
  const mine = own === null || "error" in own ? null : own.state;
  // The user's own call is opened before the state in the URL, so that the new document preserves the call.
  const { document } =
    mine === null ? found : arrivalAt(hash, documentOf(mine, null), { known: null });
  const text = toHash(document.state);
  const isSame = isHere && left.to === `#${text}`;
  const isOwn = mine !== null && toHash(mine) === text;
  const history = isSame ? historyAround(document, left) : historyOf(document);
  const { preset, state } = history.present;
  const suffix = firstSuffix(url, isHere ? left.question : NOTHING);
  return {
    ...WHOLE,
    known: null,
    history,
    broken: found.broken,
    linked: isHere || isOwn || preset !== null ? "" : text,
    remarks: [],
    suffix,
    edition: 0,
    generation: 0,
    focused: null,
    pointed: null,
    panel: null,
    text: null,
    asked: askedBy(suffix, state),
  };
}

/** Returns the suffix of the first URL, whose call the page may have left for another one before a reload. */
function firstSuffix(url: string, question: About): Suffix {
  const { text } = unpacked(url);
  const found = text === "" ? null : fromHash(text);
  const state = found === null || "error" in found ? null : found.state;
  return withUrl({ question, compared: NOTHING }, readSuffix(url, state));
}

/** Returns the output for comparison with this state that the URL's suffix contains. */
export function askedBy({ compared }: Suffix, state: State): PageState["asked"] {
  const link = textAbout(compared, state);
  return link === "" ? undefined : { actual: null, link };
}
