/**
 * Composes array URLs, and prints them without secrets. The user, the password and the query of a URL may be secret, so
 * errors, files and messages omit them.
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

/** Splits a URL into parts without the fragment, which servers never receive; returns null for a path. */
function partsOf(location: string): UrlParts | null {
  // A password that is not percent-encoded may contain slashes. Digits between a colon and the first slash are a port,
  // not a password. The path of a Redis URL contains no `@`, so everything before the last `@` may be part of a
  // password.
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
 * Removes secrets from the URLs in a text. The expression limits the scheme's length, because otherwise 100 kB of
 * letters took 9 seconds.
 */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]*[^\s"'<>:;,.)]/gi, shownUrl);

/** Returns true for a URL with a user or a query, even if either is hidden. */
export function hasSecrets(location: string): boolean {
  const parts = partsOf(location);
  return parts !== null && parts.user + parts.query !== "";
}

/** Returns true for a URL whose secrets are hidden, and which therefore cannot be opened. */
export const isHidden = (location: string): boolean =>
  hasSecrets(location) && shownUrl(location) === print(partsOf(location) as UrlParts);

/** Returns a location without user, query and fragment, so that the suffix shows the file format. */
export const placeOfUrl = (location: string): string => {
  const parts = partsOf(location);
  return parts === null ? location : parts.scheme + parts.place;
};

/**
 * Returns the location of `name` in a folder or a group. If the location has a query, the query follows the extended
 * path.
 */
export function within(location: string, name: string): string {
  const parts = partsOf(location);
  if (parts === null) return `${location}/${name}`;
  const encoded = name.replaceAll(/[?#%]/g, encodeURIComponent);
  return print({ ...parts, place: `${parts.place.replace(/\/+$/, "")}/${encoded}` });
}

/** Splits a file's URL into folder and name. */
export function splitUrl(location: string): { readonly folder: string; readonly name: string } {
  const parts = partsOf(location) as UrlParts;
  const at = parts.place.lastIndexOf("/");
  const folder = print({ ...parts, place: parts.place.slice(0, Math.max(0, at)) });
  return { folder, name: decoded(parts.place.slice(at + 1)) };
}

interface Inside {
  readonly archive: string;
  readonly name: string;
}

/**
 * Splits a location such as `x.npz/ids` or `https://host/x.zip/rain?token` into the location of an archive and the name
 * in the archive, which may be empty. Returns null unless a name in the location ends in .zip or .npz.
 */
export const splitArchive = (location: string): Inside | null => splitAfter(location, "zip|npz");

/** Splits a location such as `x.json/rain` like `splitArchive`, if a name ends in .json. */
export const splitReferences = (location: string): Inside | null => splitAfter(location, "json");

/** Returns the archive or the reference file in a location, or null without one. */
export const containerOf = (location: string): string | null =>
  (splitArchive(location) ?? splitReferences(location))?.archive ?? null;

function splitAfter(location: string, endings: string): Inside | null {
  const parts = partsOf(location);
  const place = parts === null ? location : parts.place;
  // The host of a URL is not an archive.
  const [start, slash] = parts === null ? ["", "[/\\\\]"] : ["[^/]+/", "/"];
  const pattern = new RegExp(`^(${start}.*?\\.(?:${endings}))(?:${slash}(.*))?$`, "is");
  const [, archive, name = ""] = pattern.exec(place) ?? [];
  if (archive === undefined) return null;
  const inner = name.replaceAll(/\/+$/g, "");
  if (parts === null) return { archive, name: inner };
  return { archive: print({ ...parts, place: archive }), name: decoded(inner) };
}

/** Throws an `attribute` error for text that is not valid percent-encoding. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const sentence = `${JSON.stringify(text)} is not valid percent-encoding; write %25 for %`;
    throw new TensorError("attribute", sentence, { key: "location" }, { cause });
  }
}
