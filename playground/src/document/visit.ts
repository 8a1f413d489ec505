/**
 * Manages one visit: the document history, the functions that change the state, and the page's URL. This class is
 * separate from drawing, because two changes may happen before the page is redrawn.
 */

import {
  documentOf,
  grownShape,
  withChoice,
  withExample,
  withInputGiven,
  withInputShape,
  withInputText,
  withOpened,
  withOwn,
  withState,
  type Document,
} from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import { unpack, unpacked } from "./packed.ts";
import { historyOf, pushed, redone, undone, type History } from "./history.ts";
import type { State, TensorText } from "../values/state.ts";
import type { OperatorChoice } from "./with-operator.ts";
import { Address, keyIn } from "./address.ts";
import { EXAMPLES } from "../examples/menu.ts";
import { aroundOf, historyAround } from "./history-text.ts";
import { arrive, leave } from "./refuge.ts";

/** The cause of a state change: an edit, an operator choice, an example, a file, a link, navigation, undo or redo. */
export type Change = "edit" | "operator" | "example" | "file" | "link" | "undo";

/** Remarks are sentences that explain a change to the user. */
export interface Page {
  state(): State;
  show(
    next: State,
    remarks?: readonly string[],
    change?: "edit" | "operator" | "example" | "file",
  ): void;
  /** Reshapes an input. Elements that were removed earlier are restored. */
  reshape(input: number, shape: readonly number[]): void;
  /** Adds an axis at the end of an input. The new axis has the length of the axis that was last removed, or 1. */
  grow(input: number): void;
  /** Replaces an input with another tensor. */
  replace(input: number, text: TensorText): void;
  /** Adds an omitted input. */
  give(input: number): void;
  /** The parser for pasted text; null until the parser is loaded. */
  readonly texts: TextReader | null;
  load(): Promise<TextReader>;
  /** Appends an output for comparison to the URL; an empty text removes the output. */
  compare(suffix: string): void;
  /** Selects an operator or version. An operator that was used before gets its tensors back. */
  choose(choice: OperatorChoice): void;
}

/**
 * The parser for pasted text, loaded when the user first touches the page, because the first drawing does not need it.
 */
type TextReader = typeof import("../reading/paste.ts");

/** A browser history entry: a document with its undo and redo steps. */
class Stop {
  readonly history: History;
  constructor(history: History) {
    this.history = history;
  }
  hash(): string {
    return toHash(this.history.present.state);
  }
}

export interface BrokenLink {
  /** The text of a link without its `#`, after decompression. */
  readonly text: string;
  readonly error: string;
}

/** A document, with the broken link if the URL could not be parsed. */
interface Arrival {
  readonly document: Document;
  readonly broken: BrokenLink | null;
}

/** Checks whether the corresponding inputs of two states have equal numbers of elements. */
const areAlike = ({ inputs: some }: State, { inputs: others }: State): boolean =>
  some.every((input, i) => input?.values.length === others[i]?.values.length);

function presetOf(state: State): string | null {
  // Large states are skipped, because serializing them is slow and no example is large.
  const alike = EXAMPLES.filter(({ state: one }) => one.op === state.op && areAlike(one, state));
  if (alike.length === 0) return null;
  const text = toHash(state);
  return alike.find((one) => toHash(one.state) === text)?.id ?? null;
}

/**
 * Returns the state in a link. If the link cannot be parsed, the document stays the same; at the start of a visit, the
 * first example is shown.
 */
function arrivalAt(hash: string, before: Document | null): Arrival {
  const [first] = EXAMPLES;
  const { text, error } = unpacked(hash);
  const found = error !== null ? { error } : text === "" ? { state: first.state } : fromHash(text);
  const broken = "error" in found ? { text, error: found.error } : null;
  if (broken !== null && before !== null) return { document: before, broken };
  const state = "error" in found ? first.state : found.state;
  const preset = presetOf(state);
  const document = before === null ? documentOf(state, preset) : withOpened(before, state, preset);
  return { document, broken };
}

/** Returns the page's first state: the state in the URL, or the unwritten state and history from the last page load. */
function firstArrival(): Omit<Arrival, "document"> & {
  readonly history: History;
  readonly isHere: boolean;
} {
  const left = arrive();
  // After a reload in WebKit, a frame retains its URL but not its history key.
  const isHere =
    left !== null &&
    ([left.at, left.was].includes(location.hash) || left.stop === keyIn(window.history.state));
  const hash = isHere ? (left?.to ?? location.hash) : location.hash;
  const found = arrivalAt(hash, null);
  const own = left?.own == null ? null : fromHash(left.own);
  // The user's own call is opened before the state in the URL, so that the new document preserves the call.
  const { document } =
    own === null || "error" in own ? found : arrivalAt(hash, documentOf(own.state, null));
  const isSame = isHere && left?.to === `#${toHash(document.state)}`;
  const isOwn = own !== null && !("error" in own) && toHash(own.state) === toHash(document.state);
  return {
    ...found,
    isHere: isHere || isOwn,
    history: isSame ? historyAround(document, left.around) : historyOf(document),
  };
}

/** Returns the URL fragment of the user's own call for the next page load, or null if the next URL may contain it. */
function ownHash({ preset, state, own }: Document): string | null {
  const mine = preset === null ? state : own?.state;
  return mine === undefined ? null : toHash(mine);
}

/** Receives the new state after every change, before the page is redrawn. */
export type Listener = (visit: Visit, remarks: readonly string[], change: Change) => void;

