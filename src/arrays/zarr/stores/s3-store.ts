/**
 * Stores arrays in object storage. Objects appear complete. Objects cannot be renamed, so the server copies staged
 * objects, which are then deleted. An existing array is never overwritten.
 */

import { isTensorError } from "../../../core/errors.ts";
import { join } from "../codecs/gzip.ts";
import { within } from "../../boxes/urls.ts";
import { failed, refusalOf, unreachable } from "./failures.ts";
import { openObject, stateOfObject, type ObjectClient } from "./ranges.ts";
import type { Request } from "./retries.ts";
import { textOf } from "./silence.ts";
import { encodeKey, makeClient, type S3Client } from "./s3-client.ts";
import type { S3Options } from "./s3-options.ts";
import type { Fetch } from "./store-options.ts";
import {
  CLAIM,
  readAll,
  STAGING,
  unfit,
  type Source,
  type Staging,
  type ArrayStore,
  type StoredObject,
} from "./store.ts";

/** The prefix of objects that readers ignore. */
const STAGED = `${STAGING}/`;

export async function openS3Store(
  location: string,
  options?: S3Options,
  signal?: AbortSignal,
  fetch?: Fetch,
): Promise<S3Store> {
  return new S3Store(await makeClient(location, options, signal, fetch));
}

export class S3Store implements ArrayStore {
  readonly path: string;
  readonly concurrency = 8;
  readonly client: S3Client;
  readonly staging?: Staging;
  sendsPages = false;

  constructor(client: S3Client) {
    this.client = client;
    this.path = client.location;
    // Only an S3 server can copy objects.
    if (client.prefix !== null) this.staging = new S3Staging(this);
  }

  /** Returns null for status 404. Throws an `engine` error for statuses that are neither success nor `expected`. */
  async send(
    key: string,
    request: Request,
    expected: readonly number[] = [],
  ): Promise<Response | null> {
    return this.#request(this.client.urlOf(key), request, expected, within(this.path, key));
  }

