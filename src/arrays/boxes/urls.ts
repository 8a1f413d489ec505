/**
 * Composes and prints array URLs. A user, a password or a query may be secret (a presigned URL has its signature in the
 * query), so errors, files and messages omit them.
 */

import { TensorError } from "../../core/errors.ts";

/** Text that replaces a secret. */
const HIDDEN = "***";

interface UrlParts {
  /** The scheme, with its slashes. */
  readonly scheme: string;
  /** The user and the `@`; may be empty. */
  readonly user: string;
  /** The host and the path. */
  readonly place: string;
  /** The query and its question mark; may be empty. */
  readonly query: string;
}

/** Splits a URL into parts, without the fragment, which servers do not see; returns null for a path. */
function partsOf(location: string): UrlParts | null {
  // An unencoded password may contain slashes. Digits between a colon and the first slash are a port, not a password. A
  // path of a Redis URL contains no `@`, so everything before the last `@` may be a password.
  const pattern = /^rediss?:/i.test(location)
    ? /^(rediss?:\/\/)(.*@)?([^?#]*)(\?[^#]*)?/is
    : /^([a-z][a-z0-9+.-]+:\/\/)([^/?#]*@|[^/?#[]*:(?!\d*\/)[^?#]*@)?([^?#]*)(\?[^#]*)?/is;
  const [, scheme, user = "", place = "", query = ""] = pattern.exec(location) ?? [];
  return scheme === undefined ? null : { scheme, user, place, query: query === "?" ? "" : query };
}

const print = ({ scheme, user, place, query }: UrlParts): string => scheme + user + place + query;

/** Returns a location without its secrets. Paths are returned unchanged. */
export function shownUrl(location: string): string {
  const parts = partsOf(location);
  if (parts === null) return location;
  const { user, query } = parts;
  return print({
    ...parts,
    user: user === "" ? "" : `${HIDDEN}@`,
    query: query === "" ? "" : `?${HIDDEN}`,
  });
}

/**
 * Removes secrets from the URLs in a text. The scheme's length is limited, because without a limit, 100 kB of letters
 * took 9 seconds.
 */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]*[^\s"'<>:;,.)]/gi, shownUrl);

/** Returns true for a URL that has a user or a query, hidden or not. */
export function hasSecrets(location: string): boolean {
  const parts = partsOf(location);
  return parts !== null && parts.user + parts.query !== "";
}

/** Returns true for a URL that cannot be opened, because its secrets are hidden. */
export const isHidden = (location: string): boolean =>
  hasSecrets(location) && shownUrl(location) === print(partsOf(location) as UrlParts);

/** Returns a location without user, query and fragment; the suffix shows the format. */
export const placeOfUrl = (location: string): string => {
  const parts = partsOf(location);
  return parts === null ? location : parts.scheme + parts.place;
};

/** Returns the location of `name` in a folder or a group. The query stays after the path. */
export function within(location: string, name: string): string {
  const parts = partsOf(location);
  if (parts === null) return `${location}/${name}`;
  const encoded = name.replaceAll(/[?#%]/g, encodeURIComponent);
  return print({ ...parts, place: `${parts.place.replace(/\/+$/, "")}/${encoded}` });
}

/** Splits the URL of a file into its folder and name. */
export function splitUrl(location: string): { readonly folder: string; readonly name: string } {
  const parts = partsOf(location) as UrlParts;
  const at = parts.place.lastIndexOf("/");
  const folder = print({ ...parts, place: parts.place.slice(0, Math.max(0, at)) });
  return { folder, name: decoded(parts.place.slice(at + 1)) };
}

/** Throws an `attribute` error for a `%` that does not begin an encoded byte. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const sentence = `${JSON.stringify(text)} is not valid percent-encoding; write %25 for %`;
    throw new TensorError("attribute", sentence, { key: "location" }, { cause });
  }
}
