/**
 * Composes and prints URLs of arrays. A user, a password or a query may be secret (a presigned URL has its signature in
 * the query), so errors, files and messages omit them.
 */

import { TensorError } from "../../core/errors.ts";

/** Replaces a secret. */
const HIDDEN = "***";

interface UrlParts {
  /** The scheme, with its slashes. */
  readonly scheme: string;
  /** The user, with the `@`; may be empty. */
  readonly user: string;
  /** The host and the path. */
  readonly place: string;
  /** The query, with its question mark; may be empty. */
  readonly query: string;
}

/** The parts of a URL without its fragment, which servers do not see; null for a path. */
function partsOf(location: string): UrlParts | null {
  // An unencoded password may contain slashes. A number before the first slash is a port.
  const pattern =
    /^([a-z][a-z0-9+.-]+:\/\/)([^/?#]*@|[^/?#[]*:(?!\d*\/)[^?#]*@)?([^?#]*)(\?[^#]*)?/is;
  const [, scheme, user = "", place = "", query = ""] = pattern.exec(location) ?? [];
  return scheme === undefined ? null : { scheme, user, place, query: query === "?" ? "" : query };
}

const print = ({ scheme, user, place, query }: UrlParts): string => scheme + user + place + query;

/** A location without its secrets. A path is returned unchanged. */
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
 * A text in which the URLs have no secrets. The length of a scheme is limited, because 100 kB of letters took 9 seconds
 * without a limit.
 */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]*[^\s"'<>:;,.)]/gi, shownUrl);

/** True for a URL that has a user or a query, hidden or not. */
export function hasSecrets(location: string): boolean {
  const parts = partsOf(location);
  return parts !== null && parts.user + parts.query !== "";
}

/** True for a URL whose secrets are hidden, so that it cannot be opened. */
export const isHidden = (location: string): boolean =>
  hasSecrets(location) && shownUrl(location) === print(partsOf(location) as UrlParts);

/** A location without user, query and fragment; its ending tells the format. */
export const placeOfUrl = (location: string): string => {
  const parts = partsOf(location);
  return parts === null ? location : parts.scheme + parts.place;
};

/** The location of `name` in a folder or a group. The query stays after the path. */
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

/** @throws TensorError `attribute` for a `%` that does not begin an encoded byte */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const sentence = `${JSON.stringify(text)} is not percent-encoded; write %25 for %`;
    throw new TensorError("attribute", sentence, {}, { cause });
  }
}
