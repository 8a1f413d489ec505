/** Retries requests after temporary failures and broken connections. */

import { isError } from "../../../core/errors.ts";
import { HTTP } from "../../../core/limits.ts";
import { Silence, unlessSilent } from "./silence.ts";

export interface Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Sends a request, which `signal` can abort. */
export type Send = (url: URL, request: Request, signal: AbortSignal) => Promise<Response>;

/** The waits between unsuccessful attempts, which increase and are limited in number and total. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  #waited = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Resets the waits, because an attempt made progress. */
  reset(): void {
    this.#count = 0;
    this.#waited = 0;
  }

  /**
   * Returns the time before the next attempt, in ms, or null if no attempts remain. `failure` is the error of the last
   * attempt, whose time counts as waiting if the server was silent. `asked` is the wait that the server requests, in
   * ms.
   */
  next(failure?: unknown, asked = 0): number | null {
    const { retries, first, longest, total } = HTTP;
    if (failure instanceof Silence) this.#waited += failure.time;
    if (this.#count >= retries || asked > longest) return null;
    // The wait is random, so that different clients do not retry at the same time.
    const pause = Math.max(Math.random() * first * 2 ** this.#count, asked);
    if (this.#waited + pause > total) return null;
    this.#count++;
    this.#waited += pause;
    return pause;
  }

  /** Throws the signal's reason when the signal aborts. */
  async wait(pause: number): Promise<void> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, pause);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }
}

/** Returns the time in the header `retry-after`, which contains seconds or a date, in ms. */
export function waitAskedBy({ headers }: Response): number {
  const retryAfter = headers.get("retry-after");
  if (retryAfter === null) return 0;
  if (/^\s*\d{1,9}\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const time = Date.parse(retryAfter);
  return Number.isNaN(time) ? 0 : Math.max(0, time - Date.now());
}

/** Wraps `send` with retries after temporary failures and silence. */
export function retrying(
  send: Send,
  signal: AbortSignal | undefined,
): (url: URL, request: Request) => Promise<Response> {
  return async (url, request) => {
    const pauses = new Pauses(signal);
    for (;;) {
      signal?.throwIfAborted();
      let pause: number | null;
      try {
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        const response = await answerTo(send, url, request, signal);
        pause = isBusy(response, request) ? pauses.next(null, waitAskedBy(response)) : null;
        if (pause === null) return response;
        // oxlint-disable-next-line no-await-in-loop -- a body that is not read keeps its connection
        await response.body?.cancel();
      } catch (error) {
        signal?.throwIfAborted();
        pause = isTransient(error) && !isConditional(request) ? pauses.next(error) : null;
        if (pause === null) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop
      await pauses.wait(pause);
    }
  };
}

/**
 * Returns the response to a request, possibly before its body has arrived. Throws a `Silence` error if the server is
 * silent.
 */
function answerTo(
  send: Send,
  url: URL,
  request: Request,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const controller = new AbortController();
  const limit = request.method === "PUT" ? HTTP.store : HTTP.silence;
  const answer = send(url, request, controller.signal);
  return unlessSilent(answer, signal, (reason) => controller.abort(reason), limit);
}

/**
 * Returns true for a request that must not be repeated, because a second attempt could mistake the object of the first
 * attempt for another writer's.
 */
const isConditional = ({ headers }: Request): boolean => headers?.["if-none-match"] !== undefined;

/** Returns true for a response after which a repeated request may succeed. */
function isBusy({ status }: Response, request: Request): boolean {
  // With one of these statuses, the server has not processed the request, so even a conditional request may be
  // repeated.
  if (status === 429 || status === 503) return true;
  return status >= 500 && status !== 501 && status !== 505 && !isConditional(request);
}

/** The error codes of broken connections in Node, Node's fetch and Bun. */
const BROKEN: ReadonlySet<string> = new Set([
  "ConnectionClosed",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** Returns an error and its causes, at most five in total. */
export const causesOf = (error: unknown, most = 5): Error[] =>
  isError(error) && most > 0 ? [error, ...causesOf(error.cause, most - 1)] : [];

/** Returns the codes of an error and its causes. */
export const codesOf = (error: unknown): string[] =>
  causesOf(error).flatMap((one) => ("code" in one && typeof one.code === "string" ? one.code : []));

/**
 * Returns true for a failure that may be temporary. Browser errors have neither codes nor causes, while Deno errors
 * have a cause without a code.
 */
export function isTransient(error: unknown): boolean {
  const codes = codesOf(error);
  if (codes.length > 0) return codes.some((code) => BROKEN.has(code));
  if (!isError(error)) return false;
  const { cause } = error;
  return cause === undefined || (isError(cause) && cause.message.includes("(SendRequest)"));
}
