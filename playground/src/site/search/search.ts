/**
 * The script of every page: it shows the search dialog, and unfolds the section that a link leads to. A page without
 * this script has no search, but all other parts work.
 */

import type { Found } from "../../widgets/query.ts";
import { html, type Html } from "../html.ts";
import type { Row } from "./index.ts";
import { placesIn, snippetOf } from "./match.ts";

const { root = "", index = "" } = document.currentScript?.dataset ?? {};

const dialog = document.createElement("dialog");
dialog.className = "search";
dialog.setAttribute("aria-label", "Search");
dialog.innerHTML = html`<div class="row">
    <input
      type="search"
      role="combobox"
      aria-label="Search operators, attributes, errata, dialects, documents and API"
      aria-expanded="false"
      aria-controls="found"
      aria-autocomplete="list"
      autocomplete="off"
      spellcheck="false"
      enterkeyhint="go"
      placeholder="operator, attribute, error, function …"
    />
    <button type="button" class="close">Close</button>
  </div>
  <p class="small count" role="status"></p>
  <div id="found" role="listbox" aria-label="Found"></div>`.markup;

function within<E extends Element>(selector: string, kind: new () => E): E {
  const found = dialog.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(selector);
  return found;
}

const input = within("input", HTMLInputElement);
const list = within("#found", HTMLElement);
const status = within(".count", HTMLElement);
const close = within(".close", HTMLElement);

let find: ReturnType<typeof placesIn> | null = null;
let at = 0;

async function load(): Promise<void> {
  if (find !== null) return;
  try {
    const { rows }: { rows: readonly Row[] } = await import(new URL(index, location.href).href);
    find ??= placesIn(rows);
    show();
  } catch {
    status.textContent = "The index cannot be loaded. Reload the page to try again.";
  }
}

function open(): void {
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
  input.select();
  void load();
}

function optionOf({ item, terms }: Found<Row>, number: number): Html {
  const [kind, title, of, address, text] = item;
  return html`<a
    href="${root}${address}"
    role="option"
    id="found-${number}"
    tabindex="-1"
    aria-selected="false"
    ><span><b>${title}</b> ${of === "" ? kind : `${kind} · ${of}`}</span
    ><span class="text">${snippetOf(text, terms)}</span></a
  >`;
}

function show(): void {
  const query = input.value.trim();
  const found = find?.(query) ?? [];
  list.innerHTML = html`${found.map(optionOf)}`.markup;
  const count = found.length === 1 ? "1 result." : `${found.length} results.`;
  status.textContent = query === "" || find === null ? "" : count;
  input.setAttribute("aria-expanded", String(found.length > 0));
  choose(0);
}

function choose(next: number): void {
  const options = [...list.children];
  at = (next + options.length) % Math.max(1, options.length);
  for (const [number, option] of options.entries()) {
    option.setAttribute("aria-selected", String(number === at));
  }
  options[at]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", options[at]?.id ?? "");
}

input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step !== 0) {
    event.preventDefault();
    choose(at + step);
  }
  const option = list.children[at];
  if (event.key === "Enter" && option instanceof HTMLElement) {
    event.preventDefault();
    option.click();
  }
});
close.addEventListener("click", () => dialog.close());
// A link to the current page does not load a new page, so the dialog must be closed here.
list.addEventListener("click", () => dialog.close());
dialog.addEventListener("click", ({ target }) => {
  if (target === dialog) dialog.close();
});

const button = document.querySelector<HTMLButtonElement>("button.find");
if (button !== null) {
  button.hidden = false;
  button.addEventListener("click", open);
}
document.addEventListener("keydown", (event) => {
  const isTyped =
    event.target instanceof Element && event.target.closest("input, textarea, select");
  const isSlash =
    event.key === "/" && !isTyped && !event.ctrlKey && !event.metaKey && !event.altKey;
  const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (!isSlash && !isK) return;
  event.preventDefault();
  open();
});

/** Unfolds the section that the address links to, because some browsers do not. */
function unfold(): void {
  const id = decodeURIComponent(location.hash.slice(1));
  const place = id === "" ? null : document.getElementById(id);
  if (place === null) return;
  for (
    let fold = place.closest("details");
    fold !== null;
    fold = fold.parentElement?.closest("details") ?? null
  ) {
    fold.open = true;
  }
  place.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
