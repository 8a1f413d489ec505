/**
 * The examples that are whole projects, each installed in an empty folder with the packed package, and used as its reader
 * uses it.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { ProcessGroup } from "../../scripts/process-group.js";
import { read, ROOT } from "../support/documents.ts";
import { openChromium, pack, watch, WITHOUT_CHROMIUM } from "../support/pages.ts";

const PROJECTS = ["graph-network", "node-service", "onnxruntime-web", "vite", "zarr-job"];

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
    const [address] = /http:\/\/(?:127\.0\.0\.1|localhost):\d+(?=\/?\n)/.exec(server.output) ?? [];
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
  const tested = { ...versionsOf("playground"), ...versionsOf("bench") };
  const { version }: { version: string } = JSON.parse(read("package.json"));
  for (const name of PROJECTS) {
    for (const [one, asked] of Object.entries(versionsOf(`examples/${name}`))) {
      if (one === "ndscatter") assert.equal(asked, `^${version}`);
      else if (one in tested) assert.equal(asked, tested[one], `${one} of ${name}`);
    }
  }
});

/** Examples that run once, and what they print. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  "graph-network": /^3[2-4] of 34 people .*\n1 and 2 threads: the same weights, bit for bit\n$/,
  // The scores are sigmoids: 0.953, 0.881 and 0.731.
  "onnxruntime-web":
    /^cat 0\.95: 10,10,50,50\ndog 0\.88: 60,20,90,40\ncat 0\.73: 5,70,30,95\ncat: 2, dog: 1, bird: 0\n$/,
  // Each of the first 10,000 rows receives two of the 20,000 rows of ones.
  "zarr-job": /^rows 0 to 2 of 100000: \[\[2,2\],\[2,2\],\[2,2\]\]\n$/,
};

for (const [name, printed] of Object.entries(PRINTED)) {
  test(`${name}: it prints the right result, at the second start too`, (t) => {
    const project = install(t, name);
    if (project === null) return;
    for (const _ of [1, 2]) {
      const { status, output } = run("npm", ["start", "--silent"], project);
      assert.equal(status, 0, output);
      assert.match(output, printed);
    }
  });
}

test("node-service: it adds values by group, and refuses a bad group with the fields of the error", async (t) => {
  const project = install(t, "node-service");
  if (project === null) return;
  const server = new ProcessGroup([process.execPath, "main.js"], {
    cwd: project,
    env: { ...process.env, PORT: "0" },
  });
  try {
    const address = await addressOf(server);
    const post = async (body: string): Promise<[number, unknown]> => {
      const response = await fetch(address, { method: "POST", body });
      return [response.status, await response.json()];
    };
    const values = [5, 7, 1];
    const sums = await post(JSON.stringify({ groups: [0, 2, 0], values, count: 3 }));
    assert.deepEqual(sums, [200, [6, 0, 7]]);
    const [status, error] = await post(JSON.stringify({ groups: [0, 3, -1], values, count: 3 }));
    assert.equal(status, 400);
    const { code, at, got, expected } = error as Readonly<Record<string, unknown>>;
    assert.deepEqual([code, at, got, expected], ["index-out-of-range", [1], 3, [0, 2]]);
    for (const body of ["{", "null", "{}", '{"count":-1}'])
      assert.equal((await post(body))[0], 400);
    // A client that breaks off must not end the service.
    const socket = net.connect(Number(new URL(address).port), "localhost");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{");
    await new Promise((resolve) => void setTimeout(resolve, 200));
    socket.destroy();
    await new Promise((resolve) => void setTimeout(resolve, 200));
    assert.deepEqual(await post(JSON.stringify({ groups: [1], values: [4], count: 2 })), [
      200,
      [0, 4],
    ]);
  } finally {
    await server.end();
  }
});

/** What a visitor of the page with threads sees, and what another count changes. */
async function countsWithThreads(page: Page, wrongs: readonly string[]): Promise<void> {
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, "crossOriginIsolated")), true);
  await page.getByRole("textbox", { name: "Text" }).pressSequentially("Abra, cadabra!");
  assert.equal(await page.locator("#letters").textContent(), "a 5, b 2, c 1, d 1, r 2");
  const output = page.locator("#numbers");
  const button = page.getByRole("button", { name: "Count four million numbers" });
  for (let time = 0; time < 3; time++) {
    await button.click();
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
  "vite: the page counts each letter, is isolated, and its engine has threads",
  {
    skip: WITHOUT_THREADS,
  },
  async (t) => {
    const project = install(t, "vite");
    if (project === null) return;
    await openBuilt(project, countsWithThreads);
    await openServed(project, [], countsWithThreads);
  },
);
