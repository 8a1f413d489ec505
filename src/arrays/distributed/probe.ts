/**
 * Finds out why a Redis server does not answer: either only one side uses TLS, or the server is silent. The errors of
 * the Redis client do not distinguish these cases. If only the client uses TLS, the client waits until the connection
 * times out. If only the server uses TLS, the server closes the connection.
 */

import * as net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { DISTRIBUTED } from "../../core/limits.ts";
import { redisUrl, type Connection } from "./redis-url.ts";

/** An error that explains why a server cannot be used. The message is the end of a sentence. */
export class WrongRedis extends Error {}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Returns the host and port of a connection, or null without a host, as for a Unix socket. */
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

/** The host names that mean this machine. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Returns true for a server that only this machine can reach, by the loopback address or a Unix socket. */
export function isLocal(connection: Connection): boolean {
  const address = addressOf(connection);
  if (address !== null && (typeof connection === "string" || !("sentinels" in connection)))
    return LOCAL.test(address.host);
  const socket = typeof connection === "string" ? connection : connection.path;
  return typeof socket === "string" && socket.startsWith("/");
}

/** The first byte of a TLS alert, with which a TLS server responds to plain text. */
const ALERT = 0x15;

/**
 * Sends plain text to a server to detect whether the server uses TLS. The promise never resolves. An aborted signal
 * closes the connection. Throws a WrongRedis error if only one side uses TLS.
 */
export function otherProtocol(connection: Connection, signal: AbortSignal): Promise<never> {
  const address = addressOf(connection);
  return new Promise((_, reject) => {
    if (address === null) return;
    const { host, port, isTls } = address;
    const socket = net.connect({ host, port, signal });
    // If the connection fails, the error of the Redis client is sufficient.
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
