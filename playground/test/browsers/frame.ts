/**
 * The page in a frame, which has any size in every browser. Events are made by scripts: they reach what the page listens
 * to, but do nothing by themselves, so that a field gets its text from here.
 */

import type { Size } from "../support/measure.ts";
import { textsOf } from "../support/measure.ts";

/** The window of the page has its own classes. */
type Inner = Window & typeof globalThis;

/** Milliseconds after which something that was waited for will not happen. */
const PATIENCE = 10_000;

export const WIDE: Size = { width: 1440, height: 900 };

export class Frame {
  readonly element: HTMLIFrameElement;

  private constructor(element: HTMLIFrameElement) {
    this.element = element;
  }

  /** Loads the page at a state. */
  static async open(hash: string, size = WIDE): Promise<Frame> {
    const element = document.createElement("iframe");
    element.style.border = "0";
    const frame = new Frame(element);
    await frame.loaded(() => {
      element.src = `/any/path/#${hash}`;
      document.body.append(element);
    });
    await frame.resize(size);
    return frame;
  }

  close(): void {
    this.element.remove();
    // The next frame is another visit, which finds nothing that this one has left for a reload.
    sessionStorage.clear();
  }

  get window(): Inner {
    const { contentWindow } = this.element;
    if (contentWindow === null) throw new Error("the frame is closed");
    return contentWindow as Inner;
  }

  get document(): Document {
    return this.window.document;
  }

  /** Does what loads a page, and waits until it is there. */
  async loaded(action: () => void): Promise<void> {
    const load = new Promise((resolve) =>
      this.element.addEventListener("load", resolve, { once: true }),
    );
    action();
    await load;
    await this.until("the page is drawn", () => this.document.querySelector("main") !== null);
    await this.drawn();
  }

  async resize({ width, height }: Size): Promise<void> {
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    await this.drawn();
  }

  /** Waits for what the page draws next. The layout follows a change in the same or in the next frame. */
  async drawn(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => this.window.requestAnimationFrame(resolve));
    }
  }

  /** Shows another state without loading the page again. */
  async show(hash: string): Promise<void> {
    const { location } = this.window;
    if (decodeURIComponent(location.hash.slice(1)) === decodeURIComponent(hash)) return;
    const { edition } = this;
    location.hash = hash;
    await this.until("the state of the link is shown", () => this.edition !== edition);
    await this.drawn();
  }

  /** Changes with every state that is shown. */
  get edition(): string | null {
    return this.one("[data-edition]").getAttribute("data-edition");
  }

  /** Waits until something holds, or fails with the words for it. */
  async until(words: string, holds: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`it did not happen that ${words}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  one(selector: string): HTMLElement {
    const found = this.document.querySelector<HTMLElement>(selector);
    if (found === null) throw new Error(`there is no ${selector}`);
    return found;
  }

  /** The texts of all cells of a tensor. */
  cells(tensor: number | "output"): string[] {
    return textsOf([
      ...this.document.querySelectorAll(`[data-tensor="${tensor}"] td[data-element]`),
    ]);
  }

  async click(selector: string): Promise<void> {
    this.one(selector).click();
    await this.drawn();
  }

  /** Clicks a button by its text. */
  async press(text: string): Promise<void> {
    const buttons = [...this.document.querySelectorAll<HTMLElement>("button")];
    const found = buttons.find((button) => button.textContent?.trim() === text);
    if (found === undefined) throw new Error(`there is no button ${text}`);
    found.click();
    await this.drawn();
  }

  /** Presses a key where the focus is. */
  async key(key: string, options: KeyboardEventInit = {}): Promise<void> {
    const target = this.document.activeElement ?? this.document.body;
    const { KeyboardEvent: Class } = this.window;
    const event = new Class("keydown", { key, bubbles: true, cancelable: true, ...options });
    target.dispatchEvent(event);
    await this.drawn();
  }

  /** Types into a cell: the first letter opens the editor, Enter takes the text. */
  async type(cell: string, text: string): Promise<void> {
    this.one(cell).focus();
    await this.key(text.slice(0, 1));
    const editor = this.one(".editor");
    if (editor !== this.document.activeElement) throw new Error("the editor has not the focus");
    this.fill(editor, text);
    await this.key("Enter");
  }

  /** Gives a field a text, as typing does. */
  fill(field: HTMLElement, text: string): void {
    Reflect.set(field, "value", text);
    field.dispatchEvent(new this.window.Event("input", { bubbles: true }));
    field.dispatchEvent(new this.window.Event("change", { bubbles: true }));
  }
}
