/** Serves the suite on the loopback interface, with the headers of a pass, and receives the suite's reports. */

import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Report } from "./reports.ts";

export interface Server {
  /** The address of a page that runs the suite. */
  readonly page: string;
  /** The address of a page whose worker runs the suite. */
  readonly pageOfWorker: string;
  close(): void;
}

/** Starts the suite in a worker. A suite that cannot be loaded is reported as its end. */
const WORKER = `
const worker = new Worker("suite.js", { type: "module" });
worker.onerror = ({ message }) => {
  fetch("reports", { method: "POST", body: JSON.stringify([{ type: "end", failure: message ?? "no suite.js" }]) });
};`;

export async function serve(
  suite: string,
  headers: Readonly<Record<string, string>>,
  onReport: (report: Report) => void,
): Promise<Server> {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/": ["text/html", '<!doctype html><script type="module" src="suite.js"></script>'],
    "/worker": ["text/html", '<!doctype html><script type="module" src="worker.js"></script>'],
    "/worker.js": ["text/javascript", WORKER],
    "/suite.js": ["text/javascript", suite],
    "/reports": ["text/plain", ""],
  };
  const server = http.createServer(async (request, response) => {
    const { url = "" } = request;
    if (url === "/reports") {
      for (const report of (await json(request)) as readonly Report[]) onReport(report);
    }
    const [type, text] = files[url] ?? ["text/plain", ""];
    response.writeHead(Object.hasOwn(files, url) ? 200 : 404, {
      "Content-Type": `${type}; charset=utf-8`,
      "Cache-Control": "no-store",
      ...headers,
    });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const page = `http://127.0.0.1:${port}/`;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { page, pageOfWorker: `${page}worker`, close };
}
