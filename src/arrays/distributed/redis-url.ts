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
  const isUrl = /^rediss?:\/\//i.test(text);
  if (!isUrl && !/@|:\//.test(text)) return text;
  const url = isUrl ? (isPlain(text) ? text : withEncodedUser(text)) : "";
  if (URL.canParse(url) && new URL(url).hostname !== "") return url;
  const sentence =
    "the connection must be a URL such as redis://user:password@host:6379, got text that cannot be read as one";
  throw new TensorError("attribute", sentence, { key: "connection" });
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

/** Returns true for a URL that is valid for Redis, so that none of its parts can be a piece of a password. */
function isPlain(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { pathname, search, hash, username, password } = new URL(text);
  const areEncoded = [username, password].every((one) => isEncoded(one));
  const isQuery = search === "" || /^\?\w+=/.test(search);
  return areEncoded && hash === "" && isQuery && /^\/?\d*$/.test(pathname);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The last `@` ends the user and the password, because neither a host nor a database number contains this character.
 */
function withEncodedUser(text: string): string {
  const [, scheme = "", user, place = ""] = /^(rediss?:\/\/)(.*)@(.*)$/is.exec(text) ?? [];
  if (user === undefined) return text;
  const [, name = "", colon = "", password = ""] = /^([^:]*)(:?)(.*)$/s.exec(user) ?? [];
  return scheme + encode(name) + colon + encode(password) + "@" + place;
}

const encode = (text: string): string =>
  encodeURIComponent(isEncoded(text) ? decodeURIComponent(text) : text);

/** Returns an error without the passwords that clients repeat in command arguments. */
export function withoutPassword(cause: unknown, connection: Connection): Error {
  const text = messageOf(cause);
  return new Error(passwordsOf(connection).reduce((all, one) => all.replaceAll(one, "***"), text));
}

function passwordsOf(connection: Connection): string[] {
  if (typeof connection !== "string") {
    const { password, sentinelPassword } = connection;
    return [password, sentinelPassword].filter(
      (one) => typeof one === "string" && one !== "",
    ) as string[];
  }
  const url = redisUrl(connection);
  const { password } = URL.canParse(url) ? new URL(url) : { password: "" };
  return password === "" ? [] : [password, decodeURIComponent(password)];
}
