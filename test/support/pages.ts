/** The setting of a visitor's page: the installed package, a file server, and Chromium. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { ROOT } from "./documents.ts";

const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** For the option `skip` of a test. */
export const WITHOUT_CHROMIUM = !fs.existsSync(PROGRAM) && `there is no ${PROGRAM}`;

/** WebGPU runs on Chromium's own software driver. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    args: ["--headless", "--no-sandbox", "--enable-unsafe-webgpu"],
  });

/** Errors of a page from now on: uncaught ones, and errors and warnings of the console. */
export function watch(page: Page): string[] {
  const wrongs: string[] = [];
  page.on("pageerror", ({ message }) => wrongs.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrongs.push(message.text());
  });
  return wrongs;
}

/** Packs the package. @returns the path of the tarball, in `folder` */
export function pack(folder: string): string {
  const name = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return path.join(folder, name.trim());
}

/** Makes `folder/node_modules` equal to an install without optional packages, without asking a registry. */
export function installHere(folder: string): void {
  const modules = path.join(folder, "node_modules");
  fs.mkdirSync(path.join(modules, "ndscatter"), { recursive: true });
  const tarball = pack(folder);
  execFileSync("tar", ["-xzf", tarball, "-C", path.join(modules, "ndscatter"), "--strip=1"]);
  fs.rmSync(tarball);
}

export interface FileServer {
  /** The address of the folder, with a slash at its end. */
  readonly address: string;
  /** The paths that were requested. */
  readonly asked: Set<string>;
  close(): void;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Serves whole files of a folder on the loopback interface. A path with a slash at its end means index.html. */
export async function serveFolder(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<FileServer> {
  const asked = new Set<string>();
  const server = http.createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    asked.add(pathname);
    // Browsers request this file unprompted.
    if (pathname === "/favicon.ico") return void response.writeHead(204).end();
    const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    const file = path.join(folder, path.posix.normalize(name));
    const isThere = fs.existsSync(file) && fs.statSync(file).isFile();
    const body = isThere ? fs.readFileSync(file) : "";
    response.writeHead(isThere ? 200 : 404, {
      "Content-Type": TYPES[path.extname(name)] ?? "application/octet-stream",
      "Content-Length": body.length,
      ...headers,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}/`, asked, close };
}
