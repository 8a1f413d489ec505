/** Makes the picture of the page in the README: `npm run playground:build && node playground/scripts/screenshot.js`. */

import path from "node:path";
import { chromium } from "playwright-core";
import { preview } from "vite";
import { ROOT } from "./entries.js";

const server = await preview({
  root: path.join(ROOT, "playground"),
  logLevel: "error",
  preview: { host: "127.0.0.1", port: 0 },
});
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1320, height: 600 } });
await page.goto(server.resolvedUrls.local[0]);
// A cell with two updates, so that the picture shows a story.
await page.hover("#cell-output-4");
await page.screenshot({ path: path.join(ROOT, "docs", "playground.png") });
await browser.close();
await server.close();
