/** The built page on the loopback interface, in a browser that the tests of a file share. */

import assert from "node:assert/strict";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { BASE, built, DIST, REPOSITORY } from "./built.ts";
import { textsOf } from "./measure.ts";
import { SUM } from "./states.ts";

export { DIST, REPOSITORY, SUM };

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

/** A phone, which has no mouse. */
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
};

export interface Site {
  /**
   * A new page, at the state of a hash, or another file of the site. What goes wrong on the page fails the test that closes
   * it.
   */
  open(hash?: string, options?: BrowserContextOptions, file?: string): Promise<Opened>;
}

export interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Every address that the page has requested. */
  readonly requests: readonly string[];
  /** What has gone wrong on the page. A test removes what it meant to happen. */
  readonly wrongs: string[];
}

/** Serves the page and starts the browser before the tests of a file, and ends both after them. */
export function useSite(): Site {
  let browser: Browser | undefined;
  let origin = "";
  const server = http.createServer(({ url = "" }, response) => {
    const { status, type, body } = built(url);
    response.writeHead(status, { "Content-Type": type });
    response.end(body);
  });
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}${BASE}`;
    const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
    browser = await chromium.launch({ executablePath, args: FLAGS });
  });
  after(async () => {
    await browser?.close();
    server.close();
  });
  return {
    async open(hash = "", options = {}, file = "") {
      assert.ok(browser);
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        ...options,
      });
      const page = await context.newPage();
      const wrongs: string[] = [];
      const requests: string[] = [];
      page.on("pageerror", (error) => wrongs.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") wrongs.push(message.text());
      });
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(origin + file + (hash === "" ? "" : `#${hash.replace(/^#/, "")}`));
      await page.waitForSelector("main");
      return {
        page,
        requests,
        wrongs,
        async [Symbol.asyncDispose]() {
          await context.close();
          assert.deepEqual(wrongs, []);
          assert.deepEqual(
            requests.filter((url) => !/^(blob|data):/.test(url) && !url.startsWith(origin)),
            [],
          );
        },
      };
    },
  };
}

/** The texts of all cells of a tensor that are drawn, without tabs, in row-major order. */
export const cellsOf = (page: Page, tensor: number | "output"): Promise<string[]> =>
  page.$$eval(`[data-tensor="${tensor}"] td[data-element]`, textsOf);

/** Enters a value in a cell, by keys. */
export async function typeAt(page: Page, cell: string, text: string): Promise<void> {
  await page.focus(cell);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

export const undo = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "undo" }).click();

/** Chooses an example by its id, as a user does. */
export async function chooseExample(page: Page, id: string): Promise<void> {
  await page.getByRole("button", { name: "Examples" }).click();
  const example = page.locator(`[data-example="${id}"]`);
  await example.waitFor({ state: "attached" });
  // Those of documents are in a list behind the cards.
  if (!(await example.isVisible())) await page.locator(".examples summary").click();
  await example.click();
}

/** Shows the state of a link on an open page, without loading the page again. */
export async function showState(page: Page, hash: string): Promise<void> {
  await page.evaluate(
    (next) =>
      new Promise<void>((resolve) => {
        const target = document.querySelector("[data-edition]");
        const isThere = decodeURIComponent(location.hash.slice(1)) === decodeURIComponent(next);
        if (target === null || isThere) {
          resolve();
          return;
        }
        new MutationObserver((_, observer) => {
          observer.disconnect();
          // The layout follows the state in the same or in the next frame.
          requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
        }).observe(target, { attributes: true });
        location.hash = next;
      }),
    hash,
  );
}

/** Waits until the part of the page that was opened is loaded. */
export async function loaded(page: Page): Promise<void> {
  await page.locator("dialog[open], .why").first().waitFor();
  await page.locator(".hint", { hasText: "loading …" }).first().waitFor({ state: "detached" });
}
