/** The entries of the package, from its manifest: the page can import only what the package exports. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const { name, exports } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));

/** Files by import: `ndscatter/npy` is `dist/npy/index.js`. */
export const ENTRIES = Object.fromEntries(
  Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([entry, target]) => [path.posix.join(name, entry), path.join(ROOT, target.default)]),
);
