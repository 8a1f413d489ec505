/**
 * Objects on servers, read by ranges. Servers differ: some refuse HEAD (so does a URL that is signed for GET), some do not say
 * how long an object is, some ignore ranges, some compress on the way, and pages of other origins see few headers.
 */

import { isTensorError, malformed, TensorError } from "../../../core/errors.ts";
import { HTTP } from "../../../core/limits.ts";
import { join } from "../codecs/gzip.ts";
import { TRAFFIC } from "../../boxes/traffic.ts";
import { isTransient, Pauses, type Request } from "./retries.ts";
import { memorySource, type Source } from "./store.ts";

/** Sends requests for one object. */
export interface ObjectClient {
  /** The object, as sentences name it. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  /** Whether conditions may be sent: a page of another origin would have to ask for leave first. */
  readonly hasConditions: boolean;
  /** @returns null where there is no such object. @throws TensorError for other failures than those expected */
  send(request: Request, expected?: readonly number[]): Promise<Response | null>;
  /** The error for an answer that broke off. */
  unreachable(cause: unknown): TensorError;
}

/** Which version of an object an answer is of. */
interface Version {
  readonly etag: string | null;
  readonly modified: string | null;
}

interface Head extends Version {
  readonly size: number;
}

/** Refusals of HEAD after which a GET may succeed. */
const NO_HEAD = [400, 403, 405, 501];

export async function openObject(client: ObjectClient): Promise<Source | null> {
  const found = await headOf(client);
  if (found === null || "read" in found) return found;
  return new RangeSource(client, found);
}

/** A text that changes when an object does; empty where it is missing. */
export async function stateOfObject(client: ObjectClient): Promise<string> {
  const response = await client.send({ method: "HEAD" }, NO_HEAD);
  if (response === null) return "";
  if (response.ok) return stateIn(response.headers, response.headers.get("content-length"));
  const found = await probe(client);
  if (found === null) return "";
  return "read" in found ? `null null ${found.size}` : printState(found, String(found.size));
}

const stateIn = (headers: Headers, size: string | null): string =>
  printState(versionOf(headers), size);

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

/** The length of the body that an answer has or would have; null where it is not that of the object. */
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
  /** Of the object; null where the server does not say. */
  readonly total: number | null;
}

/** The range that an answer has; null where it is not said, or not shown to a page of another origin. */
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

/** Asks for the first byte, whose answer says how long the object is; where it does not, reads all of it. */
async function probe(client: ObjectClient): Promise<Head | Source | null> {
  const first = { method: "GET", headers: { range: "bytes=0-0" } } as const;
  const response = await client.send(first, [416]);
  if (response === null) return null;
  const { status, headers } = response;
  const range = rangeIn(headers);
  const size = status === 206 ? (range?.total ?? null) : lengthIn(response);
  if (status === 200 && size === null) return readWhole(client, response);
  await response.body?.cancel();
  // No first byte can be sent of an empty object.
  if (status === 416) return memorySource(new Uint8Array(0));
  if (size !== null && !isEncoded(headers)) return { size, ...versionOf(headers) };
  return readWhole(client, null);
}

/**
 * Reads all of an object of unknown length, which fetch has decompressed.
 * @param first the answer to the first attempt, where there was one
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
      await eachPiece(response, (piece) => {
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
    throw malformed(
      `the server does not say how long ${client.what} is, and it is longer than ${HTTP.whole} bytes`,
    );
  }
}

/** Waits after an answer that broke off. @throws TensorError where there is to be no other attempt */
async function pauseAfter(client: ObjectClient, pauses: Pauses, error: unknown): Promise<void> {
  client.signal?.throwIfAborted();
  const pause = isTransient(error) ? pauses.next() : null;
  if (pause === null) throw client.unreachable(error);
  await pauses.wait(pause);
}

/** Gives the pieces of a body to `take` until that returns false. */
async function eachPiece(response: Response, take: (piece: Uint8Array) => boolean): Promise<void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { done, value } = await reader.read();
    if (done) return;
    if (!take(value)) break;
  }
  await reader.cancel();
}

class RangeSource implements Source {
  readonly size: number;
  readonly bytes = null;
  readonly #client: ObjectClient;
  readonly #version: Version;
  /** All of the object, once a server without ranges has sent it. */
  #whole: Uint8Array | null = null;

