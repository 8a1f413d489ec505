/**
 * Keeps the page's state and its URL. The state is kept outside the components, because two actions may happen before
 * the page is redrawn.
 */

import { Address, keyNow } from "./address.ts";
import { firstPage } from "./arrival.ts";
import { unpack } from "./packed.ts";
import { reduce } from "./reduce.ts";
import { leave } from "./refuge.ts";
import type { Action, PageState } from "./state.ts";

const STRIDES: ReadonlySet<Action["do"]> = new Set(["choose", "example", "own", "open"]);

export class Store {
  page = firstPage(keyNow());
  private readonly address = new Address(this.page);

  /** Called after each change, before the page is redrawn. */
  onChange = (_page: PageState): void => {};

  act = (action: Action): void => {
    if (action.do === "link") {
      const text = action.text.trim().replace(/^[^#]*#/, "");
      const ready = unpack(text);
      if (ready !== null) void ready.then(() => this.act({ do: "link", text }));
      else this.take({ do: "link", text });
    } else this.take(action);
  };

  private take(action: Action): void {
    const before = this.page;
    const page = reduce(before, action);
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
