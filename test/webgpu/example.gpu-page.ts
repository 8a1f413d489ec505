/**
 * The example of `examples/webgpu` in Chromium, as a visitor sees it: `npm run test:webgpu-pages`, with `dist/` built and
 * the packages of `bench/` installed. It is no part of `npm test`, because the adapter of a machine
 * without a GPU is slow.
 */

import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

// This runs in build/test/webgpu.
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Everything takes 5 s; the limit is for a page that hangs. */
const PATIENCE = 120_000;

/** The address in the first line that the server prints. */
async function addressOf(server: ChildProcessWithoutNullStreams): Promise<string> {
  const [line] = (await Promise.race([
    once(server.stdout, "data"),
    once(server, "exit").then(([code]) => [`the server ended with status ${code}`]),
  ])) as [unknown];
  const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(line))?.[0];
  assert.ok(address, `no address in: ${String(line)}`);
  return address;
}

test("the example decodes on the GPU with the bits of the JavaScript engine", async () => {
  const server = spawn(process.execPath, [path.join(ROOT, "examples/webgpu/serve.js")]);
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--enable-unsafe-webgpu"],
  });
  try {
    const page = await browser.newPage();
    const wrongs: string[] = [];
    page.on("pageerror", ({ message }) => wrongs.push(message));
    page.on("console", (message) => {
      if (message.type() === "error") wrongs.push(message.text());
    });
    await page.goto(await addressOf(server));
    const verdict = page.locator("#verdict[data-state]");
    await verdict.waitFor({ timeout: PATIENCE });
    assert.equal(
      await verdict.textContent(),
      "In all 8 steps cache and sums have the bits of the JavaScript engine. " +
        "The last token from a cache made on the host is the same.",
    );
    assert.equal(await verdict.getAttribute("data-state"), "done");
    const steps = await page.locator("#steps tr").allInnerTexts();
    assert.equal(steps.length, 8);
    for (const step of steps) assert.match(step, /the same$/);
    // A decoder that stood still would pass all of the above.
    assert.equal(new Set(steps.map((step) => step.split("\t")[1])).size, 8, steps.join("\n"));
    assert.deepEqual(wrongs, []);
  } finally {
    await browser.close();
    server.kill();
  }
});
