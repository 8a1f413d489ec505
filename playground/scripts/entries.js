/** Reads the entries of the package from its manifest: the page can import only what the package exports. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
const { name, exports, version } = manifest;

/** Address of the sources, if the manifest has one. */
export const REPOSITORY = manifest.repository?.url?.replace(/^git\+|\.git$/g, "") ?? "";

export const VERSION = version;

/** Files by import name: `ndscatter/npy` is `dist/entries/npy.js`. */
export const ENTRIES = Object.fromEntries(
  Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([entry, target]) => [path.posix.join(name, entry), path.join(ROOT, target.default)]),
);

/** An esbuild plugin for code that Node runs: it resolves the entries to absolute paths. */
export const library = {
  name: "library",
  setup({ onResolve }) {
    onResolve({ filter: /^ndscatter(\/|$)/ }, ({ path: entry }) => {
      const file = ENTRIES[entry];
      if (file === undefined) return { errors: [{ text: `the package has no entry ${entry}` }] };
      return { path: pathToFileURL(file).href, external: true };
    });
  },
};
