/**
 * Installs the packed package into a small project for each bundler, test runner and runtime, builds the project, and
 * compares its results: `npm run test:projects`, with names to choose projects. Any warning in the output is a failure.
 */

import * as assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { close, secondsSince } from "../runners/outcome.ts";
import { openChromium, pack, serveFolder, watch, WITHOUT_CHROMIUM } from "../support/pages.ts";
import { ROOT } from "../support/root.ts";
import { PROJECTS, type Project } from "./rows.ts";

const HERE = path.join(ROOT, "test/projects");
const PATIENCE = 300_000;

/** Words of a warning, of any program here; Rollup marks warnings by (!). */
const WARNING = /\bwarn|\berror\b|deprecat|unresolved|⚠|\(!\)/i;

/** Lines that report nothing: `0 errors`. */
const HARMLESS = /^.*\b(?:0|no) (?:errors?|warnings?)\b.*$/gim;

class Skipped extends Error {}

/** Runs a command in a project, and returns what it prints. */
function run([program, ...args]: readonly string[], cwd: string): string {
  const env = { ...process.env, NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };
  const options = { cwd, env, encoding: "utf8", timeout: PATIENCE } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  const output = `${stdout}${stderr}`;
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${error?.message ?? ""}\n${output}`);
  return output;
}

/** Creates a project in an empty folder. */
function install(
  { packages, files, manifest, binary }: Project,
  folder: string,
  tarball: string,
): void {
  const dependencies = { ...packages, ndscatter: `file:${tarball}` };
  fs.mkdirSync(folder);
  fs.writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ type: "module", private: true, ...manifest, dependencies }),
  );
  for (const [name, file] of Object.entries(files)) {
    const target = path.join(folder, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    if (typeof file === "string") fs.copyFileSync(path.join(HERE, "sources", file), target);
    else fs.writeFileSync(target, file.text);
  }
  const npm = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  run(npm, folder);
  if (binary !== undefined && !fs.existsSync(path.join(folder, binary))) {
    throw new Skipped(`its packages do not bring ${path.basename(binary)}`);
  }
}

/** Opens the built page in Chromium, and returns what it shows. */
async function visit(address: string): Promise<unknown> {
  if (WITHOUT_CHROMIUM !== false) throw new Skipped(WITHOUT_CHROMIUM);
  const browser = await openChromium();
  try {
    const page = await browser.newPage();
    const wrongs = watch(page);
    await page.goto(address);
    const shown = page.locator("pre[data-state=done]");
    await shown.waitFor({ timeout: 30_000 }).catch((cause: unknown) => {
      throw new Error(`the page does not end: ${wrongs.join("; ")}`, { cause });
    });
    assert.deepEqual(wrongs, [], "the page's console");
    return JSON.parse((await shown.textContent()) ?? "");
  } finally {
    await browser.close();
  }
}

/** Starts a server, and waits until it answers. */
async function withServer<T>(
  command: readonly string[],
  cwd: string,
  use: (address: string) => Promise<T>,
): Promise<T> {
  const port = String(20_000 + Math.floor(Math.random() * 20_000));
  const [program, ...args] = command.map((one) => one.replace("PORT", port));
  const server = spawn(program, args, { cwd, detached: true });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream.on("data", (text: Buffer) => (said += text.toString()));
  }
  const address = `http://127.0.0.1:${port}/`;
  try {
    for (let attempt = 0; attempt < 60 && server.exitCode === null; attempt++) {
      if (
        await fetch(address).then(
          () => true,
          () => false,
        )
      )
        break;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    assert.equal(server.exitCode, null, said);
    const result = await use(address);
    assert.doesNotMatch(said, WARNING);
    return result;
  } finally {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid);
  }
}

/** Returns the results of a project whose commands have run. */
async function resultsOf(project: Project, folder: string, output: string): Promise<unknown> {
  const { page, serve, headers = {}, expected, isTest } = project;
  if (isTest === true) return expected;
  if (page !== undefined && serve !== undefined) return withServer(serve, folder, visit);
  if (page !== undefined) {
    const built = path.join(folder, page);
    fs.cpSync(path.join(HERE, "site"), built, { recursive: true });
    const server = await serveFolder(built, headers);
    return visit(server.address).finally(() => server.close());
  }
  if (serve === undefined) return JSON.parse(output.trim().split("\n").at(-1) ?? "");
  const server = await serveFolder(path.join(HERE, "site"));
  const origin = server.address.slice(0, -1);
  return withServer(serve, folder, async (address) => {
    const response = await fetch(`${address}?origin=${origin}`);
    return JSON.parse(await response.text());
  }).finally(() => server.close());
}

async function check(project: Project, folder: string, tarball: string): Promise<void> {
  install(project, folder, tarball);
  const { page, serve } = project;
  if (page !== undefined && serve !== undefined) {
    fs.cpSync(path.join(HERE, "site"), path.join(folder, page), { recursive: true });
  }
  const outputs = project.commands.map((command) => run(command, folder));
  const said = outputs.join("").replaceAll(HARMLESS, "");
  if (page !== undefined || project.isTest === true) assert.doesNotMatch(said, WARNING);
  assert.deepEqual(await resultsOf(project, folder, outputs.at(-1) ?? ""), project.expected);
}

const start = performance.now();
const names = process.argv.slice(2);
const isChosen = ({ name }: Project): boolean =>
  names.length === 0 || names.some((one) => name.toLowerCase().startsWith(one.toLowerCase()));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-small-projects-"));
const counts = { passed: 0, failed: 0, skipped: 0 };
try {
  const tarball = pack(folder);
  for (const [at, project] of PROJECTS.filter(isChosen).entries()) {
    const begun = performance.now();
    let result = "passed";
    try {
      await check(project, path.join(folder, String(at)), tarball);
      counts.passed++;
    } catch (error) {
      const isSkipped = error instanceof Skipped;
      counts[isSkipped ? "skipped" : "failed"]++;
      result = `${isSkipped ? "skipped" : "failed"}: ${(error as Error).message}`;
    }
    const versions = Object.entries(project.packages).map((one) => one.join(" "));
    console.log(`${project.name} | ${versions.join(", ")} | ${result} | ${secondsSince(begun)}`);
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
close("projects", counts, secondsSince(start));
