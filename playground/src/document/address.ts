/**
 * Keeps the present document in the URL fragment. Choosing an operator or an example adds an entry to the browser
 * history.
 */

import type { History } from "./history.ts";
import type { PageState } from "./state.ts";
import { printWithSuffix } from "./suffix.ts";

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

const hashOf = ({ history, suffix }: PageState): string =>
  `#${printWithSuffix(suffix, history.present.state)}`;

export class Address {
  private readonly stops = new Map<string, History>();
  private unwritten: PageState | null = null;
  private timer: number | undefined;
  private writtenAt = -Infinity;
  private count = 0;
  /** The key of the browser's history entry. */
  key: string;
  /** The URL that was last handled, and the URL that the same history entry had before. */
  private known = location.hash;
  before = location.hash;

  constructor({ history }: PageState) {
    this.key = keyNow() ?? this.newKey();
    this.keep(history);
  }

  private readonly newKey = (): string => `${performance.timeOrigin}-${++this.count}`;

  /** Keeps a document with its undo steps, so that back navigation to the entry with this key finds them. */
  keep(entry: History, key = this.key): void {
    const { stops } = this;
    stops.delete(key);
    stops.set(key, entry);
    const [oldest] = stops.keys();
    if (stops.size > MOST_STOPS && oldest !== undefined) stops.delete(oldest);
  }

  /** Returns the documents of the entry with this key, or null if only its URL is known. */
  documentsAt(key: string): History | null {
    return this.stops.get(key) ?? null;
  }

  /** Keeps what the page shows after navigation. A change of the entry before must not replace the new URL. */
  arrive(key: string, entry: History): void {
    this.forget();
    this.keep(entry, key);
  }

  /** Replaces the current URL as soon as the browser allows it. */
  write(page: PageState): void {
    this.keep(page.history);
    this.unwritten = page;
    this.later(Math.max(this.writtenAt + GAP - performance.now(), REST));
  }

  /** Adds an entry to the browser history. */
  push(page: PageState): void {
    this.flush();
    this.forget();
    this.key = this.newKey();
    this.keep(page.history);
    this.attempt(page, () => history.pushState({ stop: this.key }, "", hashOf(page)));
  }

  /** Writes any pending URL immediately. */
  flush = (): void => {
    const page = this.unwritten;
    if (page === null) return;
    this.forget();
    this.writtenAt = performance.now();
    const hash = hashOf(page);
    if (hash === location.hash) return;
    this.attempt(page, () => history.replaceState({ stop: this.key }, "", hash));
  };

  /** Tries to change the URL. Browsers limit how often a URL may change, so a refused change is retried. */
  private attempt(page: PageState, action: () => void): void {
    try {
      const before = this.known;
      action();
      this.known = location.hash;
      this.before = before;
    } catch {
      this.unwritten = page;
      this.later(RETRY);
    }
  }

  private later(delay: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.flush, delay);
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.unwritten = null;
  }

  /**
   * Listens for navigation and followed links, and returns a function that stops listening. `onArrive` is called after
   * `key` is that of the new history entry.
   */
  listen(onArrive: () => void): () => void {
    // The first history entry gets its key before any other URL change, so that back navigation finds the entry.
    try {
      history.replaceState({ stop: this.key }, "");
    } catch {
      // A history entry that is not in memory is parsed from its URL.
    }
    const arrive = (): void => {
      const stop = keyNow();
      // A link within the page creates a history entry without a key.
      if (stop === this.key || (stop === null && location.hash === this.known)) return;
      this.forget();
      this.known = location.hash;
      this.key = stop ?? this.newKey();
      onArrive();
    };
    window.addEventListener("popstate", arrive);
    window.addEventListener("hashchange", arrive);
    return () => {
      clearTimeout(this.timer);
      window.removeEventListener("popstate", arrive);
      window.removeEventListener("hashchange", arrive);
    };
  }
}

/** Returns the key of the browser's history entry, or null if no key is set yet. */
export function keyNow(): string | null {
  const state: unknown = history.state;
  const isKeyed = typeof state === "object" && state !== null && "stop" in state;
  return isKeyed && typeof state.stop === "string" ? state.stop : null;
}
