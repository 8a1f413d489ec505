/**
 * Python environments with the packages of `environments.json`, in the user's cache, so that they outlive a checkout.
 * A package that cannot be installed leaves the others usable: what needs it is skipped by name.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { ROOT } from "../support/root.ts";

/** The folder of the peers' programs in Python. */
export const PROGRAMS = path.join(ROOT, "test/peers");

const PACKAGES: Readonly<Record<string, readonly string[]>> = JSON.parse(
  fs.readFileSync(path.join(PROGRAMS, "environments.json"), "utf8"),
);

/** Seconds that one installation may take. */
const LIMIT = 900;

export type EnvironmentName = "newest" | "runtimes" | "weekly" | "torch" | "frameworks" | "arrays";

export interface Environment {
  readonly name: EnvironmentName;
  /** The interpreter; null if the environment could not be made. */
  readonly python: string | null;
  /** Versions by the name of the package, of what is installed. */
  readonly versions: Readonly<Record<string, string>>;
  /** Packages that could not be installed, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

const made = new Map<EnvironmentName, Environment>();

/**
 * Makes an environment, or finds the one that an earlier run made of the same versions.
 * @param isNew true if it is made again, because the newest versions may have changed
 */
export function environment(name: EnvironmentName, isNew = false): Environment {
  const before = made.get(name);
  if (before !== undefined) return before;
  const now = make(name, isNew);
  made.set(name, now);
  return now;
}

function make(name: EnvironmentName, isNew: boolean): Environment {
  const wanted = PACKAGES[name];
  const key = createHash("sha256").update(JSON.stringify(wanted)).digest("hex").slice(0, 12);
  const cache = process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache");
  const folder = path.join(cache, "ndscatter-peers", `${name}-${key}`);
  const python = path.join(folder, "bin/python");
  const done = path.join(folder, "installed.json");
  const before: Installed | null =
    !isNew && fs.existsSync(done) ? JSON.parse(fs.readFileSync(done, "utf8")) : null;
  if (before !== null && Object.keys(before.missing).length === 0)
    return { name, python, ...before };
  // Packages that could not be installed are tried again, because the network may be back.
  if (before === null) {
    console.log(`peers: installing ${wanted.join(", ")} in ${folder}`);
    const problem = run("python3", ["-m", "venv", "--clear", folder]);
    if (problem !== null) {
      const missing = Object.fromEntries(wanted.map((one) => [one, `no environment: ${problem}`]));
      return { name, python: null, versions: {}, missing };
    }
  }
  const installed = install(python, wanted);
  fs.writeFileSync(done, JSON.stringify(installed));
  return { name, python, ...installed };
}

/** The folder of an environment's packages, which the program of another environment can add to its own. */
export const packagesOf = ({ python }: Environment): string | null =>
  python === null
    ? null
    : spawnSync(python, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], {
        encoding: "utf8",
      }).stdout.trim();

type Installed = Pick<Environment, "versions" | "missing">;

function install(python: string, wanted: readonly string[]): Installed {
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  const missing: Record<string, string> = {};
  // All at once, because pip then chooses versions that fit each other; alone, if that fails.
  if (run(python, [...pip, ...wanted]) !== null) {
    for (const one of wanted) {
      const problem = run(python, [...pip, one]);
      if (problem !== null) missing[one] = problem;
    }
  }
  const { stdout } = spawnSync(python, ["-m", "pip", "list", "--format=json"], {
    encoding: "utf8",
  });
  // pip prints nothing if it does not start.
  const all: readonly { name: string; version: string }[] = JSON.parse(stdout || "[]");
  const versions = Object.fromEntries(
    all.map(({ name, version }) => [name.toLowerCase(), version]),
  );
  return { versions, missing };
}

/** Runs a program. Returns the last line that it wrote about a failure, or null. */
function run(program: string, args: readonly string[]): string | null {
  const result = spawnSync(program, args, { encoding: "utf8", timeout: LIMIT * 1000 });
  if (result.status === 0) return null;
  return result.stderr?.trim().split("\n").at(-1) || String(result.error ?? "it failed");
}
