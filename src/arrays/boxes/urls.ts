/**
 * URLs of arrays as text: put together, and shown. A user, a password and a query may be secrets (a presigned URL has its
 * signature in the query), so no error, file or message has them.
 */

import { TensorError } from "../../core/errors.ts";

/** Stands where a secret was. */
const HIDDEN = "***";

interface UrlParts {
  /** With the slashes behind it. */
  readonly scheme: string;
  /** With the `@`; may be empty. */
  readonly user: string;
  /** The host and the path. */
  readonly place: string;
  /** With the question mark; may be empty. */
  readonly query: string;
}

/** The parts of a URL without its fragment, which no server sees; null for a path. */
function partsOf(location: string): UrlParts | null {
  // A password that was not encoded may have slashes. A number before the first one is a port.
  const pattern =
    /^([a-z][a-z0-9+.-]+:\/\/)([^/?#]*@|[^/?#[]*:(?!\d*\/)[^?#]*@)?([^?#]*)(\?[^#]*)?/is;
  const [, scheme, user = "", place = "", query = ""] = pattern.exec(location) ?? [];
  return scheme === undefined ? null : { scheme, user, place, query: query === "?" ? "" : query };
}

const print = ({ scheme, user, place, query }: UrlParts): string => scheme + user + place + query;

/** A location without its secrets. A path stays as it is. */
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

/** A text without the secrets of the URLs in it. Without a limit for schemes, 100 kB of letters took 9 seconds. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]*[^\s"'<>:;,.)]/gi, shownUrl);

/** True for a URL that has a user or a query, whether or not they are shown. */
export function hasSecrets(location: string): boolean {
  const parts = partsOf(location);
  return parts !== null && parts.user + parts.query !== "";
}

/** True for a URL whose secrets were left out, with which nothing can be opened. */
export const isHidden = (location: string): boolean =>
  hasSecrets(location) && shownUrl(location) === print(partsOf(location) as UrlParts);

/** A location without user, query and fragment, by whose ending a format is known. */
export const placeOfUrl = (location: string): string => {
  const parts = partsOf(location);
  return parts === null ? location : parts.scheme + parts.place;
};

/** The location of what `name` is in a folder or a group. The query stays behind the path. */
export function within(location: string, name: string): string {
  const parts = partsOf(location);
  if (parts === null) return `${location}/${name}`;
  const encoded = name.replaceAll(/[?#%]/g, encodeURIComponent);
  return print({ ...parts, place: `${parts.place.replace(/\/+$/, "")}/${encoded}` });
}

/** The folder of a URL of a file, and the file's name. */
export function splitUrl(location: string): { readonly folder: string; readonly name: string } {
  const parts = partsOf(location) as UrlParts;
  const at = parts.place.lastIndexOf("/");
  const folder = print({ ...parts, place: parts.place.slice(0, Math.max(0, at)) });
  return { folder, name: decoded(parts.place.slice(at + 1)) };
}

/** @throws TensorError `attribute` for a `%` that begins no encoded byte */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const sentence = `${JSON.stringify(text)} is not percent-encoded; write %25 for %`;
    throw new TensorError("attribute", sentence, {}, { cause });
  }
}