  constructor(client: ObjectClient, { size, ...version }: Head) {
    this.size = size;
    this.#client = client;
    this.#version = version;
  }

  async close(): Promise<void> {}

  /** A range that breaks off is read on from where it broke; a server may also send less at once than was asked for. */
  async read(offset: number, into: Uint8Array): Promise<void> {
    const pauses = new Pauses(this.#client.signal);
    for (let done = 0; done < into.length && this.#whole === null;) {
      const count = (length: number): void => void (done += length);
      try {
        // oxlint-disable-next-line no-await-in-loop -- what is missing is known after the answer before
        await this.#readPart(offset + done, into.subarray(done), count);
      } catch (error) {
        if (isTensorError(error)) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await pauseAfter(this.#client, pauses, error);
      }
    }
    if (this.#whole !== null) into.set(this.#whole.subarray(offset, offset + into.length));
    TRAFFIC.read += into.length;
  }

  /**
   * Reads a range, if the object is still the one whose size is known.
   * @param count is called with the number of bytes of each piece that was read
   */
  async #readPart(at: number, into: Uint8Array, count: (length: number) => void): Promise<void> {
    const response = await this.#ask(at, into.length);
    const { status, headers } = response;
    const sent = status === 206 ? rangeIn(headers) : null;
    if (status !== 206 && into.length < this.size && this.size <= HTTP.whole) {
      const whole = new Uint8Array(this.size);
      if ((await fill(whole, response, 0)) < whole.length) throw changed(this.#client);
      this.#whole = whole;
      return;
    }
    const length = Math.min(into.length, sent === null ? Infinity : sent.end - at);
    // A server without ranges sends all of the object.
    const skip = status === 206 ? 0 : at;
    const got = await fill(into.subarray(0, length), response, skip, count);
    if (got === length) return;
    // The length of the body was not what its header says, which fetch does not notice where there is no other header.
    if (sent !== null) throw new Error("the body is shorter than its range");
    throw changed(this.#client);
  }

  async #ask(at: number, length: number): Promise<Response> {
    const { what, hasConditions, send } = this.#client;
    const { etag } = this.#version;
    const range = { range: `bytes=${at}-${at + length - 1}` };
    // A weak tag never matches in a condition.
    const isTagged = hasConditions && etag !== null && !etag.startsWith("W/");
    const headers = isTagged ? { ...range, "if-match": etag } : range;
    const response = await send({ method: "GET", headers }, [412, 416]);
    const wrong = response === null || this.#isOther(response) ? "" : wrongAnswer(response, at);
    if (response !== null && wrong === null) return response;
    await response?.body?.cancel();
    if (wrong === "") throw changed(this.#client);
    throw new TensorError("engine", `the server sent ${wrong} of ${what}`);
  }

  /** True for an answer of another version. Some servers do not know conditions, and pages do not see all headers. */
  #isOther({ ok, headers }: Response): boolean {
    const { etag, modified } = this.#version;
    const total = rangeIn(headers)?.total ?? this.size;
    if (!ok || total !== this.size) return true;
    if (etag !== null) return headers.get("etag") !== etag;
    const now = headers.get("last-modified");
    return modified !== null && now !== null && now !== modified;
  }
}

const changed = ({ what }: ObjectClient): TensorError =>
  malformed(`${what} changed while it was read`);

/**
 * Fills `into` with what a body has behind its first `skip` bytes, and cancels the rest.
 * @returns how many bytes there were
 */
async function fill(
  into: Uint8Array,
  response: Response,
  skip: number,
  count?: (length: number) => void,
): Promise<number> {
  let [skipping, done] = [skip, 0];
  await eachPiece(response, (value) => {
    const piece = value.subarray(skipping);
    skipping -= value.length - piece.length;
    const part = piece.subarray(0, into.length - done);
    into.set(part, done);
    done += part.length;
    count?.(part.length);
    return done < into.length;
  });
  return done;
}

/** What an answer has that was not asked for; null where all is well. */
function wrongAnswer({ status, headers }: Response, at: number): string | null {
  if (status === 206 && isEncoded(headers)) return "a compressed range";
  if (/^multipart\/byteranges/i.test(headers.get("content-type") ?? "")) return "several ranges";
  const sent = status === 206 ? rangeIn(headers) : null;
  if (sent === null || (sent.start === at && sent.end > at)) return null;
  return `bytes ${sent.start} to ${sent.end - 1} where those from ${at} on were asked for`;
}
