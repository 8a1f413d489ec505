/**
 * The script of every page: it shows the search dialog, and unfolds the section that a link leads to. Without this
 * script, the search is missing, but everything else works.
 */

import type { Row } from "./index.ts";
import { matches, snippetOf } from "./match.ts";

const { root = "", index = "" } = document.currentScript?.dataset ?? {};

function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
  ...inner: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inner);
  return made;
}

const input = make("input", {
  type: "search",
  role: "combobox",
  "aria-label": "Search operators, attributes, errata, dialects, documents and API",
  "aria-expanded": "false",
  "aria-controls": "found",
  "aria-autocomplete": "list",
  autocomplete: "off",
  spellcheck: "false",
  enterkeyhint: "go",
  placeholder: "operator, attribute, error, function …",
});
const list = make("div", { id: "found", role: "listbox", "aria-label": "Found" });
const status = make("p", { class: "count", role: "status" });
const close = make("button", { type: "button", class: "close" }, "Close");
const dialog = make(
  "dialog",
  { class: "search", "aria-label": "Search" },
  make("div", { class: "row" }, input, close),
  status,
  list,
);

let rows: readonly Row[] | null = null;
let at = -1;

async function load(): Promise<void> {
  if (rows !== null) return;
  try {
    const loaded: { rows: readonly Row[] } = await import(new URL(index, location.href).href);
    ({ rows } = loaded);
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

function optionOf([kind, title, of, address, text]: Row, number: number): HTMLElement {
  return make(
    "a",
    {
      href: root + address,
      role: "option",
      id: `found-${number}`,
      tabindex: "-1",
      "aria-selected": "false",
    },
    make(
      "span",
      { class: "what" },
      make("b", {}, title),
      ` ${of === "" ? kind : `${kind} · ${of}`}`,
    ),
    make("span", { class: "text" }, snippetOf(text, input.value)),
  );
}

function show(): void {
  const query = input.value.trim();
  const found = rows === null ? [] : matches(rows, query);
  list.replaceChildren(...found.map(({ row }, number) => optionOf(row, number)));
  const isAsked = query !== "" && rows !== null;
  const count = found.length === 1 ? "1 result." : `${found.length} results.`;
  // A touch screen has no arrow keys, so the style hides them there.
  const keys = make("span", { class: "of-keys" }, " ↑ and ↓ select a result, Enter opens it.");
  if (!isAsked) status.replaceChildren();
  else if (found.length === 0) status.replaceChildren(`No results for “${query}”.`);
  else status.replaceChildren(count, keys);
  input.setAttribute("aria-expanded", String(found.length > 0));
  choose(found.length > 0 ? 0 : -1);
}

function choose(next: number): void {
  const options = [...list.children];
  options[at]?.setAttribute("aria-selected", "false");
  at = options.length === 0 ? -1 : (next + options.length) % options.length;
  const option = options[at];
  if (option === undefined) {
    input.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", option.id);
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
  if (id === "search") {
    open();
    return;
  }
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
