/** Ten tasks as people carry them out, with keys, mouse and clipboard, up to the answer that they must be able to see. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { hiderOf } from "./support/access.ts";
import { drop, type Dropped } from "./support/drop.ts";
import { loopModel, mixedModel } from "./support/models.ts";
import { cellsOf, PHONE, SUM, useSite, type Opened } from "./support/page.ts";
import { drawing } from "./support/sample.ts";

const site = useSite();

/** What a person does; every key, click and drop counts as an action. */
class Person {
  readonly page: Page;
  actions = 0;

  constructor(page: Page) {
    this.page = page;
  }

  button = (name: string | RegExp): Locator =>
    this.page.getByRole("button", { name, exact: typeof name === "string" }).first();

  async click(target: string | Locator): Promise<void> {
    this.actions++;
    await (typeof target === "string" ? this.page.locator(target) : target).click();
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.actions++;
      await this.page.keyboard.press(key);
    }
  }

  /** Copies a text elsewhere, and presses Ctrl+V here. */
  async paste(text: string): Promise<void> {
    await this.page.evaluate((words) => navigator.clipboard.writeText(words), text);
    await this.press("Control+v");
  }

  async drop(...files: readonly Dropped[]): Promise<void> {
    this.actions++;
    await drop(this.page, "body", files);
  }

  /** Waits until all of a text, or of a part of the page, is in the window, and nothing covers it. */
  async sees(...answers: readonly (string | RegExp | Locator)[]): Promise<void> {
    for (const answer of answers) {
      const isText = typeof answer === "string" || answer instanceof RegExp;
      const shown = this.page.locator("body :not(.hidden)").filter({ visible: true });
      const part = isText ? this.page.getByText(answer).and(shown).first() : answer;
      await part.waitFor();
      assert.equal(await part.evaluate(hiderOf), "", String(answer));
    }
  }
}

interface Task {
  readonly name: string;
  readonly link?: string;
  readonly options?: BrowserContextOptions;
  /** Leads to the answer. */
  by(person: Person, opened: Opened): Promise<void>;
}

const ASKED = `${SUM}!ask=Why%20is%20row%201%20not%2080%3F`;

/** Twenty updates of twenty rows, three of them of one row, and the output of a runtime that loses one of the three. */
function losing() {
  const below = drawing();
  const indices = Array.from({ length: 20 }, (_, row) => (row * 7) % 20);
  const [target, ...orders] = [below(20), below(6), 6 + below(7), 13 + below(7)];
  for (const order of orders) indices[order] = target;
  const updates = indices.map((_, order) => 10 + order);
  const lost = orders[below(3)];
  const output = Array.from({ length: 20 }, () => 0);
  for (const [order, row] of indices.entries()) if (order !== lost) output[row] += updates[order];
  const link = `ai.onnx/ScatterND/18;reduction=add;float32:20:0*20;int64:20,1:${indices.join()};float32:20:${updates.join()}`;
  return {
    link,
    target,
    lost,
    updates,
    text: `tensor([${output.map((value) => `${value}.`).join(", ")}])`,
  };
}

const CASE = losing();

