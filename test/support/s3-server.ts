/**
 * Object storage in memory that checks signatures as S3 does: with AWS's own signer, from the raw request. Paths and
 * queries are used exactly as received, so that forms that only some servers interpret as intended are refused.
 */

import { createHash, createHmac } from "node:crypto";
import * as http from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

interface Signable {
  method: string;
  protocol: string;
  hostname: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
}

interface Signer {
  sign(request: Signable, options: object): Promise<Signable>;
  presign(request: Signable, options: object): Promise<Signable>;
}

/** The part of `@smithy/signature-v4` in use here. */
interface Smithy {
  readonly SignatureV4: new (options: object) => Signer;
}

export interface Secrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const PLACE = fileURLToPath(new URL("../../../test/nightly/s3/package.json", import.meta.url));

export function loadSigner(): Smithy | null {
  try {
    return createRequire(PLACE)("@smithy/signature-v4") as Smithy;
  } catch {
    return null;
  }
}

class Sha256 {
  readonly #hash;
  constructor(secret?: Uint8Array | string) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  }
  update(data: Uint8Array | string): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }
}

export const makeSigner = ({ SignatureV4 }: Smithy, credentials: Secrets, region: string): Signer =>
  new SignatureV4({
    service: "s3",
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });

/** A request as received by a server. */
export interface Received {
  readonly method: string;
  /** The raw path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Verifier {
  readonly smithy: Smithy;
  readonly keys: Secrets;
  readonly region: string;
  /** The time of the server. */
  now(): number;
}

const splitQuery = (url: string): readonly [path: string, query: Record<string, string>] => {
  const [path, query = ""] = url.split("?");
  const pairs = query === "" ? [] : query.split("&").map((one) => one.split("="));
  return [path, Object.fromEntries(pairs.map((pair) => pair.map(decodeURIComponent)))];
};

/** @returns the code of S3's refusal; null for a valid signature */
export async function refusalFor(request: Received, verifier: Verifier): Promise<string | null> {
  const { headers, url, method, body } = request;
  const { smithy, keys, region, now } = verifier;
  const [path, query] = splitQuery(url);
  const isPresigned = "X-Amz-Signature" in query;
  const given = headers["authorization"] ?? "";
  if (isPresigned && given !== "") return "InvalidArgument";
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=\w+$/;
  const [, key, scope, names = "host"] = isPresigned
    ? ["", ...(query["X-Amz-Credential"] ?? "").split("/").filter((_, at) => at % 2 === 0)]
    : (pattern.exec(given) ?? []);
  if (key === undefined) return "AccessDenied";
  if (key !== keys.accessKeyId) return "InvalidAccessKeyId";
  if (scope !== region) return "AuthorizationHeaderMalformed";
  const date = timeOf(isPresigned ? query["X-Amz-Date"] : headers["x-amz-date"]);
  if (!isPresigned && Math.abs(date - now()) > 15 * 60_000) return "RequestTimeTooSkewed";
  const list = isPresigned ? ["host"] : names.split(";");
  const isEverySigned = Object.keys(headers).every(
    (name) => !name.startsWith("x-amz-") || list.includes(name),
  );
  if (!isEverySigned || !list.includes("host")) return "AccessDenied";
  const signable = {
    method,
    protocol: "http:",
    hostname: headers["host"],
    path,
    headers: Object.fromEntries(list.map((name) => [name, headers[name] ?? ""])),
  };
  const signer = makeSigner(smithy, keys, region);
  const signingDate = new Date(date);
  if (isPresigned) {
    const rest = Object.entries(query).filter(([name]) => !name.startsWith("X-Amz-"));
    const asked = { ...signable, query: Object.fromEntries(rest) };
    const expiresIn = Number(query["X-Amz-Expires"]);
    const own = await signer.presign(asked, { signingDate, expiresIn });
    const isRight = own.query["X-Amz-Signature"] === query["X-Amz-Signature"];
    return isRight ? null : "SignatureDoesNotMatch";
  }
  const own = await signer.sign({ ...signable, query }, { signingDate });
  const signatureOf = (text = ""): string => /Signature=(\w+)/.exec(text)?.[1] ?? "";
  if (signatureOf(own.headers["authorization"]) !== signatureOf(given)) {
    return "SignatureDoesNotMatch";
  }
  const hash = headers["x-amz-content-sha256"];
  const isPayload =
    hash === "UNSIGNED-PAYLOAD" || hash === createHash("sha256").update(body).digest("hex");
  return isPayload ? null : "XAmzContentSHA256Mismatch";
}

const timeOf = (text = ""): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

export interface S3Memory {
  readonly endpoint: string;
  readonly objects: Map<string, Uint8Array>;
  /** The methods and paths of requests. */
  readonly asked: string[];
  /** The refused requests, with their codes. */
  readonly refused: string[];
  close(): void;
}

