/**
 * Keeps the page's state and its URL. The state is kept outside the components, because two actions may happen before
 * the page is redrawn.
 */

import { Address, keyNow } from "./address.ts";
import { firstPage } from "./arrival.ts";
import { unpack } from "./packed.ts";
import { leave } from "./refuge.ts";
import type { Action, PageState } from "./state.ts";

const NOT_LOADED =
  "A part of the page is not loaded, so the last change is not shown yet. Check the connection, then try again.";

const STRIDES: ReadonlySet<Action["do"]> = new Set(["choose", "example", "own", "open"]);

/** An action, with the key of the history entry to which it belongs. */
interface Waiting {
  readonly action: Action;
  readonly stop: string;
}

export class Store {
  page = firstPage(keyNow());
  private readonly address = new Address(this.page);
  /** The actions that are not applied yet, in order. */
  private readonly waiting: Waiting[] = [];
  private isLoading = false;

  /** Called after each change, before the page is redrawn. */
  onChange = (_page: PageState): void => {};

  act = (given: Action): void => {
    const action =
      given.do === "link" ? { ...given, text: given.text.trim().replace(/^[^#]*#/, "") } : given;
    const last = this.waiting.at(-1)?.action;
    // Only the last cell under the pointer matters.
    if (action.do === "spot" && last?.do === "spot" && last.isFocus === action.isFocus)
      this.waiting.pop();
    this.waiting.push({ action, stop: this.address.key });
    this.settle();
  };

  /** Applies the waiting actions in order, up to the first action that needs something that is not loaded. */
  private settle(): void {
    if (this.isLoading) return;
    for (let [next] = this.waiting; next !== undefined; [next] = this.waiting) {
      const missing = this.missing(next.action);
      if (missing !== null) {
        void this.load(missing);
        return;
      }
      this.waiting.shift();
      this.take(next);
    }
  }

  /** Loads what an action needs; returns null if everything is loaded. The result is false if loading fails. */
  private missing(action: Action): Promise<boolean> | null {
    if (this.page.known === null) return this.learn();
    const link = action.do === "link" ? action.text : action.do === "arrive" ? action.hash : "";
    return unpack(link)?.then(() => true) ?? null;
  }

  /** If loading fails, the actions keep waiting, and the next action tries again. */
  private async load(missing: Promise<boolean>): Promise<void> {
    this.isLoading = true;
    const isLoaded = await missing;
    this.isLoading = false;
    if (isLoaded) this.settle();
    else if (this.waiting.some(({ action }) => action.do !== "spot"))
      this.show({ ...this.page, remarks: [NOT_LOADED] });
  }

  /** Loads the reducer. */
  private async learn(): Promise<boolean> {
    const loaded = await import("./reduce.ts").catch(() => null);
    if (loaded === null) return false;
    this.show(loaded.informed(this.page));
    return true;
  }

  private show(page: PageState): void {
    this.page = page;
    this.onChange(page);
  }

  private take({ action, stop }: Waiting): void {
    const { page: before, address } = this;
    // The user may have returned to an entry whose documents have changed since.
    const given =
      action.do === "arrive" ? { ...action, history: address.documentsAt(stop) } : action;
    const page = before.known?.reduce(before, given) ?? before;
    if (page === before) return;
    this.page = page;
    const isNew = page.history !== before.history;
    // A corrected or discarded link is replaced in the URL, even if it shows the same call.
    const isMended = before.broken !== null && page.broken === null;
    // The URL belongs to the entry at which a waiting navigation arrives.
    const isLeft = this.waiting.some((one) => one.action.do === "arrive");
    if (action.do === "arrive") address.arrive(stop, page.history);
    else if (isLeft) address.keep(page.history, stop);
    else if (isNew && STRIDES.has(action.do)) address.push(page);
    else if (isNew || isMended || page.suffix !== before.suffix) address.write(page);
    this.onChange(page);
  }

  /**
   * Listens for navigation and followed links, saves unwritten changes when the user leaves, and returns a function
   * that stops listening.
   */
  live(): () => void {
    const { address } = this;
    const stop = address.listen(() =>
      this.act({ do: "arrive", history: null, hash: location.hash }),
    );
    // Writes a state that is not in the URL yet.
    if (this.page.broken === null) address.write(this.page);
    if (this.page.known === null && !this.isLoading) void this.load(this.learn());
    const onLeave = (): void => {
      const { history, broken, suffix } = this.page;
      // Changing the URL now would be too late if the browser has started a reload.
      const place = { at: location.hash, was: address.before, stop: address.key };
      leave(history, broken !== null, place, suffix.question);
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
