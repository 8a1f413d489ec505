/** What a visitor does with the page: each begins at the same state, and ends with sentences about what is wrong. */

import { uncoloured } from "./colours.ts";
import type { Frame } from "./frame.ts";
import type { Cases } from "./reports.ts";
import type { Size } from "../support/measure.ts";

type Visit = (frame: Frame, cases: Cases) => Promise<readonly string[]>;

/** A sentence where two texts differ. */
const differ = (what: string, got: unknown, expected: unknown): string[] =>
  String(got) === String(expected) ? [] : [`${what}: got ${got}, expected ${expected}`];

const DATA = "0,0,0,1,1,1,2,2,2,3,3,3";

const undoneAndRedone: Visit = async (frame) => {
  const found: string[] = [];
  const before = frame.cells("output");
  await frame.type("#cell-0-0", "5");
  const after = ["5", ...before.slice(1)];
  found.push(...differ("the output after an edit", frame.cells("output"), after));
  found.push(...differ("the focus", frame.document.activeElement?.id, "cell-0-3"));
  await frame.click("[aria-label=undo]");
  found.push(...differ("data after undo", frame.cells(0), DATA));
  await frame.click("[aria-label=redo]");
  found.push(...differ("the output after redo", frame.cells("output"), after));
  frame.one("#cell-0-1").focus();
  await frame.key("z", { ctrlKey: true });
  found.push(...differ("the output after Ctrl+Z", frame.cells("output"), before));
  await frame.key("Z", { ctrlKey: true, shiftKey: true });
  return [...found, ...differ("the output after Ctrl+Shift+Z", frame.cells("output"), after)];
};

const keptByEscape: Visit = async (frame) => {
  frame.one("#cell-2-0").focus();
  await frame.key("ArrowDown");
  await frame.key("End");
  const found = differ("the focus", frame.document.activeElement?.id, "cell-2-5");
  const before = frame.cells(2);
  await frame.key("F2");
  frame.fill(frame.one(".editor"), "9");
  await frame.key("Escape");
  return [...found, ...differ("updates after Escape", frame.cells(2), before)];
};

const backAfterOperator: Visit = async (frame) => {
  await frame.type("#cell-0-0", "5");
  const [edited, { history }] = [frame.cells(0), frame.window];
  const menu = (): HTMLSelectElement => frame.one("select.operator") as HTMLSelectElement;
  const operator = menu().value;
  frame.fill(menu(), "ai.onnx/ScatterElements");
  await frame.until("ScatterElements is shown", () => menu().value === "ai.onnx/ScatterElements");
  await frame.drawn();
  history.back();
  await frame.until("Back shows the operator before", () => menu().value === operator);
  await frame.drawn();
  const found = differ("data after Back", frame.cells(0), edited);
  history.forward();
  await frame.until("Forward goes on", () => menu().value === "ai.onnx/ScatterElements");
  return found;
};

const reloadedAtOnce: Visit = async (frame) => {
  for (const [element, text] of ["5", "6", "7"].entries()) {
    await frame.type(`#cell-0-${element}`, text);
  }
  await frame.loaded(() => frame.window.location.reload());
  return differ("data after a reload", frame.cells(0), `5,6,7${DATA.slice(5)}`);
};

const stepped: Visit = async (frame, { steps }) => {
  const found: string[] = [];
  for (const count of [1, 2]) {
    await frame.click('[aria-label="one step forward"]');
    found.push(...differ(`the output after step ${count}`, frame.cells("output"), steps[count]));
  }
  await frame.key("ArrowLeft");
  return [...found, ...differ("the output a step back", frame.cells("output"), steps[1])];
};

const exampleChosen: Visit = async (frame, { presets }) => {
  const { id, hash } = presets[presets.length - 1];
  await frame.click("[aria-label=Examples]");
  const dialog = frame.one("dialog[open]");
  const found = dialog.matches(":modal") ? [] : ["the dialog is not modal"];
  const isThere = (): boolean => frame.document.querySelector(".examples") !== null;
  await frame.until("the examples are there", isThere);
  await frame.click(`[data-example="${id}"]`);
  found.push(...(frame.document.querySelector("dialog[open]") === null ? [] : ["it stays open"]));
  const hashOf = (): string => decodeURIComponent(frame.window.location.hash.slice(1));
  await frame.until("the address is that of the example", () => hashOf() === hash);
  return found;
};

/** A phone, a phone on its side, and a window of 1600 pixels at a zoom of 200 %. */
const NARROW: readonly Size[] = [
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 800, height: 450 },
];

const menuUsed: Visit = async (frame) => {
  const found: string[] = [];
  for (const size of NARROW) {
    await frame.resize(size);
    for (const entry of ["Examples", "Share", "Help"]) {
      await frame.click(".bar .more");
      await frame.click(`#actions [aria-label=${entry}]`);
      const dialog = frame.one("dialog[open]");
      const { left, right, top, bottom } = dialog.getBoundingClientRect();
      const isSeen = left >= 0 && right <= size.width && top >= 0 && bottom <= size.height;
      const what = `${entry} at ${size.width} × ${size.height}`;
      if (!dialog.matches(":modal")) found.push(`${what} is not modal`);
      if (!isSeen || right - left < 200 || bottom - top < 100) {
        found.push(`${what} is ${left} to ${right}, ${top} to ${bottom}`);
      }
      await frame.click("dialog[open] [aria-label=close]");
      await frame.until("the dialog is closed", () => !dialog.matches("[open]"));
      found.push(...differ(`${what}: the focus`, frame.document.activeElement?.className, "more"));
      // What is inert is not found at a point.
      const cell = frame.one("#cell-1-0");
      const box = cell.getBoundingClientRect();
      const at = frame.document.elementFromPoint(box.left + 9, box.top + 9);
      if (at === null || !cell.contains(at)) found.push(`${what} leaves the page inert`);
    }
  }
  return found;
};

