/** Determines object URLs and request settings for a server. */

import { printValue } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { decoded, hasSecrets, isHidden, shownUrl } from "../../boxes/urls.ts";
import { retrying, type Request } from "./retries.ts";
import { settingsOf, type S3Options } from "./s3-options.ts";
import { senderOf } from "./senders.ts";
import type { Fetch } from "./store-options.ts";
import { unfit } from "./store.ts";

export interface S3Client {
  /** The location without its secrets. */
  readonly location: string;
  /** The bucket and the key prefix, with which copy requests name their source; null for a plain URL. */
  readonly prefix: { readonly bucket: string; readonly key: string } | null;
  urlOf(key: string): URL;
  /** The URL that lists the bucket. */
  readonly bucketUrl: URL;
  send(url: URL, request: Request): Promise<Response>;
  readonly signal?: AbortSignal | undefined;
  /** True if status 403 means that the object is missing. */
  readonly forbiddenIsMissing?: boolean;
  /** Secret texts that messages must not contain. */
  readonly secrets?: readonly string[];
}

/**
 * `signal` aborts requests and the waits between requests. `fetch` sends the requests. Throws an `attribute` error for
 * invalid options.
 */
export async function makeClient(
  location: string,
  given: S3Options = {},
  signal?: AbortSignal,
  fetch?: Fetch,
): Promise<S3Client> {
  const settings = settingsOf(given);
  if (isHidden(location)) {
    const sentence = `the user or the query of ${location} is hidden; give the complete URL`;
    throw new TensorError("attribute", sentence, { key: "location", file: location });
  }
  const url = parseUrl(location);
  const isS3 = url.protocol === "s3:";
  const place = isS3 ? placeInBucket(url, location, settings) : placeOnServer(url, location);
  const { endpoint } = settings;
  const isTrusted = (one: URL): boolean =>
    (endpoint !== undefined && one.origin === parseUrl(endpoint).origin) || isOfAws(one);
  const { send, secrets } = await senderOf(settings, {
    url,
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    // Access keys from the environment are only for object storage, so other servers receive only keys from options.
    isSigned: isS3 || (given.accessKeyId ?? "") !== "" || isTrusted(isS3 ? place.bucketUrl : url),
    keepsSigning: isTrusted,
  });
  const forbiddenIsMissing = settings.forbidden === "missing";
  return { ...place, send: retrying(send, signal), signal, secrets, forbiddenIsMissing };
}

const isOfAws = ({ host, protocol }: URL): boolean =>
  protocol === "https:" && /\.amazonaws\.com(?:\.cn)?$/.test(host);

type Place = Pick<S3Client, "location" | "prefix" | "urlOf" | "bucketUrl">;

/**
 * Returns the URLs of objects on a plain server. The URLs of all objects have the same query, which may be a token for
 * the whole folder.
 */
function placeOnServer({ origin, pathname, search }: URL, location: string): Place {
  const base = `${origin}${pathname.replace(/\/+$/, "")}/`;
  return {
    location: shownUrl(location),
    prefix: null,
    urlOf: (key) => new URL(base + encodeKey(key) + search),
    bucketUrl: new URL(base),
  };
}

function placeInBucket(
  { host: bucket, pathname }: URL,
  location: string,
  settings: S3Options,
): Place {
  if (hasSecrets(location) || location.includes("#") || bucket === "") {
    const must =
      "must be s3://BUCKET/KEY, with %3F and %23 for ? and #; give keys as options or in the environment";
    throw unfit(shownUrl(location), must);
  }
  const key = decoded(pathname).replaceAll(/^\/+|\/+$/g, "");
  const { endpoint, region = "us-east-1" } = settings;
  const bucketUrl =
    endpoint === undefined
      ? urlOnAws(bucket, region)
      : `${endpoint.replace(/\/+$/, "")}/${bucket}/`;
  const parsed = parseUrl(bucketUrl);
  if (hasSecrets(bucketUrl)) {
    const sentence = `the endpoint ${shownUrl(bucketUrl)} has a user or a query; give keys as options, or in the environment`;
    throw new TensorError("attribute", sentence, { key: "endpoint", file: shownUrl(bucketUrl) });
  }
  return {
    location: location.replace(/\/+$/, ""),
    prefix: { bucket, key },
    urlOf: (name) => new URL(bucketUrl + encodeKey(key === "" ? name : `${key}/${name}`)),
    bucketUrl: parsed,
  };
}

/**
 * Returns the URL of a bucket on AWS. A bucket name with dots goes into the path, because the certificate covers only
 * one label before AWS's name.
 */
const urlOnAws = (bucket: string, region: string): string =>
  bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}/`
    : `https://${bucket}.s3.${region}.amazonaws.com/`;

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    // Any part of this invalid URL may be secret, so the cause, which contains the whole text, is omitted.
    const isSecret = /[@?]/.test(text);
    const shown = isSecret ? "the location, whose text may be secret," : printValue(text);
    throw new TensorError(
      "attribute",
      `${shown} must be a URL`,
      { key: "location" },
      isSecret ? {} : { cause },
    );
  }
}

export const encodeKey = (key: string): string => key.split("/").map(encodeURIComponent).join("/");
