/** Requests to object storage, signed where there are keys, and the URL of each object. */

import { printValue, TensorError } from "../../../core/errors.ts";
import { optionsOf } from "../../../core/tensor/options.ts";

/** Where object storage is and who asks. Each of them may stand in the environment, under the names that AWS has. */
export interface S3Options {
  /** The URL of a server that is not AWS, such as `http://127.0.0.1:9000`. */
  readonly endpoint?: string;
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
}

const NAMES = ["endpoint", "region", "accessKeyId", "secretAccessKey", "sessionToken"] as const;

const VARIABLES: Readonly<Record<(typeof NAMES)[number], readonly string[]>> = {
  endpoint: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
  region: ["AWS_REGION", "AWS_DEFAULT_REGION"],
  accessKeyId: ["AWS_ACCESS_KEY_ID"],
  secretAccessKey: ["AWS_SECRET_ACCESS_KEY"],
  sessionToken: ["AWS_SESSION_TOKEN"],
};

export interface Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface S3Client {
  /** The location as it was given. */
  readonly location: string;
  /** What copies of objects name as their source: the bucket, a slash and the prefix. Null for a plain URL. */
  readonly prefix: { readonly bucket: string; readonly key: string } | null;
  urlOf(key: string): URL;
  /** The URL that lists the bucket. */
  readonly bucketUrl: URL;
  send(url: URL, request: Request): Promise<Response>;
}

/** @throws TensorError `attribute` for options that are wrong, and where `aws4fetch` is not installed */
export async function makeClient(location: string, given: S3Options = {}): Promise<S3Client> {
  const settings = settingsOf(given);
  const url = parseUrl(location);
  checkNoSecret(url);
  const fetch = await fetchOf(settings, location);
  if (url.protocol !== "s3:") {
    const base = `${url.href.replace(/\/+$/, "")}/`;
    return {
      location,
      prefix: null,
      urlOf: (key) => new URL(base + encodeKey(key)),
      bucketUrl: new URL(base),
      send: fetch,
    };
  }
  const [bucket, key] = [url.host, decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, "")];
  const { endpoint, region = "us-east-1" } = settings;
  const bucketUrl =
    endpoint === undefined
      ? `https://${bucket}.s3.${region}.amazonaws.com/`
      : `${endpoint.replace(/\/+$/, "")}/${bucket}/`;
  return {
    location: location.replace(/\/+$/, ""),
    prefix: { bucket, key },
    urlOf: (name) => new URL(bucketUrl + encodeKey(key === "" ? name : `${key}/${name}`)),
    bucketUrl: parseUrl(bucketUrl),
    send: fetch,
  };
}

function settingsOf(given: S3Options): S3Options {
  const options = optionsOf(given, NAMES, {});
  const process: { env?: Readonly<Record<string, string | undefined>> } =
    Reflect.get(globalThis, "process") ?? {};
  const settings: Record<string, string> = {};
  for (const name of NAMES) {
    const inherited = VARIABLES[name].map((one) => process.env?.[one]).find((one) => one);
    const value = options[name] ?? inherited;
    // An empty text stands for none, whatever the environment has.
    if (value === undefined || value === "") continue;
    if (typeof value !== "string") {
      throw new TensorError("attribute", `${name} must be text, got ${printValue(value)}`);
    }
    settings[name] = value;
  }
  return settings;
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new TensorError("attribute", `${printValue(text)} is no URL`, {}, { cause });
  }
}

/** An address is written into the file of a job, and into messages, which many may read. */
function checkNoSecret({ protocol, host, username, password, search, hash }: URL): void {
  if (username + password + search + hash === "") return;
  const sentence =
    `the address of an array at ${protocol}//${host} must be without a user, a password, ? and #, because it is written ` +
    "into files and messages; give keys in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)";
  throw new TensorError("attribute", sentence);
}

export const encodeKey = (key: string): string => key.split("/").map(encodeURIComponent).join("/");

/** Signs what goes to `s3:`, and to other URLs where keys were given in the options or the environment. */
async function fetchOf(
  { accessKeyId, secretAccessKey, sessionToken, region }: S3Options,
  location: string,
): Promise<S3Client["send"]> {
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return (url, { method, headers, body }) =>
      fetch(url, { method, headers: { ...headers }, ...(body && { body: body.slice() }) });
  }
  const { AwsClient } = await loadAws4fetch(location);
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    service: "s3",
    retries: 5,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(region !== undefined && { region }),
  });
  return (url, { method, headers, body }) =>
    client.fetch(url, { method, headers: { ...headers }, ...(body && { body: body.slice() }) });
}

async function loadAws4fetch(location: string): Promise<typeof import("aws4fetch")> {
  try {
    return await import("aws4fetch");
  } catch (cause) {
    const sentence = `requests to ${location} are signed by aws4fetch; install it: npm install aws4fetch`;
    throw new TensorError("engine", sentence, {}, { cause });
  }
}