  async #request(
    url: URL,
    request: Request,
    expected: readonly number[],
    what: string,
  ): Promise<Response | null> {
    const { signal, forbiddenIsMissing, secrets = [] } = this.client;
    let response: Response;
    try {
      response = await this.client.send(url, request);
    } catch (cause) {
      signal?.throwIfAborted();
      throw isTensorError(cause) ? cause : unreachable(what, cause, secrets);
    }
    const { ok, status } = response;
    // A forbidden HEAD does not mean that the object is missing, because the URL may be signed only for GET.
    const isForbidden = status === 403 && request.method === "GET";
    const isMissing =
      status === 404 ||
      (isForbidden && forbiddenIsMissing === true) ||
      this.#isPage(response, request);
    if (!isMissing && (ok || expected.includes(status))) return response;
    if (!isMissing) throw await refusalOf(response, request.method, what);
    // A response body that is not read would keep its connection open.
    await response.body?.cancel();
    return null;
  }

  /** Returns true for an HTML page, which some servers send with status 200 instead of a missing object. */
  #isPage({ ok, headers }: Response, { method }: Request): boolean {
    const isPage =
      ok &&
      (method === "GET" || method === "HEAD") &&
      /^\s*text\/html\b/i.test(headers.get("content-type") ?? "");
    if (isPage) this.sendsPages = true;
    return isPage;
  }

  open(key: string): Promise<Source | null> {
    return openObject(this.#objectOf(key));
  }

  stateOf(key: string): Promise<string> {
    return stateOfObject(this.#objectOf(key));
  }

  async sizeOf(key: string): Promise<number | null> {
    const source = await this.open(key);
    await source?.close();
    return source?.size ?? null;
  }

  #objectOf(key: string): ObjectClient {
    const { signal, secrets = [], urlOf } = this.client;
    const what = within(this.path, key);
    return {
      what,
      signal,
      hasConditions: !isOfOtherOrigin(urlOf(key)),
      send: (request, expected) => this.send(key, request, expected),
      unreachable: (cause) => unreachable(what, cause, secrets),
    };
  }

  async put(key: string, parts: readonly Uint8Array[]): Promise<void> {
    await this.#put(key, parts, {}, []);
  }

  async putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean> {
    try {
      // Status 409 means that another conditional request is in progress.
      const response = await this.#put(key, parts, { "if-none-match": "*" }, [409, 412]);
      return response.ok;
    } catch (error) {
      const isOwn = isUncertain(error) ? await this.holds(key, join(parts)) : null;
      if (isOwn === null) throw error;
      return isOwn;
    }
  }

  /** Returns true if an object has exactly these bytes, or null if the object cannot be read. */
  async holds(key: string, bytes: Uint8Array): Promise<boolean | null> {
    const source = await this.open(key).catch(() => null);
    if (source === null) return null;
    if (source.size !== bytes.length) return false;
    const found = await readAll(source).catch(() => null);
    return found?.every((byte, i) => byte === bytes[i]) ?? null;
  }

  async #put(
    key: string,
    parts: readonly Uint8Array[],
    headers: Request["headers"] & {},
    expected: readonly number[],
  ): Promise<Response> {
    const body = join(parts);
    const response = await this.send(key, { method: "PUT", headers, body }, expected);
    await response?.body?.cancel();
    if (response !== null) return response;
    throw failed(`the bucket of ${this.path} does not exist`, this.path);
  }

  async clear(): Promise<void> {
    const why = "is in object storage, where arrays cannot be overwritten; choose another location";
    throw unfit(this.path, why, "overwrite");
  }

  async folders(prefix: string): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const { text, root } of this.#pages(prefix, "/")) {
      for (const entry of elementsOf(text, "CommonPrefixes")) {
        const place = elementOf(entry, "Prefix") ?? "";
        names.push(place.slice(root.length + prefix.length).replace(/\/$/, ""));
      }
    }
    return names;
  }

  /** Lists all objects whose keys begin with `prefix`. */
  async *list(prefix = ""): AsyncGenerator<StoredObject> {
    for await (const { text, root } of this.#pages(prefix)) {
      for (const entry of elementsOf(text, "Contents")) {
        const key = elementOf(entry, "Key") ?? "";
        yield { key: key.slice(root.length), size: Number(elementOf(entry, "Size")) };
      }
    }
  }

  /**
   * Lists objects, with a request for every thousand objects. `delimiter` is a character, up to which equal keys are
   * grouped.
   */
  async *#pages(
    prefix: string,
    delimiter?: string,
  ): AsyncGenerator<{ readonly text: string; readonly root: string }> {
    const { bucketUrl, prefix: place } = this.client;
    if (place === null) {
      const sentence = `the objects at ${this.path} cannot be listed; use an s3:// URL`;
      throw failed(sentence, this.path);
    }
    const root = place.key === "" ? "" : `${place.key}/`;
    // The first page has no token.
    for (let token: string | null = ""; token !== null;) {
      const url = new URL(bucketUrl);
      url.searchParams.set("list-type", "2");
      url.searchParams.set("prefix", root + prefix);
      if (delimiter !== undefined) url.searchParams.set("delimiter", delimiter);
      if (token !== "") url.searchParams.set("continuation-token", token);
      const response = await this.#request(url, { method: "GET" }, [], this.path);
      const text = response === null ? "" : await this.#textOf(response);
      yield { text, root };
      // An empty token would request the first page again.
      token = elementOf(text, "NextContinuationToken") || null;
    }
  }

  async #textOf(response: Response): Promise<string> {
    try {
      return await textOf(response, this.client.signal);
    } catch (cause) {
      this.client.signal?.throwIfAborted();
      throw unreachable(this.path, cause, this.client.secrets ?? []);
    }
  }

  /** Copies an object on the server. Returns false if the source does not exist. */
  async copy(from: S3Store, key: string, to: string): Promise<boolean> {
    const { prefix } = from.client;
    if (prefix === null) return false;
    const path = [prefix.bucket, prefix.key, key].filter((one) => one !== "").join("/");
    const headers = { "x-amz-copy-source": `/${encodeKey(path)}` };
    const response = await this.send(to, { method: "PUT", headers });
    if (response === null) return false;
    // A copy may fail even after the server has sent the status.
    if ((await this.#textOf(response)).includes("<Error>")) {
      const file = `${from.path}/${key}`;
      throw failed(`the server did not copy ${file}`, file);
    }
    return true;
  }

  async remove(key: string): Promise<void> {
    const response = await this.send(key, { method: "DELETE" });
    await response?.body?.cancel();
  }
}

