/**
 * Stores the page's state in the URL fragment. Choosing an operator or an example adds an entry to the browser history.
 */

import { suffixIn } from "./hash.ts";
import { unpack } from "./packed.ts";

interface Entry {
  /** Returns a state's URL fragment, without `#`. */
  hash(): string;
}

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
 * The minimum delay between URL changes, in milliseconds. Safari throws after 100 URL changes in 30 s; this delay
 * leaves room for new history entries.
 */
const GAP = 350;

/**
 * The delay in milliseconds before an edit is written to the URL, so that the picture is drawn first. If the page is
 * reloaded earlier, `refuge.ts` restores the unwritten state.
 */
const REST = 50;

const RETRY = 3000;

/** The maximum number of history entries in memory; older entries are parsed from their URLs. */
const MOST_STOPS = 100;

export class Address<E extends Entry> {
  readonly host: Host;
  readonly stops = new Map<string, E>();
  unwritten: E | null = null;
  timer: number | undefined;
  writtenAt = -Infinity;
  count = 0;
  /** The fragment's suffix, which holds the output to compare. */
  suffix: string;
  key: string;
  /** The URL that was last handled, and the URL that the same history entry had before. */
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

  /** Replaces the current URL as soon as the browser allows it. */
  write(entry: E): void {
    this.keep(entry);
    this.unwritten = entry;
    const wait = this.writtenAt + GAP - this.host.performance.now();
    this.later(Math.max(wait, REST));
  }

  /** Adds an entry to the browser history. */
  push(entry: E): void {
    this.flush();
    this.forget();
    this.key = this.newKey();
    this.keep(entry);
    this.attempt(entry, () =>
      this.host.history.pushState({ stop: this.key }, "", this.hashOf(entry)),
    );
  }

  /** Writes any pending URL immediately. */
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

  /** Tries to change the URL. Browsers limit how often a URL may change, so a refused change is retried. */
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
   * Listens for navigation and followed links, and returns a function that stops listening. `onArrive` receives the new
   * history entry, or null if only its URL is known.
   */
  listen(onArrive: (entry: E | null) => void): () => void {
    const { host } = this;
    // The first history entry gets its key before any other URL change, so that back navigation finds the entry.
    try {
      host.history.replaceState({ stop: this.key }, "");
    } catch {
      // A history entry that is not in memory is parsed from its URL.
    }
    const arrive = (): void => {
      const ready = unpack(host.location.hash);
      if (ready !== null) {
        void ready.then(arrive);
        return;
      }
      const stop = keyIn(host.history.state);
      // A link within the page creates a history entry without a key.
      if (stop === this.key || (stop === null && host.location.hash === this.known)) return;
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

/** Returns the key in a `history.state`, or null if no key is set yet. */
export function keyIn(state: unknown): string | null {
  const isKeyed = typeof state === "object" && state !== null && "stop" in state;
  return isKeyed && typeof state.stop === "string" ? state.stop : null;
}
