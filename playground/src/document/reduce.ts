/**
 * Computes the page's next state from an action. No other code changes the state. This module is loaded after the first
 * picture, with all examples.
 */

import { EXAMPLES } from "../examples/presets.ts";
import { pairOf } from "../examples/pairs.ts";
import { dtypesOf, versionOf } from "../values/schema.ts";
import { coordinatesOf } from "../values/shape.ts";
import { arrivalAt, askedBy, examplesOf, presetOf } from "./arrival.ts";
import { withChoice } from "./choose.ts";
import { withExample, withOpened, withOwn, type Document } from "./document.ts";
import { withAttribute, withInput, withType, withValue } from "./edit.ts";
import { toHash } from "./hash.ts";
import { grownShape, withInputGiven, withInputShape, withInputText, withState } from "./inputs.ts";
import { pushed, redone, undone } from "./history.ts";
import {
  WHOLE,
  type Action,
  type Changed,
  type ComparedWith,
  type Edit,
  type Known,
  type PageState,
  type Shown,
  type Stride,
  type Travel,
} from "./state.ts";
import { isCall, NOTHING, readSuffix, withUrl } from "./suffix.ts";

export function reduce(page: PageState, action: Action): PageState {
  switch (action.do) {
    case "choose":
    case "example":
    case "own":
    case "open":
      return afterStride(page, action);
    case "arrive":
    case "link":
    case "drop":
      return afterTravel(page, action);
    case "undo":
      return walked(page, undone(page.history));
    case "redo":
      return walked(page, redone(page.history));
    case "spot":
      return action.isFocus
        ? spotted(page, action.spot, null)
        : spotted(page, page.focused, action.spot);
    case "step":
      return { ...spotted(page, null, null), step: action.step };
    case "show":
      return withShown(page, action);
    case "compare":
      return withCompared(page, action.compared);
    default:
      return changed(page, afterEdit(page.history.present, action));
  }
}

/** Returns the page with another document, which ends everything that the user looked at in the former call. */
function changed(page: PageState, { document, remarks = [] }: Changed): PageState {
  const isNew = document !== page.history.present;
  return {
    ...page,
    ...WHOLE,
    history: isNew ? pushed(page.history, document) : page.history,
    broken: isNew ? null : page.broken,
    remarks,
    edition: page.edition + 1,
  };
}

/**
 * Returns the page with another call. Any open dialog closes, and an open comparison is empty, because both belong to
 * the former call.
 */
function elsewhere(page: PageState): PageState {
  const { suffix, history, asked } = page;
  const { state } = history.present;
  const isCompared = isCall(suffix.compared.of, state);
  return {
    ...page,
    generation: page.generation + 1,
    panel: null,
    text: null,
    suffix: isCompared ? suffix : { ...suffix, compared: NOTHING },
    asked: askedBy(suffix, state) ?? (asked && { actual: null }),
  };
}

function walked(page: PageState, history: PageState["history"]): PageState {
  if (history === page.history) return page;
  return { ...changed(page, { document: page.history.present }), history, broken: null };
}

function afterEdit(document: Document, action: Edit): Changed {
  const { state } = document;
  switch (action.do) {
    case "edit":
      return { document: withState(document, action.state) };
    case "put":
      return { document: withState(document, withInput(state, action.input, action.text)) };
    case "replace":
      return { document: withInputText(document, action.input, action.text) };
    case "value": {
      const text = state.inputs[action.input] ?? null;
      if (text === null) return { document };
      const edited = withValue(text, coordinatesOf(action.element, text.shape), action.text);
      return { document: withState(document, withInput(state, action.input, edited)) };
    }
    case "dtype": {
      const version = versionOf(state);
      const schema = version?.inputs[action.input];
      const dtype =
        version && schema && dtypesOf(version, schema).find((one) => one === action.dtype);
      return dtype
        ? { document: withState(document, withType(state, version, action.input, dtype)) }
        : { document };
    }
    case "shape":
      return reshaped(document, action.input, action.shape);
    case "grow":
      return reshaped(document, action.input, grownShape(document, action.input));
    case "give":
      return { document: withInputGiven(document, action.input) };
    case "attribute":
      return {
        document: withState(
          document,
          withAttribute(state, versionOf(state), action.name, action.text),
        ),
      };
    case "say":
      return { document, remarks: action.remarks };
  }
}