/** A request that is about to be answered; `answer` performs it. */
export interface S3Exchange {
  readonly method: string;
  readonly url: string;
  readonly response: http.ServerResponse;
  answer(): S3Answer;
}

/**
 * @param verifier the verifier of signatures; null accepts every request
 * @param quirk is called before each accepted request, and returns true if it has answered
 */
export async function serveS3(
  verifier: Verifier | null,
  quirk: (exchange: S3Exchange) => boolean = () => false,
): Promise<S3Memory> {
  const objects = new Map<string, Uint8Array>();
  const [asked, refused]: string[][] = [[], []];
  const server = http.createServer((request, response) => {
    const pieces: Uint8Array[] = [];
    request.on("data", (piece: Uint8Array) => pieces.push(piece));
    request.on("end", async () => {
      const { method = "", url = "" } = request;
      const headers = request.headers as Record<string, string>;
      const received = { method, url, headers, body: new Uint8Array(Buffer.concat(pieces)) };
      asked.push(`${method} ${url}`);
      const refusal = verifier === null ? null : await refusalFor(received, verifier);
      const answer = (): S3Answer =>
        refusal === null ? answerOf(objects, received) : { status: 403, body: errorOf(refusal) };
      if (refusal !== null) refused.push(`${refusal} ${method} ${url}`);
      else if (quirk({ method, url, response, answer })) return;
      const { status, body = "", ...more } = answer();
      response.writeHead(status, {
        date: new Date(verifier?.now() ?? Date.now()).toUTCString(),
        ...more,
      });
      response.end(method === "HEAD" ? undefined : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, objects, asked, refused, close };
}

const errorOf = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;

export interface S3Answer {
  readonly status: number;
  readonly body?: string | Uint8Array;
  readonly [header: string]: unknown;
}

function answerOf(objects: Map<string, Uint8Array>, request: Received): S3Answer {
  const { method, url, headers, body } = request;
  const [path, query] = splitQuery(url);
  if (query["list-type"] === "2") return listOf(objects, path.slice(1), query);
  const key = decodeURIComponent(path.slice(1));
  const bytes = objects.get(key);
  const etag = (one: Uint8Array): string => `"${createHash("md5").update(one).digest("hex")}"`;
  if (method === "PUT") {
    if (headers["if-none-match"] === "*" && bytes !== undefined) return { status: 412 };
    const from = headers["x-amz-copy-source"];
    const copied = objects.get(decodeURIComponent(from ?? "").replace(/^\//, ""));
    if (from !== undefined && copied === undefined) {
      return { status: 404, body: errorOf("NoSuchKey") };
    }
    objects.set(key, copied ?? body);
    return { status: 200, body: from === undefined ? "" : "<CopyObjectResult/>" };
  }
  if (method === "DELETE") {
    objects.delete(key);
    return { status: 204 };
  }
  if (bytes === undefined) return { status: 404, body: errorOf("NoSuchKey") };
  if (headers["if-match"] !== undefined && headers["if-match"] !== etag(bytes)) {
    return { status: 412 };
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers["range"] ?? "") ?? [];
  const part = from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1);
  return {
    status: from === undefined ? 200 : 206,
    etag: etag(bytes),
    "content-length": String(part.length),
    ...(from && {
      "content-range": `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`,
    }),
    body: part,
  };
}

/** Lists a thousand objects at a time, as S3 does. The token contains characters that must be encoded. */
function listOf(
  objects: Map<string, Uint8Array>,
  path: string,
  { prefix = "", delimiter, "continuation-token": token }: Record<string, string>,
): S3Answer {
  const bucket = path.replace(/\/$/, "");
  const keys = [...objects.keys()]
    .flatMap((one) => (one.startsWith(`${bucket}/`) ? [one.slice(bucket.length + 1)] : []))
    .filter((one) => one.startsWith(prefix))
    .toSorted();
  const [, start = "0"] = /^\+\/=&(\d+) %$/.exec(token ?? "") ?? [];
  const page = keys.slice(Number(start), Number(start) + 1000);
  const next = Number(start) + page.length;
  const text = (one: string): string => one.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const isGrouped = (one: string): boolean =>
    delimiter !== undefined && one.slice(prefix.length).includes(delimiter);
  const groups = new Set(
    page
      .filter(isGrouped)
      .map((one) => one.slice(0, one.indexOf(delimiter ?? "", prefix.length) + 1)),
  );
  const entries = page.flatMap((one) =>
    isGrouped(one)
      ? []
      : `<Contents><Key>${text(one)}</Key><Size>${objects.get(`${bucket}/${one}`)?.length}</Size></Contents>`,
  );
  for (const one of groups)
    entries.push(`<CommonPrefixes><Prefix>${text(one)}</Prefix></CommonPrefixes>`);
  const rest =
    next < keys.length
      ? `<NextContinuationToken>${text(`+/=&${next} %`)}</NextContinuationToken>`
      : "";
  return { status: 200, body: `<ListBucketResult>${entries.join("")}${rest}</ListBucketResult>` };
}
