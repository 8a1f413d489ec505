/** Serves the built page, the page around it in which the suite runs, and takes the reports. */

import fs from "node:fs";
import * as http from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { json } from "node:stream/consumers";
import { BASE, built, DIST, type Answer } from "../support/built.ts";
import type { Cases, Report } from "./reports.ts";

export interface Server {
  readonly address: string;
  close(): void;
}

/** The scripts for browsers, which are bundled beside this one. */
const scriptOf = (name: string): string =>
  fs.readFileSync(path.join(import.meta.dirname, "browsers", name), "utf8");

/** The page, with one script before its own that sees what goes wrong. */
function watched({ body, ...rest }: Answer): Answer {
  const page = body.toString();
  const at = page.indexOf("<script");
  return {
    ...rest,
    body: `${page.slice(0, at)}<script src="./watch.js"></script>${page.slice(at)}`,
  };
}

export async function serve(cases: Cases, onReport: (report: Report) => void): Promise<Server> {
  const axe = createRequire(path.join(DIST, "..", "package.json")).resolve("axe-core/axe.min.js");
  const script = (body: string): Answer => ({ status: 200, type: "text/javascript", body });
  const files: Readonly<Record<string, Answer>> = {
    "/": {
      status: 200,
      type: "text/html",
      body: '<!doctype html><title>the page in a frame</title><body></body><script src="suite.js"></script>',
    },
    "/suite.js": script(scriptOf("suite.js")),
    "/cases.json": { status: 200, type: "application/json", body: JSON.stringify(cases) },
    "/reports": { status: 200, type: "text/plain", body: "" },
    [BASE]: watched(built(BASE)),
    [`${BASE}watch.js`]: script(scriptOf("watch.js")),
    [`${BASE}axe.js`]: script(fs.readFileSync(axe, "utf8")),
  };
  const server = http.createServer(async (request, response) => {
    const { url = "" } = request;
    if (url === "/reports") onReport((await json(request)) as Report);
    const { status, type, body } = Object.hasOwn(files, url) ? files[url] : built(url);
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}/`, close };
}
