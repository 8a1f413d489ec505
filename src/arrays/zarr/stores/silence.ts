/**
 * Limits how long a server may send nothing. Without a limit, fetch waits five minutes for an answer and for each piece
 * of a body, and each retry waits as long again.
 */

import { HTTP } from "../../../core/limits.ts";

/** Error for a server that sends nothing for too long. */
export class Silence extends Error {
  override readonly name = "Silence";
  /** The code of a connection that timed out, after which a request is retried. */
  readonly code = "ETIMEDOUT";
  /** Time without an answer, in ms. */
  readonly time: number;

  constructor(time: number) {
    super(`the server sent nothing for ${time / 1000} s`);
    this.time = time;
  }
}

/**
 * Waits for a promise, at most `limit` ms. `stop` is called on silence, and when the signal aborts; ends the awaited
 * action.
 * Throws a `Silence` error after `limit` ms, or the signal's reason when it aborts.
 */
export function unlessSilent<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  stop: (reason: unknown) => void,
  limit: number = HTTP.silence,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    // A stopped promise may resolve, so the error comes first.
    const fail = (reason: unknown): void => {
      settle();
      reject(reason as Error);
      stop(reason);
    };
    const abort = (): void => fail(signal?.reason);
    const timer = setTimeout(() => fail(new Silence(limit)), limit);
    signal?.addEventListener("abort", abort, { once: true });
    promise.finally(settle).then(resolve, reject);
    if (signal?.aborted === true) abort();
  });
}

/**
 * Passes the pieces of a body to `take` until `take` returns false.
 * Throws a `Silence` error, or the signal's reason when it aborts.
 */
export async function eachPiece(
  { body }: Response,
  signal: AbortSignal | undefined,
  take: (piece: Uint8Array) => boolean,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const stop = (reason: unknown): void => void reader.cancel(reason).catch(() => {});
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { done, value } = await unlessSilent(reader.read(), signal, stop);
    if (done) return;
    if (!take(value)) break;
  }
  await reader.cancel();
}

/** Reads a body as text, up to about `most` characters. Throws the errors of `eachPiece`. */
export async function textOf(
  response: Response,
  signal: AbortSignal | undefined,
  most = Infinity,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  await eachPiece(response, signal, (piece) => {
    text += decoder.decode(piece, { stream: true });
    return text.length < most;
  });
  return text + decoder.decode();
}
