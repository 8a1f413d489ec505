/**
 * Reads objects on servers by byte ranges. Some servers refuse HEAD, omit the length of an object, ignore ranges, or
 * compress objects in transit. A URL that is signed for GET also refuses HEAD. On a page of another origin, few headers
 * are visible.
 */

import { isTensorError, malformed, type TensorError, unsupported } from "../../../core/errors.ts";
import { HTTP } from "../../../core/limits.ts";
import { join } from "../codecs/gzip.ts";
import { failed } from "./failures.ts";
import { isTransient, Pauses, type Request } from "./retries.ts";
import { eachPiece } from "./silence.ts";
import { memorySource, type Source } from "./store.ts";

/** Sends the requests for an object. */
export interface ObjectClient {
  /** The name of the object in messages. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  /** True if conditional headers may be sent, for which a request to another origin would need a preflight request. */
  readonly hasConditions: boolean;
  /**
   * Returns null if the object does not exist.
   * Throws a TensorError for statuses other than success and those in `expected`.
   */
  send(request: Request, expected?: readonly number[]): Promise<Response | null>;
  /** Returns the error for a truncated response. */
  unreachable(cause: unknown): TensorError;
}

/** The version of an object, according to a response. */
interface Version {
  readonly etag: string | null;
  readonly modified: string | null;
}

interface Head extends Version {
  readonly size: number;
}

/** The status codes with which a server may refuse HEAD but not GET. */
const NO_HEAD = [400, 403, 405, 501];

export async function openObject(client: ObjectClient): Promise<Source | null> {
  const found = await headOf(client);
  if (found === null || "read" in found) return found;
  return new RangeSource(client, found);
}

/** Returns text that changes whenever the object changes, or an empty string without an object. */
export async function stateOfObject(client: ObjectClient): Promise<string> {
  const response = await client.send({ method: "HEAD" }, NO_HEAD);
  if (response === null) return "";
  const { ok, headers } = response;
  if (ok) return printState(versionOf(headers), headers.get("content-length"));
  const found = await probe(client);
  if (found === null) return "";
  return "read" in found ? `null null ${found.size}` : printState(found, String(found.size));
}

const printState = ({ etag, modified }: Version, size: string | null): string =>
  [etag, modified, size].join(" ");

const versionOf = (headers: Headers): Version => ({
  etag: headers.get("etag"),
  modified: headers.get("last-modified"),
});

async function headOf(client: ObjectClient): Promise<Head | Source | null> {
  const response = await client.send({ method: "HEAD" }, NO_HEAD);
  if (response === null) return null;
  const size = response.ok ? lengthIn(response) : null;
  return size === null ? probe(client) : { size, ...versionOf(response.headers) };
}

/** Returns the length in a response's headers, or null if it is not the length of the object. */
function lengthIn({ headers }: Response): number | null {
  const length = headers.get("content-length");
  if (length === null || !/^\d+$/.test(length) || isEncoded(headers)) return null;
  return Number.isSafeInteger(Number(length)) ? Number(length) : null;
}

const isEncoded = (headers: Headers): boolean =>
  !["", "identity"].includes(headers.get("content-encoding")?.trim().toLowerCase() ?? "");

interface ContentRange {
  readonly start: number;
  readonly end: number;
  /** The length of the object, or null if the server does not report it. */
  readonly total: number | null;
}

/** Parses the range in a response's headers, or returns null if the range is missing or hidden from the page. */
function rangeIn(headers: Headers): ContentRange | null {
  const pattern = /^\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*$/i;
  const [, start, last, total] = pattern.exec(headers.get("content-range") ?? "") ?? [];
  if (start === undefined) return null;
  return {
    start: Number(start),
    end: Number(last) + 1,
    total: total === "*" ? null : Number(total),
  };
}

/**
 * Requests the first byte, because the response contains the object's length. If the response does not contain the
 * length, the whole object is read.
 */
async function probe(client: ObjectClient): Promise<Head | Source | null> {
  const first = { method: "GET", headers: { range: "bytes=0-0" } } as const;
  const response = await client.send(first, [416]);
  if (response === null) return null;
  const { status, headers } = response;
  const range = rangeIn(headers);
  const size = status === 206 ? (range?.total ?? null) : lengthIn(response);
  if (status === 200 && size === null) return readWhole(client, response);
  await response.body?.cancel();
  // The request fails for an empty object, which has no first byte.
  if (status === 416) return memorySource(new Uint8Array(0));
  if (size !== null && !isEncoded(headers)) return { size, ...versionOf(headers) };
  return readWhole(client, null);
}

/**
 * Reads a whole object of unknown length, which fetch may decompress. `first` is the response to an earlier request, if
 * any.
 */
async function readWhole(client: ObjectClient, first: Response | null): Promise<Source | null> {
  const pauses = new Pauses(client.signal);
  for (let response = first; ; response = null) {
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
    response ??= await client.send({ method: "GET" });
    if (response === null) return null;
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      // oxlint-disable-next-line no-await-in-loop
      await eachPiece(response, client.signal, (piece) => {
        length += piece.length;
        pieces.push(piece);
        return length <= HTTP.whole;
      });
    } catch (error) {
      // oxlint-disable-next-line no-await-in-loop
      await pauseAfter(client, pauses, error);
      continue;
    }
    if (length <= HTTP.whole) return memorySource(join(pieces));
    throw unsupported(
      `the server does not report the size of ${client.what}, which exceeds ${HTTP.whole} bytes`,
      { file: client.what, limit: HTTP.whole },
    );
  }
}

/** Waits after a truncated response, or throws a TensorError if no attempts remain. */
async function pauseAfter(client: ObjectClient, pauses: Pauses, error: unknown): Promise<void> {
  client.signal?.throwIfAborted();
  const pause = isTransient(error) ? pauses.next(error) : null;
  if (pause === null) throw client.unreachable(error);
  await pauses.wait(pause);
}

