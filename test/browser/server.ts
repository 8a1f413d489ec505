/** The suite on the loopback interface, with the headers that a pass is about. */

import * as http from "node:http";
import type { AddressInfo } from "node:net";

export interface Server {
  /** The address of a page that runs the suite, and of one whose worker runs it. */
  readonly page: string;
  readonly pageOfWorker: string;
  close(): void;
}

export async function serve(
  suite: string,
  headers: Readonly<Record<string, string>>,
): Promise<Server> {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/": ["text/html", '<!doctype html><script type="module" src="suite.js"></script>'],
    "/worker": ["text/html", '<!doctype html><script type="module" src="worker.js"></script>'],
    "/worker.js": ["text/javascript", 'new Worker("suite.js", { type: "module" });'],
    "/suite.js": ["text/javascript", suite],
  };
  const server = http.createServer(({ url = "" }, response) => {
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
  return { page, pageOfWorker: `${page}worker`, close: () => void server.close() };
}