function reshaped(document: Document, input: number, shape: readonly number[]): Changed {
  const found = withInputShape(document, input, shape);
  return "error" in found ? { document, remarks: [found.error] } : found;
}

function afterStride(page: PageState, action: Stride): PageState {
  const { present } = page.history;
  switch (action.do) {
    case "choose":
      return changed(page, withChoice(present, action.choice));
    case "example": {
      const chosen = examplesOf(page).find(({ id }) => id === action.id);
      if (chosen === undefined) return page;
      const next = changed(page, { document: withExample(present, chosen) });
      return { ...elsewhere(next), focused: null };
    }
    case "own":
      return { ...elsewhere(changed(page, { document: withOwn(present) })), focused: null };
    case "open": {
      const { state, remarks } = action;
      const document = withOpened(present, state, presetOf(state, page));
      return elsewhere(changed(page, { document, remarks }));
    }
  }
}

function afterTravel(page: PageState, action: Travel): PageState {
  const { present } = page.history;
  if (action.do === "drop") return { ...shown(page, present), broken: null };
  if (action.do === "arrive" && action.history !== null) {
    const { history, hash } = action;
    const suffix = withUrl(page.suffix, readSuffix(hash, history.present.state));
    return elsewhere({ ...changed(page, { document: present }), history, suffix, broken: null });
  }
  const hash = action.do === "link" ? action.text : action.hash;
  const { document, broken } = arrivalAt(hash, present, page);
  if (broken !== null)
    return action.do === "link" ? { ...page, broken } : { ...shown(page, document), broken };
  const suffix = withUrl(page.suffix, readSuffix(hash, document.state));
  return { ...shown({ ...page, suffix }, document), broken };
}

/** Returns the page with a call that a link has opened. */
function shown(page: PageState, document: Document): PageState {
  const isOwn = document.preset !== null || document.state === page.history.present.own?.state;
  const isNew = document !== page.history.present;
  const linked = !isNew ? page.linked : isOwn ? "" : toHash(document.state);
  return { ...elsewhere(changed(page, { document })), linked };
}

function withShown(page: PageState, action: { readonly do: "show" } & Partial<Shown>): PageState {
  const { do: _, ...shown } = action;
  const names = Object.keys(shown) as (keyof Shown)[];
  return names.every((name) => page[name] === shown[name]) ? page : { ...page, ...shown };
}

function withCompared(page: PageState, given: ComparedWith | null): PageState {
  const { compared: before } = page.suffix;
  const compared = given === null ? NOTHING : { of: toHash(given.state), text: given.suffix };
  const isSame = before.of === compared.of && before.text === compared.text;
  return isSame ? page : { ...page, suffix: { ...page.suffix, compared } };
}

/** The same cells give the same page, so that a pointer within a cell draws nothing. */
function spotted(
  page: PageState,
  focused: PageState["focused"],
  pointed: PageState["pointed"],
): PageState {
  const isSame = areSame(page.focused, focused) && areSame(page.pointed, pointed);
  return isSame ? page : { ...page, focused, pointed };
}

const areSame = (one: PageState["focused"], other: PageState["focused"]): boolean =>
  one?.tensor === other?.tensor && one?.element === other?.element;

const KNOWN: Known = { examples: EXAMPLES, pairOf, reduce };

/** Returns the page with what was loaded after its first picture. The first call may be one of the examples. */
export function informed(page: PageState): PageState {
  const { present } = page.history;
  const known = { ...page, known: KNOWN };
  const preset = page.edition === 0 ? (present.preset ?? presetOf(present.state, known)) : null;
  if (preset === present.preset || preset === null) return known;
  return {
    ...known,
    linked: "",
    history: { ...page.history, present: { ...present, preset } },
  };
}
