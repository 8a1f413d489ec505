/**
 * Takes the screenshots in `docs/`. With a folder as argument, takes screenshots of all sizes, states and themes for
 * visual inspection: `npm run playground:build && node playground/scripts/screenshot.js [folder]`.
 */

import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { preview } from "vite";
import { ROOT } from "./entries.js";

const DOCS = path.join(ROOT, "docs");
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
];
const list = (length, valueOf) => Array.from({ length }, (_, i) => valueOf(i)).join(",");

/** States that look different, by the name of their screenshot. */
const STATES = {
  rows: "",
  elements:
    "ai.onnx/ScatterElements/18;float32:3,3:0*9;int64:2,3:1,0,2,0,2,1;float32:2,3:1,1.1,1.2,2,2.1,2.2",
  slices: "ai.onnx/ScatterND/18;float32:4,4,4:1*64;int64:2,1:0,2;float32:2,4,4:5*16,7*16",
  gather: "ai.onnx/GatherND/13;int32:2,2:0,1,2,3;int64:3,1:1,-2,1",
  error: "ai.onnx/ScatterND/18;reduction=add;float32:4,3:0*12;int64:3,1:1,7,1;float32:3,3:1*9",
  large: `ai.onnx/ScatterND/18;reduction=add;float32:64,64:0*4096;int64:64,1:${list(64, (i) => (i * 7) % 50)};float32:64,64:${list(4096, (i) => i % 7)}`,
};

const server = await preview({
  root: path.join(ROOT, "playground"),
  logLevel: "error",
  preview: { host: "127.0.0.1", port: 0 },
});
const [address] = server.resolvedUrls.local;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });

async function shoot(file, { hash = "", size: [width, height], theme = "light", cell }) {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  await page.goto(`${address}#${hash}`);
  await page.waitForSelector("td[data-element]");
  if (cell !== undefined) await page.focus(cell);
  // The fixes for an error are loaded when the error appears.
  await page.waitForTimeout(500);
  await page.screenshot({ path: file });
  await page.close();
}

// A cell with two updates, so that the screenshot shows a story.
const story = { cell: "#cell-output-4" };
await shoot(path.join(DOCS, "playground.png"), { size: [1320, 620], ...story });
await shoot(path.join(DOCS, "playground-phone.png"), { size: SIZES[2], theme: "dark", ...story });
await shoot(path.join(DOCS, "playground-large.png"), { hash: STATES.large, size: SIZES[0] });
// The link preview has the size that sites require.
const ofLinks = path.join(ROOT, "playground", "public", "preview.png");
await shoot(ofLinks, { size: [1200, 630], ...story });

const [folder] = process.argv.slice(2);
if (folder !== undefined) {
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, hash] of Object.entries(STATES)) {
    for (const size of SIZES) {
      for (const theme of ["light", "dark"]) {
        await shoot(path.join(folder, `${name}-${size[0]}-${theme}.png`), { hash, size, theme });
      }
    }
  }
}
await browser.close();
await server.close();
