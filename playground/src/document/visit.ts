/**
 * The state of a visit: the history of documents, the functions that change the state, and its address. The class is
 * separate from drawing, because two changes may come before the page is drawn again.
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
import { unpacked } from "./packed.ts";
import { historyOf, pushed, redone, undone, type History } from "./history.ts";
import type { State, TensorText } from "../values/state.ts";
import type { OperatorChoice } from "./with-operator.ts";
import { Address, keyIn } from "./address.ts";
import { EXAMPLES } from "../examples/menu.ts";
import { aroundOf, historyAround } from "./history-text.ts";
import { arrive, leave } from "./refuge.ts";

/** The origin of a state: an edit, a choice, a file, a link or Back, or undo and redo. */
export type Change = "edit" | "operator" | "example" | "file" | "link" | "undo";

/** The state, and the functions that change it. Remarks are sentences that explain a change. */
export interface Page {
  state(): State;
  show(
    next: State,
    remarks?: readonly string[],
    change?: "edit" | "operator" | "example" | "file",
  ): void;
  /** Gives an input another shape. Elements that were cut off before come back. */
  reshape(input: number, shape: readonly number[]): void;
  /** Gives an input one more axis at the end, whose length is the one cut off before, else 1. */
  grow(input: number): void;
  /** Replaces an input by another tensor. */
  replace(input: number, text: TensorText): void;
  /** Adds an input that was left out. */
  give(input: number): void;
  /** Null before the first touch of the page, and while the reader is loading. */
  readonly texts: TextReader | null;
  load(): Promise<TextReader>;
  /** Appends an output to compare to the state in the address; an empty text removes it. */
  compare(suffix: string): void;
  /** Chooses an operator or a version. An operator that was used before comes back with its tensors. */
  choose(choice: OperatorChoice): void;
}

/**
 * The reader of pasted texts. The first picture does not need the reader, so it is loaded when the user first touches
 * the page.
 */
type TextReader = typeof import("../reading/paste.ts");

/** A document at an address, with its undo and redo. */
class Stop {
  readonly history: History;
  constructor(history: History) {
    this.history = history;
  }
  hash(): string {
    return toHash(this.history.present.state);
  }
}

/** A link that cannot be read, to be corrected. */
export interface BrokenLink {
  /** Without its `#`; of a compressed link, the readable text that came out of it. */
  readonly text: string;
  readonly error: string;
}

/** A document, and the broken link if the address could not be read. */
interface Arrival {
  readonly document: Document;
  readonly broken: BrokenLink | null;
}

/** True if the inputs of two states have the same numbers of elements. */
const areAlike = ({ inputs: some }: State, { inputs: others }: State): boolean =>
  some.every((input, i) => input?.values.length === others[i]?.values.length);

function presetOf(state: State): string | null {
  // Printing a large state takes longer than all other work on it, and no example is large.
  const alike = EXAMPLES.filter(({ state: one }) => one.op === state.op && areAlike(one, state));
  if (alike.length === 0) return null;
  const text = toHash(state);
  return alike.find((one) => toHash(one.state) === text)?.id ?? null;
}

/**
 * The state of a link. If the link cannot be read, the document stays; at the start of a visit, that is the first
 * example.
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

/** The first state of the page: that of its address, or the unwritten one of the last load, with its undo. */
function firstArrival(): Omit<Arrival, "document"> & { readonly history: History } {
  const left = arrive();
  // A frame that WebKit loads again has its address, but not its key.
  const isHere =
    left !== null &&
    ([left.at, left.was].includes(location.hash) || left.stop === keyIn(window.history.state));
  const hash = isHere ? (left?.to ?? location.hash) : location.hash;
  const found = arrivalAt(hash, null);
  const own = left?.own == null ? null : fromHash(left.own);
  // The user's own call is opened first, so it is kept beside the state of the address.
  const { document } =
    own === null || "error" in own ? found : arrivalAt(hash, documentOf(own.state, null));
  const isSame = isHere && left?.to === `#${toHash(document.state)}`;
  return { ...found, history: isSame ? historyAround(document, left.around) : historyOf(document) };
}

/** The address of the user's own call, for the next load; null if the next address may hold it. */
function ownHash({ preset, state, own }: Document): string | null {
  const mine = preset === null ? state : own?.state;
  return mine === undefined ? null : toHash(mine);
}

/** Called for every change, before the page is drawn, with the new state. */
export type Listener = (visit: Visit, remarks: readonly string[], change: Change) => void;

export class Visit implements Page {
  history: History;
  /** The broken link in the address; null after something else is shown. */
  broken: BrokenLink | null;
  readonly address: Address<Stop>;
  onChange: Listener = () => {};
  texts: TextReader | null = null;

  constructor() {
    const { history, broken } = firstArrival();
    this.history = history;
    this.broken = broken;
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

  /** Shows a step of Back or Forward with its undo and redo; for null, the state in the address. */
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

  /** Opens a corrected link: the whole text, or the part after its `#`. */
  openLink = (link: string): void => {
    const text = link.trim().replace(/^[^#]*#/, "");
    const { document, broken } = arrivalAt(text, this.document);
    if (broken !== null) this.breakAt(broken);
    else this.showInstead(document);
  };

  /** Discards a broken link: the address gets the state that is shown. */
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
 * Listens to Back and links, and saves unwritten changes when the page is left. Returns a function that stops
 * listening.
 */
export function lived(visit: Visit): () => void {
  const { address } = visit;
  // A user who touches the page may soon enter a text. A failed load is reported when a text is entered.
  const prepare = (): void => void visit.load().catch(() => {});
  const touches = ["pointerdown", "keydown"] as const;
  for (const touch of touches) window.addEventListener(touch, prepare, { once: true });
  const stop = address.listen(visit.arrive);
  // A state that the address did not hold in time is written now.
  if (visit.broken === null) address.write(new Stop(visit.history));
  const onLeave = (): void => {
    const [at, { document, history, broken }] = [location.hash, visit];
    // The browser may have begun to load the page again, so writing the address now can come too late.
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
