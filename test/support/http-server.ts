/** A file server on the loopback interface that follows HTTP, except for deviations chosen by a test. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";

/** The answer that the server is about to send. A quirk changes the answer, or sends its own. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface Exchange {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly answer: Answer;
  /** The bytes of the whole file; null where it is missing. */
  readonly file: Uint8Array | null;
  /** The number of earlier requests for this method and path. */
  readonly before: number;
}

/** @returns true if the quirk has answered */
export type Quirk = (exchange: Exchange) => boolean | void;

export interface HttpServer {
  /** The address without a slash at its end. */
  readonly address: string;
  readonly port: number;
  /** The requests: method, path with the query, and the range. */
  readonly asked: string[];
  readonly headers: http.IncomingHttpHeaders[];
  quirk: Quirk;
  close(): void;
}

export async function serveFiles(folder: string, host = "127.0.0.1"): Promise<HttpServer> {
  const asked: string[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const server = http.createServer((request, response) => {
    const { method = "", url = "/" } = request;
    const { pathname } = new URL(url, "http://localhost");
    const name = path.join(folder, decodeURIComponent(pathname));
    const isFile = fs.existsSync(name) && fs.statSync(name).isFile();
    const file = isFile ? new Uint8Array(fs.readFileSync(name)) : null;
    const before = asked.filter((one) => one.startsWith(`${method} ${url}`)).length;
    asked.push(`${method} ${url} ${request.headers.range ?? ""}`.trim());
    headers.push(request.headers);
    const answer = answerTo(request, file);
    if (own.quirk({ request, response, answer, file, before }) === true) return;
    response.writeHead(answer.status, answer.headers);
    response.end(method === "HEAD" ? undefined : answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const own: HttpServer = {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    asked,
    headers,
    quirk: () => {},
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return own;
}

export const etagOf = (file: Uint8Array): string =>
  `"${createHash("sha256").update(file).digest("hex").slice(0, 16)}"`;

function answerTo({ headers: asked }: http.IncomingMessage, file: Uint8Array | null): Answer {
  const empty = new Uint8Array(0);
  if (file === null) return { status: 404, headers: { "content-length": "0" }, body: empty };
  const headers: Record<string, string> = {
    etag: etagOf(file),
    "last-modified": "Mon, 23 Nov 2026 10:00:00 GMT",
    "accept-ranges": "bytes",
  };
  const wanted = asked["if-match"];
  if (wanted !== undefined && wanted !== headers["etag"]) {
    return { status: 412, headers: { "content-length": "0" }, body: empty };
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? "") ?? [];
  if (from === undefined) {
    return { status: 200, headers: { ...headers, "content-length": `${file.length}` }, body: file };
  }
  if (Number(from) >= file.length) {
    return { status: 416, headers: { "content-range": `bytes */${file.length}` }, body: empty };
  }
  return rangeOf(file, Number(from), Number(to) + 1, headers);
}

/** The answer for a range of a file. */
export function rangeOf(
  file: Uint8Array,
  from: number,
  end: number,
  headers: Record<string, string>,
): Answer {
  const body = file.subarray(from, end);
  return {
    status: 206,
    headers: {
      ...headers,
      "content-length": `${body.length}`,
      "content-range": `bytes ${from}-${from + body.length - 1}/${file.length}`,
    },
    body,
  };
}
