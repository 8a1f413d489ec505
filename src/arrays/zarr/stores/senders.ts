/** Sends plain requests, requests with a user, and requests with AWS Signature Version 4. */

import { wrongOption } from "../../../core/foreign.ts";
import { decoded } from "../../boxes/urls.ts";
import { isRedirect } from "./failures.ts";
import type { Request, Send } from "./retries.ts";
import type { Fetch } from "./store-options.ts";

export interface Keys {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  readonly region?: string;
}

export interface Asked {
  readonly url: URL;
  readonly fetch: Fetch;
  /** True if requests must be signed whenever keys are available. */
  readonly isSigned: boolean;
  /** Returns true if a request must be signed again after a redirect to `url`. */
  keepsSigning(url: URL): boolean;
}

export interface Sender {
  readonly send: Send;
  /** Secret texts that messages must not contain. */
  readonly secrets: readonly string[];
}

export async function senderOf(keys: Keys, asked: Asked): Promise<Sender> {
  const { url, fetch } = asked;
  const { accessKeyId, secretAccessKey, sessionToken = "" } = keys;
  if (url.username !== "" || url.password !== "") return senderWithUser(url, fetch);
  // A presigned URL must not be signed again, because servers refuse such requests.
  const isPresigned = /[?&]x-amz-(?:signature|credential)=/i.test(url.search);
  const isSigned = asked.isSigned && !isPresigned;
  if (accessKeyId === undefined || secretAccessKey === undefined || !isSigned) {
    return { send: senderWith(fetch), secrets: [url.search.slice(1)].filter(Boolean) };
  }
  const secrets = [secretAccessKey, sessionToken, url.search.slice(1)].filter(Boolean);
  return { send: await signingSender({ ...keys, accessKeyId, secretAccessKey }, asked), secrets };
}

const senderWith =
  (fetch: Fetch, more: Readonly<Record<string, string>> = {}): Send =>
  async (url, { method, headers, body }, signal) => {
    const all = { ...headers, ...plainLength(method), ...more };
    const init = { method, headers: all, ...(body && { body: body.slice() }), signal };
    return checked(await fetch(url.href, init));
  };

/** Returns the result of `fetch`. Throws an `attribute` error for a result that is not a response. */
function checked(response: unknown): Response {
  const { status, headers } = Object(response) as Partial<Response>;
  if (typeof status === "number" && typeof headers?.get === "function") return response as Response;
  // Text may be the URL, with its secrets.
  const got = typeof response === "string" ? "text" : response;
  throw wrongOption("fetch", "a function that returns a promise of a Response", got);
}

/**
 * The headers that request an object without compression, so that its length is known. In a browser, fetch omits this
 * header.
 */
const plainLength = (method: Request["method"]): Record<string, string> =>
  method === "HEAD" ? { "accept-encoding": "identity" } : {};

/**
 * Sends the user and the password of a URL in a header, because fetch rejects such URLs. After a redirect to another
 * origin, the header is not sent.
 */
function senderWithUser({ username, password, search }: URL, fetch: Fetch): Sender {
  const pair = `${decoded(username)}:${decoded(password)}`;
  const code = btoa(String.fromCharCode(...new TextEncoder().encode(pair)));
  const secrets = [decoded(password), password, code, search.slice(1)].filter(Boolean);
  return { send: senderWith(fetch, { authorization: `Basic ${code}` }), secrets };
}

/** The maximum number of redirects per request. */
const MOST_REDIRECTS = 5;

async function signingSender(
  keys: Keys & { accessKeyId: string; secretAccessKey: string },
  { fetch, keepsSigning }: Asked,
): Promise<Send> {
  const { AwsClient } = await import("aws4fetch");
  const { accessKeyId, secretAccessKey, sessionToken, region } = keys;
  const own = { ...(sessionToken && { sessionToken }), ...(region && { region }) };
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", ...own });
  return async (first, request, signal) => {
    let url = first;
    for (let count = 0; ; count++) {
      const { headers, body, method } = request;
      const init = {
        method,
        headers: { ...headers, ...(await payloadHash(url, body)) },
        ...(body && { body: body.slice() }),
      };
      // oxlint-disable-next-line no-await-in-loop -- one place after the other
      const signed = await client.sign(strictUrl(url), init);
      const all = {
        ...init,
        // Proxies change the length's header, so it is not signed.
        headers: { ...Object.fromEntries(signed.headers), ...plainLength(method) },
        // Redirects are followed here, because fetch would send the session token and an invalid signature to the new
        // host.
        redirect: "manual",
        signal,
      } as const;
      // oxlint-disable-next-line no-await-in-loop
      const response = checked(await fetch(signed.url, all));
      const place = isRedirect(response.status) ? response.headers.get("location") : null;
      const next = place === null ? null : new URL(place, url);
      const isOwn = next !== null && (next.origin === url.origin || keepsSigning(next));
      if (next === null || !isOwn || count === MOST_REDIRECTS) return response;
      // oxlint-disable-next-line no-await-in-loop
      await response.body?.cancel();
      url = next;
    }
  };
}

/** Returns a header with the hash of the body, which is signed only without TLS, because TLS protects the body. */
async function payloadHash(
  { protocol }: URL,
  body: Uint8Array = new Uint8Array(0),
): Promise<Record<string, string>> {
  if (protocol === "https:") return {};
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(body)));
  const text = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { "x-amz-content-sha256": text };
}

/**
 * Returns a URL in its signed form, in which all bytes except letters, digits and `-._~` are encoded. The encoding is
 * necessary, because the library aws4fetch signs the encoded URL but sends the given URL. In the given URL, `!'()*` are
 * not encoded, and `+` in the query means a space.
 */
function strictUrl(url: URL): URL {
  const strict = new URL(url);
  strict.pathname = url.pathname.split("/").map(decodeOr).map(encodeStrictly).join("/");
  strict.search = [...url.searchParams].map((pair) => pair.map(encodeStrictly).join("=")).join("&");
  return strict;
}

const decodeOr = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
