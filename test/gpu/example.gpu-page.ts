/**
 * The examples on WebGPU in Chromium, as a visitor sees them: `npm run test:nightly -- webgpu-pages`, with `dist/` built and the
 * packages of `bench/` installed. They are no part of `npm test`, because the adapter of a machine
 * without a GPU is slow.
 */

import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { ROOT } from "../support/root.ts";

// This runs in build/test/gpu.

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

/** What a page says when it has ended, and the cells of its table. */
interface Visit {
  readonly verdict: string | null;
  readonly rows: readonly (readonly string[])[];
}

/** Visits an example, which must end well and report no error to the console. */
async function visit(example: string): Promise<Visit> {
  const server = spawn(process.execPath, [path.join(ROOT, "examples", example, "serve.js")]);
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
    const rows = await page.locator("tbody tr").allInnerTexts();
    const visited = {
      verdict: await verdict.textContent(),
      rows: rows.map((row) => row.split("\t")),
    };
    assert.equal(await verdict.getAttribute("data-state"), "done", visited.verdict ?? "");
    assert.deepEqual(wrongs, []);
    return visited;
  } finally {
    await browser.close();
    server.kill();
  }
}

test("the example decodes on the GPU with the bits of the JavaScript engine", async () => {
  const { verdict, rows } = await visit("webgpu");
  assert.equal(
    verdict,
    "In all 8 steps cache and sums have the bits of the JavaScript engine. " +
      "The last token from a cache made on the host is the same.",
  );
  assert.equal(rows.length, 8);
  for (const row of rows) assert.equal(row.at(-1), "the same");
  // A decoder that stood still would pass all of the above.
  assert.equal(new Set(rows.map(([, token]) => token)).size, 8, rows.join("\n"));
});

test("an exact session on the GPU is right in every run", async (t) => {
  const { verdict, rows } = await visit("webgpu-exact");
  assert.equal(
    verdict,
    "In all 10 runs the sums of the exact session have the bits of the JavaScript engine.",
  );
  assert.equal(rows.length, 10);
  const results = new Set(rows.map(([, , exact]) => exact));
  assert.equal(results.size, 1, rows.join("\n"));
  assert.match([...results][0], /^all sums are right, gpu-buffer, first score 2\.147/);
  t.diagnostic(`onnxruntime-web alone: ${rows.map(([, alone]) => alone).join("; ")}`);
});
