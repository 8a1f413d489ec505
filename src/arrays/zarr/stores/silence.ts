/**
 * Limits the time for which a server may be silent. Without this limit, fetch waits five minutes for an answer and for
 * each piece of a body, and again for each retry.
 */

import { HTTP } from "../../../core/limits.ts";

/** The error for a server that was silent for too long. */
export class Silence extends Error {
  override readonly name = "Silence";
  /** The code of a timed-out connection, so that the request is retried. */
  readonly code = "ETIMEDOUT";
  /** The time without an answer, in ms. */
  readonly time: number;

  constructor(time: number) {
    super(`the server sent nothing for ${time / 1000} s`);
    this.time = time;
  }
}

/**
 * Waits at most `limit` ms for a promise. `stop` is called after silence and after an abort, and ends the awaited
 * action. Throws a `Silence` error after `limit` ms, or the signal's reason when it aborts.
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
    // A stopped promise may still resolve, so the error has priority.
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
 * Passes pieces of a body to `take`, until `take` returns false. Throws a `Silence` error, or the signal's reason when
 * it aborts.
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

/** Reads at most about `most` characters of a body as text. Throws the errors of `eachPiece`. */
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
