/** The files of the built page, as a server of static files answers for them. */

import fs from "node:fs";
import path from "node:path";

// Each test file is bundled into playground/build/.
const HOME = path.join(import.meta.dirname, "..");
export const DIST = path.join(HOME, "dist");
export const REPOSITORY = path.join(HOME, "..");

/** The page must work from any path, so it is not served from the root. */
export const BASE = "/any/path/";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** @param url the address without its origin */
export function built(url: string): Answer {
  const [address] = url.split("?");
  const name = address.startsWith(BASE)
    ? address.slice(BASE.length).replace(/(^|\/)$/, "$1index.html")
    : "";
  const file = path.join(DIST, name);
  const isThere = name !== "" && file.startsWith(DIST) && fs.existsSync(file);
  const type = TYPES[path.extname(file)] ?? "application/octet-stream";
  return {
    status: isThere ? 200 : 404,
    // A browser compiles WebAssembly while it arrives only if its type has no parameters.
    type: type === "application/wasm" ? type : `${type}; charset=utf-8`,
    body: isThere ? fs.readFileSync(file) : "",
  };
}
