/**
 * The address of the page, which holds the state. Choosing an operator or an example adds a step to the browser's Back.
 * Undo and the meaning of a state are handled elsewhere.
 */

import { suffixIn } from "./hash.ts";

/** The address's view of a document. */
interface Entry {
  /** The address of its state, without `#`. */
  hash(): string;
}

/** The parts of `window` in use here. */
export type Host = Pick<
  Window,
  | "history"
  | "location"
  | "setTimeout"
  | "clearTimeout"
  | "addEventListener"
  | "removeEventListener"
  | "performance"
>;

/**
 * Milliseconds between writes. Safari allows 100 writes in 30 s and throws at the next, so this leaves room for steps.
 */
const GAP = 350;

/**
 * Milliseconds between an edit and its write, so that the picture is drawn first. After a reload, unwritten states come
 * from `refuge.ts`.
 */
const REST = 50;

/** Milliseconds after which a write that was refused is tried again. */
const RETRY = 3000;

/** Entries that are kept whole for Back and Forward; older ones are read from their addresses. */
const MOST_STOPS = 100;

export class Address<E extends Entry> {
  readonly host: Host;
  readonly stops = new Map<string, E>();
  unwritten: E | null = null;
  timer: number | undefined;
  writtenAt = -Infinity;
  count = 0;
  /** The part of the address behind the state: the output that is compared. */
  suffix: string;
  key: string;
  /** The address that is handled, and the one before it in the same entry. */
  known: string;
  before: string;

  constructor(host: Host, first: E) {
    this.host = host;
    this.known = host.location.hash;
    this.before = this.known;
    this.suffix = suffixIn(this.known);
    this.key = keyIn(host.history.state) ?? this.newKey();
    this.keep(first);
  }

  newKey = (): string => `${this.host.performance.timeOrigin}-${++this.count}`;

  keep(entry: E): void {
    const { stops } = this;
    stops.delete(this.key);
    stops.set(this.key, entry);
    const [oldest] = stops.keys();
    if (stops.size > MOST_STOPS && oldest !== undefined) stops.delete(oldest);
  }

  hashOf = (entry: E): string => `#${entry.hash()}${this.suffix}`;

  /** Replaces the current address by that of an entry, as soon as the browser allows. */
  write(entry: E): void {
    this.keep(entry);
    this.unwritten = entry;
    const wait = this.writtenAt + GAP - this.host.performance.now();
    this.later(Math.max(wait, REST));
  }

  /** Makes an entry a further step of Back. */
  push(entry: E): void {
    this.flush();
    this.forget();
    this.key = this.newKey();
    this.keep(entry);
    this.attempt(entry, () =>
      this.host.history.pushState({ stop: this.key }, "", this.hashOf(entry)),
    );
  }

  /** Writes what is not written yet. */
  flush = (): void => {
    const entry = this.unwritten;
    if (entry === null) return;
    this.forget();
    const { history, location, performance } = this.host;
    this.writtenAt = performance.now();
    const hash = this.hashOf(entry);
    if (hash === location.hash) return;
    this.attempt(entry, () => history.replaceState({ stop: this.key }, "", hash));
  };

  /** The browser limits how often an address may change; an entry that it refuses stays unwritten for a while. */
  attempt(entry: E, action: () => void): void {
    try {
      const before = this.known;
      action();
      this.known = this.host.location.hash;
      this.before = before;
    } catch {
      this.unwritten = entry;
      this.later(RETRY);
    }
  }

  later(delay: number): void {
    this.host.clearTimeout(this.timer);
    this.timer = this.host.setTimeout(this.flush, delay);
  }

  forget(): void {
    this.host.clearTimeout(this.timer);
    this.unwritten = null;
  }

  /**
   * Listens to Back, Forward and links.
   * @param onArrive gets the entry of the step; null if only the address is known
   * @returns stops listening
   */
  listen(onArrive: (entry: E | null) => void): () => void {
    const { host } = this;
    // This precedes all writes, so that Back finds the entry that the visit begins with.
    try {
      host.history.replaceState({ stop: this.key }, "");
    } catch {
      // The entry is then read from its address.
    }
    const arrive = (): void => {
      const stop = keyIn(host.history.state);
      // A link within the page has no key yet.
      if (stop === this.key || (stop === null && host.location.hash === this.known)) return;
      // An unwritten state belongs to the entry that was left, which is kept whole.
      this.forget();
      this.known = host.location.hash;
      this.suffix = suffixIn(this.known);
      this.key = stop ?? this.newKey();
      onArrive(this.stops.get(this.key) ?? null);
    };
    host.addEventListener("popstate", arrive);
    host.addEventListener("hashchange", arrive);
    return () => {
      host.clearTimeout(this.timer);
      host.removeEventListener("popstate", arrive);
      host.removeEventListener("hashchange", arrive);
    };
  }
}

/** The entry's key in a `history.state`; null if it has none yet. */
export function keyIn(state: unknown): string | null {
  const isKeyed = typeof state === "object" && state !== null && "stop" in state;
  return isKeyed && typeof state.stop === "string" ? state.stop : null;
}
