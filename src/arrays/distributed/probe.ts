/**
 * Finds out why a Redis client gets no answer from a server: one side alone uses TLS, or the server is silent. The
 * client's own errors do not distinguish these cases. If only the client uses TLS, it waits until the connection times
 * out. If only the server uses TLS, the client sees the connection close.
 */

import * as net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { DISTRIBUTED } from "../../core/limits.ts";
import { redisUrl, type Connection } from "./redis-url.ts";

/** Error whose message states, as the end of a sentence, why a server cannot be used. */
export class WrongRedis extends Error {}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Returns the host and port of a connection; null if it has none, as for a Unix socket. */
function addressOf(connection: Connection): Address | null {
  if (typeof connection !== "string") {
    const { host = "127.0.0.1", port = 6379, path, tls } = connection;
    const isTcp = path === undefined && typeof host === "string" && Number.isInteger(Number(port));
    return isTcp ? { host, port: Number(port), isTls: tls !== undefined } : null;
  }
  const url = redisUrl(connection);
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  // Brackets around IPv6 addresses are removed, because only URLs use them.
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: port === "" ? 6379 : Number(port), isTls: protocol === "rediss:" };
}

/** Host names of this machine. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Returns true for a server that only this machine can reach: on the loopback address, or through a Unix socket. */
export function isLocal(connection: Connection): boolean {
  const address = addressOf(connection);
  if (address !== null && (typeof connection === "string" || !("sentinels" in connection)))
    return LOCAL.test(address.host);
  const socket = typeof connection === "string" ? connection : connection.path;
  return typeof socket === "string" && socket.startsWith("/");
}

/** First byte of a TLS alert, which a TLS server sends in response to plain text. */
const ALERT = 0x15;

/**
 * Determines whether a server uses TLS by sending plain text. The promise never resolves; the signal closes the
 * connection.
 * Throws a WrongRedis error if only one side uses TLS.
 */
export function otherProtocol(connection: Connection, signal: AbortSignal): Promise<never> {
  const address = addressOf(connection);
  return new Promise((_, reject) => {
    if (address === null) return;
    const { host, port, isTls } = address;
    const socket = net.connect({ host, port, signal });
    // If the connection fails, the client's error is sufficient.
    socket.on("error", () => {});
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.once("data", ([first]) => {
      const speaksTls = first === ALERT;
      if (isTls && !speaksTls)
        reject(new WrongRedis("it does not use TLS; use redis:// instead of rediss://"));
      if (!isTls && speaksTls)
        reject(new WrongRedis("it requires TLS; use rediss:// instead of redis://"));
      socket.destroy();
    });
  });
}

/** Waits until a server should have answered, and then rejects with a WrongRedis error. */
export async function silence(signal: AbortSignal): Promise<never> {
  await sleep(DISTRIBUTED.answer, undefined, { signal });
  throw new WrongRedis(`it did not answer within ${DISTRIBUTED.answer / 1000} s`);
}