/** Returns true for a failed request that may nevertheless have stored the object. */
const isUncertain = (error: unknown): boolean =>
  isTensorError(error, "engine") && !(Number(error.got) < 500);

/** Returns true on a web page of another origin than the URL. */
function isOfOtherOrigin({ origin }: URL): boolean {
  const page: { readonly origin?: string } = Reflect.get(globalThis, "location") ?? {};
  return page.origin !== undefined && page.origin !== origin;
}

const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

/** The greatest code point, beyond which a reference is not a character. */
const MAX_CODE = 0x10ffff;

/**
 * Returns the contents of all XML elements with this name. A regular expression would search for the end of each
 * element in the whole text, and take 20 s for 400 kB without an end.
 */
function elementsOf(xml: string, name: string): string[] {
  const open = `<${name}>`;
  const parts = xml.split(`</${name}>`).slice(0, -1);
  return parts
    .filter((part) => part.includes(open))
    .map((part) => part.slice(part.indexOf(open) + open.length));
}

/**
 * Returns the text of the first XML element with this name. In S3's responses, the relevant elements contain only text.
 */
function elementOf(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return (
    text?.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, word: string) => {
      if (code === undefined) return ENTITIES.get(word) ?? whole;
      return Number(code) <= MAX_CODE ? String.fromCodePoint(Number(code)) : whole;
    }) ?? null
  );
}

class S3Staging implements Staging {
  readonly #store: S3Store;

  constructor(store: S3Store) {
    this.#store = store;
  }

  open(name: string): Promise<Source | null> {
    return this.#store.open(STAGED + name);
  }

  put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    return this.#store.put(STAGED + name, parts);
  }

  putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean> {
    return this.#store.putNew(STAGED + name, parts);
  }

  async copy(from: ArrayStore, key: string, name: string): Promise<boolean> {
    // The server copies the object, so the data does not pass through this machine.
    if (!(from instanceof S3Store)) return false;
    const isSameServer = from.client.bucketUrl.host === this.#store.client.bucketUrl.host;
    return isSameServer && (await this.#store.copy(from, key, STAGED + name));
  }

  async publish(name: string, key: string): Promise<boolean> {
    const isThere = await this.#store.copy(this.#store, STAGED + name, key);
    if (isThere) await this.#store.remove(STAGED + name);
    return isThere;
  }

  async publishNew(name: string, key: string): Promise<boolean> {
    const store = this.#store;
    const staged = await this.open(name);
    if (staged === null) return false;
    // The object is sent again, because not all servers support conditional copies.
    const bytes = await readAll(staged);
    const isOwn = (await store.putNew(key, [bytes])) || (await store.holds(key, bytes)) === true;
    if (!isOwn) {
      const why = "holds another array by now, which is kept; write to another location";
      throw unfit(store.path, why, "out");
    }
    await this.remove(name);
    return true;
  }

  remove(name: string): Promise<void> {
    return this.#store.remove(STAGED + name);
  }

  async end(): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.#store.list(STAGED)) keys.push(key);
    // The claim names the job of the remaining objects, so it is deleted last.
    keys.sort((a, b) => Number(a === STAGED + CLAIM) - Number(b === STAGED + CLAIM));
    for (const key of keys) await this.#store.remove(key);
  }
}