export class Visit implements Page {
  history: History;
  /** The broken link in the URL; null after another state is shown. */
  broken: BrokenLink | null;
  /** The state that a link has opened and nobody has changed; null for an example and for the user's own call. */
  linked: State | null;
  readonly address: Address<Stop>;
  onChange: Listener = () => {};
  texts: TextReader | null = null;

  constructor() {
    const { history, broken, isHere } = firstArrival();
    this.history = history;
    this.broken = broken;
    const { preset, state } = history.present;
    this.linked = isHere || preset !== null ? null : state;
    this.address = new Address(window, new Stop(history));
  }

  get document(): Document {
    return this.history.present;
  }

  state = (): State => this.document.state;

  async load(): Promise<TextReader> {
    this.texts ??= await import("../reading/paste.ts");
    return this.texts;
  }

  put(document: Document, remarks: readonly string[], change: Change): void {
    const isNew = document !== this.document;
    const isStep = change === "operator" || change === "example" || change === "file";
    if (isNew) {
      const isOwn = document.preset !== null || document.state === this.document.own?.state;
      if (change === "link") this.linked = isOwn ? null : document.state;
      this.history = pushed(this.history, document);
      this.broken = null;
      const stop = new Stop(this.history);
      if (isStep) this.address.push(stop);
      else if (change !== "link") this.address.write(stop);
    }
    this.onChange(this, remarks, change);
  }

  show: Page["show"] = (next, remarks = [], change = "edit") => {
    const isElsewhere = change === "example" || change === "file";
    const document = isElsewhere
      ? withOpened(this.document, next, presetOf(next))
      : withState(this.document, next);
    this.put(document, remarks, change);
  };

  reshape: Page["reshape"] = (input, shape) => {
    const found = withInputShape(this.document, input, shape);
    if ("error" in found) this.put(this.document, [found.error], "edit");
    else this.put(found.document, [], "edit");
  };

  grow = (input: number): void => this.reshape(input, grownShape(this.document, input));

  replace: Page["replace"] = (input, text) =>
    this.put(withInputText(this.document, input, text), [], "edit");

  give = (input: number): void => this.put(withInputGiven(this.document, input), [], "edit");

  compare = (suffix: string): void => {
    if (suffix === this.address.suffix) return;
    this.address.suffix = suffix;
    this.address.write(new Stop(this.history));
  };

  choose = (choice: OperatorChoice): void => {
    const { document, remarks } = withChoice(this.document, choice);
    this.put(document, remarks, "operator");
  };

  showPreset = (id: string): void => {
    const chosen = EXAMPLES.find((one) => one.id === id);
    if (chosen !== undefined) this.put(withExample(this.document, chosen), [], "example");
  };

  showOwn = (): void => this.put(withOwn(this.document), [], "example");

  undo = (): void => this.walk(undone(this.history));

  redo = (): void => this.walk(redone(this.history));

  walk(history: History): void {
    if (history === this.history) return;
    this.history = history;
    this.broken = null;
    this.address.write(new Stop(history));
    this.onChange(this, [], "undo");
  }

  /** Shows a history entry with its undo and redo steps, or the state in the URL if the entry is null. */
  arrive = (stop: Stop | null): void => {
    if (stop !== null) {
      this.history = stop.history;
      this.broken = null;
      this.onChange(this, [], "link");
      return;
    }
    const { document, broken } = arrivalAt(location.hash, this.document);
    this.put(document, [], "link");
    this.breakAt(broken);
  };

  /** Opens a corrected link, given whole or as the part after `#`. */
  openLink = (link: string): void => {
    const text = link.trim().replace(/^[^#]*#/, "");
    const ready = unpack(text);
    if (ready !== null) {
      void ready.then(() => this.openLink(text));
      return;
    }
    const { document, broken } = arrivalAt(text, this.document);
    if (broken !== null) this.breakAt(broken);
    else this.showInstead(document);
  };

  /** Discards a broken link, and writes the visible state to the URL. */
  dropLink = (): void => this.showInstead(this.document);

  showInstead(document: Document): void {
    this.put(document, [], "link");
    this.address.write(new Stop(this.history));
    this.breakAt(null);
  }

  breakAt(broken: BrokenLink | null): void {
    if (broken === this.broken) return;
    this.broken = broken;
    this.onChange(this, [], "link");
  }
}

/**
 * Listens for navigation and followed links, saves unwritten changes when the user leaves, and returns a function that
 * stops listening.
 */
export function lived(visit: Visit): () => void {
  const { address } = visit;
  // The parser is loaded at the first touch, because the user may soon enter text. A failure to load the parser is
  // reported only when text is entered.
  const prepare = (): void => void visit.load().catch(() => {});
  const touches = ["pointerdown", "keydown"] as const;
  for (const touch of touches) window.addEventListener(touch, prepare, { once: true });
  const stop = address.listen(visit.arrive);
  // Writes a state that is not in the URL yet.
  if (visit.broken === null) address.write(new Stop(visit.history));
  const onLeave = (): void => {
    const [at, { document, history, broken }] = [location.hash, visit];
    // Changing the URL now would be too late if the browser has started a reload.
    const to = broken === null ? `#${toHash(document.state)}` : null;
    const around = aroundOf(history);
    leave({ at, was: address.before, stop: address.key, to, own: ownHash(document), around });
    address.flush();
  };
  const onHide = (): void => {
    if (globalThis.document.visibilityState === "hidden") address.flush();
  };
  window.addEventListener("pagehide", onLeave);
  globalThis.document.addEventListener("visibilitychange", onHide);
  return () => {
    stop();
    for (const touch of touches) window.removeEventListener(touch, prepare);
    window.removeEventListener("pagehide", onLeave);
    globalThis.document.removeEventListener("visibilitychange", onHide);
  };
}
