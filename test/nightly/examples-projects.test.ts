/**
 * The examples that are whole projects, each installed in an empty folder with the packed package, and used as its reader
 * uses it.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { ProcessGroup } from "../../scripts/process-group.js";
import { read, ROOT } from "../support/documents.ts";
import { openChromium, pack, watch, WITHOUT_CHROMIUM } from "../support/pages.ts";

const PROJECTS = ["onnxruntime-node", "react", "vite-threads"];

/** What npm says where it reaches no registry. */
const NO_REGISTRY = /\b(?:ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH)\b/;

/** Everything that is waited for takes some seconds. */
const PATIENCE = 120_000;

let folder = "";
let tarball = "";
let browser: Browser | undefined;
before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-projects-"));
  tarball = pack(folder);
  if (WITHOUT_CHROMIUM === false) browser = await openChromium();
});
after(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const run = (command: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  return { status, stdout, output: stdout + stderr };
};

/** Copies a project and installs it. @returns its folder; null where there is no registry, and the test is skipped */
function install(t: TestContext, name: string): string | null {
  const project = path.join(folder, name);
  fs.cpSync(path.join(ROOT, "examples", name), project, {
    recursive: true,
    filter: (file) => !/(?:node_modules|dist|package-lock\.json)$/.test(file),
  });
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  const { status, output } = run("npm", ["install", ...options, tarball], project);
  if (status !== 0 && NO_REGISTRY.test(output)) {
    t.skip(`npm cannot install examples/${name}: there is no registry`);
    return null;
  }
  assert.equal(status, 0, output);
  return project;
}

/** Builds a project, and opens it from Vite's own server, with the headers that the project asks for. */
async function openBuilt(
  project: string,
  use: (page: Page, wrongs: readonly string[]) => Promise<void>,
): Promise<void> {
  const { status, output } = run("npm", ["run", "--silent", "build"], project);
  assert.equal(status, 0, output);
  assert.doesNotMatch(output, /warn|node:/i);
  await openServed(project, ["preview"], use);
}

async function openServed(
  project: string,
  command: readonly string[],
  use: (page: Page, wrongs: readonly string[]) => Promise<void>,
): Promise<void> {
  const vite = path.join(project, "node_modules/vite/bin/vite.js");
  const server = new ProcessGroup([process.execPath, vite, ...command, "--host", "127.0.0.1"], {
    cwd: project,
    env: { ...process.env, NO_COLOR: "1" },
  });
  try {
    const address = await addressOf(server);
    assert.ok(browser);
    const page = await browser.newPage();
    const wrongs = watch(page);
    await page.goto(address);
    await use(page, wrongs);
    await page.close();
  } finally {
    await server.end();
  }
}

/** The address that a server prints when it has started. */
async function addressOf(server: ProcessGroup): Promise<string> {
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.output) ?? [];
    if (address !== undefined) return address;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error(`no address in: ${server.output}`);
}

test("the package has the sources of the projects, and nothing that is made of them", () => {
  const { stdout } = run("npm", ["pack", "--dry-run", "--json"], ROOT);
  const [{ files }]: { files: { path: string; size: number }[] }[] = JSON.parse(stdout);
  for (const name of PROJECTS) {
    const own = files.filter((file) => file.path.startsWith(`examples/${name}/`));
    assert.ok(own.some((file) => file.path.endsWith("/README.md")));
    for (const { path: file } of own) assert.match(file, /\.(?:js|jsx|json|html|md)$/);
    const bytes = own.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes < 10_000, `${name}: ${bytes} bytes`);
  }
  const made = /(?:^|\/)(?:node_modules|package-lock\.json)(?:\/|$)|^examples\/[^/]+\/dist\//;
  assert.deepEqual(
    files.filter((file) => made.test(file.path)),
    [],
  );
});

