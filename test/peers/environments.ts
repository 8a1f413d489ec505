/**
 * Python environments with the packages of `environments.json`, in the user's cache, so that several checkouts share
 * them. If a package cannot be installed, only the comparisons that need it are skipped, and the output names it.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { ROOT } from "../support/root.ts";

/** The folder of the Python programs that answer requests. */
export const PROGRAMS = path.join(ROOT, "test/peers");

const PACKAGES: Readonly<Record<string, readonly string[]>> = JSON.parse(
  fs.readFileSync(path.join(PROGRAMS, "environments.json"), "utf8"),
);

/** Seconds that one installation may take. */
const LIMIT = 900;

export type EnvironmentName =
  | "newest"
  | "runtimes"
  | "weekly"
  | "torch"
  | "frameworks"
  | "mlx"
  | "arrays";

export interface Environment {
  readonly name: EnvironmentName;
  /** The interpreter; null if the environment could not be made. */
  readonly python: string | null;
  /** Versions of the installed packages, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Packages that could not be installed, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

const made = new Map<EnvironmentName, Environment>();

/**
 * Creates an environment, or finds the one that an earlier run created with the same packages.
 * @param isNew true to create it again, because newer versions may exist
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

/** Returns the folder of an environment's packages, which programs in another environment can also import from. */
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
  // All at once first, because pip then chooses versions that fit each other.
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

/** Runs a program. Returns the last line of its errors if it fails, or null. */
function run(program: string, args: readonly string[]): string | null {
  const result = spawnSync(program, args, { encoding: "utf8", timeout: LIMIT * 1000 });
  if (result.status === 0) return null;
  return result.stderr?.trim().split("\n").at(-1) || String(result.error ?? "it failed");
}
