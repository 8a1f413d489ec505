/**
 * Keeps the page's state and its URL. The state is kept outside the components, because two actions may happen before
 * the page is redrawn.
 */

import { Address, keyNow } from "./address.ts";
import { firstPage } from "./arrival.ts";
import { unpack } from "./packed.ts";
import { leave } from "./refuge.ts";
import type { Action, PageState } from "./state.ts";

const STRIDES: ReadonlySet<Action["do"]> = new Set(["choose", "example", "own", "open"]);

/** Returns the part of a link after `#`, or a text without `#` as a whole. */
const fragmentOf = (link: string): string => link.trim().replace(/^[^#]*#/, "");

export class Store {
  page = firstPage(keyNow());
  private readonly address = new Address(this.page);

  /** Called after each change, before the page is redrawn. */
  onChange = (_page: PageState): void => {};

  act = (given: Action): void => {
    const action = given.do === "link" ? { ...given, text: fragmentOf(given.text) } : given;
    const link = action.do === "link" ? unpack(action.text) : null;
    const known = this.page.known === null ? this.learn() : null;
    if (link === null && known === null) this.take(action);
    else void Promise.all([link, known]).then(() => this.take(action));
  };

  /** Loads the reducer. If loading fails, the next action tries again. */
  private async learn(): Promise<void> {
    const loaded = await import("./reduce.ts").catch(() => null);
    if (loaded === null || this.page.known !== null) return;
    this.page = loaded.informed(this.page);
    this.onChange(this.page);
  }

  private take(action: Action): void {
    const before = this.page;
    const page = before.known?.reduce(before, action) ?? before;
    if (page === before) return;
    this.page = page;
    const isNew = page.history !== before.history;
    // A corrected or discarded link is replaced in the URL, even if it shows the same call.
    const isMended = before.broken !== null && page.broken === null;
    if (action.do === "arrive") this.address.keep(page.history);
    else if (isNew && STRIDES.has(action.do)) this.address.push(page);
    else if (isNew || isMended || page.suffix !== before.suffix) this.address.write(page);
    this.onChange(page);
  }

  /**
   * Listens for navigation and followed links, saves unwritten changes when the user leaves, and returns a function
   * that stops listening.
   */
  live(): () => void {
    const { address } = this;
    const stop = address.listen((history) =>
      this.act({ do: "arrive", history, hash: location.hash }),
    );
    // Writes a state that is not in the URL yet.
    if (this.page.broken === null) address.write(this.page);
    if (this.page.known === null) void this.learn();
    const onLeave = (): void => {
      const { history, broken } = this.page;
      // Changing the URL now would be too late if the browser has started a reload.
      const place = { at: location.hash, was: address.before, stop: address.key };
      leave(history, broken !== null, place);
      address.flush();
    };
    const onHide = (): void => {
      if (document.visibilityState === "hidden") address.flush();
    };
    window.addEventListener("pagehide", onLeave);
    document.addEventListener("visibilitychange", onHide);
    return () => {
      stop();
      window.removeEventListener("pagehide", onLeave);
      document.removeEventListener("visibilitychange", onHide);
    };
  }
}
