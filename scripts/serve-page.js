/**
 * Serves one page on the loopback interface: its HTML, its module as esbuild bundles it, and the files that
 * onnxruntime-web loads by itself. The page's npm imports come from the packages of bench/.
 */

import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PACKAGES = fileURLToPath(new URL("../bench/node_modules", import.meta.url));
const RUNTIME = path.join(PACKAGES, "onnxruntime-web/dist");

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/**
 * @param {string} folder with index.html and page.js
 * @returns {Promise<{ address: string, close: () => void }>}
 */
export async function servePage(folder) {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, "page.js")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    nodePaths: [PACKAGES],
    logLevel: "warning",
  });
  const script = outputFiles[0].contents;
  const server = http.createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const name = pathname === "/" ? "index.html" : path.posix.basename(pathname);
    const body = name === "page.js" ? script : fileOf(folder, name);
    response.writeHead(body === null ? 404 : 200, {
      "Content-Type": TYPES[path.extname(name)] ?? "application/octet-stream",
      "Cache-Control": "no-store",
    });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}/`, close };
}

/** A file of the page or of the runtime; null if it does not exist. */
function fileOf(folder, name) {
  const file = name.endsWith(".wasm") ? path.join(RUNTIME, name) : path.join(folder, name);
  return fs.existsSync(file) && fs.statSync(file).isFile() ? fs.readFileSync(file) : null;
}
