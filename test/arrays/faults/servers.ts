/** Servers whose answers have faults: errors, cut and short bodies, broken connections, slow answers. */

import * as fs from "node:fs";
import type * as http from "node:http";
import { rangeOf, serveFiles, type Exchange } from "../../support/http-server.ts";
import { serveS3, type S3Exchange } from "../../support/s3-server.ts";
import { fixedRandom, type Random } from "../../support/random.ts";
import type { Faults } from "./inject.ts";

export interface Servers {
  /** The address of the folder. */
  readonly address: string;
  /** The objects in the object storage. */
  readonly objects: Map<string, Uint8Array>;
  /** Sets the faults of requests whose address contains the name of a case, or ends them with null. */
  set(name: string, faults: Faults | null): void;
  close(): void;
}

/** Requests have so many times as many faults as calls of the file system. */
const MORE = 5;

const KEYS = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "us-east-1" };

const ALL = ["status 500", "status 503", "reset", "slow"] as const;
const OF_CHANGES = [...ALL, "done and reset", "done and 500"] as const;
const OF_READS = [...ALL, "cut", "cut", "short"] as const;
type ServerFault = (typeof OF_CHANGES)[number] | (typeof OF_READS)[number];

interface Drawn {
  readonly kind: ServerFault;
  readonly random: Random;
}

/** An answer that can be sent in part. */
interface Whole {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Serves the files of a folder, and object storage, to which the environment then leads. */
export async function serveWithFaults(folder: string): Promise<Servers> {
  const faults = new Map<string, Faults & { readonly random: Random }>();
  const draw = (method: string, url: string): Drawn | null => {
    const found = [...faults].find(([name]) => url.includes(`/${name}/`));
    if (found === undefined) return null;
    const [, { random, rate, log }] = found;
    // A job makes few requests.
    if (random(1000) >= MORE * rate) return null;
    const kinds = method === "PUT" || method === "DELETE" ? OF_CHANGES : OF_READS;
    const kind = kinds[random(kinds.length)];
    fs.appendFileSync(log, `server ${kind} ${method} ${url}\n`);
    return { kind, random };
  };
  const files = await serveFiles(folder);
  files.quirk = (exchange) => {
    const drawn = draw(exchange.request.method ?? "", exchange.request.url ?? "");
    return drawn !== null && disturbFile(exchange, drawn);
  };
  const objects = await serveS3(null, (exchange) => {
    const drawn = draw(exchange.method, exchange.url);
    return drawn !== null && disturbObject(exchange, drawn);
  });
  Object.assign(process.env, KEYS, { AWS_ENDPOINT_URL: objects.endpoint });
  return {
    address: files.address,
    objects: objects.objects,
    set(name, given) {
      if (given === null) faults.delete(name);
      else faults.set(name, { ...given, random: fixedRandom(given.seed) });
    },
    close() {
      files.close();
      objects.close();
    },
  };
}

function disturbFile({ request, response, answer, file }: Exchange, drawn: Drawn): boolean {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (drawn.kind === "short" && file !== null && answer.status === 206) {
    // A server may send fewer bytes than it is asked for.
    const length = 1 + drawn.random(Math.max(1, Math.min(Number(to), file.length) - Number(from)));
    const short = rangeOf(file, Number(from), Number(from) + length, answer.headers);
    return send(response, short, request.method ?? "");
  }
  return disturb(response, request.method ?? "", () => answer, drawn);
}

const disturbObject = ({ method, response, answer }: S3Exchange, drawn: Drawn): boolean =>
  disturb(
    response,
    method,
    () => {
      const { status, body = "", ...headers } = answer();
      const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
      return { status, headers: headers as Record<string, string>, body: bytes };
    },
    drawn,
  );

function send(
  response: http.ServerResponse,
  { status, headers, body }: Whole,
  method: string,
): true {
  response.writeHead(status, headers);
  response.end(method === "HEAD" ? undefined : body);
  return true;
}

function disturb(
  response: http.ServerResponse,
  method: string,
  answer: () => Whole,
  { kind, random }: Drawn,
): boolean {
  switch (kind) {
    case "done and 500":
      answer();
      response.writeHead(500, { "content-length": "0" }).end();
      return true;
    case "status 500":
    case "status 503":
      response.writeHead(Number(kind.slice(-3)), { "content-length": "0" }).end();
      return true;
    case "done and reset":
      answer();
      response.destroy();
      return true;
    case "reset":
      response.destroy();
      return true;
    case "cut": {
      const { status, headers, body } = answer();
      if (method === "HEAD" || body.length === 0) return false;
      response.writeHead(status, { ...headers, "content-length": String(body.length) });
      response.write(body.subarray(0, random(body.length)), () => response.destroy());
      return true;
    }
    case "slow":
      setTimeout(() => send(response, answer(), method), random(50));
      return true;
    default:
      return false;
  }
}