test("the projects use the versions that the tests use, and this version of the package", () => {
  const versionsOf = (folder: string): Record<string, string> => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(read(`${folder}/package.json`));
    return { ...dependencies, ...devDependencies };
  };
  const tested = { ...versionsOf("playground"), ...versionsOf("test/nightly/onnxruntime") };
  const { version }: { version: string } = JSON.parse(read("package.json"));
  for (const name of PROJECTS) {
    for (const [one, asked] of Object.entries(versionsOf(`examples/${name}`))) {
      if (one === "ndscatter") assert.equal(asked, `^${version}`);
      else if (one in tested) assert.equal(asked, tested[one], `${one} of ${name}`);
    }
  }
});

test("onnxruntime-node: its cache is filled in place, and its ScatterND agrees", (t) => {
  const project = install(t, "onnxruntime-node");
  if (project === null) return;
  const { status, output } = run("npm", ["start", "--silent"], project);
  assert.equal(status, 0, output);
  // Each row is the sum of those before it.
  assert.deepEqual(output.trim().split("\n"), [
    "row 1: 1,2",
    "row 2: 2,4",
    "row 3: 4,8",
    "cache: 1,2,1,2,2,4,4,8",
    "the runtime's ScatterND gives the same bits: true",
  ]);
});

/** What a visitor of the page with threads sees, and what another count changes. */
async function countsWithThreads(page: Page, wrongs: readonly string[]): Promise<void> {
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, "crossOriginIsolated")), true);
  const output = page.locator("output");
  const button = page.getByRole("button", { name: "Count again" });
  for (let time = 0; time < 3; time++) {
    if (time > 0) await button.click();
    await output.filter({ hasText: "numbers" }).waitFor({ timeout: PATIENCE });
    await page.waitForFunction("!document.querySelector('button').disabled");
    const text = (await output.textContent()) ?? "";
    const [, threads] = /^4,194,304 numbers in [\d.]+ ms, with (\d+) threads$/.exec(text) ?? [];
    assert.ok(Number(threads) > 1, text);
  }
  assert.deepEqual(wrongs, []);
}

const WITHOUT_THREADS =
  WITHOUT_CHROMIUM || (os.availableParallelism() < 2 && "there is one processor");

test(
  "vite-threads: the page is isolated, and its engine has threads",
  {
    skip: WITHOUT_THREADS,
  },
  async (t) => {
    const project = install(t, "vite-threads");
    if (project === null) return;
    await openBuilt(project, countsWithThreads);
    await openServed(project, [], countsWithThreads);
  },
);

/** What the page shows in the first frame after each keystroke. */
interface Frame {
  readonly text: string;
  readonly counts: readonly string[];
  readonly calls: string;
}

/** Has the page keep what each frame shows that follows a keystroke. */
const KEEP_FRAMES = `
  globalThis.frames_ = [];
  const textOf = (selector) => document.querySelector(selector).textContent;
  document.querySelector("textarea").addEventListener("input", () => requestAnimationFrame(() => frames_.push({
    text: document.querySelector("textarea").value,
    counts: [...document.querySelectorAll("li")].map(({ title }) => title),
    calls: textOf("output"),
  })));
`;

test(
  "react: each keystroke is a call, and the next frame shows what it gives",
  {
    skip: WITHOUT_CHROMIUM,
  },
  async (t) => {
    const project = install(t, "react");
    if (project === null) return;
    await openBuilt(project, async (page, wrongs) => {
      const typed = "Abra, cadabra!";
      const field = page.getByRole("textbox", { name: "Text" });
      await field.waitFor({ timeout: PATIENCE });
      await page.evaluate(KEEP_FRAMES);
      for (const key of typed) {
        await field.press(key);
        // A frame each, so that none stands for two keystrokes.
        await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
      }
      const frames: readonly Frame[] = await page.evaluate("frames_");
      const expected = [...typed].map((_, place): Frame => {
        const text = typed.slice(0, place + 1);
        const counts = [..."abcdefghijklmnopqrstuvwxyz"].map(
          (letter) => `${letter}: ${text.toLowerCase().split(letter).length - 1}`,
        );
        return { text, counts, calls: place === 0 ? "1 call" : `${place + 1} calls` };
      });
      assert.deepEqual(frames, expected);
      assert.deepEqual(wrongs, []);
    });
  },
);
