/**
 * Compiles a project that uses every entry, with each version of TypeScript: some combinations of settings, or with
 * `CASES=all` every combination.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { read } from "../support/documents.ts";
import { inVersion, makeProject, STRICT, VERSIONS, WITHOUT_VERSIONS } from "./project.ts";

interface Setting {
  readonly options: Readonly<Record<string, unknown>>;
  /** The first version of TypeScript that has the setting, if the oldest version lacks it. */
  readonly since?: string;
}

const BUNDLER = { module: "preserve", moduleResolution: "bundler" };

const MODULES: Readonly<Record<string, Setting>> = {
  node16: { options: { module: "node16" } },
  nodenext: { options: { module: "nodenext" } },
  bundler: { options: BUNDLER },
};

const typesOf = (folder: string) => ({ typeRoots: [folder], types: ["node"] });

const PLATFORMS: Readonly<Record<string, Setting>> = {
  "no platform": { options: { lib: ["es2020", "esnext.disposable"], types: [] } },
  "a browser": { options: { lib: ["es2022", "dom"], types: [] } },
  Node: { options: { lib: ["es2022"], ...typesOf("node") } },
  "Node and a browser": { options: { lib: ["es2022", "dom"], ...typesOf("node") } },
  "the newest Node": {
    options: { lib: ["es2022"], ...typesOf("node-newest") },
    // These types of Node do not compile with older versions.
    since: "5.6",
  },
};

/** CommonJS: a source, and the settings with which TypeScript accepts it. */
const COMMON_JS: Readonly<Record<string, readonly Setting[]>> = {
  "dynamic-import.cts": [{ options: { module: "node16" } }, { options: { module: "nodenext" } }],
  "require.cts": [
    { options: BUNDLER },
    { options: { module: "nodenext" }, since: "5.8" },
    { options: { module: "node20" }, since: "5.9" },
  ],
};

const [OLDEST = ""] = VERSIONS;
const NEWEST = VERSIONS.at(-1) ?? "";
const isAll = process.env["CASES"] === "all";

/** The combinations that the oldest version compiles in the sample; the newest, ten times as fast, compiles all. */
const SAMPLE = new Set(["node16, no platform", "bundler, Node and a browser"]);

let folder = "";
before(() => {
  if (WITHOUT_VERSIONS === false) folder = makeProject("consumer.mts", ...Object.keys(COMMON_JS));
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function compiles(version: string, source: string, settings: readonly Setting[]): void {
  const options = settings.map((setting) => setting.options);
  const compilerOptions = Object.assign({ target: "es2022" }, STRICT, ...options);
  const config = path.join(folder, "tsconfig.json");
  fs.writeFileSync(config, JSON.stringify({ compilerOptions, files: [source] }));
  const args = [inVersion(version, "bin/tsc"), "-p", config, "--pretty", "false", "--listFiles"];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const files = stdout.split("\n").filter((line) => line.endsWith(".d.ts"));
  const errors = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(path.sep));
  assert.deepEqual(errors, []);
  assert.equal(status, 0);
  assert.ok(files.some((file) => file.endsWith("/ndscatter/dist/entries/index.d.ts")));
  const withNode = files.some((file) => file.includes("/@types/"));
  assert.equal(
    withNode,
    options.some((one) => "typeRoots" in one),
    "the types of Node",
  );
}

const has = (version: string, { since = OLDEST }: Setting): boolean =>
  VERSIONS.indexOf(version) >= VERSIONS.indexOf(since);

test("the project imports every entry", () => {
  const { exports }: { exports: object } = JSON.parse(read("package.json"));
  const source = read("test/typescript/consumer.mts");
  for (const entry of Object.keys(exports).filter((name) => name !== "./package.json")) {
    assert.ok(source.includes(` from "ndscatter${entry.slice(1)}";`), entry);
  }
});

for (const version of VERSIONS) {
  for (const [module, resolution] of Object.entries(MODULES)) {
    for (const [name, platform] of Object.entries(PLATFORMS)) {
      const combination = `${module}, ${name}`;
      const isSampled = version === NEWEST || (version === OLDEST && SAMPLE.has(combination));
      if (!has(version, platform) || !(isAll || isSampled)) continue;
      test(
        `TypeScript ${version} compiles every entry: ${combination}`,
        {
          skip: WITHOUT_VERSIONS,
        },
        () => compiles(version, "consumer.mts", [resolution, platform]),
      );
    }
  }
  for (const [source, settings] of Object.entries(COMMON_JS)) {
    for (const setting of settings) {
      if (!has(version, setting) || !(isAll || version === NEWEST)) continue;
      test(
        `TypeScript ${version} compiles ${source}: ${setting.options["module"]}`,
        {
          skip: WITHOUT_VERSIONS,
        },
        () => compiles(version, source, [setting, { options: { lib: ["es2022"], types: [] } }]),
      );
    }
  }
}
