/** Options that say how the objects of an array are reached. */

import type { Signal } from "../../../core/foreign.ts";
import type { S3Options } from "./s3-options.ts";

/**
 * The platform's function `fetch` if the user's compiler knows it. ndscatter passes a URL as text, and an object with
 * `method`, `headers` as a plain object, `signal` and, for requests that store an object, `body`.
 */
export type Fetch = typeof globalThis extends { fetch: infer F }
  ? F
  : (url: string, init: object) => Promise<object>;

/** Options for the location of an array or a group. */
export interface StoreOptions {
  /** The settings for `s3://bucket/key` and `https://` URLs. */
  readonly s3?: S3Options | undefined;
  /**
   * A function that sends all requests for `s3://` and `https://` URLs, such as one that adds headers. By default, the
   * platform's `fetch`.
   */
  readonly fetch?: Fetch | undefined;
  /** A signal that aborts requests and the waits between requests, even during later reads and writes. */
  readonly signal?: Signal | undefined;
  /** The path of the array or group in a store of the caller, such as `weather/rain`. By default, the store's root. */
  readonly path?: string | undefined;
}

/** The names of the options. */
export const STORE_OPTIONS = ["s3", "fetch", "signal", "path"];

/** The schemes of URLs that can be opened. */
export const SCHEMES: readonly string[] = ["s3", "https", "http"];
