/**
 * Parses the URL of a Redis server. Generated passwords often contain `/`, `#` or `?`, which end the host of a URL, so
 * unencoded passwords must be detected. Errors never quote an invalid URL, because the password may be anywhere in its
 * text.
 */

import { messageOf, TensorError } from "../../core/errors.ts";
import { objectOf, wrongOption } from "../../core/foreign.ts";

/** A URL such as `redis://host:6379`, or ioredis options. */
export type Connection = string | Readonly<Record<string, unknown>>;

/**
 * Returns the URL with an encoded user and password. Other text, such as a socket path, is returned unchanged. Throws
 * an `attribute` error for an invalid URL.
 */
export function redisUrl(text: string): string {
  if (!/^rediss?:\/\/|@|:\//i.test(text)) return text;
  // The last `@` ends the user and the password, because neither a host nor a database number contains this character.
  const [, scheme = "", user, rest = ""] =
    /^(rediss?:\/\/)(?:(.*)@)?([^@/?#]+(?:\/\d*)?(?:\?\w+=[^@#]*)?)$/is.exec(text) ?? [];
  const [, name = "", colon = "", password = ""] = /^([^:]*)(:?)(.*)$/s.exec(user ?? "") ?? [];
  const at = user === undefined ? "" : "@";
  const url = scheme + encode(name) + colon + encode(password) + at + rest;
  if (scheme !== "" && URL.canParse(url) && new URL(url).hostname !== "") return url;
  const sentence =
    "the connection must be a URL such as redis://user:password@host:6379, got text that cannot be read as one";
  throw new TensorError("attribute", sentence, { key: "connection" });
}

function encode(text: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(text));
  } catch {
    // The text is not encoded.
    return encodeURIComponent(text);
  }
}

/** Throws an `attribute` error for an invalid URL, and for a value that is neither text nor an object. */
export function checkConnection(connection: unknown): void {
  if (typeof connection === "string" && connection !== "") return void redisUrl(connection);
  if (typeof connection === "object" && connection !== null)
    return void objectOf("connection", connection, {});
  throw wrongOption(
    "connection",
    "a URL such as redis://host:6379, or options of ioredis",
    connection,
  );
}

/** Returns an error without the passwords that clients repeat in command arguments. */
export function withoutPassword(cause: unknown, connection: Connection): Error {
  const text = messageOf(cause);
  return new Error(passwordsOf(connection).reduce((all, one) => all.replaceAll(one, "***"), text));
}

function passwordsOf(connection: Connection): string[] {
  const { password, sentinelPassword } = addressOf(connection);
  const given = [password, sentinelPassword].filter((one) => typeof one === "string" && one !== "");
  return (given as string[]).flatMap((one) => [one, encode(one)]);
}

/** Returns the options that a URL stands for. */
function addressOf(connection: Connection): Exclude<Connection, string> {
  if (typeof connection !== "string") return connection;
  const url = redisUrl(connection);
  if (!URL.canParse(url)) return { path: url };
  const { hostname: host, port, password } = new URL(url);
  return { host, ...(port !== "" && { port }), password: decodeURIComponent(password) };
}

/** Prints the host and port of a connection, or the path of its socket, without the password. */
export function printAddress(connection: Connection): string {
  const {
    host = "127.0.0.1",
    port = 6379,
    path = `${String(host)}:${String(port)}`,
  } = addressOf(connection);
  return String(path);
}

/** Returns true for a server that only this machine can reach, by the loopback address or a Unix socket. */
export function isLocal(connection: Connection): boolean {
  const { host = "127.0.0.1", path, sentinels } = addressOf(connection);
  if (path !== undefined) return typeof path === "string" && path.startsWith("/");
  const isLoopback =
    typeof host === "string" && /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
  return isLoopback && sentinels === undefined;
}