class RangeSource implements Source {
  readonly size: number;
  readonly bytes = null;
  readonly #client: ObjectClient;
  readonly #version: Version;
  /** The whole object, if a server without range support has sent it. */
  #whole: Uint8Array | null = null;

  constructor(client: ObjectClient, { size, ...version }: Head) {
    this.size = size;
    this.#client = client;
    this.#version = version;
  }

  async close(): Promise<void> {}

  /**
   * Reads a range, with further requests if the server sends less than requested or the connection is lost. The number
   * of retries is limited only while no bytes arrive.
   */
  async read(offset: number, into: Uint8Array): Promise<void> {
    const pauses = new Pauses(this.#client.signal);
    for (let done = 0; done < into.length && this.#whole === null;) {
      const before = done;
      const count = (length: number): void => void (done += length);
      try {
        // oxlint-disable-next-line no-await-in-loop -- what is missing is known after the answer before
        await this.#readPart(offset + done, into.subarray(done), count);
      } catch (error) {
        if (isTensorError(error)) throw error;
        if (done - before >= HTTP.progress) pauses.reset();
        // oxlint-disable-next-line no-await-in-loop
        await pauseAfter(this.#client, pauses, error);
      }
    }
    if (this.#whole !== null) into.set(this.#whole.subarray(offset, offset + into.length));
  }

  /**
   * Reads a range, unless the object has changed after it was opened. `count` is called with the length of each
   * received piece.
   */
  async #readPart(at: number, into: Uint8Array, count: (length: number) => void): Promise<void> {
    const response = await this.#ask(at, into.length);
    const { status, headers } = response;
    const sent = status === 206 ? rangeIn(headers) : null;
    if (status !== 206 && into.length < this.size && this.size <= HTTP.whole) {
      const whole = new Uint8Array(this.size);
      if ((await this.#fill(whole, response, 0)) < whole.length) throw changed(this.#client);
      this.#whole = whole;
      return;
    }
    const length = Math.min(into.length, sent === null ? Infinity : sent.end - at);
    // A server without range support sends the whole object.
    const skip = status === 206 ? 0 : at;
    const isExact = sent !== null && sent.end - at <= into.length;
    const got = await this.#fill(into.subarray(0, length), response, skip, count, isExact);
    if (got === length) return;
    // The body is shorter than the header declares, which fetch does not always report.
    if (sent !== null) throw new Error("the body is shorter than its range");
    throw changed(this.#client);
  }

  async #ask(at: number, length: number): Promise<Response> {
    const { what, hasConditions, send } = this.#client;
    const { etag } = this.#version;
    const range = { range: `bytes=${at}-${at + length - 1}` };
    // A weak ETag never matches in an `if-match` condition.
    const isTagged = hasConditions && etag !== null && !etag.startsWith("W/");
    const headers = isTagged ? { ...range, "if-match": etag } : range;
    const response = await send({ method: "GET", headers }, [412, 416]);
    const isOther = response === null || this.#isOther(response);
    const wrong = isOther ? null : wrongAnswer(response, at, length);
    if (!isOther && wrong === null) return response;
    await response?.body?.cancel();
    throw wrong === null ? changed(this.#client) : wrongBytes(wrong, what);
  }

  /**
   * Returns true if a response contains another version of the object. The response must be checked, because some
   * servers ignore conditional headers. Web pages do not see all headers.
   */
  #isOther({ ok, headers }: Response): boolean {
    const { etag, modified } = this.#version;
    const total = rangeIn(headers)?.total ?? this.size;
    if (!ok || total !== this.size) return true;
    if (etag !== null) return headers.get("etag") !== etag;
    const now = headers.get("last-modified");
    return modified !== null && now !== null && now !== modified;
  }

  /**
   * Skips `skip` bytes of a body, fills `into` with the next bytes, and cancels the rest. Returns the number of bytes
   * in `into`. If `isExact` is true, the body must not have more bytes.
   */
  async #fill(
    into: Uint8Array,
    response: Response,
    skip: number,
    count?: (length: number) => void,
    isExact = false,
  ): Promise<number> {
    let [skipping, done] = [skip, 0];
    await eachPiece(response, this.#client.signal, (value) => {
      const piece = value.subarray(skipping);
      skipping -= value.length - piece.length;
      const part = piece.subarray(0, into.length - done);
      if (isExact && part.length < piece.length) throw wrongBytes(TOO_MANY, this.#client.what);
      into.set(part, done);
      done += part.length;
      count?.(part.length);
      return done < into.length;
    });
    return done;
  }
}

const changed = ({ what }: ObjectClient): TensorError =>
  malformed(`${what} changed while it was read`, { file: what });

const wrongBytes = (sent: string, what: string): TensorError =>
  failed(`the server sent ${sent} of ${what}`, what);

const TOO_MANY = "more bytes than requested";

/**
 * Describes how a response differs from the request for `length` bytes at `at`, or returns null for a matching response.
 */
function wrongAnswer(response: Response, at: number, length: number): string | null {
  const { status, headers } = response;
  if (status === 206 && isEncoded(headers)) return "a compressed range";
  if (/^multipart\/byteranges/i.test(headers.get("content-type") ?? "")) return "several ranges";
  if (status !== 206) return null;
  const sent = rangeIn(headers) ?? { start: at, end: at + length };
  // Some servers send the whole object as a range.
  if (Number(lengthIn(response)) > sent.end - sent.start) return TOO_MANY;
  if (sent.start === at && sent.end > at) return null;
  return `bytes ${sent.start} to ${sent.end - 1} (requested from byte ${at})`;
}
