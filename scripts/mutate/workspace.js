/**
 * Private copies of the project in which mutants are compiled and tested. The project itself is read once, at the
 * beginning, and never written.
 */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { mutated } from "./mutants.js";
import { endAll, run } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = "node_modules/typescript/bin/tsc";
const KERNELS = "scripts/kernels.js";
const MINUTE = 60_000;

/** Unused code is allowed in a mutant. With `incremental` the compiler examines one file instead of all. */
const COMPILER = {
  extends: "./tsconfig.json",
  compilerOptions: {
    incremental: true,
    tsBuildInfoFile: "build/src/.tsbuildinfo",
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
  },
  include: ["src"],
};

/** The folders that a mutant can change: sources, generated sources, and compiled code. */
const CHANGING = ["assembly", "src", "build/src"];

/** Creates a folder for workspaces, removed when the process ends, however it ends. */
export function makeFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-mutate-"));
  process.on("exit", () => {
    endAll();
    // Processes that were just ended may still write for a moment.
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  for (const [signal, number] of [
    ["SIGHUP", 1],
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ]) {
    process.on(signal, () => process.exit(128 + number));
  }
  return folder;
}

/** Copies the project's files to `folder`: tracked files, and untracked files that git does not ignore. */
export function copyProject(folder) {
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 };
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  for (const file of execFileSync("git", args, options).split("\0").filter(Boolean)) {
    const from = path.join(ROOT, file);
    // A file that was deleted, but not from the index.
    if (!fs.existsSync(from) || path.basename(from) === "node_modules") continue;
    const to = path.join(folder, file);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(from, to);
  }
  for (const packages of ["node_modules", "test/gpu/node_modules"]) {
    const from = path.join(ROOT, packages);
    if (fs.existsSync(from)) fs.symlinkSync(from, path.join(folder, packages));
  }
  fs.writeFileSync(path.join(folder, "tsconfig.mutate.json"), JSON.stringify(COMPILER));
}

/** Returns the sources under `folder` to mutate, with their texts: only hand-written ones. */
export function readSources(folder) {
  return ["assembly", "src"].flatMap((top) =>
    filesUnder(folder, top)
      .filter((file) => file.endsWith(".ts") && !file.endsWith("_pb.ts"))
      .map((file) => ({ file, text: fs.readFileSync(path.join(folder, file), "utf8") })),
  );
}

function filesUnder(folder, top) {
  return fs
    .readdirSync(path.join(folder, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .map((file) => file.replaceAll(path.sep, "/"))
    .sort();
}

/** Builds the project in `folder`, as its tests need it. */
export async function build(folder) {
  const options = { cwd: folder, env: process.env, limit: 10 * MINUTE };
  for (const [command, ...args] of [
    ["npm", "run", "--silent", "build"],
    [process.execPath, TSC, "-p", "tsconfig.json"],
    [process.execPath, TSC, "-p", "tsconfig.mutate.json"],
  ]) {
    const { status, output } = await run(command, args, options);
    if (status !== 0) throw new Error(`the project does not build:\n${output}`);
  }
}

export class Workspace {
  /** The original bytes of each file that a mutant can change. */
  #original;

  constructor(folder) {
    this.folder = folder;
    this.#original = this.#contents();
  }

  /** Creates an equal workspace in another folder. */
  copyTo(folder) {
    fs.cpSync(this.folder, folder, { recursive: true, verbatimSymlinks: true });
    return new Workspace(folder);
  }

  #contents() {
    const files = CHANGING.flatMap((top) => filesUnder(this.folder, top));
    return new Map(files.map((file) => [file, fs.readFileSync(path.join(this.folder, file))]));
  }

  /**
   * Compiles a mutant.
   * @returns the files of build/ that it changes, with their contents: none if the code is the same; null if the
   *   compiler refuses the mutant
   */
  async compile(mutant) {
    const { file } = mutant;
    const text = this.#original.get(file).toString();
    try {
      this.#write(file, mutated(text, mutant));
      return (await this.#compileAll([file])) ? this.#changed() : null;
    } finally {
      this.restore();
    }
  }

  /** Compiles sources with other texts, even if their types are wrong. */
  async emit(texts) {
    for (const [file, text] of texts) this.#write(file, text);
    await this.#compileAll([...texts.keys()]);
    const changed = this.#changed();
    this.restore();
    return changed;
  }

  /** Generates and compiles the code that depends on the changed `files`. @returns true if all of it compiles */
  async #compileAll(files) {
    const isIn = (folder) => files.some((file) => file.startsWith(folder));
    // Workers run a bundle of files of src/core/engines/, which the build stores as a string.
    const isMade = isIn("assembly/") || isIn("src/core/engines/");
    if (isMade && !(await this.#succeeds(KERNELS))) return false;
    return this.#succeeds(TSC, "-p", "tsconfig.mutate.json");
  }

  /** Replaces the compiled files, until `restore`. */
  apply(files) {
    for (const [file, content] of files) this.#write(file, content);
  }

  restore() {
    const now = this.#contents();
    for (const file of now.keys()) {
      if (!this.#original.has(file)) fs.rmSync(path.join(this.folder, file));
    }
    for (const [file, content] of this.#original) {
      if (!now.get(file)?.equals(content)) this.#write(file, content);
    }
  }

  #changed() {
    return [...this.#contents()].filter(
      ([file, content]) =>
        file.startsWith("build/") &&
        file.endsWith(".js") &&
        !this.#original.get(file)?.equals(content),
    );
  }

  #write(file, content) {
    fs.writeFileSync(path.join(this.folder, file), content);
  }

  async #succeeds(script, ...args) {
    const options = { cwd: this.folder, env: process.env, limit: 2 * MINUTE };
    return (await run(process.execPath, [script, ...args], options)).status === 0;
  }
}