const replaced: Visit = async (frame) => {
  const selected = (field: Element | null): string => {
    if (field === null || field !== frame.document.activeElement) return "no focus";
    const { value, selectionStart, selectionEnd } = field as HTMLInputElement;
    return `${selectionStart} to ${selectionEnd} of ${value}`;
  };
  frame.one("#cell-1-1").focus();
  await frame.key("Enter");
  const found = differ("a cell that is opened", selected(frame.one(".editor")), "0 to 2 of -1");
  await frame.key("Escape");
  await frame.key("7");
  found.push(...differ("a cell that is typed into", selected(frame.one(".editor")), "1 to 1 of 7"));
  await frame.key("Escape");
  const field = frame.one("[aria-label='dimension 0 of data']");
  const { MouseEvent: Class } = frame.window;
  field.dispatchEvent(new Class("mousedown", { bubbles: true, cancelable: true }));
  found.push(...differ("a dimension that is pressed", selected(field), "0 to 1 of 4"));
  frame.fill(field, "12");
  await frame.drawn();
  await frame.key("Enter");
  return [...found, ...differ("a dimension that is set", selected(field), "0 to 2 of 12")];
};

const wrongGather: Visit = async (frame) => {
  await frame.show("ai.onnx/GatherND/13;int32:2,3:0*6;int64:4,1:1,0,7,1");
  const shape = frame.one(".shape-of-output").textContent;
  const found = differ("the shape of the output", shape, "[4, 3]");
  await frame.show("ai.onnx/GatherND/13;int32:2,3:0*6;int64:4,3:0*12");
  const isDrawn = frame.document.querySelector("[data-tensor=output]") !== null;
  return isDrawn ? [...found, "an output of unknown shape is drawn"] : found;
};

/** Catches files in place of saving them. */
function filesOf({ window }: Frame): Blob[] {
  const files: Blob[] = [];
  const { createObjectURL } = window.URL;
  window.URL.createObjectURL = (file: Blob) => {
    files.push(file);
    return createObjectURL.call(window.URL, file);
  };
  window.HTMLAnchorElement.prototype.click = () => {};
  return files;
}

const shared: Visit = async (frame, { sum, steps }) => {
  await frame.click("[aria-label=Share]");
  const code = "dialog[open] textarea";
  await frame.until("Share is loaded", () => frame.document.querySelector(code) !== null);
  const [, hash] = (frame.one(code) as HTMLTextAreaElement).value.split("#");
  const found = differ("the link", hash, sum);
  const files = filesOf(frame);
  await frame.press("Save as SVG");
  const svg = new DOMParser().parseFromString(await files[0].text(), "image/svg+xml");
  const { documentElement: root } = svg;
  found.push(...differ("the root of the picture", root.nodeName, "svg"));
  const texts = new Set([...svg.querySelectorAll("text")].map((text) => text.textContent));
  for (const value of steps[steps.length - 1]) {
    if (!texts.has(value)) found.push(`the picture lacks ${value}`);
  }
  if (found.length > 0) return found;
  await frame.press("Save as PNG");
  await frame.until("a PNG is made", () => files.some(({ type }) => type === "image/png"));
  const png = files.find(({ type }) => type === "image/png");
  const image = await createImageBitmap(png ?? new Blob());
  return [...found, ...differ("its width", image.width, 2 * Number(root.getAttribute("width")))];
};

interface Checker {
  run(options: object): Promise<{
    violations: { help: string; nodes: { html: string }[] }[];
  }>;
}

/** What axe finds in a theme. Its script is one of the page's own origin, as the page's policy wants. */
const accessible =
  (theme: "light" | "dark"): Visit =>
  async (frame) => {
    frame.document.documentElement.dataset["theme"] = theme;
    const script = frame.document.createElement("script");
    script.src = "/any/path/axe.js";
    await new Promise((resolve, reject) => {
      script.addEventListener("load", resolve);
      script.addEventListener("error", reject);
      frame.document.head.append(script);
    });
    frame.one("#cell-output-4").focus();
    await frame.drawn();
    const checker: Checker = Reflect.get(frame.window, "axe");
    const { violations } = await checker.run({});
    return [
      ...violations.map(({ help, nodes }) => `${help}: ${nodes[0].html}`),
      ...uncoloured(frame),
    ];
  };

export const VISITS: Readonly<Record<string, Visit>> = {
  "an edit is undone and redone, by buttons and by keys": undoneAndRedone,
  "Escape leaves a value as it was": keptByEscape,
  "Back after another operator": backAfterOperator,
  "a reload right after edits": reloadedAtOnce,
  "the player shows the output after each step": stepped,
  "an example is chosen": exampleChosen,
  "the menu of a narrow page opens what can be used": menuUsed,
  "what is typed replaces a value and a dimension": replaced,
  "a gather with an error has an output of its own shape, or none": wrongGather,
  "Share gives a link and pictures": shared,
  "axe finds nothing in light": accessible("light"),
  "axe finds nothing in dark": accessible("dark"),
};