const TASKS: readonly Task[] = [
  {
    name: "why is row 1 of the link 81?",
    link: ASKED,
    async by(person) {
      await person.click("#cell-output-3");
      await person.sees("output[1, 0] is 81 after two updates", "1 + 10 = 11", "11 + 70 = 81");
    },
  },
  {
    name: "which of twenty updates did the runtime lose?",
    link: CASE.link,
    async by(person) {
      const { target, lost, updates, text } = CASE;
      await person.click(person.button("Compare"));
      await person.click(".why textarea");
      await person.paste(text);
      await person.sees(
        /^1 of 20 cells differs\.$/,
        person.page.locator(`#cell-output-${target}.other`),
      );
      await person.sees(
        `updates[${lost}] is ${updates[lost]}, through indices[${lost}] = [${target}]`,
      );
    },
  },
  {
    name: "what does my call of PyTorch do in ONNX, and where may they differ?",
    async by(person) {
      await person.paste(
        "x = torch.zeros(3)\nx.index_put_((torch.tensor([2, 2]),), torch.tensor([1., 2.]))",
      );
      await person.sees(/^x\.index_put_.* is ScatterND-18\.$/, /Element \[2\] gets two updates/);
      assert.deepEqual(await cellsOf(person.page, "output"), ["0", "0", "2"]);
      await person.click(person.button("Compare"));
      await person.sees(
        /PyTorch's index_put_.* keep any one of the repeated updates: 1 cell may differ/,
      );
    },
  },
  {
    name: "what does the third gather in the body of the loop read?",
    async by(person) {
      await person.drop({ name: "loop.onnx", bytes: loopModel() });
      await person.click(person.button('Gather-13 "third" in Loop "loop" / body'));
      await person.sees("Element [2] is read twice.", /comes from the cell its index names/);
      assert.deepEqual(await cellsOf(person.page, 0), ["0", "0", "0", "0"]);
      assert.deepEqual(await cellsOf(person.page, 1), ["2", "0", "-1", "2"]);
    },
  },
  {
    name: "where does the runtime's .npy file differ?",
    link: SUM,
    async by(person) {
      const theirs = tensor("float32", [4, 3], [0, 0, 0, 71, 81, 91, 2, 2, 2, 43, 53, 63]);
      await person.drop({ name: "out.npy", bytes: writeNpy(theirs) });
      await person.click(person.button("another runtime's output"));
      await person.sees("3 of 12 cells differ.", /71 in yours, 81 here/, "11 + 70 = 81");
      const marked = await person.page.$$eval("td.other", (cells) => cells.map(({ id }) => id));
      assert.deepEqual(
        marked,
        [3, 4, 5].map((element) => `cell-output-${element}`),
      );
      await person.click(person.button("Close"));
      await person.page.locator("td.other").first().waitFor({ state: "detached" });
    },
  },
  {
    name: "what does my colleague ask, on a phone?",
    link: SUM,
    async by(person, { page }) {
      await person.click(person.button("Share"));
      await person.click(page.getByLabel("Your question, which the receiver sees first"));
      await person.press(..."Why?");
      await person.click(person.button("Copy"));
      await page.getByText("Copied.").waitFor();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      await using received = await site.open(new URL(link).hash, PHONE);
      const receiver = new Person(received.page);
      await receiver.sees("Row 1 gets two updates; add keeps both.", "“Why?”", "2× add");
      await receiver.sees(received.page.locator("#cell-output-11"));
    },
  },
  {
    name: "what is wrong with an index, and what mends it?",
    link: SUM,
    async by(person, { page }) {
      await person.click("#cell-1-2");
      await person.press("7", "Enter");
      const sentence = "indices[2, 0] is 7, but axis 0 of data [4, 3] takes -4 to 3";
      await person.sees(page.locator(".bubble", { hasText: sentence }));
      await person.sees(`ScatterND-18: ${sentence}`, person.button("make data [8, 3]"));
      const invalid = await page.$$eval("td[aria-invalid=true]", (all) => all.map(({ id }) => id));
      assert.deepEqual(invalid, ["cell-1-2"]);
      await person.click(person.button("clamp to 3"));
      await page.locator(".stage:not(.failing)").waitFor();
      assert.deepEqual(await cellsOf(page, 1), ["1", "-1", "3"]);
      assert.deepEqual((await cellsOf(page, "output")).slice(9), ["113", "133", "153"]);
    },
  },
  {
    name: "what if a received number is another one?",
    link: ASKED,
    async by(person, { page }) {
      const shows = (value: string) => page.locator("#cell-output-3", { hasText: value }).waitFor();
      await person.click("#cell-2-0");
      await person.press("5", "Enter");
      await shows("76");
      await person.press("Control+z");
      await shows("81");
      await person.sees("“Why is row 1 not 80?”");
      await person.press("Control+Shift+z");
      await page.reload();
      await shows("76");
      await person.sees(page.locator("#cell-output-3"));
    },
  },
  {
    name: "what does another index do, by keyboard alone?",
    async by(person, { page }) {
      const isIn = (id: string) => page.locator(`${id}:focus`).count();
      await person.press("Tab", "Enter");
      assert.equal(await isIn("#cell-1-0"), 1);
      await person.press("2", "Enter");
      while ((await isIn("#cell-output-0")) === 0 && person.actions < 60) await person.press("Tab");
      await person.press("ArrowDown", "ArrowDown");
      await person.sees("2 + 10 = 12");
      await page.locator("#aloud", { hasText: "output[2, 0] is 12 after one update" }).waitFor();
    },
  },
  {
    name: "which node of my model differs, and in which cell?",
    async by(person, { page }) {
      await person.drop({ name: "mixed.onnx", bytes: mixedModel() });
      await person.click(person.button(/^Run the model here/));
      await person.sees("4 nodes: 2 equal, 1 different, 1 not run.", "1 of 4 cells differs.");
      await person.sees(
        page.locator("#cell-output-1.other"),
        /NaNs were ignored: the other operand/,
      );
    },
  },
];

for (const { name, link, options, by } of TASKS) {
  test(name, async (t) => {
    const permissions = ["clipboard-read", "clipboard-write"];
    await using opened = await site.open(link, { permissions, ...options });
    await opened.page.waitForSelector("td[data-element]");
    const person = new Person(opened.page);
    const begin = performance.now();
    await by(person, opened);
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    t.diagnostic(`${person.actions} actions, ${seconds} s`);
  });
}
