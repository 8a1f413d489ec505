/**
 * The address of the page, which holds the state. Choosing an operator or an example adds an entry to the browser's
 * history. Undo and the format of addresses are handled elsewhere.
 */

import { suffixIn } from "./hash.ts";

/** A document, as the address stores it. */
interface Entry {
  /** Returns the address of the state, without `#`. */
  hash(): string;
}

/** The parts of `window` that this module uses. */
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
 * The delay, in ms, between writes. Safari throws after 100 writes in 30 s, and this delay leaves room for new history
 * entries.
 */
const GAP = 350;

/**
 * The delay, in ms, before an edit is written to the address, so that the picture is drawn first. After a reload,
 * `refuge.ts` restores unwritten states.
 */
const REST = 50;

/** The delay, in ms, before a refused write is tried again. */
const RETRY = 3000;

/** The maximum number of entries kept in memory for Back and Forward; older entries are parsed from their addresses. */
const MOST_STOPS = 100;

export class Address<E extends Entry> {
  readonly host: Host;
  readonly stops = new Map<string, E>();
  unwritten: E | null = null;
  timer: number | undefined;
  writtenAt = -Infinity;
  count = 0;
  /** The end of the address, which holds the output to compare. */
  suffix: string;
  key: string;
  /** The address that was last handled, and the previous address of the same history entry. */
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

  /** Replaces the current address with the address of an entry, as soon as the browser allows it. */
  write(entry: E): void {
    this.keep(entry);
    this.unwritten = entry;
    const wait = this.writtenAt + GAP - this.host.performance.now();
    this.later(Math.max(wait, REST));
  }

  /** Adds an entry to the browser's history. */
  push(entry: E): void {
    this.flush();
    this.forget();
    this.key = this.newKey();
    this.keep(entry);
    this.attempt(entry, () =>
      this.host.history.pushState({ stop: this.key }, "", this.hashOf(entry)),
    );
  }

  /** Writes any pending address immediately. */
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

  /**
   * Tries to change the address. Browsers limit how often an address may change; a refused write is tried again later.
   */
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
   * Listens for Back, Forward and links.
   * @param onArrive receives the entry of the step; null if only the address is known
   * @returns a function that stops listening
   */
  listen(onArrive: (entry: E | null) => void): () => void {
    const { host } = this;
    // The first history entry gets its key before any other write, so that Back can find the entry.
    try {
      host.history.replaceState({ stop: this.key }, "");
    } catch {
      // History entries that are not in memory are parsed from their addresses.
    }
    const arrive = (): void => {
      const stop = keyIn(host.history.state);
      // A history entry created by a link within the page has no key yet.
      if (stop === this.key || (stop === null && host.location.hash === this.known)) return;
      // The unsaved state belongs to the previous history entry, which is kept in memory.
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

/** Returns the entry's key in a `history.state`; null if the key is not set yet. */
export function keyIn(state: unknown): string | null {
  const isKeyed = typeof state === "object" && state !== null && "stop" in state;
  return isKeyed && typeof state.stop === "string" ? state.stop : null;
}
